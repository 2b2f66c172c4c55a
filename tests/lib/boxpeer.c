/* boxpeer: a boxd with its boxes that only speaks the protocol. SPDX-License-Identifier: ISC */
#include "tests/lib/boxpeer.h"

#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "sandbox/sys/buf.h"
#include "sandbox/sys/io.h"
#include "sandbox/wire/exec.h"
#include "sandbox/wire/lease.h"

#define CONTAINERS_MAX 64
#define THREADS_MAX    64

struct boxpeer {
	int listener;
	int quit[2];
	pthread_t main, threads[THREADS_MAX];
	size_t nthreads;
	pthread_mutex_t lock; /* of all below */
	struct buf log;
	char seen[CONTAINERS_MAX][WIRE_NAME_MAX + 1];
	size_t nseen;
};

/* One lease: boxd's connection, then the box's. */
struct client {
	struct boxpeer *peer;
	int sock;
	char container[WIRE_NAME_MAX + 1];
	struct wire_in in;
	struct wire_out out;
};

static void __attribute__((format(printf, 2, 3))) note(struct boxpeer *p, const char *fmt, ...)
{
	va_list ap;

	pthread_mutex_lock(&p->lock);
	va_start(ap, fmt);
	buf_vprintf(&p->log, fmt, ap);
	va_end(ap);
	pthread_mutex_unlock(&p->lock);
}

void boxpeer_log(struct boxpeer *p, char *out, size_t size)
{
	pthread_mutex_lock(&p->lock);
	snprintf(out, size, "%s", buf_str(&p->log));
	pthread_mutex_unlock(&p->lock);
}

static enum wire_found found(struct boxpeer *p, const char *container)
{
	enum wire_found how = WIRE_NEW;

	pthread_mutex_lock(&p->lock);
	for (size_t i = 0; i < p->nseen; i++)
		if (strcmp(p->seen[i], container) == 0)
			how = WIRE_WARM;
	if (how == WIRE_NEW && p->nseen < CONTAINERS_MAX)
		snprintf(p->seen[p->nseen++], WIRE_NAME_MAX + 1, "%s", container);
	pthread_mutex_unlock(&p->lock);
	return how;
}

/* 1: time is up, 0: the connection was closed or the test ends. */
static int idle(const struct client *c, int ms)
{
	struct pollfd fds[] = {{c->sock, POLLIN, 0}, {c->peer->quit[0], POLLIN, 0}};

	return poll(fds, 2, ms) == 0;
}

static void cite(struct wire_done *d, char *names)
{
	char *save;

	for (char *n = strtok_r(names, " ", &save); n && d->nfiles < WIRE_FILES_MAX;
		n = strtok_r(NULL, " ", &save))
		d->files[d->nfiles++] = (struct wire_file){.path = n, .bytes = 1};
	d->commit = "0123456789012345678901234567890123456789";
}

/* Does what the text says; 0 to answer, -1 to hang up. */
static int act(struct client *c, char *command, struct wire_done *d, char *out, size_t size)
{
	char *rest = strchr(command, ' ');
	size_t verb = rest ? (size_t)(rest - command) : strlen(command);

	rest = rest ? rest + 1 : command + verb;
	if (strncmp(command, "echo", verb) == 0) {
		snprintf(out, size, "%s\n", rest);
	} else if (strncmp(command, "exit", verb) == 0) {
		d->code = (uint32_t)strtoul(rest, NULL, 10);
	} else if (strncmp(command, "signal", verb) == 0) {
		d->outcome = WIRE_SIGNAL;
		d->code = (uint32_t)strtoul(rest, NULL, 10);
	} else if (strncmp(command, "write", verb) == 0) {
		cite(d, rest);
	} else if (strncmp(command, "sleep", verb) == 0) {
		if (!idle(c, (int)strtoul(rest, NULL, 10))) {
			note(c->peer, "gone %s\n", command);
			return -1;
		}
	} else if (strncmp(command, "timeout", verb) == 0) {
		d->outcome = WIRE_TIMEOUT;
	} else if (strncmp(command, "memory", verb) == 0) {
		d->outcome = WIRE_OUT_OF_MEMORY;
	} else if (strncmp(command, "break", verb) == 0) {
		d->outcome = WIRE_FAILED;
		d->error = "the sandbox could not start the command";
	} else if (strncmp(command, "lose", verb) == 0) {
		return -1;
	}
	return 0;
}

static int run(struct client *c)
{
	struct wire_done d = {.commit = "", .error = ""};
	struct wire_exec m;
	char *command;
	char out[1024] = "";
	int rc = -1, memory;

	if (wire_exec_get(&c->in, &m) < 0)
		return -1;
	note(c->peer, "run %s %s %u %u %u %s\n", m.env == WIRE_ENV_BASH ? "bash" : "shell", m.tool,
		m.timeout_ms, m.max_output, m.sleep_after, m.command);
	command = strdup(m.command);
	if (!command)
		return -1;
	wire_begin(&c->out, WIRE_STARTED);
	if (wire_send(c->sock, &c->out, NULL, 0) < 0)
		goto out;
	d.found = found(c->peer, c->container);
	d.duration_us = 1500;
	rc = act(c, command, &d, out, sizeof(out));
	if (rc < 0)
		goto out;
	d.out_len = strlen(out);
	memory = io_memfd("output", out, strlen(out));
	wire_exec_done(&c->out, &d);
	rc = wire_send(c->sock, &c->out, &memory, 1);
	io_close(&memory);
out:
	free(command);
	return rc;
}

/* The lease: answers with one end of a pair and goes on as the box on the other. */
static int attach(struct client *c)
{
	struct wire_refused no = {WIRE_REFUSED_LIMIT,
		"Container limit reached: 20 containers are already running for this user."};
	struct wire_lease m;
	int pair[2];

	if (wire_recv(c->sock, &c->in) != 1 || wire_type(&c->in) != WIRE_LEASE ||
		wire_lease_get(&c->in, &m) < 0)
		return -1;
	note(c->peer, "lease %s %s\n", m.workspace, m.container);
	snprintf(c->container, sizeof(c->container), "%s", m.container);
	if (strcmp(m.container, "full") == 0) {
		wire_refused(&c->out, &no);
		wire_send(c->sock, &c->out, NULL, 0);
		return -1;
	}
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return -1;
	wire_leased(&c->out);
	wire_send(c->sock, &c->out, &pair[1], 1);
	close(pair[1]);
	io_close(&c->sock);
	c->sock = pair[0];
	return 0;
}

static void *serve(void *arg)
{
	struct client *c = arg;

	if (attach(c) == 0) {
		for (;;) {
			struct pollfd fds[] = {{c->sock, POLLIN, 0}, {c->peer->quit[0], POLLIN, 0}};

			poll(fds, 2, -1);
			if (fds[1].revents || wire_recv(c->sock, &c->in) != 1 ||
				wire_type(&c->in) != WIRE_EXEC || run(c) < 0)
				break;
		}
	}
	wire_close(&c->in);
	io_close(&c->sock);
	free(c);
	return NULL;
}

static void *accept_all(void *arg)
{
	struct boxpeer *p = arg;

	for (;;) {
		struct pollfd fds[] = {{p->listener, POLLIN, 0}, {p->quit[0], POLLIN, 0}};
		struct client *c;
		int sock;

		poll(fds, 2, -1);
		if (fds[1].revents)
			return NULL;
		sock = accept4(p->listener, NULL, NULL, SOCK_CLOEXEC);
		c = sock < 0 ? NULL : calloc(1, sizeof(*c));
		if (!c || p->nthreads == THREADS_MAX) {
			free(c);
			io_close(&sock);
			continue;
		}
		c->peer = p;
		c->sock = sock;
		if (pthread_create(&p->threads[p->nthreads], NULL, serve, c) == 0)
			p->nthreads++;
	}
}

struct boxpeer *boxpeer_start(const char *path)
{
	struct boxpeer *p = calloc(1, sizeof(*p));
	struct sockaddr_un at = {.sun_family = AF_UNIX};

	if (!p)
		abort();
	snprintf(at.sun_path, sizeof(at.sun_path), "%s", path);
	buf_init(&p->log, 1 << 20);
	pthread_mutex_init(&p->lock, NULL);
	p->listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	unlink(path);
	if (p->listener < 0 || bind(p->listener, (struct sockaddr *)&at, sizeof(at)) < 0 ||
		listen(p->listener, 16) < 0 || io_pipe(p->quit, false) < 0 ||
		pthread_create(&p->main, NULL, accept_all, p) != 0)
		abort();
	return p;
}

void boxpeer_stop(struct boxpeer *p)
{
	/* A byte that nobody reads: every poll sees it. */
	if (write(p->quit[1], "x", 1) != 1)
		abort();
	pthread_join(p->main, NULL);
	for (size_t i = 0; i < p->nthreads; i++)
		pthread_join(p->threads[i], NULL);
	io_close(&p->listener);
	io_close(&p->quit[0]);
	io_close(&p->quit[1]);
	pthread_mutex_destroy(&p->lock);
	buf_free(&p->log);
	free(p);
}
