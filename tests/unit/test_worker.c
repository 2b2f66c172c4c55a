/* worker: draining, crashes, signals, sockets. SPDX-License-Identifier: ISC */
#include "tests/lib/test.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app/http/http.h"
#include "app/http/listen.h"
#include "sandbox/sys/io.h"
#include "sandbox/sys/log.h"
#include "tests/lib/fcgi_client.h"
#include "tests/lib/fcgi_server.h"

static struct fcgi_server server;
static struct fcgi_client c, other;
static char err[256];

/* /pid, /crash, /slow?ms=N (streamed: "begun", then "ended"). */
static void serve(struct req *r)
{
	char text[32];

	if (strcmp(r->path, "/crash") == 0) {
		/* cmocka has a handler of its own for it. */
		signal(SIGSEGV, SIG_DFL);
		setrlimit(RLIMIT_CORE, &(const struct rlimit){0});
		raise(SIGSEGV);
	}
	if (strcmp(r->path, "/slow") == 0) {
		http_stream(r);
		http_write(r, "begun", 5);
		usleep((useconds_t)strtoul(http_query(r, "ms"), NULL, 10) * 1000);
		http_write(r, "ended", 5);
		return;
	}
	snprintf(text, sizeof text, "%d", (int)getpid());
	http_send_text(r, 200, "text/plain", text);
}

static void start(int processes, int threads, int drain_seconds)
{
	struct worker w = {.processes = processes,
		.threads = threads,
		.drain_seconds = drain_seconds,
		.serve = serve};

	fcgi_server_start(&server, &w);
}

static void begin(struct fcgi_client *client, const char *uri)
{
	char line[128];

	snprintf(line, sizeof line, "REQUEST_URI=%s", uri);
	fcgi_connect(client, server.where);
	fcgi_send_params(client, (const char *const[]){"REQUEST_METHOD=GET", line, NULL});
	fcgi_send_body(client, "", 0);
}

/* The process that answers; 0 if the connection ended without an answer. */
static int ask_pid(void)
{
	int pid;

	begin(&c, "/pid");
	assert_true(fcgi_read(&c, NULL, 10000));
	pid = (int)strtol(fcgi_body(&c), NULL, 10);
	fcgi_close(&c);
	return pid;
}

static void many_clients_share_the_threads(void **state)
{
	enum { CLIENTS = 40 };
	static struct fcgi_client clients[CLIENTS];
	int i;

	(void)state;
	start(2, 4, 2);
	for (i = 0; i < CLIENTS; i++)
		begin(&clients[i], "/slow?ms=20");
	for (i = 0; i < CLIENTS; i++) {
		assert_true(fcgi_read(&clients[i], "ended", 5000));
		fcgi_close(&clients[i]);
	}
	assert_int_equal(fcgi_server_stop(&server), 0);
}

static void running_request_is_finished(void **state)
{
	(void)state;
	start(2, 2, 5);
	begin(&c, "/slow?ms=400");
	assert_true(fcgi_read(&c, "begun", 2000));
	kill(server.pid, SIGTERM);
	assert_true(fcgi_read(&c, NULL, 2000));
	assert_true(c.ended);
	assert_string_equal(fcgi_body(&c), "begunended");
	fcgi_close(&c);
	assert_int_equal(fcgi_server_stop(&server), 0);
}

static void draining_takes_no_more(void **state)
{
	(void)state;
	start(1, 2, 5);
	begin(&c, "/slow?ms=600");
	assert_true(fcgi_read(&c, "begun", 2000));
	kill(server.pid, SIGTERM);
	usleep(100000);
	begin(&other, "/pid");
	assert_false(fcgi_read(&other, "Status", 200));
	assert_true(fcgi_read(&c, "ended", 2000));
	fcgi_close(&c);
	assert_int_equal(fcgi_server_stop(&server), 0);
	fcgi_read(&other, NULL, 500);
	assert_int_equal(fcgi_status(&other), 0);
	fcgi_close(&other);
}

static void drain_has_a_limit(void **state)
{
	int64_t before;

	(void)state;
	start(1, 2, 0);
	begin(&c, "/slow?ms=20000");
	assert_true(fcgi_read(&c, "begun", 2000));
	before = io_now_ms();
	assert_int_equal(fcgi_server_stop(&server), 0);
	assert_in_range(io_now_ms() - before, 500, 3000);
	assert_true(fcgi_server_logged(&server, "1 requests were cut off", 1000));
	fcgi_close(&c);
}

static void second_signal_does_not_wait(void **state)
{
	int64_t before = io_now_ms();

	(void)state;
	start(1, 2, 30);
	begin(&c, "/slow?ms=20000");
	assert_true(fcgi_read(&c, "begun", 2000));
	kill(server.pid, SIGTERM);
	usleep(100000);
	assert_int_equal(fcgi_server_stop(&server), 0);
	assert_in_range(io_now_ms() - before, 0, 3000);
	fcgi_close(&c);
}

static void crashed_process_is_replaced(void **state)
{
	int first, i;

	(void)state;
	start(1, 2, 2);
	first = ask_pid();
	for (i = 0; i < 2; i++) {
		begin(&c, "/crash");
		fcgi_read(&c, NULL, 2000);
		assert_int_equal(fcgi_status(&c), 0);
		assert_true(c.closed);
		fcgi_close(&c);
		assert_int_not_equal(ask_pid(), first);
	}
	assert_true(fcgi_server_logged(&server, "was killed by signal 11", 1000));
	assert_int_equal(fcgi_server_stop(&server), 0);
}

static void killed_process_leaves_the_others(void **state)
{
	int pid, i;

	(void)state;
	start(2, 2, 2);
	pid = ask_pid();
	kill(pid, SIGKILL);
	for (i = 0; i < 50; i++)
		assert_int_not_equal(ask_pid(), pid);
	assert_int_equal(fcgi_server_stop(&server), 0);
}

static int refuse(void *ctx)
{
	(void)ctx;
	return -1;
}

/* It must neither give up nor spin. */
static void process_that_cannot_start_is_tried_with_pauses(void **state)
{
	struct worker w = {
		.processes = 1, .threads = 1, .drain_seconds = 1, .serve = serve, .start = refuse};
	char *log, *at;
	int tries = 0;
	size_t n;

	(void)state;
	fcgi_server_start(&server, &w);
	usleep(1000000); /* at 0, 0, 100, 300, 700 ms */
	assert_int_equal(fcgi_server_stop(&server), 0);
	log = test_read(server.log, &n);
	for (at = log; (at = strstr(at, "ended with status 1")) != NULL; at++)
		tries++;
	assert_in_range(tries, 3, 6);
	free(log);
}

static int count_in(void *ctx)
{
	log_info("%s comes in", (const char *)ctx);
	return 0;
}

static void count_out(void *ctx)
{
	log_info("%s goes out", (const char *)ctx);
}

static void threads_enter_and_leave(void **state)
{
	static char name[] = "somebody";
	struct worker w = {.processes = 1,
		.threads = 1,
		.drain_seconds = 1,
		.serve = serve,
		.enter = count_in,
		.leave = count_out,
		.ctx = name};

	(void)state;
	fcgi_server_start(&server, &w);
	assert_true(fcgi_server_logged(&server, "somebody comes in", 2000));
	assert_int_equal(fcgi_server_stop(&server), 0);
	assert_true(fcgi_server_logged(&server, "somebody goes out", 1000));
}

static void workers_end_with_their_supervisor(void **state)
{
	int rc = -1, i;

	(void)state;
	start(1, 2, 1);
	ask_pid();
	kill(server.pid, SIGKILL);
	waitpid(server.pid, NULL, 0);
	/* Nobody holds the socket any more: that is what a successor needs. */
	for (i = 0; i < 200 && rc < 0; i++) {
		rc = http_listen(server.where, 0600, err, sizeof err);
		usleep(10000);
	}
	assert_true(rc >= 0);
	close(rc);
}

/* -- the listening socket -------------------------------------------------- */

static void stale_socket_is_replaced(void **state)
{
	char where[128];
	int fd;

	(void)state;
	snprintf(where, sizeof where, "unix:%s/stale.sock", test_tmp());
	fd = http_listen(where, 0600, err, sizeof err);
	assert_true(fd >= 0);
	close(fd);
	fd = http_listen(where, 0640, err, sizeof err);
	assert_true(fd >= 0);
	close(fd);
}

static void socket_in_use_is_not_taken(void **state)
{
	char where[128];
	int fd;

	(void)state;
	snprintf(where, sizeof where, "unix:%s/used.sock", test_tmp());
	fd = http_listen(where, 0600, err, sizeof err);
	assert_int_equal(http_listen(where, 0600, err, sizeof err), -1);
	assert_non_null(strstr(err, "Address already in use"));
	close(fd);
}

static void file_is_not_replaced(void **state)
{
	char where[128];
	const char *path = test_tmp_file("file.sock", "x", 1);

	(void)state;
	snprintf(where, sizeof where, "unix:%s", path);
	assert_int_equal(http_listen(where, 0600, err, sizeof err), -1);
	assert_int_equal(access(path, F_OK), 0);
}

static void socket_has_its_mode_and_goes(void **state)
{
	char where[128];
	struct stat st;
	int fd;

	(void)state;
	snprintf(where, sizeof where, "unix:%s/mode.sock", test_tmp());
	fd = http_listen(where, 0666, err, sizeof err);
	assert_int_equal(stat(where + 5, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0666);
	http_unlisten(where);
	assert_int_equal(stat(where + 5, &st), -1);
	close(fd);
}

static void successor_keeps_its_socket(void **state)
{
	char where[128];
	struct stat st;
	int fd;

	(void)state;
	snprintf(where, sizeof where, "unix:%s/next.sock", test_tmp());
	fd = http_listen(where, 0600, err, sizeof err);
	/* Another one in its place, as a newer instance leaves it; the first still exists, so its inode does too. */
	assert_int_equal(rename(where + 5, test_tmp_file("old.sock", "", 0)), 0);
	assert_int_equal(mknod(where + 5, S_IFSOCK | 0600, 0), 0);
	http_unlisten(where);
	assert_int_equal(stat(where + 5, &st), 0);
	close(fd);
}

static void bad_places_are_named(void **state)
{
	static const char *const bad[] = {"unix:/nonexistent/x.sock", "127.0.0.1:99999",
		"127.0.0.1:http?", ":9000", "256.1.1.1:80",
		"unix:/tmp/"
		"0123456789012345678901234567890123456789012345678901234567890123456789"
		"0123456789012345678901234567890123456789.sock"};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		err[0] = '\0';
		assert_int_equal(http_listen(bad[i], 0600, err, sizeof err), -1);
		assert_true(err[0] != '\0');
	}
}

static void descriptor_0_must_listen(void **state)
{
	int kept = dup(0), fd = socket(AF_INET, SOCK_STREAM, 0);

	(void)state;
	dup2(fd, 0);
	assert_int_equal(http_listen("", 0, err, sizeof err), -1);
	assert_int_equal(listen(0, 1), 0);
	assert_int_equal(http_listen("", 0, err, sizeof err), 0);
	dup2(kept, 0);
	close(kept);
	close(fd);
}

static void tcp_serves_too(void **state)
{
	struct worker w = {.processes = 1, .threads = 1, .drain_seconds = 1, .serve = serve};
	char where[64];
	pid_t pid;
	int port;

	(void)state;
	for (port = 39000; port < 39100; port++) {
		snprintf(where, sizeof where, "127.0.0.1:%d", port);
		w.listener = http_listen(where, 0, err, sizeof err);
		if (w.listener >= 0)
			break;
	}
	pid = fork();
	if (pid == 0) {
		log_open("test", LOG_WARN);
		_exit(worker_supervise(&w));
	}
	close(w.listener);
	fcgi_request(&c, where, "GET", "/pid", NULL);
	assert_int_equal(fcgi_status(&c), 200);
	fcgi_close(&c);
	kill(pid, SIGTERM);
	waitpid(pid, NULL, 0);
}

static int clean(void **state)
{
	(void)state;
	test_tmp_remove();
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(many_clients_share_the_threads),
		cmocka_unit_test(running_request_is_finished),
		cmocka_unit_test(draining_takes_no_more),
		cmocka_unit_test(drain_has_a_limit),
		cmocka_unit_test(second_signal_does_not_wait),
		cmocka_unit_test(crashed_process_is_replaced),
		cmocka_unit_test(killed_process_leaves_the_others),
		cmocka_unit_test(process_that_cannot_start_is_tried_with_pauses),
		cmocka_unit_test(threads_enter_and_leave),
		cmocka_unit_test(workers_end_with_their_supervisor),
		cmocka_unit_test(stale_socket_is_replaced),
		cmocka_unit_test(socket_in_use_is_not_taken),
		cmocka_unit_test(file_is_not_replaced),
		cmocka_unit_test(socket_has_its_mode_and_goes),
		cmocka_unit_test(successor_keeps_its_socket),
		cmocka_unit_test(bad_places_are_named),
		cmocka_unit_test(descriptor_0_must_listen),
		cmocka_unit_test(tcp_serves_too),
	};

	return cmocka_run_group_tests(tests, NULL, clean);
}
