/* stream: a model request from its turn to the last byte of the answer. SPDX-License-Identifier: ISC */
#ifndef APP_API_STREAM_H
#define APP_API_STREAM_H

#include <cjson/cJSON.h>
#include <stdbool.h>

#include "app/core/event.h"
#include "app/core/turn.h"
#include "app/dialect/sse.h"
#include "app/http/http.h"

/* Writes to the client; the first write begins the stream, so an earlier error is a plain answer. In the arena. */
const struct writer *stream_writer(struct req *r);

/* A decoded request and the encoder of its dialect. */
struct stream_job {
	struct turn *turn;
	bool streamed;       /* encoder writes to stream_writer(r) */
	struct sink encoder; /* fed with every event */
	const cJSON *(*object)(
		const void *encoder); /* what a request that is not streamed answers */
};

/*
 * Runs the agent loop for a request and answers: by the encoder's stream, or with its object. An
 * error that comes before a streamed answer began, or at any time of one that is not streamed, is
 * returned for the caller to send; after commands ran, clients are told not to try again.
 */
int stream_answer(struct req *r, const struct stream_job *job, struct err *e);

#endif
