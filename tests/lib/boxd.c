/* boxd: the real boxd as a child of a test, and the app's side of it. SPDX-License-Identifier: ISC */
#include "tests/lib/test.h"

#include "tests/lib/boxd.h"

#include <fcntl.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox/sys/io.h"
#include "tests/lib/proc.h"

struct boxd boxd;
static char state_path[128], conf_path[256];

/* -- boxd as a child ------------------------------------------------------------------------ */

/* build/tests/unit/test_boxd lies three folders below the programs. */
static void find_build(void)
{
	ssize_t n = readlink("/proc/self/exe", boxd.build, sizeof boxd.build - 64);

	assert_true(n > 0);
	boxd.build[n] = 0;
	for (int k = 0; k < 3; k++)
		*strrchr(boxd.build, '/') = 0;
}

void boxd_write_conf(const char *more)
{
	FILE *f = fopen(conf_path, "w");

	assert_non_null(f);
	(void)fprintf(f,
		"[sandgate]\nlisten =\n[boxd]\nstate = %s\nbox_program = %s/sandgate-box\n"
		"init_program = %s/sandgate-init\nstop_seconds = 10\n%s\n",
		state_path, boxd.build, boxd.build, more);
	assert_int_equal(fclose(f), 0);
}

pid_t boxd_spawn(void)
{
	char program[4200];
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		int fd = open(boxd.log_path, O_WRONLY | O_CREAT | O_APPEND, 0644);
		(void)dup2(fd, 2);
		(void)snprintf(program, sizeof program, "%s/sandgate-boxd", boxd.build);
		(void)execl(program, program, "--config", conf_path, (char *)NULL);
		_exit(127);
	}
	return pid;
}

int boxd_connect(const char *path)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	(void)snprintf(a.sun_path, sizeof a.sun_path, "%.100s", path);
	assert_true(fd >= 0);
	if (connect(fd, (struct sockaddr *)&a, sizeof a) < 0)
		io_close(&fd);
	return fd;
}

void boxd_start(const char *more)
{
	int fd = -1;

	boxd_write_conf(more);
	boxd.pid = boxd_spawn();
	for (int k = 0; k < 1000 && fd < 0; k++) {
		(void)poll(NULL, 0, 10);
		assert_int_equal(waitpid(boxd.pid, NULL, WNOHANG), 0);
		fd = boxd_connect(boxd.socket_path);
	}
	assert_true(fd >= 0);
	io_close(&fd);
}

int boxd_end(int sig)
{
	int status;

	(void)kill(boxd.pid, sig);
	assert_int_equal(waitpid(boxd.pid, &status, 0), boxd.pid);
	boxd.pid = 0;
	return status;
}

/* Boxes and inits of this test's boxd have its log as their standard error. */
size_t boxd_children(void)
{
	return proc_count(boxd.log_path, NULL, boxd.pid, NULL);
}

pid_t boxd_box(void)
{
	pid_t box = 0;

	assert_int_not_equal(proc_count(boxd.log_path, "/sandgate-box", boxd.pid, &box), 0);
	return box;
}

bool boxd_log_says(const char *what)
{
	char *log = io_read_file(AT_FDCWD, boxd.log_path, 1 << 20, NULL);
	bool yes = log && strstr(log, what);

	free(log);
	return yes;
}

int boxd_set_up(void **state)
{
	const struct passwd *pw = getpwnam("sandgate");

	(void)state;
	if (!pw) {
		print_error("no user sandgate: run make deps\n");
		return -1;
	}
	find_build();
	(void)snprintf(state_path, sizeof state_path, "%s/state", test_tmp());
	(void)snprintf(boxd.socket_path, sizeof boxd.socket_path, "%s/run/boxd.sock", state_path);
	(void)snprintf(conf_path, sizeof conf_path, "%s/conf", test_tmp());
	(void)snprintf(boxd.log_path, sizeof boxd.log_path, "%s/log", test_tmp());
	if (chmod(test_tmp(), 0755) < 0 || mkdir(state_path, 0755) < 0)
		return -1;
	return chown(state_path, pw->pw_uid, pw->pw_gid);
}

int boxd_tear_down(void **state)
{
	(void)state;
	if (boxd.pid > 0) {
		(void)kill(boxd.pid, SIGKILL);
		(void)waitpid(boxd.pid, NULL, 0);
	}
	wire_close(&boxd.in);
	test_tmp_remove();
	return 0;
}

/* After a failed test, too, nothing of its boxd is left. */
int boxd_after_each(void **state)
{
	(void)state;
	if (boxd.pid > 0)
		(void)boxd_end(SIGTERM);
	return boxd_children() == 0 ? 0 : -1;
}

/* -- the app's side ------------------------------------------------------------------------- */

void boxd_receive(int fd, enum wire_type type, int ms)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	assert_int_equal(poll(&p, 1, ms), 1);
	assert_int_equal(wire_recv(fd, &boxd.in), 1);
	assert_int_equal(wire_type(&boxd.in), type);
}

int boxd_ask(const char *workspace, const char *container)
{
	const struct wire_lease m = {.workspace = workspace, .container = container};
	int fd = boxd_connect(boxd.socket_path);

	assert_true(fd >= 0);
	wire_lease(&boxd.out, &m);
	assert_int_equal(wire_send(fd, &boxd.out, NULL, 0), 0);
	return fd;
}

int boxd_lease(const char *workspace, const char *container)
{
	int fd = boxd_ask(workspace, container), conn;

	boxd_receive(fd, WIRE_LEASED, 20000);
	conn = wire_take_fd(&boxd.in, 0);
	assert_true(conn >= 0);
	io_close(&fd);
	return conn;
}

uint32_t boxd_refused(const char *workspace, const char *container, const char *says)
{
	struct wire_refused m;
	int fd = boxd_ask(workspace, container);

	boxd_receive(fd, WIRE_REFUSED, 20000);
	assert_int_equal(wire_refused_get(&boxd.in, &m), 0);
	assert_non_null(strstr(m.text, says));
	io_close(&fd);
	return m.why;
}

void boxd_send_command(int conn, uint32_t env, uint32_t sleep_after, const char *command)
{
	const struct wire_exec m = {.env = env,
		.timeout_ms = 20000,
		.max_output = 4000,
		.sleep_after = sleep_after,
		.tool = "exec",
		.request_id = "req_test",
		.command = command,
		.cwd = ""};

	wire_exec(&boxd.out, &m);
	assert_int_equal(wire_send(conn, &boxd.out, NULL, 0), 0);
}

struct wire_done boxd_await_done(int conn)
{
	struct wire_done d;
	int fd;

	boxd_receive(conn, WIRE_STARTED, 20000);
	boxd_receive(conn, WIRE_DONE, 20000);
	assert_int_equal(wire_exec_done_get(&boxd.in, &d), 0);
	fd = wire_take_fd(&boxd.in, 0);
	ssize_t n = fd < 0 ? 0 : pread(fd, boxd.text, sizeof boxd.text - 1, 0);
	assert_true(n >= 0);
	boxd.text[n] = 0;
	io_close(&fd);
	return d;
}

struct wire_done boxd_run(int conn, const char *command)
{
	boxd_send_command(conn, WIRE_ENV_SHELL, 600, command);
	return boxd_await_done(conn);
}

void boxd_prints(int conn, const char *command, const char *expected)
{
	(void)boxd_run(conn, command);
	assert_string_equal(boxd.text, expected);
}
