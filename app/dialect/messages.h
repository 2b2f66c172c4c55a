/* messages: the Anthropic Messages API, as served. SPDX-License-Identifier: ISC */
#ifndef APP_DIALECT_MESSAGES_H
#define APP_DIALECT_MESSAGES_H

#include <cjson/cJSON.h>

#include "app/core/event.h"
#include "app/core/turn.h"
#include "app/dialect/sse.h"

/* What the request says beside the turn. */
struct messages_request {
	struct turn turn;
	bool stream;
	const cJSON *body; /* for echoing */
};
/* session_header: value of x-session-id or NULL. */
int messages_decode(struct messages_request *out, struct arena *a, const cJSON *body,
	const char *session_header, struct err *e);

/* Encoder of one message: fed with every event; writes SSE if w is not NULL; always keeps the message object. */
struct messages_out;
struct messages_out *messages_out_new(
	struct arena *a, const struct messages_request *rq, const struct writer *w);
/* An event sink: the encoder is the ctx. The first event makes message_start. */
int messages_out_emit(void *mo, const struct event *ev);
/* The whole object, after EVENT_DONE. Owned by the arena. */
const cJSON *messages_out_object(const struct messages_out *mo);

#endif
