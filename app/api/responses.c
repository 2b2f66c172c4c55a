/* responses: POST /api/v1/responses. SPDX-License-Identifier: ISC */
#include "app/dialect/responses.h"

#include "app/api/api.h"
#include "app/api/stream.h"
#include "app/base/json.h"

static const cJSON *object(const void *encoder)
{
	return responses_out_object(encoder);
}

int api_responses(struct req *r, struct err *e)
{
	struct responses_request *rq = arena_new_of(r->arena, struct responses_request);
	struct stream_job job;
	cJSON *body;
	int rc;

	rc = json_parse(&body, r->arena, r->body, r->body_len, e);
	if (rc < 0)
		return rc;
	rc = responses_decode(rq, r->arena, body, http_header(r, "x-session-id"), e);
	if (rc < 0)
		return rc;
	job = (struct stream_job){
		.turn = &rq->turn,
		.streamed = rq->stream,
		.encoder = {responses_out_emit, NULL},
		.object = object,
	};
	job.encoder.ctx = responses_out_new(r->arena, rq, rq->stream ? stream_writer(r) : NULL);
	return stream_answer(r, &job, e);
}
