/* appbox_real: the app's client, boxd, box and init together. SPDX-License-Identifier: ISC */
#include "tests/lib/test.h"

#include <fcntl.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app/box/box.h"
#include "sandbox/home/browse.h"
#include "sandbox/sys/io.h"

static pid_t boxd;
static char socket_path[128];
static struct arena *arena;
static struct box *box;
static struct box_reply reply;
static struct err err;

/* -- the stack -------------------------------------------------------------------------- */

/* A program that was built with this test. */
static const char *program(const char *name)
{
	static char path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 64);

	assert_true(n > 0);
	path[n] = 0;
	char *at = strstr(path, "/tests/unit/");
	assert_non_null(at);
	(void)snprintf(at, 64, "/%s", name);
	return path;
}

static void start_boxd(void)
{
	char conf[256];

	(void)snprintf(conf, sizeof(conf), "%s/conf", test_tmp());
	(void)snprintf(socket_path, sizeof(socket_path), "%s/run/boxd.sock", test_tmp());
	boxd = fork();
	assert_true(boxd >= 0);
	if (boxd == 0) {
		(void)execl(program("sandgate-boxd"), "sandgate-boxd", "--config", conf, NULL);
		_exit(127);
	}
	for (int k = 0; k < 500 && access(socket_path, F_OK); k++)
		(void)poll(NULL, 0, 10);
	assert_int_equal(access(socket_path, F_OK), 0);
}

static int set_up(void **state)
{
	char text[1024], box_program[512];
	int n;
	(void)state;

	if (chmod(test_tmp(), 0711))
		return -1;
	(void)snprintf(box_program, sizeof(box_program), "%s", program("sandgate-box"));
	n = snprintf(text, sizeof(text),
		"[boxd]\nstate = %s\nuser = %s\nbox_program = %s\ninit_program = %s\n"
		"memory_limit = 128m\ndurability = relaxed\nstop_seconds = 5\n",
		test_tmp(), getpwnam("sandgate") ? "sandgate" : "nobody", box_program,
		program("sandgate-init"));
	(void)test_tmp_file("conf", text, (size_t)n);
	start_boxd();
	return 0;
}

static void stop_boxd(int sig)
{
	int status;

	(void)kill(boxd, sig);
	(void)waitpid(boxd, &status, 0);
	if (sig != SIGKILL)
		assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static int tear_down(void **state)
{
	(void)state;
	stop_boxd(SIGTERM);
	test_tmp_remove();
	return 0;
}

/* -- commands ------------------------------------------------------------------------------ */

static void lease(const char *container)
{
	arena = arena_new();
	memset(&err, 0, sizeof(err));
	if (box_lease(&box, arena, socket_path, "acme", container, "req_1", &err))
		fail_msg("lease: %s", err.message);
}

static struct box_command shell(const char *text)
{
	return (struct box_command){.tool = TOOL_SHELL,
		.author = "shell",
		.command = text,
		.timeout_ms = 20000,
		.max_output = 10000,
		.sleep_after_seconds = 600};
}

static int try(struct box_command c)
{
	memset(&reply, 0, sizeof(reply));
	memset(&err, 0, sizeof(err));
	return box_run(box, &c, &reply, -1, 1000, NULL, NULL, &err);
}

static void run(struct box_command c)
{
	if (try(c))
		fail_msg("'%s': %s", c.command, err.message);
}

static const char *out(void)
{
	return arena_strndup(arena, reply.output.out, reply.output.out_len);
}

static const char *errors(void)
{
	return arena_strndup(arena, reply.output.err, reply.output.err_len);
}

static void ok(const char *text, const char *expected)
{
	run(shell(text));
	assert_string_equal(errors(), "");
	assert_string_equal(out(), expected);
	assert_int_equal(reply.output.outcome, OUTCOME_EXIT);
	assert_int_equal(reply.output.code, 0);
}

static int files_in_home(const char *container)
{
	char path[256], cache[300];
	struct home *h;
	struct home_listing *l;
	int n = -1;

	(void)snprintf(path, sizeof(path), "%s/homes/acme/%s.git", test_tmp(), container);
	(void)snprintf(cache, sizeof(cache), "%s/cache", test_tmp());
	if (home_global_init() || home_open(&h, path))
		return -1;
	if (!home_listing_open(&l, h, cache)) {
		n = (int)home_listing_count(l);
		home_listing_free(l);
	}
	home_close(h);
	(void)unlink(cache);
	return n;
}

static void a_command_runs(void **state)
{
	(void)state;
	lease("echo");
	ok("echo hi; pwd; id -un", "hi\n/home/sandbox\nsandbox\n");
	assert_int_equal(reply.found, BOX_NEW);
	assert_null(reply.output.commit);
	run(shell("echo oh >&2; exit 3"));
	assert_int_equal(reply.found, BOX_WARM);
	assert_int_equal(reply.output.code, 3);
	assert_string_equal(errors(), "oh\n");
	run(shell("kill -SEGV $$"));
	assert_int_equal(reply.output.outcome, OUTCOME_SIGNAL);
	assert_int_equal(reply.output.code, SIGSEGV);
	arena_free(arena);
}

static void input_folder_and_variables_reach_it(void **state)
{
	const char *const env[] = {"GREETING=h\xc3\xa9 llo", NULL};
	struct box_command c = shell("pwd; cat; echo \"$GREETING\"");
	(void)state;
	lease("input");
	ok("mkdir -p 'a b'; cat", "");
	c.input = "from stdin\n";
	c.input_len = strlen(c.input);
	c.env = env;
	c.cwd = "a b";
	run(c);
	assert_string_equal(out(), "/home/sandbox/a b\nfrom stdin\nh\xc3\xa9 llo\n");
	c.cwd = "nowhere";
	assert_int_equal(try(c), ERR_INVALID_REQUEST);
	assert_string_equal(err.param, "cwd");
	c.cwd = NULL;
	run(c);
	arena_free(arena);
}

static void output_can_be_opened_by_name(void **state)
{
	(void)state;
	lease("stdout");
	run(shell("echo a > /dev/stdout; echo b > /dev/stderr; echo c | tee /dev/fd/2"));
	assert_string_equal(out(), "a\nc\n");
	assert_string_equal(errors(), "b\nc\n");
	arena_free(arena);
}

static void time_is_up(void **state)
{
	struct box_command c = shell("echo partial; (setsid sleep 61 &) ; sleep 62");
	(void)state;
	lease("time");
	ok("true", "");
	c.timeout_ms = 300;
	int64_t t0 = io_now_ms();
	run(c);
	int64_t ms = io_now_ms() - t0;
	assert_in_range(ms, 300, 600);
	assert_int_equal(reply.output.outcome, OUTCOME_TIMEOUT);
	assert_string_equal(out(), "partial\n");
	ok("cat /proc/[0-9]*/comm | grep -c sleep || true", "0\n");
	arena_free(arena);
}

static void what_is_left_in_the_background_lives(void **state)
{
	(void)state;
	lease("background");
	int64_t t0 = io_now_ms();
	run(shell("(while sleep 0.05; do echo tick; done) & echo $! > pid; echo started"));
	assert_in_range(io_now_ms() - t0, 90, 1900);
	assert_true(reply.output.background_output_open);
	assert_memory_equal(out(), "started\n", 8);
	(void)poll(NULL, 0, 300);
	ok("kill -0 $(cat pid) && echo alive", "alive\n");
	assert_false(reply.output.background_output_open);
	/* What it does later comes with the next command, or with sleep. */
	run(shell("(sleep 0.2; echo late > late.txt) > /dev/null 2>&1 &"));
	assert_false(reply.output.background_output_open);
	(void)poll(NULL, 0, 500);
	ok("true", "");
	assert_non_null(reply.output.commit);
	assert_string_equal(reply.files->filename, "late.txt");
	arena_free(arena);
}

static void floods_are_cut(void **state)
{
	struct box_command c = shell("yes | head -c 10000000; yes 1>&2 | head -c 100; exit 0");
	(void)state;
	lease("flood");
	c.command = "yes | head -c 10000000";
	c.max_output = 1000;
	run(c);
	assert_true(reply.output.out_len < 1100);
	assert_true(reply.output.out_omitted > 9999000);
	assert_non_null(strstr(out(), " characters omitted …]\n"));
	c.command = "yes";
	c.timeout_ms = 500;
	run(c);
	assert_int_equal(reply.output.outcome, OUTCOME_TIMEOUT);
	assert_true(reply.output.out_omitted > 1000000);
	arena_free(arena);
}

static void memory_runs_out(void **state)
{
	(void)state;
	lease("memory");
	run(shell("head -c 300m /dev/zero | tail | wc -c; exit ${PIPESTATUS[1]}"));
	assert_int_equal(reply.output.outcome, OUTCOME_OUT_OF_MEMORY);
	ok("echo fine", "fine\n");
	arena_free(arena);
}

static void a_client_that_goes_ends_its_command(void **state)
{
	struct box_command c = shell("echo half > half.txt; sleep 63");
	int client[2];
	(void)state;
	lease("gone");
	ok("true", "");
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, client), 0);
	if (fork() == 0) {
		(void)poll(NULL, 0, 200);
		(void)shutdown(client[1], SHUT_RDWR);
		_exit(0);
	}
	close(client[1]);
	assert_int_equal(
		box_run(box, &c, &reply, client[0], 1000, NULL, NULL, &err), ERR_CLIENT_GONE);
	(void)wait(NULL);
	close(client[0]);
	arena_free(arena);
	lease("gone");
	/* It was killed, and the commit came before this command. */
	ok("cat half.txt; cat /proc/[0-9]*/comm | grep -c sleep || true", "half\n0\n");
	assert_null(reply.output.commit);
	assert_int_equal(files_in_home("gone"), 1);
	arena_free(arena);
}

static void two_apps_take_turns(void **state)
{
	(void)state;
	int status;
	pid_t child = fork();
	if (child == 0) {
		lease("turns");
		run(shell("echo a1 >> log; sleep 0.2; echo a2 >> log"));
		_exit(0);
	}
	lease("turns");
	run(shell("echo b1 >> log; sleep 0.2; echo b2 >> log"));
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	run(shell("cat log"));
	const char *log = out();
	assert_true(!strcmp(log, "a1\na2\nb1\nb2\n") || !strcmp(log, "b1\nb2\na1\na2\n"));
	arena_free(arena);
}

static void bash_shares_the_home_and_nothing_else(void **state)
{
	struct box_command c = shell("cat f; cat /tmp/t; ls /proc | grep -c '^[0-9]'; echo y > g");
	(void)state;
	lease("both");
	run(shell("echo x > f; echo t > /tmp/t; sleep 64 > /dev/null 2>&1 &"));
	c.tool = TOOL_BASH;
	c.author = "bash";
	run(c);
	assert_non_null(reply.output.commit);
	assert_string_equal(reply.files->filename, "g");
	assert_memory_equal(out(), "x\n", 2);
	assert_non_null(strstr(errors(), "/tmp/t"));
	ok("cat g", "y\n");
	arena_free(arena);
}

static void sleep_and_wake_keep_the_files(void **state)
{
	struct box_command c =
		shell("mkdir -m 700 d; echo x > d/f; chmod 600 d/f; ln -s d/f l; mkdir e; "
		      "printf '#!/bin/sh\\necho ran\\n' > s; chmod 755 s; git init -q r; "
		      "sleep 65 > /dev/null 2>&1 &");
	(void)state;
	lease("sleepy");
	c.sleep_after_seconds = 1;
	run(c);
	assert_int_equal(reply.found, BOX_NEW);
	(void)poll(NULL, 0, 1500);
	ok("cat l; ./s; stat -c '%a %F' d d/f e; git -C r status --short; "
	   "cat /proc/[0-9]*/comm | grep -c sleep || true",
		"x\nran\n700 directory\n600 regular file\n755 directory\n0\n");
	assert_int_equal(reply.found, BOX_WOKEN);
	assert_null(reply.output.commit);
	arena_free(arena);
}

/* The box of the only container that is awake. */
static pid_t find_box(void)
{
	char path[64], *text;
	size_t n;

	(void)snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)boxd, (int)boxd);
	char *children = io_read_file(AT_FDCWD, path, 65536, &n);
	pid_t found = 0;
	assert_non_null(children);
	for (char *at = children; *at;) {
		long pid = strtol(at, &at, 10);
		while (*at == ' ')
			at++;
		(void)snprintf(path, sizeof(path), "/proc/%ld/comm", pid);
		text = io_read_file(AT_FDCWD, path, 64, &n);
		/* Children come oldest first. */
		if (text && !strcmp(text, "sandgate-box\n"))
			found = (pid_t)pid;
		free(text);
	}
	free(children);
	return found;
}

static void a_killed_box_loses_nothing_answered(void **state)
{
	(void)state;
	lease("killed");
	run(shell("echo x > kept"));
	pid_t pid = find_box();
	assert_true(pid > 0);
	assert_int_equal(kill(pid, SIGKILL), 0);
	/* The same lease finds a new box. */
	ok("cat kept", "x\n");
	assert_int_equal(reply.found, BOX_WOKEN);
	arena_free(arena);
}

static void a_box_that_dies_with_a_command_is_an_error(void **state)
{
	(void)state;
	lease("dying");
	ok("true", "");
	pid_t pid = find_box();
	if (fork() == 0) {
		(void)poll(NULL, 0, 200);
		_exit(kill(pid, SIGKILL) != 0);
	}
	assert_int_equal(try(shell("sleep 5")), ERR_SERVER);
	(void)wait(NULL);
	arena_free(arena);
	lease("dying");
	ok("echo again", "again\n");
	arena_free(arena);
}

static void boxd_restarts(void **state)
{
	(void)state;
	lease("restart");
	run(shell("echo x > kept; (sleep 0.2; echo y > late) > /dev/null 2>&1 &"));
	(void)poll(NULL, 0, 400);
	stop_boxd(SIGTERM);
	start_boxd();
	ok("cat kept late", "x\ny\n");
	assert_int_equal(reply.found, BOX_WOKEN);
	run(shell("echo z > again; (sleep 0.2; echo zz > later) > /dev/null 2>&1 &"));
	(void)poll(NULL, 0, 400);
	stop_boxd(SIGKILL);
	/* The boxes saw it, saved and went. */
	(void)unlink(socket_path);
	start_boxd();
	ok("cat again later", "z\nzz\n");
	arena_free(arena);
}

static void commits_are_as_described(void **state)
{
	char repository[256], cmd[1024];
	(void)state;
	lease("history");
	run(shell("echo 1 > a\necho 2 > b"));
	run(shell("true"));
	assert_null(reply.output.commit);
	run(shell("rm a; exit 4"));
	assert_non_null(reply.output.commit);
	(void)snprintf(repository, sizeof(repository), "%s/homes/acme/history.git", test_tmp());
	(void)snprintf(cmd, sizeof(cmd),
		"git -c safe.directory='*' -C %s log --format='%%an %%ae "
		"%%s|%%(trailers:key=Outcome,valueonly,separator=)' && "
		"git -c safe.directory='*' -C %s fsck --strict 2>&1",
		repository, repository);
	FILE *f = popen(cmd, "r");
	char text[1024] = "";
	assert_non_null(f);
	size_t n = fread(text, 1, sizeof(text) - 1, f);
	text[n] = 0;
	assert_int_equal(pclose(f), 0);
	assert_string_equal(text,
		"shell history@acme rm a; exit 4|exit 4\nshell history@acme echo 1 > a|exit 0\n");
	arena_free(arena);
}

static int by_size(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

static void bare(const char *text)
{
	char *const argv[] = {(char[]){"bash"}, (char[]){"-c"}, arena_strdup(arena, text), NULL};
	char *const envp[] = {NULL};
	pid_t pid;

	assert_int_equal(posix_spawn(&pid, "/bin/bash", NULL, NULL, argv, envp), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void boxed(const char *text)
{
	run(shell(text));
}

/* The median, for people: how long it takes says more about the machine than about us. */
static void measure(const char *what, void (*command)(const char *), const char *text)
{
	enum { N = 100 };
	int64_t us[N];

	for (int k = 0; k < N; k++) {
		int64_t t0 = io_now_us();
		command(text);
		us[k] = io_now_us() - t0;
	}
	qsort(us, N, sizeof(us[0]), by_size);
	print_message(
		"%s: p50 %lld us, p99 %lld us\n", what, (long long)us[N / 2], (long long)us[N - 2]);
}

static void a_hundred_commands_on_one_lease(void **state)
{
	(void)state;
	lease("hundred");
	run(shell("true"));
	measure("bare spawn", bare, "true");
	measure("true", boxed, "true");
	measure("one changed file", boxed, "echo $RANDOM$RANDOM > f");
	arena_free(arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_command_runs),
		cmocka_unit_test(input_folder_and_variables_reach_it),
		cmocka_unit_test(output_can_be_opened_by_name),
		cmocka_unit_test(time_is_up),
		cmocka_unit_test(what_is_left_in_the_background_lives),
		cmocka_unit_test(floods_are_cut),
		cmocka_unit_test(memory_runs_out),
		cmocka_unit_test(a_client_that_goes_ends_its_command),
		cmocka_unit_test(two_apps_take_turns),
		cmocka_unit_test(bash_shares_the_home_and_nothing_else),
		cmocka_unit_test(sleep_and_wake_keep_the_files),
		cmocka_unit_test(a_killed_box_loses_nothing_answered),
		cmocka_unit_test(a_box_that_dies_with_a_command_is_an_error),
		cmocka_unit_test(commits_are_as_described),
		cmocka_unit_test(a_hundred_commands_on_one_lease),
		cmocka_unit_test(boxd_restarts),
	};
	(void)signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
