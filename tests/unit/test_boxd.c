/* test_boxd: the real boxd with real boxes, asked as the app asks. SPDX-License-Identifier: ISC */
#include "tests/lib/test.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox/sys/io.h"
#include "tests/lib/boxd.h"

static void leases_a_container(void **state)
{
	struct wire_done d;
	int a, b;

	(void)state;
	boxd_start("");
	a = boxd_lease("w", "c1");
	d = boxd_run(a, "echo hi; echo x >f; echo $$ >/tmp/p; exit 4");
	assert_string_equal(boxd.text, "hi\n");
	assert_int_equal(d.found, WIRE_NEW);
	assert_int_equal(d.outcome, WIRE_EXIT);
	assert_int_equal(d.code, 4);
	assert_int_equal(strlen(d.commit), 40);
	/* Again while it is awake: the same environment. */
	b = boxd_lease("w", "c1");
	d = boxd_run(b, "cat f; ls /tmp");
	assert_string_equal(boxd.text, "x\np\n");
	assert_int_equal(d.found, WIRE_WARM);
	/* The same id elsewhere is another container. */
	io_close(&b);
	b = boxd_lease("v", "c1");
	boxd_prints(b, "ls", "");
	io_close(&a);
	io_close(&b);
	assert_int_equal(boxd_end(SIGTERM), 0);
	assert_int_equal(boxd_children(), 0);
}

static void makes_a_second_environment(void **state)
{
	int a;

	(void)state;
	boxd_start("");
	a = boxd_lease("w", "c2");
	boxd_prints(a, "echo one >f; echo tmp >/tmp/t", "");
	boxd_send_command(a, WIRE_ENV_BASH, 600, "cat f; ls /tmp");
	(void)boxd_await_done(a);
	assert_string_equal(boxd.text, "one\n");
	boxd_send_command(a, WIRE_ENV_BASH, 600, "echo two >f; ps -e | wc -l");
	(void)boxd_await_done(a);
	boxd_prints(a, "cat f", "two\n");
	io_close(&a);
}

static void puts_an_idle_container_to_sleep(void **state)
{
	struct wire_done d;
	int a;

	(void)state;
	boxd_start("");
	a = boxd_lease("w", "c3");
	boxd_send_command(
		a, WIRE_ENV_SHELL, 1, "echo kept >f; echo gone >/tmp/t; sleep 600 & disown");
	(void)boxd_await_done(a);
	io_close(&a);
	for (int k = 0; k < 200 && boxd_children() > 0; k++)
		(void)poll(NULL, 0, 50);
	assert_int_equal(boxd_children(), 0);
	a = boxd_lease("w", "c3");
	d = boxd_run(a, "cat f; ls /tmp");
	assert_string_equal(boxd.text, "kept\n");
	assert_int_equal(d.found, WIRE_WOKEN);
	io_close(&a);
}

static void wakes_again_whatever_the_moment(void **state)
{
	int a;

	(void)state;
	boxd_start("");
	/* Leases that come just when the container goes to sleep: each is served, by the old or a new one. */
	for (int k = 0; k < 12; k++) {
		a = boxd_lease("w", "c4");
		boxd_send_command(a, WIRE_ENV_SHELL, 1, "echo x >>f; wc -l <f");
		(void)boxd_await_done(a);
		assert_int_equal(strtol(boxd.text, NULL, 10), k + 1);
		io_close(&a);
		(void)poll(NULL, 0, k % 3 == 0 ? 990 + k * 5 : 5);
	}
}

static void refuses_malformed_names(void **state)
{
	int fd;

	(void)state;
	boxd_start("");
	assert_int_equal(boxd_refused("w", "../x", ""), WIRE_REFUSED_BAD);
	assert_int_equal(boxd_refused("", "c", ""), WIRE_REFUSED_BAD);
	assert_int_equal(boxd_refused("w", "a b", ""), WIRE_REFUSED_BAD);
	/* Another message altogether. */
	fd = boxd_connect(boxd.socket_path);
	wire_leased(&boxd.out);
	assert_int_equal(wire_send(fd, &boxd.out, NULL, 0), 0);
	boxd_receive(fd, WIRE_REFUSED, 5000);
	io_close(&fd);
}

static void refuses_more_than_the_limits(void **state)
{
	int a, b;

	(void)state;
	boxd_start("max_containers = 2\nmax_containers_per_workspace = 1");
	a = boxd_lease("w", "l1");
	assert_int_equal(
		boxd_refused("w", "l2", "max_containers_per_workspace"), WIRE_REFUSED_LIMIT);
	b = boxd_lease("v", "l1");
	assert_int_equal(boxd_refused("u", "l1", "max_containers)"), WIRE_REFUSED_LIMIT);
	/* One that is awake already is no new one. */
	io_close(&a);
	a = boxd_lease("w", "l1");
	boxd_prints(a, "echo ok", "ok\n");
	io_close(&a);
	io_close(&b);
}

static void keeps_strangers_out(void **state)
{
	int status;
	pid_t pid;

	(void)state;
	boxd_start("");
	pid = fork();
	if (pid == 0) {
		if (setgid(65534) < 0 || setuid(65534) < 0)
			_exit(2);
		_exit(boxd_connect(boxd.socket_path) < 0 ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void drops_a_peer_that_says_nothing(void **state)
{
	int64_t begun = io_now_ms();
	int fd;

	(void)state;
	boxd_start("");
	fd = boxd_connect(boxd.socket_path);
	struct pollfd p = {.fd = fd, .events = POLLIN};
	assert_int_equal(poll(&p, 1, 10000), 1);
	assert_int_equal(wire_recv(fd, &boxd.in), 0);
	assert_true(io_now_ms() - begun > 4000);
	io_close(&fd);
}

static void replaces_a_box_that_died(void **state)
{
	struct wire_done d;
	int a;

	(void)state;
	boxd_start("");
	a = boxd_lease("w", "d1");
	boxd_prints(a, "echo kept >f; sleep 600 & disown", "");
	assert_int_equal(kill(boxd_box(), SIGKILL), 0);
	/* The connection breaks, and the next lease gets a new one. */
	assert_true(wire_recv(a, &boxd.in) <= 0);
	io_close(&a);
	/* An app that is quicker than the news of the death leases again; here it is not. */
	(void)poll(NULL, 0, 50);
	a = boxd_lease("w", "d1");
	d = boxd_run(a, "cat f");
	assert_string_equal(boxd.text, "kept\n");
	assert_int_equal(d.found, WIRE_WOKEN);
	io_close(&a);
	assert_int_equal(boxd_end(SIGTERM), 0);
	assert_int_equal(boxd_children(), 0);
}

static size_t descriptors_of_boxd(void)
{
	char path[64];
	size_t n = 0;

	(void)snprintf(path, sizeof path, "/proc/%d/fd", (int)boxd.pid);
	DIR *d = opendir(path);
	assert_non_null(d);
	while (readdir(d))
		n++;
	(void)closedir(d);
	return n;
}

static void keeps_nothing_of_containers_that_are_over(void **state)
{
	size_t before, after = 0;
	int a;

	(void)state;
	boxd_start("");
	before = descriptors_of_boxd();
	for (int k = 0; k < 5; k++) {
		a = boxd_lease("w", "n1");
		boxd_send_command(a, WIRE_ENV_BASH, 600, "true");
		(void)boxd_await_done(a);
		(void)kill(boxd_box(), SIGKILL);
		io_close(&a);
		(void)poll(NULL, 0, 50);
	}
	for (int k = 0; k < 100 && (after = descriptors_of_boxd()) != before; k++)
		(void)poll(NULL, 0, 20);
	assert_int_equal(after, before);
	assert_int_equal(boxd_children(), 0);
}

static void boxes_are_unprivileged(void **state)
{
	char path[64], *status;
	int a;

	(void)state;
	boxd_start("");
	a = boxd_lease("w", "u1");
	boxd_prints(a, "echo", "\n");
	(void)snprintf(path, sizeof path, "/proc/%d/status", (int)boxd_box());
	status = io_read_file(AT_FDCWD, path, 1 << 16, NULL);
	assert_non_null(status);
	assert_non_null(strstr(status, "\nGroups:\t \n"));
	assert_non_null(strstr(status,
		"\nCapPrm:\t0000000000000000\nCapEff:\t0000000000000000\n"
		"CapBnd:\t0000000000000000\nCapAmb:\t0000000000000000\n"));
	assert_non_null(strstr(status, "\nNoNewPrivs:\t1\n"));
	assert_null(strstr(status, "\nUid:\t0"));
	free(status);
	io_close(&a);
}

static void a_new_boxd_removes_what_a_killed_one_left(void **state)
{
	int a;

	(void)state;
	boxd_start("");
	a = boxd_lease("w", "k1");
	boxd_prints(a, "echo kept >f; sleep 600 & disown", "");
	(void)boxd_end(SIGKILL);
	boxd_start("");
	assert_int_equal(boxd_children(), 0);
	io_close(&a);
	a = boxd_lease("w", "k1");
	boxd_prints(a, "cat f", "kept\n");
	io_close(&a);
}

static void serves_a_folder_alone(void **state)
{
	int status;
	pid_t other;

	(void)state;
	boxd_start("");
	other = boxd_spawn();
	assert_int_equal(waitpid(other, &status, 0), other);
	assert_int_equal(WEXITSTATUS(status), 1);
	assert_true(boxd_log_says("another boxd serves"));
}

static void saves_running_commands_when_it_stops(void **state)
{
	int a;

	(void)state;
	boxd_start("");
	a = boxd_lease("w", "s1");
	boxd_send_command(a, WIRE_ENV_SHELL, 600, "echo kept >f; sleep 600");
	boxd_receive(a, WIRE_STARTED, 5000);
	(void)poll(NULL, 0, 300);
	assert_int_equal(boxd_end(SIGTERM), 0);
	io_close(&a);
	boxd_start("");
	a = boxd_lease("w", "s1");
	boxd_prints(a, "cat f", "kept\n");
	io_close(&a);
}

static void wakes_many_at_once(void **state)
{
	enum { N = 24 };
	int fds[N], conns[N];
	char id[16];

	(void)state;
	boxd_start("");
	for (int k = 0; k < N; k++) {
		(void)snprintf(id, sizeof id, "m%d", k);
		fds[k] = boxd_ask("w", id);
	}
	for (int k = 0; k < N; k++) {
		boxd_receive(fds[k], WIRE_LEASED, 20000);
		conns[k] = wire_take_fd(&boxd.in, 0);
		io_close(&fds[k]);
		boxd_send_command(conns[k], WIRE_ENV_SHELL, 600, "cat /proc/self/uid_map");
	}
	char first[N][64];
	for (int k = 0; k < N; k++) {
		(void)boxd_await_done(conns[k]);
		(void)snprintf(first[k], sizeof first[k], "%.60s", boxd.text);
		for (int j = 0; j < k; j++)
			assert_string_not_equal(first[j], first[k]);
		io_close(&conns[k]);
	}
}

/* Each stops the start with status 1 and a line that says why. */
static void says_what_keeps_it_from_starting(void **state)
{
	static const struct {
		const char *line, *says;
	} bad[] = {
		{"nonsense = 1", "conf:8: unknown key nonsense"},
		{"user = nobody-of-that-name", "no user nobody-of-that-name"},
		{"user = root", "expected one that is not root"},
		{NULL, "box_program = /nowhere/sandgate-box: No such file"},
	};
	char saved[sizeof boxd.build];
	int status;
	pid_t pid;

	(void)state;
	for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
		memcpy(saved, boxd.build, sizeof boxd.build);
		if (!bad[k].line)
			(void)snprintf(boxd.build, sizeof boxd.build, "/nowhere");
		boxd_write_conf(bad[k].line ? bad[k].line : "");
		memcpy(boxd.build, saved, sizeof boxd.build);
		(void)unlink(boxd.log_path);
		pid = boxd_spawn();
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFEXITED(status));
		assert_int_equal(WEXITSTATUS(status), 1);
		if (!boxd_log_says(bad[k].says))
			fail_msg("%s: the log does not say \"%s\"", bad[k].line, bad[k].says);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(leases_a_container, boxd_after_each),
		cmocka_unit_test_teardown(makes_a_second_environment, boxd_after_each),
		cmocka_unit_test_teardown(puts_an_idle_container_to_sleep, boxd_after_each),
		cmocka_unit_test_teardown(wakes_again_whatever_the_moment, boxd_after_each),
		cmocka_unit_test_teardown(refuses_malformed_names, boxd_after_each),
		cmocka_unit_test_teardown(refuses_more_than_the_limits, boxd_after_each),
		cmocka_unit_test_teardown(keeps_strangers_out, boxd_after_each),
		cmocka_unit_test_teardown(drops_a_peer_that_says_nothing, boxd_after_each),
		cmocka_unit_test_teardown(replaces_a_box_that_died, boxd_after_each),
		cmocka_unit_test_teardown(
			keeps_nothing_of_containers_that_are_over, boxd_after_each),
		cmocka_unit_test_teardown(boxes_are_unprivileged, boxd_after_each),
		cmocka_unit_test_teardown(
			a_new_boxd_removes_what_a_killed_one_left, boxd_after_each),
		cmocka_unit_test_teardown(serves_a_folder_alone, boxd_after_each),
		cmocka_unit_test_teardown(saves_running_commands_when_it_stops, boxd_after_each),
		cmocka_unit_test_teardown(wakes_many_at_once, boxd_after_each),
		cmocka_unit_test(says_what_keeps_it_from_starting),
	};

	return cmocka_run_group_tests(tests, boxd_set_up, boxd_tear_down);
}
