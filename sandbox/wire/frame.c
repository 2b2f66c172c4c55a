/* frame: packets, descriptors, checked getters. SPDX-License-Identifier: ISC */
#include "sandbox/wire/frame.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define HEAD 4 /* the type */

_Static_assert(WIRE_MAX_FDS < 253, "the kernel passes at most 253 descriptors (SCM_MAX_FD)");

void wire_begin(struct wire_out *o, enum wire_type type)
{
	o->len = 0;
	o->bad = type <= WIRE_NONE || type >= WIRE__MAX;
	wire_put_u32(o, (uint32_t)type);
}

static uint8_t *grow(struct wire_out *o, size_t n)
{
	uint8_t *p = o->data + o->len;

	if (o->bad || n > sizeof(o->data) - o->len) {
		o->bad = true;
		return NULL;
	}
	o->len += n;
	return p;
}

void wire_put_u32(struct wire_out *o, uint32_t v)
{
	uint8_t *p = grow(o, 4);

	for (int k = 0; p && k < 4; k++)
		p[k] = (uint8_t)(v >> 8 * k);
}

void wire_put_u64(struct wire_out *o, uint64_t v)
{
	wire_put_u32(o, (uint32_t)v);
	wire_put_u32(o, (uint32_t)(v >> 32));
}

/* A NUL follows the bytes, so that a text can be used in place by the receiver. */
void wire_put_bytes(struct wire_out *o, const void *b, size_t n)
{
	uint8_t *p;

	if (n > sizeof(o->data)) {
		o->bad = true;
		return;
	}
	wire_put_u32(o, (uint32_t)n);
	p = grow(o, n + 1);
	if (!p)
		return;
	if (n)
		memcpy(p, b, n);
	p[n] = 0;
}

void wire_put_str(struct wire_out *o, const char *s)
{
	wire_put_bytes(o, s, s ? strlen(s) : 0);
}

void wire_put_text(struct wire_out *o, const char *s)
{
	size_t n = s ? strnlen(s, WIRE_TEXT_MAX + 1) : 0;

	if (n > WIRE_TEXT_MAX) {
		n = WIRE_TEXT_MAX;
		while (n && ((unsigned char)s[n] & 0xc0) == 0x80)
			n--;
	}
	wire_put_bytes(o, s, n);
}

static uint32_t load_u32(const uint8_t *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

enum wire_type wire_type(const struct wire_in *i)
{
	uint32_t t = i->len >= HEAD ? load_u32(i->data) : 0;

	return t < WIRE__MAX ? (enum wire_type)t : WIRE_NONE;
}

/* The next n bytes, or NULL when the message is bad or holds fewer. */
static const uint8_t *take(struct wire_in *i, size_t n)
{
	const uint8_t *p = i->data + i->off;

	if (i->bad || n > i->len - i->off) {
		i->bad = true;
		return NULL;
	}
	i->off += n;
	return p;
}

uint32_t wire_get_u32(struct wire_in *i)
{
	const uint8_t *p = take(i, 4);

	return p ? load_u32(p) : 0;
}

uint64_t wire_get_u64(struct wire_in *i)
{
	const uint8_t *p = take(i, 8);

	return p ? load_u32(p) | (uint64_t)load_u32(p + 4) << 32 : 0;
}

uint32_t wire_get_within(struct wire_in *i, uint32_t least, uint32_t most)
{
	uint32_t v = wire_get_u32(i);

	if (v < least || v > most)
		i->bad = true;
	return i->bad ? 0 : v;
}

const void *wire_get_bytes(struct wire_in *i, size_t *n)
{
	uint32_t len = wire_get_u32(i);
	const uint8_t *p = take(i, (size_t)len + 1);

	*n = 0;
	if (!p)
		return "";
	if (p[len]) {
		i->bad = true;
		return "";
	}
	*n = len;
	return p;
}

const char *wire_get_str(struct wire_in *i, size_t max)
{
	size_t n;
	const char *s = wire_get_bytes(i, &n);

	if (n <= max && !memchr(s, 0, n))
		return s;
	i->bad = true;
	return "";
}

int wire_take_fd(struct wire_in *i, size_t k)
{
	int fd = -1;

	if (k < i->nfds) {
		fd = i->fds[k];
		i->fds[k] = -1;
	}
	return fd;
}

bool wire_expect(struct wire_in *i, enum wire_type type)
{
	if (wire_type(i) != type)
		i->bad = true;
	return !i->bad;
}

bool wire_done(const struct wire_in *i)
{
	return !i->bad && i->off == i->len;
}

void wire_close(struct wire_in *i)
{
	for (size_t k = 0; k < i->nfds; k++) {
		if (i->fds[k] >= 0)
			(void)close(i->fds[k]);
	}
	i->nfds = 0;
}

union control {
	struct cmsghdr align;
	char space[CMSG_SPACE(WIRE_MAX_FDS * sizeof(int))];
};

int wire_send(int sock, const struct wire_out *o, const int *fds, size_t nfds)
{
	struct iovec iov = {.iov_base = (void *)(uintptr_t)o->data, .iov_len = o->len};
	struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1};
	union control control = {0};
	ssize_t n;

	if (o->bad || o->len < HEAD || nfds > WIRE_MAX_FDS) {
		errno = EMSGSIZE;
		return -1;
	}
	if (nfds) {
		m.msg_control = &control;
		m.msg_controllen = CMSG_SPACE(nfds * sizeof(int));
		struct cmsghdr *c = CMSG_FIRSTHDR(&m);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(nfds * sizeof(int));
		memcpy(CMSG_DATA(c), fds, nfds * sizeof(int));
	}
	do
		n = sendmsg(sock, &m, MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -1 : 0;
}

/* Every descriptor that arrived is noted, whatever else is wrong, so that none is left open. */
static void collect(struct wire_in *i, struct msghdr *m)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		size_t n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		for (size_t k = 0; k < n && i->nfds < WIRE_MAX_FDS; k++) {
			memcpy(&i->fds[i->nfds], CMSG_DATA(c) + k * sizeof(int), sizeof(int));
			i->nfds++;
		}
	}
}

int wire_recv(int sock, struct wire_in *i)
{
	struct iovec iov = {.iov_base = i->data, .iov_len = WIRE_MAX_FRAME};
	union control control;
	struct msghdr m = {.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control)};
	ssize_t n;

	wire_close(i);
	i->len = i->off = 0;
	i->bad = true;
	do
		n = recvmsg(sock, &m, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n <= 0) /* an empty packet looks like the end, and is treated as one */
		return n < 0 ? -1 : 0;
	collect(i, &m);
	i->len = (size_t)n;
	i->data[i->len] = 0;
	if (m.msg_flags & (MSG_TRUNC | MSG_CTRUNC) || wire_type(i) == WIRE_NONE) {
		wire_close(i);
		i->len = 0;
		errno = EBADMSG;
		return -1;
	}
	i->off = HEAD;
	i->bad = false;
	return 1;
}
