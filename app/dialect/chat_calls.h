/* chat_calls: the tool calls of one streamed answer. SPDX-License-Identifier: ISC */
#ifndef APP_DIALECT_CHAT_CALLS_H
#define APP_DIALECT_CHAT_CALLS_H

#include <cjson/cJSON.h>

#include "app/core/event.h"
#include "app/core/turn.h"

/* Puts pieces of calls together and emits them one after the other; lives in a. */
struct chat_calls;
struct chat_calls *chat_calls_new(struct arena *a, const struct turn *t, const struct sink *s);
/*
 * One element of delta.tool_calls; position: where it stands in an array of several, -1 if alone.
 * bytes grows by what is kept. 0, the sink's error, or ERR_PROVIDER_UNAVAILABLE over a limit.
 */
int chat_calls_add(
	struct chat_calls *cs, const cJSON *piece, int position, size_t *bytes, struct err *e);
/* True once a call has begun, though perhaps nothing was emitted of it yet. */
bool chat_calls_any(const struct chat_calls *cs);
/* Emits what is left. whole: the model had finished, so unterminated arguments are repaired; else such calls get no CALL_END. ended: how many did. */
int chat_calls_end(struct chat_calls *cs, bool whole, size_t *ended);

#endif
