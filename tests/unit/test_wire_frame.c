/* wire_frame: packets, their descriptors, and the archive. SPDX-License-Identifier: ISC */
#include "tests/lib/test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sandbox/wire/box.h"
#include "sandbox/wire/frame.h"
#include "sandbox/wire/init.h"
#include "sandbox/wire/lease.h"

static struct wire_out out;
static struct wire_in in;

/* Puts a packed frame where a received one would be, as if by recv. */
static void deliver(const uint8_t *p, size_t n)
{
	assert_true(n <= WIRE_MAX_FRAME);
	memcpy(in.data, p, n);
	in.data[n] = 0;
	in.len = n;
	in.off = 4;
	in.bad = n < 4;
	in.nfds = 0;
}

/* -- archive ------------------------------------------------------------------ */

static void archive_heads_are_checked(void **state)
{
	static const struct {
		struct wire_archive_head h;
		int good;
	} t[] = {{{'d', 0755, 1, 1, 0}, 0}, {{'f', 07777, INT64_MAX, 65536, INT64_MAX}, 0},
		{{'l', 0777, 0, 1, 1}, 0}, {{'e', 0, 0, 0, 0}, 0}, {{'x', 0, 0, 1, 0}, -1},
		{{'d', 0755, 1, 1, 1}, -1}, {{'d', 0755, 1, 0, 0}, -1}, {{'f', 0644, 0, 0, 0}, -1},
		{{'f', 010000, 0, 1, 0}, -1}, {{'f', 0644, 0, 65537, 0}, -1},
		{{'f', 0644, 1ull << 63, 1, 0}, -1}, {{'f', 0644, 0, 1, 1ull << 63}, -1},
		{{'l', 0777, 0, 1, 0}, -1}, {{'l', 0777, 0, 1, 4096}, -1}, {{'e', 0, 0, 1, 0}, -1}};
	uint8_t raw[WIRE_ARCHIVE_HEAD];
	struct wire_archive_head h;
	(void)state;
	for (size_t k = 0; k < sizeof(t) / sizeof(t[0]); k++) {
		wire_archive_pack(raw, &t[k].h);
		assert_int_equal(wire_archive_unpack(raw, &h), t[k].good);
		assert_true(h.kind == t[k].h.kind && h.mode == t[k].h.mode);
		assert_true(h.mtime == t[k].h.mtime && h.path_len == t[k].h.path_len);
		assert_true(h.data_len == t[k].h.data_len);
	}
}

/* -- frames ---------------------------------------------------------------------- */

static void texts_are_cut_between_characters(void **state)
{
	char text[WIRE_TEXT_MAX + 3];
	struct wire_refused m;
	(void)state;
	memset(text, 'a', WIRE_TEXT_MAX - 1);
	memcpy(text + WIRE_TEXT_MAX - 1, "\xc3\xa9z", 4);
	wire_refused(&out, &(struct wire_refused){.why = WIRE_REFUSED_BAD, .text = text});
	deliver(out.data, out.len);
	assert_int_equal(wire_refused_get(&in, &m), 0);
	assert_int_equal(strlen(m.text), WIRE_TEXT_MAX - 1);
}

static void strings_refuse_nul_and_excess(void **state)
{
	(void)state;
	wire_begin(&out, WIRE_OUTPUT);
	wire_put_bytes(&out, "a\0b", 3);
	deliver(out.data, out.len);
	assert_string_equal(wire_get_str(&in, 10), "");
	assert_true(in.bad);
	wire_begin(&out, WIRE_OUTPUT);
	wire_put_str(&out, "abc");
	deliver(out.data, out.len);
	assert_string_equal(wire_get_str(&in, 2), "");
	assert_true(in.bad);
	deliver(out.data, out.len);
	assert_string_equal(wire_get_str(&in, 3), "abc");
	assert_true(wire_done(&in));
}

static void bytes_may_hold_nul(void **state)
{
	size_t n;
	(void)state;
	wire_begin(&out, WIRE_OUTPUT);
	wire_put_bytes(&out, "a\0b", 3);
	wire_put_bytes(&out, NULL, 0);
	deliver(out.data, out.len);
	assert_memory_equal(wire_get_bytes(&in, &n), "a\0b", 3);
	assert_int_equal(n, 3);
	(void)wire_get_bytes(&in, &n);
	assert_int_equal(n, 0);
	assert_true(wire_done(&in));
}

static void overflow_is_sticky_and_not_sent(void **state)
{
	static char big[WIRE_MAX_FRAME];
	int s[2];
	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, s), 0);
	wire_begin(&out, WIRE_OUTPUT);
	wire_put_bytes(&out, big, sizeof(big));
	wire_put_u32(&out, 1);
	assert_true(out.bad);
	assert_int_equal(wire_send(s[0], &out, NULL, 0), -1);
	assert_int_equal(errno, EMSGSIZE);
	close(s[0]);
	close(s[1]);
}

static void the_largest_frame_travels(void **state)
{
	static char big[WIRE_MAX_FRAME - 9];
	int s[2];
	size_t n;
	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, s), 0);
	wire_begin(&out, WIRE_OUTPUT);
	wire_put_bytes(&out, big, sizeof(big));
	assert_false(out.bad);
	assert_int_equal(out.len, WIRE_MAX_FRAME);
	assert_int_equal(wire_send(s[0], &out, NULL, 0), 0);
	assert_int_equal(wire_recv(s[1], &in), 1);
	(void)wire_get_bytes(&in, &n);
	assert_int_equal(n, sizeof(big));
	assert_true(wire_done(&in));
	close(s[0]);
	close(s[1]);
}

static size_t open_fds(void)
{
	size_t n = 0;

	for (int fd = 0; fd < 256; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

static void descriptors_travel_and_never_leak(void **state)
{
	int s[2], send[WIRE_MAX_FDS], fd;
	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, s), 0);
	size_t before = open_fds();
	for (int k = 0; k < WIRE_MAX_FDS; k++)
		send[k] = s[0];
	wire_attach(&out);
	for (int round = 0; round < 3; round++) {
		assert_int_equal(wire_send(s[0], &out, send, WIRE_MAX_FDS), 0);
		assert_int_equal(wire_recv(s[1], &in), 1);
		assert_int_equal(in.nfds, WIRE_MAX_FDS);
		assert_true(fcntl(in.fds[0], F_GETFD) & FD_CLOEXEC);
	}
	fd = wire_take_fd(&in, 3);
	assert_true(fd >= 0);
	assert_int_equal(wire_take_fd(&in, 3), -1);
	assert_int_equal(wire_take_fd(&in, WIRE_MAX_FDS), -1);
	wire_close(&in);
	assert_int_equal(open_fds(), before + 1);
	close(fd);
	assert_int_equal(wire_send(s[0], &out, send, WIRE_MAX_FDS + 1), -1);
	close(s[0]);
	close(s[1]);
}

/* A peer that is not ours may send what wire_send would not. */
static void odd_packets_are_refused_without_a_leak(void **state)
{
	static char big[WIRE_MAX_FRAME + 1];
	union {
		struct cmsghdr align;
		char space[CMSG_SPACE(20 * sizeof(int))];
	} control = {0};
	int s[2], fds[20];
	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, s), 0);
	size_t before = open_fds();
	assert_int_equal(send(s[0], "abc", 3, 0), 3);
	assert_int_equal(wire_recv(s[1], &in), -1);
	assert_int_equal(errno, EBADMSG);
	assert_int_equal(send(s[0], "\xff\0\0\0", 4, 0), 4);
	assert_int_equal(wire_recv(s[1], &in), -1);
	big[0] = WIRE_OUTPUT;
	assert_int_equal(send(s[0], big, sizeof(big), 0), (ssize_t)sizeof(big));
	assert_int_equal(wire_recv(s[1], &in), -1);
	assert_int_equal(errno, EBADMSG);

	struct iovec iov = {big, 4};
	struct msghdr m = {.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control)};
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);
	for (int k = 0; k < 20; k++)
		fds[k] = s[0];
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(fds));
	memcpy(CMSG_DATA(c), fds, sizeof(fds));
	assert_int_equal(sendmsg(s[0], &m, 0), 4);
	assert_int_equal(wire_recv(s[1], &in), -1);
	assert_int_equal(errno, EBADMSG);
	assert_int_equal(open_fds(), before);
	assert_int_equal(wire_type(&in), WIRE_NONE);
	close(s[0]);
	assert_int_equal(wire_recv(s[1], &in), 0);
	close(s[1]);
}

static void an_empty_socket_says_again(void **state)
{
	int s[2];
	(void)state;
	assert_int_equal(
		socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, s), 0);
	assert_int_equal(wire_recv(s[1], &in), -1);
	assert_int_equal(errno, EAGAIN);
	close(s[1]);
	wire_attach(&out);
	assert_int_equal(wire_send(s[0], &out, NULL, 0), -1);
	assert_int_equal(errno, EPIPE); /* and no SIGPIPE */
	close(s[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(archive_heads_are_checked),
		cmocka_unit_test(texts_are_cut_between_characters),
		cmocka_unit_test(strings_refuse_nul_and_excess),
		cmocka_unit_test(bytes_may_hold_nul),
		cmocka_unit_test(overflow_is_sticky_and_not_sent),
		cmocka_unit_test(the_largest_frame_travels),
		cmocka_unit_test(descriptors_travel_and_never_leak),
		cmocka_unit_test(odd_packets_are_refused_without_a_leak),
		cmocka_unit_test(an_empty_socket_says_again),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
