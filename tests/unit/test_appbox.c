/* appbox: the app's client against a boxd and boxes that behave well, badly, or not at all. SPDX-License-Identifier: ISC */
#include "tests/lib/test.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "app/box/box.h"
#include "sandbox/sys/io.h"
#include "sandbox/wire/exec.h"
#include "sandbox/wire/init.h"
#include "sandbox/wire/lease.h"

/* -- the other side: a thread that answers leases and plays a box --------------------- */

struct peer;
typedef void box_fn(struct peer *p, int sock);

static struct peer {
	char path[100];
	int listener, delay_ms, leases;
	bool refuse_limit, refuse_once;
	box_fn *box;
	pthread_t thread;
	struct wire_in in;
	struct wire_out out;
	struct wire_exec exec;
	char text[256]; /* what a script found worth telling */
} peer;

static char told[sizeof(peer.text)]; /* the last peer's text */

static void listen_at(struct peer *p)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	(void)snprintf(at.sun_path, sizeof(at.sun_path), "%s", p->path);
	assert_int_equal(bind(p->listener, (struct sockaddr *)&at, sizeof(at)), 0);
	assert_int_equal(listen(p->listener, 8), 0);
}

static void *serve(void *arg)
{
	struct peer *p = arg;
	struct wire_lease m;
	int sock, pair[2];
	if (p->delay_ms) {
		(void)poll(NULL, 0, p->delay_ms);
		listen_at(p);
	}
	while ((sock = accept4(p->listener, NULL, NULL, SOCK_CLOEXEC)) >= 0) {
		if (wire_recv(sock, &p->in) == 1 && !wire_lease_get(&p->in, &m)) {
			p->leases++;
			if (p->refuse_limit || (p->refuse_once && p->leases == 1)) {
				struct wire_refused no = {p->refuse_limit ? WIRE_REFUSED_LIMIT
									  : WIRE_REFUSED_STOPPING,
					"too many"};
				wire_refused(&p->out, &no);
				(void)wire_send(sock, &p->out, NULL, 0);
			} else if (!socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair)) {
				wire_leased(&p->out);
				(void)wire_send(sock, &p->out, &pair[1], 1);
				close(pair[1]);
				p->box(p, pair[0]);
				close(pair[0]);
			}
		}
		close(sock);
	}
	return NULL;
}

static void begin(box_fn *box)
{
	peer.box = box;
	(void)snprintf(peer.path, sizeof(peer.path), "%s/boxd.sock", test_tmp());
	peer.listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (!peer.delay_ms)
		listen_at(&peer);
	assert_int_equal(pthread_create(&peer.thread, NULL, serve, &peer), 0);
}

static void end(void)
{
	(void)shutdown(peer.listener, SHUT_RDWR);
	(void)pthread_join(peer.thread, NULL);
	close(peer.listener);
	wire_close(&peer.in);
	memcpy(told, peer.text, sizeof(told));
	memset(&peer, 0, sizeof(peer));
	test_tmp_remove();
}

/* The next command, after STARTED was said. False when the app has gone. */
static bool take(struct peer *p, int sock)
{
	if (wire_recv(sock, &p->in) != 1 || wire_exec_get(&p->in, &p->exec))
		return false;
	wire_empty(&p->out, WIRE_STARTED);
	return !wire_send(sock, &p->out, NULL, 0);
}

static void answer(struct peer *p, int sock, const struct wire_done *d, const char *text, size_t n)
{
	int fd = n ? io_memfd("o", text, n) : -1;
	wire_exec_done(&p->out, d);
	(void)wire_send(sock, &p->out, &fd, fd >= 0 ? 1 : 0);
	io_close(&fd);
}

static void echo_box(struct peer *p, int sock)
{
	while (take(p, sock)) {
		struct wire_done d = {.commit = "",
			.error = "",
			.found = WIRE_WOKEN,
			.code = 3,
			.duration_us = 2500,
			.out_len = strlen(p->exec.command),
			.err_len = 3,
			.err_omitted = 7,
			.background_output_open = 1};
		char text[512];
		int n = snprintf(text, sizeof(text), "%serr", p->exec.command);
		answer(p, sock, &d, text, (size_t)n);
	}
}

/* -- this side --------------------------------------------------------------------------- */

static struct arena *arena;
static struct box *box;
static struct box_reply reply;
static struct err err;

static int lease(void)
{
	arena = arena_new();
	memset(&err, 0, sizeof(err));
	return box_lease(&box, arena, peer.path, "acme", "c1", "req_1", &err);
}

static struct box_command command(const char *text)
{
	return (struct box_command){.tool = TOOL_SHELL,
		.author = "shell",
		.command = text,
		.timeout_ms = 1000,
		.max_output = 1000,
		.sleep_after_seconds = 60};
}

static int run(const struct box_command *c)
{
	memset(&reply, 0, sizeof(reply));
	return box_run(box, c, &reply, -1, 1000, NULL, NULL, &err);
}

static void a_command_is_answered(void **state)
{
	const struct box_command c = command("h\xc3\xa9");
	(void)state;
	begin(echo_box);
	assert_int_equal(lease(), 0);
	for (int k = 0; k < 2; k++) {
		assert_int_equal(run(&c), 0);
		assert_int_equal(reply.found, BOX_WOKEN);
		assert_int_equal(reply.output.outcome, OUTCOME_EXIT);
		assert_int_equal(reply.output.code, 3);
		assert_int_equal(reply.output.out_len, 3);
		assert_memory_equal(reply.output.out, "h\xc3\xa9", 3);
		assert_int_equal(reply.output.err_len, 3);
		assert_memory_equal(reply.output.err, "err", 3);
		assert_true(reply.output.err_omitted == 7 && reply.output.out_omitted == 0);
		assert_true(reply.output.background_output_open);
		assert_true(reply.output.duration_ms > 2.4 && reply.output.duration_ms < 2.6);
		assert_null(reply.output.commit);
		assert_null(reply.files);
		assert_null(reply.skipped);
	}
	assert_int_equal(peer.leases, 1);
	arena_free(arena);
	end();
}

static void no_boxd_is_an_error_after_a_while(void **state)
{
	int64_t t0 = io_now_ms();
	(void)state;
	(void)snprintf(peer.path, sizeof(peer.path), "%s/nobody.sock", test_tmp());
	assert_int_equal(lease(), ERR_SERVER);
	assert_in_range(io_now_ms() - t0, 2900, 4000);
	arena_free(arena);
	test_tmp_remove();
}

static void a_boxd_that_restarts_is_waited_for(void **state)
{
	const struct box_command c = command("x");
	(void)state;
	peer.delay_ms = 300;
	begin(echo_box);
	assert_int_equal(lease(), 0);
	assert_int_equal(run(&c), 0);
	arena_free(arena);
	end();
}

static void a_limit_is_told(void **state)
{
	(void)state;
	peer.refuse_limit = true;
	begin(echo_box);
	assert_int_equal(lease(), ERR_RATE_LIMITED);
	assert_string_equal(err.message, "too many");
	arena_free(arena);
	end();
}

static void a_stopping_boxd_is_asked_again(void **state)
{
	(void)state;
	peer.refuse_once = true;
	begin(echo_box);
	assert_int_equal(lease(), 0);
	assert_int_equal(peer.leases, 2);
	arena_free(arena);
	end();
}

/* Falls asleep just when the first command comes. */
static void sleepy_box(struct peer *p, int sock)
{
	if (p->leases == 1)
		(void)wire_recv(sock, &p->in);
	else
		echo_box(p, sock);
}

static void a_box_that_slept_is_leased_anew(void **state)
{
	const struct box_command c = command("x");
	(void)state;
	begin(sleepy_box);
	assert_int_equal(lease(), 0);
	assert_int_equal(run(&c), 0);
	assert_int_equal(peer.leases, 2);
	arena_free(arena);
	end();
}

static void gone_box(struct peer *p, int sock)
{
	(void)p;
	(void)sock;
}

static void a_box_that_is_always_lost_is_an_error_after_a_while(void **state)
{
	const struct box_command c = command("x");
	(void)state;
	begin(gone_box);
	assert_int_equal(lease(), 0);
	int64_t t0 = io_now_ms();
	assert_int_equal(run(&c), ERR_SERVER);
	assert_in_range(io_now_ms() - t0, 2900, 4000);
	assert_true(peer.leases > 2);
	arena_free(arena);
	end();
}

static void dying_box(struct peer *p, int sock)
{
	(void)take(p, sock);
}

static void a_command_that_began_is_never_sent_again(void **state)
{
	const struct box_command c = command("x");
	(void)state;
	begin(dying_box);
	assert_int_equal(lease(), 0);
	assert_int_equal(run(&c), ERR_SERVER);
	assert_int_equal(peer.leases, 1);
	/* The next command may have a new box. */
	peer.box = echo_box;
	assert_int_equal(run(&c), 0);
	assert_int_equal(peer.leases, 2);
	arena_free(arena);
	end();
}

/* Never answers; notes when the app hangs up, which may be before it is told STARTED. */
static void slow_box(struct peer *p, int sock)
{
	if (!take(p, sock) || wire_recv(sock, &p->in) <= 0) /* 0, or reset with STARTED unread */
		(void)snprintf(p->text, sizeof(p->text), "hung up");
}

static void a_client_that_goes_ends_the_command(void **state)
{
	const struct box_command c = command("x");
	int client[2];
	(void)state;
	begin(slow_box);
	assert_int_equal(lease(), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, client), 0);
	close(client[1]);
	int64_t t0 = io_now_ms();
	assert_int_equal(
		box_run(box, &c, &reply, client[0], 1000, NULL, NULL, &err), ERR_CLIENT_GONE);
	assert_true(io_now_ms() - t0 < 500);
	arena_free(arena);
	close(client[0]);
	end();
	assert_string_equal(told, "hung up");
}

static int beat(void *ctx)
{
	int *n = ctx;

	return ++*n == 3 ? ERR_CLIENT_GONE : 0;
}

static void the_heart_beats_while_waiting(void **state)
{
	const struct box_command c = command("x");
	int n = 0, client[2];
	(void)state;
	begin(slow_box);
	assert_int_equal(lease(), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, client), 0);
	/* What a client says meanwhile is no reason to spin or to stop. */
	assert_int_equal(write(client[1], "x", 1), 1);
	int64_t t0 = io_now_ms();
	assert_int_equal(box_run(box, &c, &reply, client[0], 50, beat, &n, &err), ERR_CLIENT_GONE);
	assert_in_range(io_now_ms() - t0, 140, 1000);
	assert_int_equal(n, 3);
	arena_free(arena);
	close(client[0]);
	close(client[1]);
	end();
}

static void careful_box(struct peer *p, int sock)
{
	while (take(p, sock)) {
		char text[400], input[16] = "";
		int fd = wire_take_fd(&p->in, 0);
		if (fd >= 0)
			(void)!read(fd, input, sizeof(input) - 1);
		io_close(&fd);
		const struct wire_exec *x = &p->exec;
		int n = snprintf(text, sizeof(text), "%u %u %u %u %s %s %s %s %u %s %s", x->env,
			x->timeout_ms, x->max_output, x->sleep_after, x->tool, x->request_id,
			x->command, x->cwd, x->nenv, x->nenv ? x->envp[1] : "", input);
		struct wire_done d = {.commit = "", .error = "", .out_len = (uint64_t)n};
		answer(p, sock, &d, text, (size_t)n);
	}
}

static void all_of_a_command_travels(void **state)
{
	const char *const env[] = {"A=1", "B=2 3", NULL};
	const struct box_command c = {.tool = TOOL_BASH,
		.author = "exec",
		.command = "cat",
		.cwd = "sub/dir",
		.env = env,
		.input = "in",
		.input_len = 2,
		.timeout_ms = 5,
		.max_output = 6,
		.sleep_after_seconds = 7};
	const char want[] = "1 5 6 7 exec req_1 cat sub/dir 2 B=2 3 in";
	(void)state;
	begin(careful_box);
	assert_int_equal(lease(), 0);
	assert_int_equal(run(&c), 0);
	assert_int_equal(reply.output.out_len, sizeof(want) - 1);
	assert_memory_equal(reply.output.out, want, sizeof(want) - 1);
	assert_int_equal(reply.output.err_len, 0);
	arena_free(arena);
	end();
}

static void what_cannot_travel_is_refused(void **state)
{
	static const char *many[66];
	static char big[70000], variable[65600];
	const char *const large[] = {variable, NULL};
	struct box_command c = command("x");
	(void)state;
	begin(echo_box);
	assert_int_equal(lease(), 0);
	for (int k = 0; k < 65; k++)
		many[k] = "A=1";
	c.env = many;
	assert_int_equal(run(&c), ERR_INVALID_REQUEST);
	assert_string_equal(err.param, "env");
	memset(big, 'x', sizeof(big) - 1);
	c = command(big);
	assert_int_equal(run(&c), ERR_INVALID_REQUEST);
	assert_string_equal(err.param, "command");
	big[65536] = 0;
	memset(variable, '=', sizeof(variable) - 1);
	variable[0] = 'V';
	c.env = large;
	assert_int_equal(run(&c), ERR_INVALID_REQUEST);
	assert_string_equal(err.param, "env");
	/* And the lease lives on. */
	c = command("x");
	assert_int_equal(run(&c), 0);
	assert_int_equal(peer.leases, 1);
	arena_free(arena);
	end();
}

static void citing_box(struct peer *p, int sock)
{
	while (take(p, sock)) {
		struct wire_done d = {.commit = "0123456789abcdef0123456789abcdef01234567",
			.error = "",
			.nskipped = 1,
			.nskips = 1,
			.skips = {{"s\xff", "socket"}},
			.nfiles = 2,
			.files = {{"out/report.csv", 3},
				{"b\xff"
				 "d",
					0}}};
		answer(p, sock, &d, "", 0);
	}
}

static void files_are_cited(void **state)
{
	const struct box_command c = command("x");
	(void)state;
	begin(citing_box);
	assert_int_equal(lease(), 0);
	assert_int_equal(run(&c), 0);
	assert_string_equal(reply.output.commit, "0123456789abcdef0123456789abcdef01234567");
	const struct citation *f = reply.files;
	assert_string_equal(f->container_id, "c1");
	assert_string_equal(f->file_id, "cfile_b3V0L3JlcG9ydC5jc3Y");
	assert_string_equal(f->filename, "out/report.csv");
	f = f->next;
	assert_string_equal(f->file_id, "cfile_Yv9k");
	assert_string_equal(f->filename,
		"b\xef\xbf\xbd"
		"d");
	assert_null(f->next);
	assert_string_equal(reply.skipped->path, "s\xef\xbf\xbd");
	assert_string_equal(reply.skipped->reason, "socket");
	assert_null(reply.skipped->next);
	arena_free(arena);
	end();
}

static void unsaving_box(struct peer *p, int sock)
{
	while (take(p, sock)) {
		struct wire_done d = {
			.commit = "", .error = "files were not saved: no space is left"};
		answer(p, sock, &d, "", 0);
	}
}

static void a_failed_save_is_told_beside_the_outcome(void **state)
{
	const struct box_command c = command("x");
	(void)state;
	begin(unsaving_box);
	assert_int_equal(lease(), 0);
	assert_int_equal(run(&c), 0);
	assert_string_equal(reply.skipped->path, ".");
	assert_string_equal(reply.skipped->reason, "files were not saved: no space is left");
	arena_free(arena);
	end();
}

static void failing_box(struct peer *p, int sock)
{
	while (take(p, sock)) {
		struct wire_done d = {.commit = "",
			.error = "it failed",
			.outcome = WIRE_FAILED,
			.code = (uint32_t)strtoul(p->exec.command, NULL, 10)};
		answer(p, sock, &d, "", 0);
	}
}

static void a_bad_folder_is_the_clients_fault(void **state)
{
	char code[16];
	struct box_command c = command(code);
	(void)state;
	begin(failing_box);
	assert_int_equal(lease(), 0);
	(void)snprintf(code, sizeof(code), "%d", ENOENT);
	c.cwd = "nowhere";
	assert_int_equal(run(&c), ERR_INVALID_REQUEST);
	assert_string_equal(err.param, "cwd");
	c.cwd = NULL;
	assert_int_equal(run(&c), ERR_SERVER);
	assert_string_equal(err.message, "it failed");
	arena_free(arena);
	end();
}

/* Each command names a way to cheat. */
static void lying_box(struct peer *p, int sock)
{
	while (take(p, sock)) {
		struct wire_done d = {.commit = "", .error = "", .out_len = 3};
		int pipe[2];
		switch (p->exec.command[0]) {
		case 's': /* a file that is too short */
			answer(p, sock, &d, "ab", 2);
			break;
		case 'n': /* no file */
			answer(p, sock, &d, "", 0);
			break;
		case 'u': /* not UTF-8 */
			answer(p, sock, &d,
				"a\xff"
				"b",
				3);
			break;
		case 'h': /* a character that straddles both streams */
			d.out_len = 1;
			d.err_len = 1;
			answer(p, sock, &d, "\xc3\xa9", 2);
			break;
		case 'p': /* a pipe, which would block */
			wire_exec_done(&p->out, &d);
			if (io_pipe(pipe, false))
				return;
			(void)wire_send(sock, &p->out, &pipe[0], 1);
			close(pipe[0]);
			(void)wire_recv(sock, &p->in);
			close(pipe[1]);
			return;
		case 't': /* started twice */
			wire_empty(&p->out, WIRE_STARTED);
			(void)wire_send(sock, &p->out, NULL, 0);
			break;
		default: /* no message of a box's */
			wire_empty(&p->out, WIRE_FROZEN);
			(void)wire_send(sock, &p->out, NULL, 0);
		}
		(void)wire_recv(sock, &p->in);
		return;
	}
}

static void a_box_that_lies_is_not_believed(void **state)
{
	static const char *const ways[] = {"s", "n", "u", "h", "p", "t", "x"};
	(void)state;
	begin(lying_box);
	assert_int_equal(lease(), 0);
	for (size_t k = 0; k < sizeof(ways) / sizeof(ways[0]); k++) {
		const struct box_command c = command(ways[k]);
		assert_int_equal(run(&c), ERR_SERVER);
	}
	arena_free(arena);
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_command_is_answered),
		cmocka_unit_test(no_boxd_is_an_error_after_a_while),
		cmocka_unit_test(a_boxd_that_restarts_is_waited_for),
		cmocka_unit_test(a_limit_is_told),
		cmocka_unit_test(a_stopping_boxd_is_asked_again),
		cmocka_unit_test(a_box_that_slept_is_leased_anew),
		cmocka_unit_test(a_box_that_is_always_lost_is_an_error_after_a_while),
		cmocka_unit_test(a_command_that_began_is_never_sent_again),
		cmocka_unit_test(a_client_that_goes_ends_the_command),
		cmocka_unit_test(the_heart_beats_while_waiting),
		cmocka_unit_test(all_of_a_command_travels),
		cmocka_unit_test(what_cannot_travel_is_refused),
		cmocka_unit_test(files_are_cited),
		cmocka_unit_test(a_failed_save_is_told_beside_the_outcome),
		cmocka_unit_test(a_bad_folder_is_the_clients_fault),
		cmocka_unit_test(a_box_that_lies_is_not_believed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
