/* sandgate-box: the keeper of one awake container. SPDX-License-Identifier: ISC */

/*
 * Theory of operation
 *
 * One process for each awake container, started by boxd as the service user, single-threaded, one
 * poll loop. It never sees a tenant's file by name: what it knows of the home it is told by the
 * init of the container, and every word of an init is checked as if the tenant had said it.
 *
 *   descriptor 3   channel to boxd: START, then ATTACH, ENV, STOP come in; WANT_ENV, IDLE go out
 *   env[SHELL]     channel to the init of the shell environment, with START; also tells the changes
 *   env[BASH]      channel to the init of the bash environment, asked for when first needed
 *   connections    one for each app that holds a lease, by ATTACH: EXEC in, STARTED and DONE out
 *   pipes          output of the running command, and those that background processes still hold
 *
 * Life: give up what is not needed (lock.c) → START → load the files of the newest commit (wake.c)
 * → serve commands one after another (conn.c: the queue; run.c: one command; pump.c, capture.c: its
 * output; save.c: its commit) → idle for long enough: IDLE to boxd, which says STOP, or sends a new
 * connection that crossed it → last commit → exit 0. The end of the channel to boxd and SIGTERM are
 * like STOP; a running command is killed then, saved and answered.
 *
 * Loading and saving block the loop: nothing could be served meanwhile. Every wait for an init has
 * an end; an init that is late, has died or talks out of turn ends the box with status 1. boxd then
 * takes the container down, and the next lease wakes it from its last commit.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "sandbox/box/box.h"
#include "sandbox/box/lock.h"
#include "sandbox/box/save.h"
#include "sandbox/box/wake.h"
#include "sandbox/sys/io.h"
#include "sandbox/sys/log.h"
#include "sandbox/wire/box.h"

#define CONTROL     3
#define ATTACH_MS   2000 /* an app that has just come is about to ask for something */
#define ANSWER_MS   5000 /* for boxd to answer IDLE with STOP or ATTACH */
#define TROUBLE_MS  5000 /* for an app to come and hear why the box cannot serve */
#define WATCHES_MAX (1 + WIRE_ENV__MAX + 2 + LEFTOVERS_MAX + CONNS_MAX)

static struct box box;
static volatile sig_atomic_t terminated;

static void on_term(int sig)
{
	(void)sig;
	terminated = 1;
}

static void set_signals(void)
{
	struct sigaction sa = {.sa_handler = on_term};
	sigset_t term;

	/* SIGTERM is let in only while the loop waits. */
	(void)sigemptyset(&term);
	(void)sigaddset(&term, SIGTERM);
	if (sigprocmask(SIG_SETMASK, &term, NULL) || sigaction(SIGTERM, &sa, NULL))
		log_die("signals: %s", strerror(errno));
	sa.sa_handler = SIG_IGN;
	(void)sigaction(SIGPIPE, &sa, NULL);
	(void)sigaction(SIGINT, &sa, NULL);
	(void)sigaction(SIGHUP, &sa, NULL);
}

/* -- boxd ------------------------------------------------------------------------- */

static char *keep(const char *s)
{
	char *copy = strdup(s);

	if (!copy)
		log_die("no memory");
	return copy;
}

static void receive_start(struct box *b)
{
	struct wire_start m;
	int rc = wire_recv(b->control, &b->in);

	if (rc == 0)
		exit(0); /* boxd has gone before it said anything */
	if (rc < 0 || wire_start_get(&b->in, &m) || b->in.nfds != 1)
		log_die("no start message: %s", rc < 0 ? strerror(errno) : "malformed");
	b->workspace = keep(m.workspace);
	b->container = keep(m.container);
	b->repository = keep(m.repository);
	b->sleep_after_ms = (int64_t)m.sleep_after * 1000;
	b->durable = m.durable;
	env_open(&b->env[WIRE_ENV_SHELL], wire_take_fd(&b->in, 0));
}

static void stop(struct box *b, const char *why)
{
	if (b->stopping)
		return;
	log_debug("%s/%s ends: %s", b->workspace, b->container, why);
	b->stopping = true;
	run_abandon(b);
}

static void lose_control(struct box *b, const char *why)
{
	io_close(&b->control);
	stop(b, why);
}

static void attach(struct box *b)
{
	int fd = wire_take_fd(&b->in, 0);
	int64_t soon = io_now_ms() + ATTACH_MS;

	b->attached++;
	b->asked_at = 0;
	if (b->idle_at < soon)
		b->idle_at = soon;
	if (fd >= 0)
		conn_attach(b, fd);
}

static void made_env(struct box *b)
{
	int fd = wire_take_fd(&b->in, 0);
	struct env *e = &b->env[WIRE_ENV_BASH];

	if (fd >= 0) {
		env_close(e);
		env_open(e, fd);
	}
	run_env_made(b);
}

static void control_ready(struct box *b)
{
	int rc = wire_recv(b->control, &b->in);

	if (rc < 0 && errno == EAGAIN)
		return;
	if (rc <= 0 || !wire_done(&b->in)) {
		lose_control(b, "boxd has gone");
		return;
	}
	enum wire_type type = wire_type(&b->in);
	if (type == WIRE_ATTACH)
		attach(b);
	else if (type == WIRE_ENV)
		made_env(b);
	else if (type == WIRE_STOP)
		stop(b, "boxd says so");
	else
		lose_control(b, "boxd sent what it never should");
}

/* -- idle --------------------------------------------------------------------------- */

static bool busy(const struct box *b)
{
	return b->run.state != RUN_NONE || (b->conns.queue && !b->asked_at);
}

static int64_t idle_due(const struct box *b)
{
	if (b->stopping || busy(b))
		return INT64_MAX;
	return b->asked_at ? b->asked_at + ANSWER_MS : b->idle_at;
}

/* While boxd decides, no command starts: it either stops us, or a new connection tells that it will not. */
static void idle_tick(struct box *b)
{
	if (io_now_ms() < idle_due(b))
		return;
	if (b->asked_at) {
		log_warn("boxd does not answer to being idle");
		b->asked_at = 0;
		b->idle_at = io_now_ms() + b->sleep_after_ms;
		return;
	}
	b->asked_at = io_now_ms();
	wire_idle(&b->out, b->attached);
	if (wire_send(b->control, &b->out, NULL, 0) && errno != EAGAIN)
		lose_control(b, "boxd has gone");
}

/* -- the loop ------------------------------------------------------------------------- */

enum watch_kind { WATCH_CONTROL, WATCH_ENV, WATCH_OUTPUT, WATCH_LEFTOVER, WATCH_CONN };

struct watches {
	struct pollfd fds[WATCHES_MAX];
	struct watch {
		enum watch_kind kind;
		unsigned index;
		struct conn *conn;
	} of[WATCHES_MAX];
	nfds_t n;
	int64_t due; /* io_now_ms */
};

static void watch(struct watches *w, int fd, short events, struct watch of)
{
	if (fd < 0 || w->n == WATCHES_MAX)
		return;
	w->fds[w->n] = (struct pollfd){.fd = fd, .events = events};
	w->of[w->n++] = of;
}

static void due(struct watches *w, int64_t at)
{
	if (at < w->due)
		w->due = at;
}

static void collect(struct box *b, struct watches *w)
{
	int64_t now = io_now_ms();

	w->n = 0;
	w->due = INT64_MAX;
	watch(w, b->control, POLLIN, (struct watch){WATCH_CONTROL, 0, NULL});
	/* Before the ends of commands are heard of, what they wrote is read. */
	watch(w, b->run.out.fd, POLLIN, (struct watch){WATCH_OUTPUT, 0, NULL});
	watch(w, b->run.err.fd, POLLIN, (struct watch){WATCH_OUTPUT, 1, NULL});
	for (unsigned i = 0; i < WIRE_ENV__MAX; i++)
		watch(w, b->env[i].fd, POLLIN, (struct watch){WATCH_ENV, i, NULL});
	for (unsigned i = 0; i < b->leftovers.n; i++) {
		struct leftover *l = &b->leftovers.at[i];
		if (l->rest_until > now)
			due(w, l->rest_until);
		else
			watch(w, l->fd, POLLIN, (struct watch){WATCH_LEFTOVER, i, NULL});
	}
	for (struct conn *c = b->conns.first; c; c = c->next)
		watch(w, c->fd, conn_events(c), (struct watch){WATCH_CONN, 0, c});
	due(w, run_due(b));
	due(w, idle_due(b));
}

static void env_ready(struct box *b, struct env *e)
{
	int rc = env_recv(e, &b->in, 0);

	if (rc > 0) {
		run_message(b, e);
	} else if (rc < 0 && e->fd >= 0) {
		log_error("an environment has gone: %s", strerror(errno));
		env_close(e);
		run_env_lost(b, e);
	}
}

static void dispatch(struct box *b, const struct watches *w)
{
	for (nfds_t k = 0; k < w->n; k++) {
		const struct pollfd *p = &w->fds[k];
		const struct watch *of = &w->of[k];
		if (!p->revents)
			continue;
		switch (of->kind) {
		case WATCH_CONTROL:
			if (p->fd == b->control)
				control_ready(b);
			break;
		case WATCH_OUTPUT:
			run_output(b);
			break;
		case WATCH_ENV:
			if (p->fd == b->env[of->index].fd)
				env_ready(b, &b->env[of->index]);
			break;
		case WATCH_LEFTOVER:
			if (p->fd == b->leftovers.at[of->index].fd)
				leftovers_read(&b->leftovers, of->index, io_now_ms());
			break;
		case WATCH_CONN:
			if (p->fd == of->conn->fd)
				conn_ready(b, of->conn, p->revents);
			break;
		}
	}
}

static void wait_events(struct watches *w)
{
	sigset_t none;
	struct timespec ts, *timeout = NULL;
	int64_t left;

	(void)sigemptyset(&none);
	if (w->due != INT64_MAX) {
		left = w->due - io_now_ms();
		left = left > 0 ? left : 0;
		ts = (struct timespec){left / 1000, (left % 1000) * 1000000};
		timeout = &ts;
	}
	if (ppoll(w->fds, w->n, timeout, &none) < 0)
		w->n = 0; /* EINTR; nothing else can be */
}

/* Until the box must end: nothing runs then, and boxd, SIGTERM or an init that is gone asked for it. */
static void serve(struct box *b)
{
	static struct watches w;

	for (;;) {
		run_next(b);
		if (b->lost || (b->stopping && b->run.state == RUN_NONE))
			return;
		collect(b, &w);
		wait_events(&w);
		dispatch(b, &w);
		if (terminated)
			stop(b, "terminated");
		run_tick(b);
		idle_tick(b);
		leftovers_sweep(&b->leftovers);
		conn_sweep(&b->conns);
	}
}

/* The files could not be loaded: whoever comes is told, then the box makes room for another try. */
static void apologise(struct box *b)
{
	static struct watches w;
	int64_t until = io_now_ms() + TROUBLE_MS;
	uint32_t id = b->run.id;

	env_close(&b->env[WIRE_ENV_SHELL]);
	while (io_now_ms() < until && b->run.id == id && !b->stopping) {
		collect(b, &w);
		due(&w, until);
		wait_events(&w);
		dispatch(b, &w);
		run_next(b);
		conn_sweep(&b->conns);
	}
}

static void last_save(struct box *b)
{
	struct saved s = {0};
	char email[96];

	(void)snprintf(email, sizeof(email), "%s@%s", b->container, b->workspace);
	struct home_commit_info info = {.tool = "sleep",
		.email = email,
		.duration_ms = -1,
		.time = time(NULL),
		.durable = b->durable};
	/*
	 * A store through a mapping that is already writable moves no time stamp, so what a process left
	 * in the background did to a file can escape every scan but one that reads all.
	 */
	b->scan_files = b->found == WIRE_WARM;
	(void)save_home(b, &info, &s);
	save_free(&s);
}

int main(void)
{
	struct box *b = &box;

	log_open("sandgate-box", LOG_INFO);
	set_signals();
	lock_process();
	if (home_global_init())
		log_die("%s", home_error());
	b->control = CONTROL;
	b->null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (b->null < 0)
		log_die("/dev/null: %s", strerror(errno));
	for (int i = 0; i < WIRE_ENV__MAX; i++)
		b->env[i].fd = -1;
	run_init(&b->run);
	conn_init(&b->conns);
	receive_start(b);
	lock_files(b->repository);
	(void)io_set_nonblocking(b->control, true);
	b->idle_at = io_now_ms() + b->sleep_after_ms;
	if (wake_home(b)) {
		apologise(b);
		return 1;
	}
	serve(b);
	if (b->lost)
		return 1;
	last_save(b);
	return b->lost ? 1 : 0;
}
