/* worker: processes and threads that serve requests. SPDX-License-Identifier: ISC */
#include "app/worker.h"

#include <errno.h>
#include <fcgiapp.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "app/http/http.h"
#include "app/http/listen.h"
#include "sandbox/sys/io.h"
#include "sandbox/sys/log.h"

enum {
	STACK_BYTES = 1 << 20,
	QUICK_MS = 5000, /* a process that lived shorter crashed at once */
	PAUSE_FIRST_MS = 100,
	PAUSE_MOST_MS = 5000,
	KILL_AFTER_MS = 2000, /* beyond drain_seconds */
};

/* All that a process waits for with sigtimedwait; threads never see them, as libfcgi fails on EINTR. */
static void block_signals(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGTERM);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGCHLD);
	sigaddset(set, SIGHUP);
	sigaddset(set, SIGUSR1);
	sigaddset(set, SIGUSR2);
	sigprocmask(SIG_BLOCK, set, NULL);
	signal(SIGPIPE, SIG_IGN);
}

/* The next signal of the set, or 0 when timeout_ms (-1: never) has passed. */
static int next_signal(const sigset_t *set, int64_t timeout_ms)
{
	struct timespec ts = {.tv_sec = timeout_ms / 1000, .tv_nsec = timeout_ms % 1000 * 1000000};
	int sig;

	do
		sig = timeout_ms < 0 ? sigwaitinfo(set, NULL) : sigtimedwait(set, NULL, &ts);
	while (sig < 0 && errno == EINTR);
	return sig < 0 ? 0 : sig;
}

/* -- one process ---------------------------------------------------------- */

struct crew {
	const struct worker *w;
	int stop; /* eventfd, readable once no more requests are wanted */
	pthread_t *threads;
	int started;
};

static void serve_connection(const struct worker *w, FCGX_Request *f, int fd)
{
	struct req *r;

	/* No request: a health check that only connects, or a web server that gave up. */
	if (http_accept(f, fd) < 0)
		return;
	r = http_begin(f);
	w->serve(r);
	http_end(r);
}

static void *thread_main(void *p)
{
	struct crew *crew = p;
	const struct worker *w = crew->w;
	FCGX_Request f = {0};
	struct http_door door;
	int fd;

	if ((w->enter && w->enter(w->ctx) < 0) ||
		http_door_open(&door, w->listener, crew->stop) < 0) {
		/* The supervisor starts another process, with a pause. */
		log_error("a thread cannot start: %s", strerror(errno));
		_exit(1);
	}
	while ((fd = http_door_wait(&door)) >= 0)
		serve_connection(w, &f, fd);
	http_door_close(&door);
	if (w->leave)
		w->leave(w->ctx);
	return NULL;
}

static int start_threads(struct crew *crew)
{
	pthread_attr_t attr;
	int rc = 0;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	for (crew->started = 0; crew->started < crew->w->threads; crew->started++) {
		rc = pthread_create(&crew->threads[crew->started], &attr, thread_main, crew);
		if (rc != 0) {
			log_error("pthread_create: %s", strerror(rc));
			break;
		}
	}
	pthread_attr_destroy(&attr);
	return rc == 0 ? 0 : -1;
}

/* Waits for the threads to finish what they serve. True if all did in time. */
static bool drain(struct crew *crew)
{
	const uint64_t one = 1;
	struct timespec until;
	int i, left = 0;

	io_write_full(crew->stop, &one, sizeof one);
	clock_gettime(CLOCK_MONOTONIC, &until);
	/* Idle threads need a moment to see it, even if drain_seconds is 0. */
	until.tv_sec += crew->w->drain_seconds + 1;
	for (i = 0; i < crew->started; i++)
		if (pthread_clockjoin_np(crew->threads[i], NULL, CLOCK_MONOTONIC, &until) != 0)
			left++;
	if (left > 0)
		log_warn("%d requests were cut off after %d s", left, crew->w->drain_seconds);
	return left == 0;
}

int worker_run(const struct worker *w)
{
	struct crew crew = {.w = w, .stop = -1};
	sigset_t set;
	int status = 1, sig;

	block_signals(&set);
	crew.threads = calloc((size_t)w->threads, sizeof *crew.threads);
	crew.stop = eventfd(0, EFD_CLOEXEC);
	if (!crew.threads || crew.stop < 0 || http_init() < 0) {
		log_error("a process cannot start: %s", strerror(errno));
		goto out;
	}
	if ((w->start && w->start(w->ctx) < 0) || start_threads(&crew) < 0)
		goto out;
	do
		sig = next_signal(&set, -1);
	while (sig != SIGTERM && sig != SIGINT);
	status = drain(&crew) ? 0 : 2;
out:
	/* While threads still run, what they use stays. */
	if (status == 0) {
		io_close(&crew.stop);
		free(crew.threads);
	}
	return status;
}

/* -- all processes -------------------------------------------------------- */

struct slot {
	pid_t pid; /* 0: none */
	int64_t started_ms, due_ms, pause_ms;
};

struct team {
	const struct worker *w;
	struct slot *slots;
	sigset_t set;
};

static void start_process(struct team *t, struct slot *s)
{
	pid_t parent = getpid(), pid = fork();

	if (pid == 0) {
		/* A process without its supervisor has nobody to end it. */
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		if (getppid() != parent)
			_exit(1);
		/* Not exit: nothing of the supervisor's is to be run or flushed here. */
		_exit(worker_run(t->w));
	}
	s->started_ms = io_now_ms();
	s->pid = pid > 0 ? pid : 0;
	if (pid < 0) {
		log_error("fork: %s", strerror(errno));
		s->due_ms = s->started_ms + PAUSE_MOST_MS;
	}
}

static void describe_end(pid_t pid, int status)
{
	if (WIFSIGNALED(status))
		log_error("process %d was killed by signal %d (%s)", (int)pid, WTERMSIG(status),
			strsignal(WTERMSIG(status)));
	else if (WEXITSTATUS(status) != 0)
		log_error("process %d ended with status %d", (int)pid, WEXITSTATUS(status));
	else
		log_info("process %d has ended", (int)pid);
}

/* Reaps; each slot that lost its process is due again after a pause, longer each time that it lived only shortly. */
static void reap(struct team *t)
{
	int64_t now = io_now_ms();
	int status, i;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		for (i = 0; i < t->w->processes; i++) {
			struct slot *s = &t->slots[i];

			if (s->pid != pid)
				continue;
			describe_end(pid, status);
			s->pid = 0;
			if (now - s->started_ms >= QUICK_MS)
				s->pause_ms = 0;
			s->due_ms = now + s->pause_ms;
			s->pause_ms = s->pause_ms ? s->pause_ms * 2 : PAUSE_FIRST_MS;
			if (s->pause_ms > PAUSE_MOST_MS)
				s->pause_ms = PAUSE_MOST_MS;
		}
	}
}

/* Starts what is due; milliseconds until the next is, -1 if none waits. */
static int64_t start_due(struct team *t)
{
	int64_t now = io_now_ms(), wait = -1;
	int i;

	for (i = 0; i < t->w->processes; i++) {
		struct slot *s = &t->slots[i];

		if (s->pid == 0 && s->due_ms <= now)
			start_process(t, s);
		if (s->pid == 0 && (wait < 0 || s->due_ms - now < wait))
			wait = s->due_ms > now ? s->due_ms - now : 0;
	}
	return wait;
}

static int signal_all(const struct team *t, int sig)
{
	int i, n = 0;

	for (i = 0; i < t->w->processes; i++) {
		if (t->slots[i].pid > 0) {
			n++;
			if (sig != 0)
				kill(t->slots[i].pid, sig);
		}
	}
	return n;
}

/* Until no process is left: lets them drain, then kills. */
static void shut_down(struct team *t)
{
	int64_t until = io_now_ms() + t->w->drain_seconds * 1000LL + KILL_AFTER_MS, left;
	int sig;

	log_info("stopping: requests that run have %d s", t->w->drain_seconds);
	signal_all(t, SIGTERM);
	while (reap(t), signal_all(t, 0) > 0) {
		left = until - io_now_ms();
		sig = next_signal(&t->set, left > 0 ? left : 0);
		if (sig == SIGTERM || sig == SIGINT || (sig == 0 && left <= 0)) {
			signal_all(t, SIGKILL);
			until = io_now_ms() + KILL_AFTER_MS;
		}
	}
	log_info("stopped");
}

int worker_supervise(const struct worker *w)
{
	struct team t = {.w = w};
	int sig;

	block_signals(&t.set);
	t.slots = calloc((size_t)w->processes, sizeof *t.slots);
	if (!t.slots)
		return 1;
	do {
		reap(&t);
		sig = next_signal(&t.set, start_due(&t));
		if (sig == SIGHUP)
			log_info("SIGHUP is ignored: settings are read at the start only");
	} while (sig != SIGTERM && sig != SIGINT);
	shut_down(&t);
	free(t.slots);
	return 0;
}
