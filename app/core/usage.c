/* usage: sums. SPDX-License-Identifier: ISC */
#include "app/core/usage.h"

/* Providers are not believed to count sanely: a sum stays at the maximum instead of overflowing. */
static void add(int64_t *a, int64_t b)
{
	if (__builtin_add_overflow(*a, b, a))
		*a = b < 0 ? INT64_MIN : INT64_MAX;
}

void usage_add(struct usage *a, const struct usage *b)
{
	add(&a->input, b->input);
	add(&a->cached, b->cached);
	add(&a->cache_write, b->cache_write);
	add(&a->output, b->output);
	add(&a->reasoning, b->reasoning);
	add(&a->tool_calls_requested, b->tool_calls_requested);
	add(&a->tool_calls_executed, b->tool_calls_executed);
	a->upstream_cost += b->upstream_cost;
	a->server_tool_cost += b->server_tool_cost;
	a->tools_used = a->tools_used || b->tools_used;
}
