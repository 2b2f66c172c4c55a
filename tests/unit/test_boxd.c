/* test_boxd: the real boxd with real boxes, asked as the app asks. SPDX-License-Identifier: ISC */
#include "tests/lib/test.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox/sys/io.h"
#include "sandbox/wire/exec.h"
#include "sandbox/wire/lease.h"
#include "tests/lib/proc.h"

static pid_t boxd;
static char build[4096], state_path[128], socket_path[256], conf_path[256], log_path[256];
static struct wire_out out;
static struct wire_in in;
static char text[4096]; /* standard output of the last command */

/* -- boxd as a child ------------------------------------------------------------------------ */

/* build/tests/unit/test_boxd lies three folders below the programs. */
static void find_build(void)
{
	ssize_t n = readlink("/proc/self/exe", build, sizeof build - 64);

	assert_true(n > 0);
	build[n] = 0;
	for (int k = 0; k < 3; k++)
		*strrchr(build, '/') = 0;
}

static void write_conf(const char *more)
{
	FILE *f = fopen(conf_path, "w");

	assert_non_null(f);
	(void)fprintf(f,
		"[sandgate]\nlisten =\n[boxd]\nstate = %s\nbox_program = %s/sandgate-box\n"
		"init_program = %s/sandgate-init\nstop_seconds = 10\n%s\n",
		state_path, build, build, more);
	assert_int_equal(fclose(f), 0);
}

static pid_t spawn_boxd(void)
{
	char program[4200];
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		int fd = open(log_path, O_WRONLY | O_CREAT | O_APPEND, 0644);
		(void)dup2(fd, 2);
		(void)snprintf(program, sizeof program, "%s/sandgate-boxd", build);
		(void)execl(program, program, "--config", conf_path, (char *)NULL);
		_exit(127);
	}
	return pid;
}

static int connect_to(const char *path)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	(void)snprintf(a.sun_path, sizeof a.sun_path, "%.100s", path);
	assert_true(fd >= 0);
	if (connect(fd, (struct sockaddr *)&a, sizeof a) < 0)
		io_close(&fd);
	return fd;
}

static void start(const char *more)
{
	int fd = -1;

	write_conf(more);
	boxd = spawn_boxd();
	for (int k = 0; k < 1000 && fd < 0; k++) {
		(void)poll(NULL, 0, 10);
		assert_int_equal(waitpid(boxd, NULL, WNOHANG), 0);
		fd = connect_to(socket_path);
	}
	assert_true(fd >= 0);
	io_close(&fd);
}

static int end(int sig)
{
	int status;

	(void)kill(boxd, sig);
	assert_int_equal(waitpid(boxd, &status, 0), boxd);
	boxd = 0;
	return status;
}

/* Boxes and inits of this test's boxd have its log as their standard error. */
static size_t boxes_running(void)
{
	return proc_count(log_path, NULL, boxd, NULL);
}

static pid_t box_pid(void)
{
	pid_t box = 0;

	assert_int_not_equal(proc_count(log_path, "/sandgate-box", boxd, &box), 0);
	return box;
}

static bool log_says(const char *what)
{
	char *log = io_read_file(AT_FDCWD, log_path, 1 << 20, NULL);
	bool yes = log && strstr(log, what);

	free(log);
	return yes;
}

static int set_up(void **state)
{
	const struct passwd *pw = getpwnam("sandgate");

	(void)state;
	if (!pw) {
		print_error("no user sandgate: run make deps\n");
		return -1;
	}
	find_build();
	(void)snprintf(state_path, sizeof state_path, "%s/state", test_tmp());
	(void)snprintf(socket_path, sizeof socket_path, "%s/run/boxd.sock", state_path);
	(void)snprintf(conf_path, sizeof conf_path, "%s/conf", test_tmp());
	(void)snprintf(log_path, sizeof log_path, "%s/log", test_tmp());
	if (chmod(test_tmp(), 0755) < 0 || mkdir(state_path, 0755) < 0)
		return -1;
	return chown(state_path, pw->pw_uid, pw->pw_gid);
}

static int tear_down(void **state)
{
	(void)state;
	if (boxd > 0) {
		(void)kill(boxd, SIGKILL);
		(void)waitpid(boxd, NULL, 0);
	}
	wire_close(&in);
	test_tmp_remove();
	return 0;
}

/* After a failed test, too, nothing of its boxd is left. */
static int after_each(void **state)
{
	(void)state;
	if (boxd > 0)
		(void)end(SIGTERM);
	return boxes_running() == 0 ? 0 : -1;
}

/* -- the app's side ------------------------------------------------------------------------- */

static void receive(int fd, enum wire_type type, int ms)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	assert_int_equal(poll(&p, 1, ms), 1);
	assert_int_equal(wire_recv(fd, &in), 1);
	assert_int_equal(wire_type(&in), type);
}

static int ask(const char *workspace, const char *container)
{
	const struct wire_lease m = {.workspace = workspace, .container = container};
	int fd = connect_to(socket_path);

	assert_true(fd >= 0);
	wire_lease(&out, &m);
	assert_int_equal(wire_send(fd, &out, NULL, 0), 0);
	return fd;
}

static int lease(const char *workspace, const char *container)
{
	int fd = ask(workspace, container), conn;

	receive(fd, WIRE_LEASED, 20000);
	conn = wire_take_fd(&in, 0);
	assert_true(conn >= 0);
	io_close(&fd);
	return conn;
}

static uint32_t refused(const char *workspace, const char *container, const char *says)
{
	struct wire_refused m;
	int fd = ask(workspace, container);

	receive(fd, WIRE_REFUSED, 20000);
	assert_int_equal(wire_refused_get(&in, &m), 0);
	assert_non_null(strstr(m.text, says));
	io_close(&fd);
	return m.why;
}

static void send_command(int conn, uint32_t env, uint32_t sleep_after, const char *command)
{
	const struct wire_exec m = {.env = env,
		.timeout_ms = 20000,
		.max_output = 4000,
		.sleep_after = sleep_after,
		.tool = "exec",
		.request_id = "req_test",
		.command = command,
		.cwd = ""};

	wire_exec(&out, &m);
	assert_int_equal(wire_send(conn, &out, NULL, 0), 0);
}

static struct wire_done await_done(int conn)
{
	struct wire_done d;
	int fd;

	receive(conn, WIRE_STARTED, 20000);
	receive(conn, WIRE_DONE, 20000);
	assert_int_equal(wire_exec_done_get(&in, &d), 0);
	fd = wire_take_fd(&in, 0);
	ssize_t n = fd < 0 ? 0 : pread(fd, text, sizeof text - 1, 0);
	assert_true(n >= 0);
	text[n] = 0;
	io_close(&fd);
	return d;
}

static struct wire_done run(int conn, const char *command)
{
	send_command(conn, WIRE_ENV_SHELL, 600, command);
	return await_done(conn);
}

static void prints(int conn, const char *command, const char *expected)
{
	(void)run(conn, command);
	assert_string_equal(text, expected);
}

/* -- tests ---------------------------------------------------------------------------------- */

static void leases_a_container(void **state)
{
	struct wire_done d;
	int a, b;

	(void)state;
	start("");
	a = lease("w", "c1");
	d = run(a, "echo hi; echo x >f; echo $$ >/tmp/p; exit 4");
	assert_string_equal(text, "hi\n");
	assert_int_equal(d.found, WIRE_NEW);
	assert_int_equal(d.outcome, WIRE_EXIT);
	assert_int_equal(d.code, 4);
	assert_int_equal(strlen(d.commit), 40);
	/* Again while it is awake: the same environment. */
	b = lease("w", "c1");
	d = run(b, "cat f; ls /tmp");
	assert_string_equal(text, "x\np\n");
	assert_int_equal(d.found, WIRE_WARM);
	/* The same id elsewhere is another container. */
	io_close(&b);
	b = lease("v", "c1");
	prints(b, "ls", "");
	io_close(&a);
	io_close(&b);
	assert_int_equal(end(SIGTERM), 0);
	assert_int_equal(boxes_running(), 0);
}

static void makes_a_second_environment(void **state)
{
	int a;

	(void)state;
	start("");
	a = lease("w", "c2");
	prints(a, "echo one >f; echo tmp >/tmp/t", "");
	send_command(a, WIRE_ENV_BASH, 600, "cat f; ls /tmp");
	(void)await_done(a);
	assert_string_equal(text, "one\n");
	send_command(a, WIRE_ENV_BASH, 600, "echo two >f; ps -e | wc -l");
	(void)await_done(a);
	prints(a, "cat f", "two\n");
	io_close(&a);
}

static void puts_an_idle_container_to_sleep(void **state)
{
	struct wire_done d;
	int a;

	(void)state;
	start("");
	a = lease("w", "c3");
	send_command(a, WIRE_ENV_SHELL, 1, "echo kept >f; echo gone >/tmp/t; sleep 600 & disown");
	(void)await_done(a);
	io_close(&a);
	for (int k = 0; k < 200 && boxes_running() > 0; k++)
		(void)poll(NULL, 0, 50);
	assert_int_equal(boxes_running(), 0);
	a = lease("w", "c3");
	d = run(a, "cat f; ls /tmp");
	assert_string_equal(text, "kept\n");
	assert_int_equal(d.found, WIRE_WOKEN);
	io_close(&a);
}

static void wakes_again_whatever_the_moment(void **state)
{
	int a;

	(void)state;
	start("");
	/* Leases that come just when the container goes to sleep: each is served, by the old or a new one. */
	for (int k = 0; k < 12; k++) {
		a = lease("w", "c4");
		send_command(a, WIRE_ENV_SHELL, 1, "echo x >>f; wc -l <f");
		(void)await_done(a);
		assert_int_equal(strtol(text, NULL, 10), k + 1);
		io_close(&a);
		(void)poll(NULL, 0, k % 3 == 0 ? 990 + k * 5 : 5);
	}
}

static void refuses_malformed_names(void **state)
{
	int fd;

	(void)state;
	start("");
	assert_int_equal(refused("w", "../x", ""), WIRE_REFUSED_BAD);
	assert_int_equal(refused("", "c", ""), WIRE_REFUSED_BAD);
	assert_int_equal(refused("w", "a b", ""), WIRE_REFUSED_BAD);
	/* Another message altogether. */
	fd = connect_to(socket_path);
	wire_leased(&out);
	assert_int_equal(wire_send(fd, &out, NULL, 0), 0);
	receive(fd, WIRE_REFUSED, 5000);
	io_close(&fd);
}

static void refuses_more_than_the_limits(void **state)
{
	int a, b;

	(void)state;
	start("max_containers = 2\nmax_containers_per_workspace = 1");
	a = lease("w", "l1");
	assert_int_equal(refused("w", "l2", "max_containers_per_workspace"), WIRE_REFUSED_LIMIT);
	b = lease("v", "l1");
	assert_int_equal(refused("u", "l1", "max_containers)"), WIRE_REFUSED_LIMIT);
	/* One that is awake already is no new one. */
	io_close(&a);
	a = lease("w", "l1");
	prints(a, "echo ok", "ok\n");
	io_close(&a);
	io_close(&b);
}

static void keeps_strangers_out(void **state)
{
	int status;
	pid_t pid;

	(void)state;
	start("");
	pid = fork();
	if (pid == 0) {
		if (setgid(65534) < 0 || setuid(65534) < 0)
			_exit(2);
		_exit(connect_to(socket_path) < 0 ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void drops_a_peer_that_says_nothing(void **state)
{
	int64_t begun = io_now_ms();
	int fd;

	(void)state;
	start("");
	fd = connect_to(socket_path);
	struct pollfd p = {.fd = fd, .events = POLLIN};
	assert_int_equal(poll(&p, 1, 10000), 1);
	assert_int_equal(wire_recv(fd, &in), 0);
	assert_true(io_now_ms() - begun > 4000);
	io_close(&fd);
}

static void replaces_a_box_that_died(void **state)
{
	struct wire_done d;
	int a;

	(void)state;
	start("");
	a = lease("w", "d1");
	prints(a, "echo kept >f; sleep 600 & disown", "");
	assert_int_equal(kill(box_pid(), SIGKILL), 0);
	/* The connection breaks, and the next lease gets a new one. */
	assert_true(wire_recv(a, &in) <= 0);
	io_close(&a);
	/* An app that is quicker than the news of the death leases again; here it is not. */
	(void)poll(NULL, 0, 50);
	a = lease("w", "d1");
	d = run(a, "cat f");
	assert_string_equal(text, "kept\n");
	assert_int_equal(d.found, WIRE_WOKEN);
	io_close(&a);
	assert_int_equal(end(SIGTERM), 0);
	assert_int_equal(boxes_running(), 0);
}

static void boxes_are_unprivileged(void **state)
{
	char path[64], *status;
	int a;

	(void)state;
	start("");
	a = lease("w", "u1");
	prints(a, "echo", "\n");
	(void)snprintf(path, sizeof path, "/proc/%d/status", (int)box_pid());
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
	start("");
	a = lease("w", "k1");
	prints(a, "echo kept >f; sleep 600 & disown", "");
	(void)end(SIGKILL);
	start("");
	assert_int_equal(boxes_running(), 0);
	io_close(&a);
	a = lease("w", "k1");
	prints(a, "cat f", "kept\n");
	io_close(&a);
}

static void serves_a_folder_alone(void **state)
{
	int status;
	pid_t other;

	(void)state;
	start("");
	other = spawn_boxd();
	assert_int_equal(waitpid(other, &status, 0), other);
	assert_int_equal(WEXITSTATUS(status), 1);
	assert_true(log_says("another boxd serves"));
}

static void saves_running_commands_when_it_stops(void **state)
{
	int a;

	(void)state;
	start("");
	a = lease("w", "s1");
	send_command(a, WIRE_ENV_SHELL, 600, "echo kept >f; sleep 600");
	receive(a, WIRE_STARTED, 5000);
	(void)poll(NULL, 0, 300);
	assert_int_equal(end(SIGTERM), 0);
	io_close(&a);
	start("");
	a = lease("w", "s1");
	prints(a, "cat f", "kept\n");
	io_close(&a);
}

static void wakes_many_at_once(void **state)
{
	enum { N = 24 };
	int fds[N], conns[N];
	char id[16];

	(void)state;
	start("");
	for (int k = 0; k < N; k++) {
		(void)snprintf(id, sizeof id, "m%d", k);
		fds[k] = ask("w", id);
	}
	for (int k = 0; k < N; k++) {
		receive(fds[k], WIRE_LEASED, 20000);
		conns[k] = wire_take_fd(&in, 0);
		io_close(&fds[k]);
		send_command(conns[k], WIRE_ENV_SHELL, 600, "cat /proc/self/uid_map");
	}
	char first[N][64];
	for (int k = 0; k < N; k++) {
		(void)await_done(conns[k]);
		(void)snprintf(first[k], sizeof first[k], "%.60s", text);
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
	char saved[sizeof build];
	int status;
	pid_t pid;

	(void)state;
	for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
		memcpy(saved, build, sizeof build);
		if (!bad[k].line)
			(void)snprintf(build, sizeof build, "/nowhere");
		write_conf(bad[k].line ? bad[k].line : "");
		memcpy(build, saved, sizeof build);
		(void)unlink(log_path);
		pid = spawn_boxd();
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFEXITED(status));
		assert_int_equal(WEXITSTATUS(status), 1);
		if (!log_says(bad[k].says))
			fail_msg("%s: the log does not say \"%s\"", bad[k].line, bad[k].says);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(leases_a_container, after_each),
		cmocka_unit_test_teardown(makes_a_second_environment, after_each),
		cmocka_unit_test_teardown(puts_an_idle_container_to_sleep, after_each),
		cmocka_unit_test_teardown(wakes_again_whatever_the_moment, after_each),
		cmocka_unit_test_teardown(refuses_malformed_names, after_each),
		cmocka_unit_test_teardown(refuses_more_than_the_limits, after_each),
		cmocka_unit_test_teardown(keeps_strangers_out, after_each),
		cmocka_unit_test_teardown(drops_a_peer_that_says_nothing, after_each),
		cmocka_unit_test_teardown(replaces_a_box_that_died, after_each),
		cmocka_unit_test_teardown(boxes_are_unprivileged, after_each),
		cmocka_unit_test_teardown(a_new_boxd_removes_what_a_killed_one_left, after_each),
		cmocka_unit_test_teardown(serves_a_folder_alone, after_each),
		cmocka_unit_test_teardown(saves_running_commands_when_it_stops, after_each),
		cmocka_unit_test_teardown(wakes_many_at_once, after_each),
		cmocka_unit_test(says_what_keeps_it_from_starting),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
