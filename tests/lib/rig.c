/* rig: sandgate-box with everything round it played by the test. SPDX-License-Identifier: ISC */
#include "tests/lib/rig.h"

#include "tests/lib/test.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox/sys/buf.h"
#include "sandbox/sys/io.h"
#include "sandbox/wire/box.h"
#include "sandbox/wire/exec.h"
#include "sandbox/wire/init.h"

#define PATIENCE_MS 5000

struct rig rig;

/* -- boxd ---------------------------------------------------------------------------- */

/* The program that was built with this test. */
const char *rig_program(void)
{
	static char path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 32);

	assert_true(n > 0);
	path[n] = 0;
	char *at = strstr(path, "/tests/unit/");
	assert_non_null(at);
	(void)snprintf(at, 32, "/sandgate-box");
	return path;
}

const char *rig_repository(void)
{
	static char path[256];

	(void)snprintf(path, sizeof(path), "%s/homes/acme/c1.git", test_tmp());
	return path;
}

void rig_pair(int fds[2])
{
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds), 0);
}

void rig_ready(int fd)
{
	wire_empty(&rig.out, WIRE_READY);
	assert_int_equal(wire_send(fd, &rig.out, NULL, 0), 0);
}

void rig_start(void)
{
	char *const argv[] = {(char[]){"sandgate-box"}, NULL};
	char *const envp[] = {(char[]){"ASAN_OPTIONS=detect_leaks=0"}, NULL};
	int c[2], i[2];

	(void)mkdir(test_tmp(), 0700);
	char homes[256];
	(void)snprintf(homes, sizeof(homes), "%s/homes", test_tmp());
	(void)mkdir(homes, 0700);
	rig_pair(c);
	rig_pair(i);
	rig.pid = fork();
	assert_true(rig.pid >= 0);
	if (rig.pid == 0) {
		if (dup2(c[1], 3) == 3 && (c[1] != 3 || !fcntl(3, F_SETFD, 0)))
			(void)execve(rig_program(), argv, envp);
		_exit(127);
	}
	close(c[1]);
	rig.control = c[0];
	rig.init = i[0];
	rig.bash = -1;
	wire_start(&rig.out,
		&(struct wire_start){.workspace = "acme",
			.container = "c1",
			.repository = rig_repository(),
			.sleep_after = rig.sleep_after ? rig.sleep_after : 60});
	assert_int_equal(wire_send(rig.control, &rig.out, &i[1], 1), 0);
	close(i[1]);
	rig_ready(rig.init);
}

bool rig_readable(int fd, int ms)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	return poll(&p, 1, ms) == 1;
}

void rig_receive(int fd, enum wire_type type)
{
	assert_true(rig_readable(fd, PATIENCE_MS));
	assert_int_equal(wire_recv(fd, &rig.in), 1);
	assert_int_equal(wire_type(&rig.in), type);
}

void rig_at_end(int fd)
{
	assert_true(rig_readable(fd, PATIENCE_MS));
	assert_true(wire_recv(fd, &rig.in) <= 0);
}

int rig_attach(void)
{
	int c[2];

	rig_pair(c);
	wire_attach(&rig.out);
	assert_int_equal(wire_send(rig.control, &rig.out, &c[1], 1), 0);
	close(c[1]);
	return c[0];
}

/* Its exit status, or minus the signal that ended it. */
int rig_wait_box(void)
{
	int status = 0;

	for (int64_t end = io_now_ms() + PATIENCE_MS; waitpid(rig.pid, &status, WNOHANG) == 0;) {
		if (io_now_ms() > end) {
			(void)kill(rig.pid, SIGKILL);
			fail_msg("the box does not end");
		}
		(void)poll(NULL, 0, 2);
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

void rig_close_all(void)
{
	io_close(&rig.control);
	io_close(&rig.init);
	io_close(&rig.bash);
	wire_close(&rig.in);
}

/* -- app ---------------------------------------------------------------------------- */

struct wire_exec rig_shell(const char *text)
{
	return (struct wire_exec){.env = WIRE_ENV_SHELL,
		.timeout_ms = 10000,
		.max_output = 10000,
		.sleep_after = rig.sleep_after ? rig.sleep_after : 60,
		.tool = "shell",
		.request_id = "req_1",
		.command = text,
		.cwd = ""};
}

void rig_ask(int conn, struct wire_exec m, int input)
{
	wire_exec(&rig.out, &m);
	assert_int_equal(wire_send(conn, &rig.out, &input, input >= 0 ? 1 : 0), 0);
}

/* DONE, without STARTED in front. The output goes to output[], stdout first. */
void rig_take_done(int conn)
{
	size_t n;

	rig_receive(conn, WIRE_DONE);
	assert_int_equal(wire_exec_done_get(&rig.in, &rig.done), 0);
	n = rig.done.out_len + rig.done.err_len;
	assert_true(n < sizeof(rig.output));
	assert_int_equal(rig.in.nfds, n ? 1 : 0);
	if (n)
		assert_int_equal(pread(rig.in.fds[0], rig.output, n, 0), (ssize_t)n);
	rig.output[n] = 0;
}

void rig_take_answer(int conn)
{
	rig_receive(conn, WIRE_STARTED);
	rig_take_done(conn);
}

/* -- init --------------------------------------------------------------------------- */

void rig_take_run_from(int fd)
{
	rig_receive(fd, WIRE_RUN);
	assert_int_equal(wire_run_get(&rig.in, &rig.run), 0);
	assert_int_equal(rig.in.nfds, 3);
	rig.in_fd = wire_take_fd(&rig.in, 0);
	rig.out_fd = wire_take_fd(&rig.in, 1);
	rig.err_fd = wire_take_fd(&rig.in, 2);
	wire_number(&rig.out, WIRE_RUNNING, rig.run.id);
	assert_int_equal(wire_send(fd, &rig.out, NULL, 0), 0);
}

void rig_take_run(void)
{
	rig_take_run_from(rig.init);
}

void rig_close_run(void)
{
	io_close(&rig.in_fd);
	io_close(&rig.out_fd);
	io_close(&rig.err_fd);
}

void rig_exit_on(int fd, enum wire_exit_how how, uint32_t code, uint32_t oom)
{
	wire_exited(&rig.out,
		&(struct wire_exited){
			.id = rig.run.id, .how = how, .code = code, .out_of_memory = oom});
	assert_int_equal(wire_send(fd, &rig.out, NULL, 0), 0);
}

void rig_say(int fd, enum wire_type type)
{
	wire_empty(&rig.out, type);
	assert_int_equal(wire_send(fd, &rig.out, NULL, 0), 0);
}

/* FREEZE and SCAN, up to where changes are told. */
uint32_t rig_begin_scan(void)
{
	uint32_t flags;

	rig_receive(rig.init, WIRE_FREEZE);
	rig_say(rig.init, WIRE_FROZEN);
	rig_receive(rig.init, WIRE_SCAN);
	assert_int_equal(wire_number_get(&rig.in, &flags), 0);
	return flags;
}

void rig_end_scan(uint32_t changed)
{
	wire_scanned(&rig.out, 10, changed);
	assert_int_equal(wire_send(rig.init, &rig.out, NULL, 0), 0);
	rig_receive(rig.init, WIRE_THAW);
	/* After its last scan the box does not stay to hear it. */
	wire_empty(&rig.out, WIRE_THAWED);
	assert_true(!wire_send(rig.init, &rig.out, NULL, 0) || errno == EPIPE);
}

void rig_no_changes(void)
{
	assert_int_equal(rig_begin_scan(), 0);
	rig_end_scan(0);
}

void rig_end_run(int conn)
{
	rig_close_run();
	rig_exit_on(rig.init, WIRE_HOW_EXIT, 0, 0);
	rig_no_changes();
	rig_take_answer(conn);
}

void rig_tell(const struct wire_change *c, const char *content)
{
	int fd = content ? io_memfd("f", content, strlen(content)) : -1;

	wire_changes_begin(&rig.out);
	assert_true(wire_changes_add(&rig.out, c));
	assert_int_equal(wire_send(rig.init, &rig.out, &fd, fd >= 0 ? 1 : 0), 0);
	io_close(&fd);
}

void rig_tell_file(const char *path, const char *content, uint64_t mtime)
{
	rig_tell(&(struct wire_change){.kind = WIRE_FILE,
			 .has_fd = 1,
			 .mode = 0644,
			 .size = strlen(content),
			 .mtime_ns = mtime,
			 .path = path},
		content);
}

/* A command that ends with 0 at once and changed one file. */
void rig_write_file(int conn, const char *text, const char *path, const char *content)
{
	rig_ask(conn, rig_shell(text), -1);
	rig_take_run();
	rig_close_run();
	rig_exit_on(rig.init, WIRE_HOW_EXIT, 0, 0);
	(void)rig_begin_scan();
	rig_tell_file(path, content, 1);
	rig_end_scan(1);
	rig_take_answer(conn);
}

/* Last scan and clean end. */
void rig_stop(void)
{
	wire_stop(&rig.out);
	assert_int_equal(wire_send(rig.control, &rig.out, NULL, 0), 0);
	(void)rig_begin_scan();
	rig_end_scan(0);
	assert_int_equal(rig_wait_box(), 0);
	rig_close_all();
}

const char *rig_git_args(const char *const *args)
{
	static char text[65536];
	char *argv[16] = {(char[]){"git"}, (char[]){"-C"}, (char[]){""}};
	char *const envp[] = {(char[]){"PATH=/usr/bin:/bin"}, (char[]){"GIT_AUTHOR_NAME=x"},
		(char[]){"GIT_AUTHOR_EMAIL=x@x"}, (char[]){"GIT_COMMITTER_NAME=x"},
		(char[]){"GIT_COMMITTER_EMAIL=x@x"}, NULL};
	posix_spawn_file_actions_t act;
	int fds[2], status, n = 3;
	pid_t child;
	size_t len = 0;
	ssize_t got;

	argv[2] = strdup(rig_repository());
	for (; *args && n < 15; n++)
		argv[n] = strdup(*args++);
	assert_int_equal(io_pipe(fds, false), 0);
	posix_spawn_file_actions_init(&act);
	posix_spawn_file_actions_adddup2(&act, fds[1], 1);
	posix_spawn_file_actions_adddup2(&act, fds[1], 2);
	assert_int_equal(posix_spawn(&child, "/usr/bin/git", &act, NULL, argv, envp), 0);
	posix_spawn_file_actions_destroy(&act);
	close(fds[1]);
	while ((got = read(fds[0], text + len, sizeof(text) - 1 - len)) > 0)
		len += (size_t)got;
	text[len] = 0;
	close(fds[0]);
	assert_int_equal(waitpid(child, &status, 0), child);
	while (n-- > 2)
		free(argv[n]);
	return text;
}

int rig_teardown(void **state)
{
	char homes[256];

	(void)state;
	rig.sleep_after = 0;
	(void)snprintf(homes, sizeof(homes), "%s/homes", test_tmp());
	(void)umount2(homes, MNT_DETACH); /* of a test that filled it */
	test_tmp_remove();
	return 0;
}

void rig_read_record(int fd, struct rig_record *r)
{
	uint8_t head[WIRE_ARCHIVE_HEAD];

	memset(r, 0, sizeof(*r));
	assert_int_equal(io_read_full(fd, head, sizeof(head)), 0);
	assert_int_equal(wire_archive_unpack(head, &r->h), 0);
	assert_true(r->h.path_len < 64 && r->h.data_len < 64);
	assert_int_equal(io_read_full(fd, r->path, r->h.path_len), 0);
	assert_int_equal(io_read_full(fd, r->data, r->h.data_len), 0);
}

void rig_loaded(uint32_t failed)
{
	wire_loaded(&rig.out, &(struct wire_loaded){.failed = failed, .text = failed ? "why" : ""});
	assert_int_equal(wire_send(rig.init, &rig.out, NULL, 0), 0);
}

void rig_make_home(void)
{
	rig_start();
	int c = rig_attach();
	rig_ask(c, rig_shell("one"), -1);
	rig_take_run();
	rig_close_run();
	rig_exit_on(rig.init, WIRE_HOW_EXIT, 0, 0);
	(void)rig_begin_scan();
	rig_tell(&(struct wire_change){.kind = WIRE_DIR, .mode = 0700, .path = "d"}, NULL);
	rig_tell_file("d/f", "text", 1);
	rig_tell(&(struct wire_change){.kind = WIRE_LINK, .mode = 0777, .path = "l", .text = "d/f"},
		NULL);
	rig_end_scan(3);
	rig_take_answer(c);
	close(c);
	rig_stop();
}

int rig_take_load(void)
{
	rig_receive(rig.init, WIRE_LOAD);
	assert_int_equal(rig.in.nfds, 1);
	return wire_take_fd(&rig.in, 0);
}
