/* responses: the OpenAI Responses API, as served. SPDX-License-Identifier: ISC */
#ifndef APP_DIALECT_RESPONSES_H
#define APP_DIALECT_RESPONSES_H

#include <cjson/cJSON.h>

#include "app/core/event.h"
#include "app/core/turn.h"
#include "app/dialect/sse.h"

/* What the request says beside the turn. */
struct responses_request {
	struct turn turn;
	bool stream;
	const cJSON *body; /* for echoing */
};
/*
 * session_header: value of x-session-id or NULL. Fields that mean nothing here are passed over; what
 * is wrong, or cannot be done, is ERR_INVALID_REQUEST with the field's path in e->param. Calls in the
 * history are never executed again; one without a result gets "(no result)".
 */
int responses_decode(struct responses_request *out, struct arena *a, const cJSON *body,
	const char *session_header, struct err *e);

/* Encoder of one response: fed with every event; writes SSE if w is not NULL; always keeps the response object. */
struct responses_out;
struct responses_out *responses_out_new(
	struct arena *a, const struct responses_request *rq, const struct writer *w);
/*
 * An event sink: the encoder is the ctx. The first event makes response.created and
 * response.in_progress. 0, w's error, or ERR_PROVIDER_UNAVAILABLE when the model writes more than
 * any client would read.
 */
int responses_out_emit(void *ro, const struct event *ev);
/* The whole object, after EVENT_DONE or EVENT_FAILED. Owned by the arena. */
const cJSON *responses_out_object(const struct responses_out *ro);

#endif
