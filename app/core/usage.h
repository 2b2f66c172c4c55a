/* usage: what a turn or a request has spent. SPDX-License-Identifier: ISC */
#ifndef APP_CORE_USAGE_H
#define APP_CORE_USAGE_H

#include <stdbool.h>
#include <stdint.h>

struct usage {
	int64_t input, cached, cache_write, output, reasoning; /* tokens; input includes cached */
	double upstream_cost;    /* USD, 0 if the provider does not say */
	double server_tool_cost; /* USD */
	int64_t tool_calls_requested, tool_calls_executed;
	bool tools_used;
};
/* Adds b to a, field by field. */
void usage_add(struct usage *a, const struct usage *b);

#endif
