/* wake: loading the saved home into a fresh environment. SPDX-License-Identifier: ISC */
#include "sandbox/box/wake.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sandbox/box/box.h"
#include "sandbox/home/checkout.h"
#include "sandbox/sys/io.h"
#include "sandbox/sys/log.h"
#include "sandbox/wire/init.h"

#define READY_MS  30000
#define STALL_MS  30000 /* without a byte taken */
#define LOADED_MS 60000
#define PIPE_SIZE (256 * 1024)

/* The archive on its way into init's pipe. Small things are gathered into pieces. */
struct pour {
	int pipe; /* non-blocking */
	int init; /* watched: an answer before the end means that init gave up */
	int64_t *time;
	size_t n;
	char piece[16 * 1024];
};

__attribute__((format(printf, 2, 3))) static int trouble(struct box *b, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(b->trouble, sizeof(b->trouble), fmt, ap);
	va_end(ap);
	log_error("%s", b->trouble);
	return -1;
}

/* 0, or -1: init does not take it. */
static int pour_out(struct pour *p, const char *data, size_t n)
{
	struct pollfd fds[2] = {
		{.fd = p->pipe, .events = POLLOUT}, {.fd = p->init, .events = POLLIN}};

	while (n > 0) {
		ssize_t put = write(p->pipe, data, n);
		if (put > 0) {
			data += put;
			n -= (size_t)put;
			continue;
		}
		if (put < 0 && errno != EAGAIN && errno != EINTR)
			return -1;
		int rc = poll(fds, 2, STALL_MS);
		if (rc == 0 || (rc > 0 && fds[1].revents)) {
			errno = rc ? EPIPE : ETIMEDOUT;
			return -1;
		}
	}
	return 0;
}

static int pour_flush(struct pour *p)
{
	size_t n = p->n;

	p->n = 0;
	return pour_out(p, p->piece, n);
}

static int pour_bytes(struct pour *p, const void *data, size_t n)
{
	if (n > sizeof(p->piece) - p->n && pour_flush(p))
		return -1;
	if (n > sizeof(p->piece))
		return pour_out(p, data, n);
	if (n)
		memcpy(p->piece + p->n, data, n);
	p->n += n;
	return 0;
}

static int pour_record(
	struct pour *p, const struct wire_archive_head *h, const char *path, const void *data)
{
	uint8_t head[WIRE_ARCHIVE_HEAD];

	wire_archive_pack(head, h);
	if (pour_bytes(p, head, sizeof(head)) || pour_bytes(p, path, h->path_len))
		return -1;
	return pour_bytes(p, data, h->data_len);
}

/* Positive: not an error of sandbox/home. */
#define INIT_GONE 1

static int pour_node(void *ctx, const struct home_node *n)
{
	struct pour *p = ctx;
	struct wire_archive_head h = {.kind = n->kind,
		.mode = n->mode & 07777,
		.mtime = *p->time > 0 ? (uint64_t)*p->time : 0,
		.path_len = (uint32_t)strlen(n->path),
		.data_len = n->kind == 'd' ? 0 : n->len};

	return pour_record(p, &h, n->path, n->data) ? INIT_GONE : 0;
}

static int pour_home(struct box *b, int pipe)
{
	static struct pour p;
	const struct wire_archive_head end = {.kind = 'e'};
	int64_t when = 0;
	int rc;

	p = (struct pour){.pipe = pipe, .init = b->env[WIRE_ENV_SHELL].fd, .time = &when};
	rc = home_checkout(b->home, NULL, &when, pour_node, &p);
	if (!rc && (pour_record(&p, &end, "", NULL) || pour_flush(&p)))
		rc = INIT_GONE;
	return rc;
}

static int load(struct box *b)
{
	struct env *e = &b->env[WIRE_ENV_SHELL];
	struct wire_loaded loaded;
	int fds[2] = {-1, -1}, rc = -1;
	bool whole;

	if (io_pipe(fds, false) || io_set_nonblocking(fds[1], true))
		return trouble(b, "no pipe to load the files through: %s", strerror(errno));
	(void)fcntl(fds[1], F_SETPIPE_SZ, PIPE_SIZE);
	wire_empty(&b->out, WIRE_LOAD);
	if (env_send(e, &b->out, fds, 1)) {
		(void)trouble(b, "the sandbox broke down: %s", strerror(errno));
		goto out;
	}
	io_close(&fds[0]);
	rc = pour_home(b, fds[1]);
	io_close(&fds[1]);
	whole = rc == 0;
	if (rc < 0) {
		(void)trouble(b, "the saved files could not be read: %s", home_error());
		goto out;
	}
	/* If init stopped listening, its answer tells why; if it has died, there is none. */
	rc = env_expect(e, &b->in, WIRE_LOADED, LOADED_MS);
	if (rc || wire_loaded_get(&b->in, &loaded)) {
		rc = trouble(b, "the saved files could not be loaded: %s",
			rc ? strerror(errno) : "a malformed answer");
		goto out;
	}
	if (!whole && !loaded.failed) {
		rc = trouble(b, "the saved files could not be loaded: it stopped half-way");
	} else if (loaded.failed) {
		b->partial = true;
		log_error("%u entries of the saved files could not be loaded, the first: %s",
			loaded.failed, loaded.text);
	}
out:
	io_close(&fds[0]);
	io_close(&fds[1]);
	return rc;
}

/* READY is the first word of an init; what can be received with it in front is that. */
static int wait_ready(struct box *b)
{
	struct env *e = &b->env[WIRE_ENV_SHELL];
	int64_t until = io_now_ms() + READY_MS;

	while (!e->ready) {
		struct pollfd p = {.fd = e->fd, .events = POLLIN};
		int64_t left = until - io_now_ms();
		if (left <= 0)
			return trouble(b, "the sandbox was not ready in time");
		(void)poll(&p, 1, (int)left);
		if (env_recv(e, &b->in, 0) != 0)
			return trouble(b, "the sandbox broke down before it was ready");
	}
	return 0;
}

int wake_home(struct box *b)
{
	home_id head = "";
	int rc;

	b->found = WIRE_NEW;
	rc = home_open(&b->home, b->repository);
	if (rc && rc != HOME_NOT_FOUND)
		return trouble(b, "the saved files could not be opened: %s", home_error());
	if (!rc && home_head(b->home, head))
		return trouble(b, "the saved files could not be read: %s", home_error());
	if (wait_ready(b))
		return -1;
	if (!*head)
		return 0;
	b->found = WIRE_WOKEN;
	return load(b);
}
