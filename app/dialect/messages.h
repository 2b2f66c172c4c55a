/* messages: the Anthropic Messages API, as served. SPDX-License-Identifier: ISC */
#ifndef APP_DIALECT_MESSAGES_H
#define APP_DIALECT_MESSAGES_H

#include <cjson/cJSON.h>

#include "app/core/event.h"
#include "app/core/turn.h"
#include "app/dialect/sse.h"

/* What the client sees of a model's reasoning: "thinking" of the request. */
enum messages_thinking {
	MESSAGES_THINKING_SHOWN, /* unless the client says otherwise, for open models always reason */
	MESSAGES_THINKING_OMITTED, /* display "omitted": the block and its signature, no text */
	MESSAGES_THINKING_NONE,    /* type "disabled" */
};

/* What the request says beside the turn. */
struct messages_request {
	struct turn turn;
	bool stream;
	enum messages_thinking thinking;
	const char *
		request_id; /* for errors in the stream; set by the caller after decoding, NULL is fine */
};
/*
 * session_header: value of x-session-id or NULL. Fields that mean nothing here are passed over; what
 * is wrong, or cannot be done, is ERR_INVALID_REQUEST with the field's path in e->param. A call
 * without a result in the history, also one of a server tool, gets "(no result)"; nothing runs again.
 */
int messages_decode(struct messages_request *out, struct arena *a, const cJSON *body,
	const char *session_header, struct err *e);

/* Encoder of one message: fed with every event; writes SSE if w is not NULL; always keeps the message object. */
struct messages_out;
struct messages_out *messages_out_new(
	struct arena *a, const struct messages_request *rq, const struct writer *w);
/*
 * An event sink: the encoder is the ctx. The first event makes message_start. 0, w's error, or
 * ERR_PROVIDER_UNAVAILABLE when the model writes more than any client would read.
 */
int messages_out_emit(void *mo, const struct event *ev);
/* The whole object, after EVENT_DONE. Owned by the arena. */
const cJSON *messages_out_object(const struct messages_out *mo);

#endif
