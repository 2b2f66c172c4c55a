/* agent: the loop of model turns and tool calls. SPDX-License-Identifier: ISC */
#ifndef APP_AGENT_AGENT_H
#define APP_AGENT_AGENT_H

#include "app/base/conf.h"
#include "app/core/event.h"
#include "app/core/turn.h"
#include "app/tool/tool.h"

struct agent {
	struct arena *arena;
	const struct conf *conf;
	const char *workspace;
	const char *request_id;
	int client_fd;                                    /* -1: none */
	int (*used)(void *ctx, const char *container_id); /* see tool_context */
	void *used_ctx;
};

/*
 * Runs the request: model turns and server calls until a turn asks for none, a client call is
 * handed back, or the limit (max_tool_calls, at most conf's) is reached, then one last turn without
 * tools. Every event goes to the sink; the last one is EVENT_DONE or EVENT_FAILED (and 0 is
 * returned), except that an error before any event was emitted is returned with e filled and
 * nothing emitted, so that it can become a plain HTTP error. turn is changed as the conversation grows.
 */
int agent_run(const struct agent *ag, struct turn *turn, const struct sink *s, struct err *e);

#endif
