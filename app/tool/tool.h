/* tool: the server tools, shell and bash. SPDX-License-Identifier: ISC */
#ifndef APP_TOOL_TOOL_H
#define APP_TOOL_TOOL_H

#include "app/base/conf.h"
#include "app/base/err.h"
#include "app/core/event.h"
#include "app/core/turn.h"

#define TOOL_COMMANDS_MAX  100   /* commands a call */
#define TOOL_COMMAND_CHARS 16384 /* characters (code points) a command */

/* How a server tool is offered to a model: name and JSON Schema. */
const struct tool *tool_offer(enum tool_kind kind);

/* Container id of a request (contract openrouter.md 6.1, sandgate.md 1): reference, sess_ + last 20, replayed, gen_ + 12 hex. */
char *tool_container_id(struct arena *a, const struct environment *env, const char *request_id);

/* Seconds until the idle container sleeps: the request's, or the default, at most the maximum. */
int tool_sleep_after(const struct conf *conf, const struct environment *env);

/* Everything that a request's tool calls share; one lease, made at the first command. */
struct tool_context {
	struct arena *arena;
	const struct conf *conf;
	const char *workspace; /* slug */
	const char *request_id;
	const char *container_id; /* changed by a bash restart */
	int sleep_after_seconds;
	int client_fd;
	int (*wait)(void *ctx); /* heartbeat, see box_wait_fn */
	void *wait_ctx;
	struct box *box;  /* private */
	int64_t first_ms; /* CLOCK_MONOTONIC of the first command, 0 = none: metering */
	bool cold;
	int (*used)(void *ctx,
		const char
			*container_id); /* told once a container is leased (store), may be NULL */
	void *used_ctx;
};

/*
 * Runs a server call and always gives a result: bad arguments, limits and a lost sandbox become
 * result.error, which the model sees. Only ERR_CLIENT_GONE is returned as an error.
 */
int tool_run(struct tool_context *tc, const struct call *call, struct result **out, struct err *e);

/* USD for the sandbox time of a request that ends now (contract openrouter.md section 14); 0 if no command ran. seconds may be NULL. */
double tool_cost(const struct tool_context *tc, double *seconds);

#endif
