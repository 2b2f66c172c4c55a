/* upstream: asking a model for one turn. SPDX-License-Identifier: ISC */
#include "app/upstream/upstream.h"

#include <signal.h>
#include <string.h>

#include "app/base/arena.h"
#include "app/dialect/chat.h"
#include "app/upstream/script.h"
#include "app/upstream/transfer.h"
#include "sandbox/sys/io.h"
#include "sandbox/sys/log.h"

#define RETRIES         2
#define BACK_OFF_MS     300 /* before the first retry; then four times as long */
#define RETRY_AFTER_MAX 5   /* seconds; a provider that wants longer is the client's to wait for */

/* One turn being asked for, over all its tries. */
struct asking {
	const struct turn *turn;
	const struct sink *out;
	struct transfer transfer;
	struct chat_in *in;
	struct err err;
	bool emitted; /* something of the answer: it can no longer be taken back */
	int broken;   /* what the sink failed with */
};

int upstream_global_init(void)
{
	/* A provider that hangs up must not end the process from within a write. */
	signal(SIGPIPE, SIG_IGN);
	return transfer_global_init();
}

static int pass(void *ctx, const struct event *ev)
{
	struct asking *q = ctx;
	if (ev->type != EVENT_IDLE)
		q->emitted = true;
	int rc = sink_emit(q->out, ev);
	q->transfer.quiet_since = io_now_ms();
	if (rc != 0)
		q->broken = rc;
	return rc;
}

static int heartbeat(void *ctx)
{
	return pass(ctx, &(struct event){.type = EVENT_IDLE});
}

static int receive(void *ctx, const char *p, size_t n)
{
	struct asking *q = ctx;
	return chat_in_feed(q->in, p, n, &q->err);
}

static bool complete(void *ctx)
{
	const struct asking *q = ctx;
	return chat_in_done(q->in);
}

/* One try: send, receive, put together. */
static int try_once(struct asking *q)
{
	struct transfer *t = &q->transfer;
	const struct sink s = {pass, q};
	struct arena *scratch = arena_new();

	q->in = chat_in_new(scratch, q->turn, &s);
	q->err = (struct err){0};
	t->status = t->retry_after = 0;
	t->unconnected = false;
	buf_reset(&t->failed);
	int rc = transfer_run(t, &q->err);
	if (rc == 0 && (t->status < 200 || t->status > 299)) {
		rc = chat_error(&q->err, t->status, buf_str(&t->failed), t->failed.len);
		q->err.retry_after = t->retry_after;
	} else if (rc == 0) {
		rc = chat_in_end(q->in, &q->err);
	}
	arena_free(scratch);
	return rc;
}

static bool worth_another(const struct asking *q, int rc)
{
	if (q->emitted || q->broken != 0 || rc == ERR_CLIENT_GONE)
		return false;
	if (q->transfer.retry_after > RETRY_AFTER_MAX)
		return false;
	return q->transfer.unconnected || q->transfer.status == 502 || rc == ERR_RATE_LIMITED ||
		rc == ERR_PROVIDER_OVERLOADED;
}

/* Requests that failed together should not come back together. */
static int64_t back_off(const struct asking *q, int tries)
{
	if (q->transfer.retry_after > 0)
		return q->transfer.retry_after * (int64_t)1000;
	int64_t ms = BACK_OFF_MS;
	for (int i = 0; i < tries; i++)
		ms *= 4;
	return ms + io_now_us() % (ms / 2);
}

static int ask(struct asking *q)
{
	const char *provider = q->transfer.provider->name;
	for (int tries = 0;; tries++) {
		int rc = try_once(q);
		if (rc == 0 || q->broken != 0 || rc == ERR_CLIENT_GONE)
			return rc;
		log_warn("provider %s: %s", provider, q->err.message);
		if (tries == RETRIES || !worth_another(q, rc))
			return rc;
		struct err why = {0};
		rc = transfer_pause(&q->transfer, back_off(q, tries), &why);
		if (rc == 0)
			continue;
		if (rc != ERR_TIMEOUT) /* else the failure itself says more */
			q->err = why;
		return q->err.code != ERR_OK ? (int)q->err.code : rc;
	}
}

static int chat_turn(const struct conf *c, const struct conf_provider *p, const struct turn *t,
	const char *name, struct asking *q)
{
	struct arena *scratch = arena_new();
	const int64_t now = io_now_ms();
	char *body = chat_encode(scratch, t, name);
	int rc;

	if (body == NULL) {
		rc = err_set(&q->err, ERR_PAYLOAD_TOO_LARGE, NULL,
			"the conversation is too large to be sent to a model");
		arena_free(scratch);
		return rc;
	}
	q->transfer.conf = c;
	q->transfer.provider = p;
	q->transfer.body = body;
	q->transfer.body_len = strlen(body);
	q->transfer.deadline_ms =
		c->upstream_total_timeout_ms > 0 ? now + c->upstream_total_timeout_ms : 0;
	q->transfer.quiet_since = now;
	q->transfer.receive = receive;
	q->transfer.complete = complete;
	q->transfer.idle = heartbeat;
	q->transfer.ctx = q;
	buf_init(&q->transfer.failed, TRANSFER_ERROR_MAX);
	rc = ask(q);
	buf_free(&q->transfer.failed);
	arena_free(scratch);
	return rc;
}

int upstream_turn(const struct conf *c, const struct turn *t, const struct sink *s, int client_fd,
	struct err *e)
{
	struct asking q = {.turn = t, .out = s, .transfer = {.client_fd = client_fd}};
	const char *name;
	const struct conf_provider *p = upstream_find(c, t->model, &name, t->arena, &q.err);
	int rc;

	if (p == NULL)
		rc = (int)q.err.code;
	else if (strcmp(p->protocol, "script") == 0)
		rc = script_turn(t, s, &q.err);
	else
		rc = chat_turn(c, p, t, name, &q);
	if (rc != 0 && e != NULL) {
		*e = q.err;
		e->code = (enum err_code)rc;
	}
	return rc;
}
