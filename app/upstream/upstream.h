/* upstream: asking a model for one turn. SPDX-License-Identifier: ISC */
#ifndef APP_UPSTREAM_UPSTREAM_H
#define APP_UPSTREAM_UPSTREAM_H

#include "app/base/conf.h"
#include "app/core/event.h"
#include "app/core/turn.h"

/* Once a process. */
int upstream_global_init(void);

/* Which provider serves a model: by prefix and globs, in the file's order, the built-in one before all. NULL and ERR_NOT_FOUND naming the model. name: the model as the provider knows it. */
const struct conf_provider *upstream_find(
	const struct conf *c, const char *model, const char **name, struct arena *a, struct err *e);

/*
 * One model turn, streamed into the sink. Retries (with back-off, at most twice) only before
 * anything was emitted. client_fd: polled; when the client has gone the call is aborted with
 * ERR_CLIENT_GONE. Emits EVENT_IDLE every heartbeat_ms of silence. -1: no client to watch.
 */
int upstream_turn(const struct conf *c, const struct turn *t, const struct sink *s, int client_fd,
	struct err *e);

/* Models that are served, for GET /models: name as clients say it; globs of a provider without a fixed name are left out. Calls fn for each. */
void upstream_models(const struct conf *c,
	void (*fn)(void *ctx, const char *model, const struct conf_provider *p), void *ctx);

#endif
