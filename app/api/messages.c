/* messages: POST /api/v1/messages. SPDX-License-Identifier: ISC */
#include "app/dialect/messages.h"

#include "app/api/api.h"
#include "app/api/stream.h"
#include "app/base/json.h"

static const cJSON *object(const void *encoder)
{
	return messages_out_object(encoder);
}

int api_messages(struct req *r, struct err *e)
{
	struct messages_request *rq = arena_new_of(r->arena, struct messages_request);
	struct stream_job job;
	cJSON *body;
	int rc;

	rc = json_parse(&body, r->arena, r->body, r->body_len, e);
	if (rc < 0)
		return rc;
	rc = messages_decode(rq, r->arena, body, http_header(r, "x-session-id"), e);
	if (rc < 0)
		return rc;
	rq->request_id = r->id;
	job = (struct stream_job){
		.turn = &rq->turn,
		.streamed = rq->stream,
		.encoder = {messages_out_emit, NULL},
		.object = object,
	};
	job.encoder.ctx = messages_out_new(r->arena, rq, rq->stream ? stream_writer(r) : NULL);
	return stream_answer(r, &job, e);
}
