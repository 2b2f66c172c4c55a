/* env: the channel to the init of a compute environment. SPDX-License-Identifier: ISC */
#include "sandbox/box/env.h"

#include <errno.h>
#include <poll.h>

#include "sandbox/sys/io.h"

#define SEND_MS 5000

void env_open(struct env *e, int fd)
{
	*e = (struct env){.fd = fd};
	(void)io_set_nonblocking(fd, true);
}

void env_close(struct env *e)
{
	io_close(&e->fd);
	e->ready = false;
	e->thawing = 0;
}

/* 1 ready, 0 not within the time. A hang-up counts as ready: the call that follows tells. */
static int wait_for(int fd, short events, int timeout_ms)
{
	struct pollfd p = {.fd = fd, .events = events};
	int64_t until = io_now_ms() + timeout_ms;

	for (;;) {
		int rc = poll(&p, 1, timeout_ms);
		if (rc >= 0)
			return rc;
		if (errno != EINTR)
			return 1;
		int64_t left = until - io_now_ms();
		timeout_ms = left > 0 ? (int)left : 0;
	}
}

int env_send(struct env *e, const struct wire_out *o, const int *fds, size_t nfds)
{
	int64_t until = io_now_ms() + SEND_MS;

	if (e->fd < 0) {
		errno = EPIPE;
		return -1;
	}
	while (wire_send(e->fd, o, fds, nfds)) {
		int64_t left = until - io_now_ms();
		if (errno != EAGAIN || left <= 0)
			return -1;
		(void)wait_for(e->fd, POLLOUT, (int)left);
	}
	return 0;
}

/* Messages that only need to be noted. False: it came out of turn, or is not one of them. */
static bool noted(struct env *e, const struct wire_in *in)
{
	if (!wire_done(in))
		return false;
	if (wire_type(in) == WIRE_READY && !e->ready) {
		e->ready = true;
		return true;
	}
	if (wire_type(in) == WIRE_THAWED && e->thawing) {
		e->thawing--;
		return true;
	}
	return false;
}

int env_recv(struct env *e, struct wire_in *in, int timeout_ms)
{
	int64_t until = io_now_ms() + timeout_ms;

	while (e->fd >= 0) {
		int rc = wire_recv(e->fd, in);
		if (rc > 0) {
			if (!noted(e, in))
				return 1;
			continue;
		}
		if (rc == 0)
			break;
		if (errno != EAGAIN)
			return -1;
		int64_t left = timeout_ms ? until - io_now_ms() : 0;
		if (left <= 0 || !wait_for(e->fd, POLLIN, (int)left))
			return 0;
	}
	errno = EPIPE;
	return -1;
}

int env_expect(struct env *e, struct wire_in *in, enum wire_type type, int timeout_ms)
{
	int rc = env_recv(e, in, timeout_ms);

	if (rc < 0)
		return -1;
	if (rc == 0) {
		errno = ETIMEDOUT;
		return -1;
	}
	if (wire_type(in) != type) {
		errno = EPROTO;
		return -1;
	}
	return 0;
}
