/* worker: processes and threads that serve requests. SPDX-License-Identifier: ISC */
#ifndef APP_WORKER_H
#define APP_WORKER_H

struct req;

/* What is served, and by how many. Borrowed until the functions below return. */
struct worker {
	int listener; /* from http_listen */
	int processes, threads;
	int drain_seconds; /* how long running requests may go on after SIGTERM */
	/* Once a process, before its threads. 0, or -1: the process ends with status 1. May be NULL. */
	int (*start)(void *ctx);
	/* Once a thread, before its first request, and after its last. As start; may be NULL. */
	int (*enter)(void *ctx);
	void (*leave)(void *ctx);
	/* One request, between http_begin and http_end. */
	void (*serve)(struct req *r);
	void *ctx;
};

/*
 * Runs the processes and starts another one when one crashes, with a growing pause if it crashes at
 * once. SIGTERM or SIGINT: lets all drain, and kills what outlives drain_seconds by two; a second one kills at once.
 * Returns the exit status of the program. Signals are blocked while it runs and after.
 */
int worker_supervise(const struct worker *w);

/* One process: serves until SIGTERM or SIGINT, then drains. The exit status: 0, 1 if it cannot serve, 2 if requests were cut off. */
int worker_run(const struct worker *w);

#endif
