/* stream: a model request from its turn to the last byte of the answer. SPDX-License-Identifier: ISC */
#include "app/api/stream.h"

#include <time.h>

#include "app/agent/agent.h"
#include "app/api/api.h"
#include "app/api/cite.h"
#include "app/base/id.h"
#include "sandbox/sys/log.h"

struct answer {
	struct req *r;
	const struct stream_job *job;
	struct err failed; /* of EVENT_FAILED; code ERR_OK: it did not */
	bool tools_used;
};

static int write_stream(void *ctx, const char *p, size_t n)
{
	struct req *r = ctx;
	int rc;

	if (!http_begun(r)) {
		rc = http_stream(r);
		if (rc < 0)
			return rc;
	}
	return http_write(r, p, n);
}

const struct writer *stream_writer(struct req *r)
{
	struct writer *w = arena_new_of(r->arena, struct writer);

	w->write = write_stream;
	w->ctx = r;
	return w;
}

/* Here the stream has begun, so api_serve no longer sees the error to hide what failed inside. */
static int on_failed(struct answer *an, const struct event *ev)
{
	struct event shown = *ev;
	struct err e;

	an->failed = *ev->err;
	an->tools_used = ev->usage.tools_used;
	if (!an->job->streamed)
		return 0;
	if (ev->err->code == ERR_SERVER) {
		log_error("%s", ev->err->message);
		e = *ev->err;
		err_set(&e, ERR_SERVER, NULL, "Internal error (request %s)", an->r->id);
		shown.err = &e;
	}
	return sink_emit(&an->job->encoder, &shown);
}

static int on_result(struct answer *an, const struct event *ev)
{
	struct result *r = arena_new_of(an->r->arena, struct result);
	struct event shown = *ev;

	*r = *ev->result;
	if (r->outputs && r->outputs->next)
		r->files = cite_existing(an->r, r->files);
	shown.result = r;
	return sink_emit(&an->job->encoder, &shown);
}

static int on_event(void *ctx, const struct event *ev)
{
	struct answer *an = ctx;

	if (ev->type == EVENT_RESULT)
		return on_result(an, ev);

	if (ev->type == EVENT_FAILED)
		return on_failed(an, ev);
	if (!an->job->streamed && ev->type == EVENT_IDLE)
		return http_client_gone(an->r) ? ERR_CLIENT_GONE : 0;
	return sink_emit(&an->job->encoder, ev);
}

/* The container's row lists it and keeps it from being deleted as unused. */
static int on_used(void *ctx, const char *container_id)
{
	const struct answer *an = ctx;
	const struct principal *p = api_principal(an->r);
	int sleep_after = tool_sleep_after(api_env()->conf, &an->job->turn->environment);
	struct err e = {0};
	int rc = store_container_touch(
		api_env()->store, p->workspace.id, container_id, sleep_after, &e);

	if (rc < 0)
		log_error("container %s is not noted: %s", container_id, e.message);
	return rc;
}

static void set_generation_id(struct req *r)
{
	char *prefix = arena_printf(r->arena, "gen-%lld-", (long long)time(NULL));

	http_set_header(r, "X-Generation-Id", id_new(r->arena, prefix, 10));
}

int stream_answer(struct req *r, const struct stream_job *job, struct err *e)
{
	struct answer an = {.r = r, .job = job};
	const struct sink s = {on_event, &an};
	const struct agent ag = {
		.arena = r->arena,
		.conf = api_env()->conf,
		.workspace = api_principal(r)->workspace.slug,
		.request_id = r->id,
		.client_fd = http_client_fd(r),
		.used = on_used,
		.used_ctx = &an,
	};
	int rc;

	set_generation_id(r);
	rc = agent_run(&ag, job->turn, &s, e);
	if (job->streamed && http_begun(r))
		return 0; /* the encoder has said all that there is, or nobody listens */
	if (rc < 0)
		return rc;
	if (an.failed.code != ERR_OK) {
		*e = an.failed;
		/* The SDKs would run the commands once more. */
		if (an.tools_used)
			http_set_header(r, "x-should-retry", "false");
		return an.failed.code;
	}
	return http_send_json(r, 200, job->object(job->encoder.ctx));
}
