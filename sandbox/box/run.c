/* run: the life of one command. SPDX-License-Identifier: ISC */
#include "sandbox/box/run.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "sandbox/box/box.h"
#include "sandbox/box/save.h"
#include "sandbox/sys/io.h"
#include "sandbox/sys/log.h"
#include "sandbox/wire/box.h"

#define ENV_MS     30000 /* for boxd to make an environment */
#define KILL_MS    10000 /* for init to end what a command started */
#define SILENCE_MS 100   /* of output, after which a pipe still held is given up */
#define DRAIN_MS   1000  /* for output that never falls silent */

void run_init(struct run *r)
{
	*r = (struct run){.state = RUN_NONE, .out = {.fd = -1}, .err = {.fd = -1}};
}

/* -- the answer --------------------------------------------------------------- */

static void answer(struct box *b, struct wire_done *d, const struct buf *text)
{
	struct conn *c = b->run.job->conn;
	int fd = -1;

	if (!c)
		return;
	if (text && text->len) {
		fd = io_memfd("output", text->data, text->len);
		if (fd < 0) {
			log_error("no memory for a command's output: %s", strerror(errno));
			d->out_len = d->err_len = 0;
			d->outcome = WIRE_FAILED;
			d->code = ENOMEM;
			d->error = "no memory for the command's output";
		}
	}
	wire_exec_done(&b->out, d);
	(void)conn_send(b, c, &b->out, fd);
	io_close(&fd);
}

/* The books are closed: room for the next command. */
static void finish(struct box *b)
{
	struct run *r = &b->run;
	struct job *j = r->job;

	b->sleep_after_ms = (int64_t)j->exec.sleep_after * 1000;
	b->idle_at = io_now_ms() + b->sleep_after_ms;
	pump_close(&r->out);
	pump_close(&r->err);
	log_request(NULL);
	r->job = NULL;
	r->state = RUN_NONE;
	conn_end(&b->conns, j);
}

/* The command could not run, or was lost while it ran. */
static void fail(struct box *b, int code, const char *text)
{
	struct wire_done d = {.found = b->found,
		.outcome = WIRE_FAILED,
		.code = (uint32_t)code,
		.commit = "",
		.error = text};

	log_error("a command failed: %s", text);
	b->run.state =
		RUN_DRAIN; /* nothing is left to be abandoned, should the app be found gone */
	answer(b, &d, NULL);
	finish(b);
}

/* -- the end -------------------------------------------------------------------- */

static void set_outcome(const struct run *r, struct wire_done *d)
{
	bool clean = r->how.how == WIRE_HOW_EXIT && r->how.code == 0;

	d->code = 0;
	if (r->how.how == WIRE_HOW_ERROR) {
		d->outcome = WIRE_FAILED;
		d->code = r->how.code;
	} else if (r->timed_out) {
		d->outcome = WIRE_TIMEOUT;
	} else if (r->how.out_of_memory && !clean) {
		d->outcome = WIRE_OUT_OF_MEMORY;
	} else {
		d->outcome = r->how.how == WIRE_HOW_EXIT ? WIRE_EXIT : WIRE_SIGNAL;
		d->code = r->how.code;
	}
}

/* The outcome in a commit's words. */
static void name_outcome(const struct wire_done *d, char *text, size_t size)
{
	const char *name;

	switch ((enum wire_outcome)d->outcome) {
	case WIRE_EXIT:
		(void)snprintf(text, size, "exit %u", d->code);
		return;
	case WIRE_SIGNAL:
		name = sigabbrev_np((int)d->code);
		if (name)
			(void)snprintf(text, size, "signal SIG%s", name);
		else
			(void)snprintf(text, size, "signal %u", d->code);
		return;
	case WIRE_TIMEOUT:
		(void)snprintf(text, size, "timeout");
		return;
	case WIRE_OUT_OF_MEMORY:
		(void)snprintf(text, size, "out_of_memory");
		return;
	case WIRE_FAILED:
	case WIRE_OUTCOME__MAX:
		break;
	}
	(void)snprintf(text, size, "failed");
}

static void save(struct box *b, struct wire_done *d, struct saved *s)
{
	const struct wire_exec *x = &b->run.job->exec;
	char outcome[32], email[96];

	name_outcome(d, outcome, sizeof(outcome));
	(void)snprintf(email, sizeof(email), "%s@%s", b->container, b->workspace);
	struct home_commit_info info = {.tool = x->tool,
		.email = email,
		.command = x->command,
		.outcome = outcome,
		.request_id = *x->request_id ? x->request_id : NULL,
		.duration_ms = (int64_t)(d->duration_us / 1000),
		.time = time(NULL),
		.durable = b->durable};
	(void)save_home(b, &info, s);
	save_tell(s, d);
}

static void complete(struct box *b)
{
	struct run *r = &b->run;
	struct wire_done d = {.found = b->found, .commit = "", .error = ""};
	struct saved s = {0};
	struct buf text;
	char why[128];

	set_outcome(r, &d);
	d.duration_us = (uint64_t)(r->ended_us - r->began_us);
	d.background_output_open = r->out.fd >= 0 || r->err.fd >= 0;
	/* A character takes at most four bytes. */
	buf_init(&text, 2 * 4 * (size_t)WIRE_OUTPUT_MAX);
	bool kept = !capture_finish(&r->out.capture, &text, &d.out_omitted);
	d.out_len = text.len;
	kept = kept && !capture_finish(&r->err.capture, &text, &d.err_omitted);
	d.err_len = text.len - d.out_len;
	struct pump *pumps[] = {&r->out, &r->err};
	for (int k = 0; k < 2; k++) {
		if (pumps[k]->fd >= 0)
			leftovers_add(&b->leftovers, pumps[k]->fd);
		pumps[k]->fd = -1;
	}
	save(b, &d, &s);
	if (d.outcome == WIRE_FAILED) {
		(void)snprintf(why, sizeof(why), "the command could not be started: %s",
			strerror((int)d.code));
		d.error = why;
	} else if (!kept) {
		d.outcome = WIRE_FAILED;
		d.code = ENOMEM;
		d.out_len = d.err_len = 0;
		d.error = "no memory for the command's output";
	}
	answer(b, &d, kept ? &text : NULL);
	b->found = WIRE_WARM;
	save_free(&s);
	buf_free(&text);
	finish(b);
}

static void drain(struct box *b)
{
	struct run *r = &b->run;
	bool came = pump_read(&r->out);
	int64_t now;

	came = pump_read(&r->err) || came;
	if (r->out.fd < 0 && r->err.fd < 0) {
		complete(b);
		return;
	}
	now = io_now_ms();
	if (came)
		r->silent_at = now + SILENCE_MS;
	if (now >= r->silent_at || now >= r->until)
		complete(b);
}

static void ended(struct box *b)
{
	struct run *r = &b->run;

	if (!r->exited || (r->killing && !r->killed))
		return;
	r->state = RUN_DRAIN;
	r->silent_at = io_now_ms() + SILENCE_MS;
	r->until = io_now_ms() + DRAIN_MS;
	drain(b);
}

static void lose(struct box *b, struct env *e, const char *why)
{
	log_error("the %s environment is lost: %s", e == b->env ? "shell" : "bash", why);
	env_close(e);
	run_env_lost(b, e);
}

static void kill_it(struct box *b)
{
	struct run *r = &b->run;

	if (r->state != RUN_ON || r->killing)
		return;
	r->killing = true;
	r->until = io_now_ms() + KILL_MS;
	wire_number(&b->out, WIRE_KILL, r->id);
	if (env_send(r->env, &b->out, NULL, 0))
		lose(b, r->env, strerror(errno));
}

/* -- the beginning -------------------------------------------------------------- */

static void tell_init(struct box *b, const int fds[3])
{
	struct run *r = &b->run;
	const struct wire_exec *x = &r->job->exec;
	struct wire_run m = {.id = r->id, .command = x->command, .cwd = x->cwd, .nenv = x->nenv};

	memcpy(m.envp, x->envp, sizeof(m.envp));
	wire_run(&b->out, &m);
	r->state = RUN_ON;
	r->began_us = io_now_us();
	r->until = r->began_us / 1000 + x->timeout_ms;
	if (env_send(r->env, &b->out, fds, 3))
		lose(b, r->env, strerror(errno));
}

/* The command's input if it is something that can be read to an end; /dev/null otherwise. */
static int take_input(const struct box *b, struct job *j)
{
	struct stat st;
	int fd = wire_take_fd(&j->in, 0);

	if (fd >= 0 && (fstat(fd, &st) || !S_ISREG(st.st_mode)))
		io_close(&fd);
	return fd >= 0 ? fd : b->null;
}

static void start(struct box *b)
{
	struct run *r = &b->run;
	int fds[3] = {-1, -1, -1};
	uint32_t max = r->job->exec.max_output;
	/* An app that has gone by now may send the command again elsewhere: it must not run here. */
	wire_empty(&b->out, WIRE_STARTED);
	if (conn_send(b, r->job->conn, &b->out, -1))
		return;
	if (pump_open(&r->out, &fds[1], max) || pump_open(&r->err, &fds[2], max)) {
		fail(b, errno, "no pipe for the command's output");
	} else {
		fds[0] = take_input(b, r->job);
		tell_init(b, fds);
		if (fds[0] != b->null)
			io_close(&fds[0]);
	}
	io_close(&fds[1]);
	io_close(&fds[2]);
}

static void begin(struct box *b, struct job *j)
{
	struct run *r = &b->run;
	uint32_t id = r->id;

	run_init(r);
	r->id = id + 1;
	r->job = j;
	r->env = &b->env[j->exec.env];
	log_request(j->exec.request_id);
	if (*b->trouble) {
		fail(b, 0, b->trouble);
	} else if (r->env->fd >= 0) {
		start(b);
	} else if (b->control < 0 || r->env == b->env) {
		fail(b, 0, "the sandbox is ending");
	} else {
		r->state = RUN_ENV;
		r->until = io_now_ms() + ENV_MS;
		wire_want_env(&b->out);
		if (wire_send(b->control, &b->out, NULL, 0))
			fail(b, errno, "the sandbox for bash could not be asked for");
	}
}

void run_next(struct box *b)
{
	struct job *j;

	while (b->run.state == RUN_NONE && !b->stopping && !b->asked_at && !b->lost) {
		j = conn_next(&b->conns);
		if (!j)
			return;
		begin(b, j);
	}
}

/* -- what happens meanwhile -------------------------------------------------------- */

/* False when the message is one that nothing called for. */
static bool take_message(struct box *b)
{
	struct run *r = &b->run;
	enum wire_type type = wire_type(&b->in);
	struct wire_exited how;
	uint32_t id = 0;

	if (type == WIRE_EXITED) {
		if (wire_exited_get(&b->in, &how) || how.id != r->id || r->exited)
			return false;
		r->how = how;
		r->exited = true;
		r->ended_us = io_now_us();
		return true;
	}
	if (type != WIRE_RUNNING && type != WIRE_KILLED)
		return false;
	if (wire_number_get(&b->in, &id) || id != r->id)
		return false;
	if (type == WIRE_RUNNING) {
		if (r->running || r->exited)
			return false;
		r->running = true;
	} else {
		if (!r->killing || r->killed)
			return false;
		r->killed = true;
	}
	return true;
}

void run_message(struct box *b, struct env *e)
{
	if (b->run.state == RUN_ON && e == b->run.env && take_message(b))
		ended(b);
	else
		lose(b, e, "a message out of turn");
}

void run_env_lost(struct box *b, struct env *e)
{
	if (e == b->env)
		b->lost = true;
	if (b->run.state != RUN_NONE && (b->lost || e == b->run.env))
		fail(b, 0, "the sandbox broke down while the command ran");
}

void run_env_made(struct box *b)
{
	if (b->run.state != RUN_ENV)
		return;
	if (b->run.env->fd >= 0)
		start(b);
	else
		fail(b, 0, "the sandbox for bash could not be made");
}

void run_output(struct box *b)
{
	if (b->run.state == RUN_DRAIN) {
		drain(b);
	} else if (b->run.state == RUN_ON) {
		(void)pump_read(&b->run.out);
		(void)pump_read(&b->run.err);
	}
}

void run_tick(struct box *b)
{
	struct run *r = &b->run;

	if (io_now_ms() < run_due(b))
		return;
	if (r->state == RUN_DRAIN) {
		drain(b);
	} else if (r->state == RUN_ENV) {
		fail(b, 0, "the sandbox for bash was not made in time");
	} else if (r->killing) {
		lose(b, r->env, "what a command started does not end");
	} else {
		r->timed_out = true;
		kill_it(b);
	}
}

int64_t run_due(const struct box *b)
{
	const struct run *r = &b->run;

	if (r->state == RUN_NONE)
		return INT64_MAX;
	if (r->state == RUN_DRAIN && r->silent_at < r->until)
		return r->silent_at;
	return r->until;
}

void run_abandon(struct box *b)
{
	switch (b->run.state) {
	case RUN_NONE: /* if there is one, it is just being told that it starts */
	case RUN_ENV:
		if (b->run.job)
			finish(b);
		return;
	case RUN_ON:
		kill_it(b);
		return;
	case RUN_DRAIN:
		return;
	}
}
