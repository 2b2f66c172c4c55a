/* box_end: broken inits, the bash environment, and all ways to end. SPDX-License-Identifier: ISC */
#include "tests/lib/rig.h"

#include "tests/lib/test.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox/sys/io.h"

/* -- broken inits ----------------------------------------------------------------------------- */

static void an_init_that_dies_fails_the_command(void **state)
{
	(void)state;
	rig_start();
	int c = rig_attach();
	rig_ask(c, rig_shell("x"), -1);
	rig_take_run();
	rig_close_run();
	io_close(&rig.init);
	rig_take_answer(c);
	assert_int_equal(rig.done.outcome, WIRE_FAILED);
	assert_non_null(strstr(rig.done.error, "broke down"));
	assert_int_equal(rig_wait_box(), 1);
	rig_at_end(c);
	close(c);
	rig_close_all();
}

static void an_init_that_dies_while_saving_leaves_the_outcome(void **state)
{
	(void)state;
	rig_start();
	int c = rig_attach();
	rig_ask(c, rig_shell("x"), -1);
	rig_take_run();
	rig_close_run();
	rig_exit_on(rig.init, WIRE_HOW_EXIT, 7, 0);
	rig_receive(rig.init, WIRE_FREEZE);
	io_close(&rig.init);
	rig_take_answer(c);
	assert_int_equal(rig.done.outcome, WIRE_EXIT);
	assert_int_equal(rig.done.code, 7);
	assert_non_null(strstr(rig.done.error, "files were not saved"));
	assert_int_equal(rig_wait_box(), 1);
	close(c);
	rig_close_all();
}

static void an_idle_init_that_dies_ends_the_box(void **state)
{
	(void)state;
	rig_start();
	int c = rig_attach();
	rig_write_file(c, "one", "a", "1");
	io_close(&rig.init);
	assert_int_equal(rig_wait_box(), 1);
	rig_at_end(c);
	close(c);
	rig_close_all();
}

static void messages_out_of_turn_end_the_box(void **state)
{
	static const enum wire_type types[] = {
		WIRE_FROZEN, WIRE_THAWED, WIRE_READY, WIRE_START, WIRE_EXEC, WIRE_DONE};
	(void)state;
	for (size_t k = 0; k < sizeof(types) / sizeof(types[0]); k++) {
		rig_start();
		int c = rig_attach();
		rig_ask(c, rig_shell("x"), -1);
		rig_take_run();
		rig_close_run();
		rig_say(rig.init, types[k]);
		rig_take_answer(c);
		assert_int_equal(rig.done.outcome, WIRE_FAILED);
		assert_int_equal(rig_wait_box(), 1);
		close(c);
		rig_close_all();
	}
}

static void an_exit_of_another_command_is_not_believed(void **state)
{
	(void)state;
	rig_start();
	int c = rig_attach();
	rig_ask(c, rig_shell("x"), -1);
	rig_take_run();
	rig_close_run();
	rig.run.id++;
	rig_exit_on(rig.init, WIRE_HOW_EXIT, 0, 0);
	rig_take_answer(c);
	assert_int_equal(rig.done.outcome, WIRE_FAILED);
	assert_int_equal(rig_wait_box(), 1);
	close(c);
	rig_close_all();
}

static void malformed_changes_end_the_box(void **state)
{
	(void)state;
	rig_start();
	int c = rig_attach();
	rig_ask(c, rig_shell("x"), -1);
	rig_take_run();
	rig_close_run();
	rig_exit_on(rig.init, WIRE_HOW_EXIT, 0, 0);
	(void)rig_begin_scan();
	wire_changes_begin(&rig.out);
	assert_true(wire_changes_add(&rig.out,
		&(struct wire_change){.kind = WIRE_FILE, .has_fd = 1, .size = 1, .path = "f"}));
	assert_int_equal(wire_send(rig.init, &rig.out, NULL, 0), 0); /* without its descriptor */
	rig_take_answer(c);
	assert_int_equal(rig.done.outcome, WIRE_EXIT);
	assert_non_null(strstr(rig.done.error, "files were not saved"));
	assert_int_equal(rig_wait_box(), 1);
	close(c);
	rig_close_all();
}

/* -- bash ---------------------------------------------------------------------------------------- */

static void bash_gets_an_environment_of_its_own(void **state)
{
	(void)state;
	rig_start();
	int c = rig_attach(), b[2];
	struct wire_exec m = rig_shell("pwd");
	m.env = WIRE_ENV_BASH;
	m.tool = "bash";
	rig_ask(c, m, -1);
	rig_receive(rig.control, WIRE_WANT_ENV);
	assert_false(rig_readable(c, 0));
	rig_pair(b);
	rig.bash = b[0];
	wire_env(&rig.out);
	assert_int_equal(wire_send(rig.control, &rig.out, &b[1], 1), 0);
	close(b[1]);
	rig_ready(rig.bash);
	rig_take_run_from(rig.bash);
	rig_close_run();
	rig_exit_on(rig.bash, WIRE_HOW_EXIT, 0, 0);
	/* Both are frozen; the shell's init looks. */
	rig_receive(rig.bash, WIRE_FREEZE);
	assert_false(rig_readable(c, 0) && wire_recv(c, &rig.in) == 1 &&
		wire_type(&rig.in) == WIRE_DONE);
	rig_say(rig.bash, WIRE_FROZEN);
	rig_no_changes();
	rig_receive(rig.bash, WIRE_THAW);
	rig_say(rig.bash, WIRE_THAWED);
	rig_take_done(c);
	assert_int_equal(rig.done.outcome, WIRE_EXIT);
	/* It is asked for once. */
	rig_ask(c, m, -1);
	rig_take_run_from(rig.bash);
	rig_close_run();
	rig_exit_on(rig.bash, WIRE_HOW_EXIT, 0, 0);
	rig_receive(rig.bash, WIRE_FREEZE);
	rig_say(rig.bash, WIRE_FROZEN);
	rig_no_changes();
	rig_take_answer(c);
	/* When it dies, only its commands suffer. */
	rig_ask(c, m, -1);
	rig_receive(rig.bash, WIRE_THAW);
	rig_say(rig.bash, WIRE_THAWED);
	rig_take_run_from(rig.bash);
	rig_close_run();
	io_close(&rig.bash);
	rig_take_answer(c);
	assert_int_equal(rig.done.outcome, WIRE_FAILED);
	rig_ask(c, rig_shell("true"), -1);
	rig_take_run();
	rig_end_run(c);
	assert_int_equal(rig.done.outcome, WIRE_EXIT);
	close(c);
	rig_stop();
}

static void no_bash_is_told(void **state)
{
	(void)state;
	rig_start();
	int c = rig_attach();
	struct wire_exec m = rig_shell("pwd");
	m.env = WIRE_ENV_BASH;
	rig_ask(c, m, -1);
	rig_receive(rig.control, WIRE_WANT_ENV);
	wire_env(&rig.out);
	assert_int_equal(wire_send(rig.control, &rig.out, NULL, 0), 0);
	rig_take_done(c);
	assert_int_equal(rig.done.outcome, WIRE_FAILED);
	assert_non_null(strstr(rig.done.error, "bash"));
	close(c);
	rig_stop();
}

/* -- the end ------------------------------------------------------------------------------------- */

static void idle_asks_for_sleep(void **state)
{
	uint32_t seen;
	(void)state;
	rig.sleep_after = 1;
	rig_start();
	int c = rig_attach();
	int64_t t0 = io_now_ms();
	rig_ask(c, rig_shell("true"), -1);
	rig_take_run();
	rig_end_run(c);
	rig_receive(rig.control, WIRE_IDLE);
	assert_in_range(io_now_ms() - t0, 990, 1500);
	assert_int_equal(wire_idle_get(&rig.in, &seen), 0);
	assert_int_equal(seen, 1);
	/* While boxd decides, nothing starts … */
	rig_ask(c, rig_shell("late"), -1);
	assert_false(rig_readable(rig.init, 100));
	/* … and a new connection means that it goes on. */
	int d = rig_attach();
	rig_take_run();
	assert_string_equal(rig.run.command, "late");
	rig_end_run(c);
	rig_receive(rig.control, WIRE_IDLE);
	assert_int_equal(wire_idle_get(&rig.in, &seen), 0);
	assert_int_equal(seen, 2);
	/* A command that comes now is not begun: its app may ask elsewhere. */
	rig_ask(d, rig_shell("too late"), -1);
	rig_stop();
	rig_at_end(d);
	close(c);
	close(d);
}

static void end_of_boxd_kills_saves_answers_and_ends(void **state)
{
	uint32_t id;
	(void)state;
	rig_start();
	int c = rig_attach();
	rig_ask(c, rig_shell("sleep 60"), -1);
	rig_take_run();
	io_close(&rig.control);
	rig_receive(rig.init, WIRE_KILL);
	assert_int_equal(wire_number_get(&rig.in, &id), 0);
	rig_close_run();
	rig_exit_on(rig.init, WIRE_HOW_SIGNAL, 9, 0);
	wire_number(&rig.out, WIRE_KILLED, id);
	assert_int_equal(wire_send(rig.init, &rig.out, NULL, 0), 0);
	(void)rig_begin_scan();
	rig_tell_file("f", "x", 1);
	rig_end_scan(1);
	rig_take_answer(c);
	assert_int_equal(rig.done.outcome, WIRE_SIGNAL);
	assert_int_equal(strlen(rig.done.commit), 40);
	assert_int_equal(rig_begin_scan(), WIRE_SCAN_FILES);
	rig_end_scan(0);
	assert_int_equal(rig_wait_box(), 0);
	close(c);
	rig_close_all();
}

static void sigterm_is_like_stop(void **state)
{
	(void)state;
	rig_start();
	int c = rig_attach();
	rig_write_file(c, "one", "a", "1");
	assert_int_equal(kill(rig.pid, SIGTERM), 0);
	(void)rig_begin_scan();
	rig_tell_file("b", "2", 1);
	rig_end_scan(1);
	assert_int_equal(rig_wait_box(), 0);
	close(c);
	rig_close_all();
	assert_string_equal(rig_git("log", "--format=%an"), "sleep\nshell\n");
}

static void without_descriptor_three_it_does_not_start(void **state)
{
	int status;
	(void)state;
	pid_t p = fork();
	if (p == 0) {
		char *const argv[] = {(char[]){"sandgate-box"}, NULL};
		char *const envp[] = {NULL};
		close(3);
		int null = open("/dev/null", O_WRONLY);
		(void)dup2(null, 2);
		close(null);
		(void)execve(rig_program(), argv, envp);
		_exit(127);
	}
	assert_int_equal(waitpid(p, &status, 0), p);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 1);
}

#define TEST(f) cmocka_unit_test_teardown(f, rig_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_init_that_dies_fails_the_command),
		TEST(an_init_that_dies_while_saving_leaves_the_outcome),
		TEST(an_idle_init_that_dies_ends_the_box),
		TEST(messages_out_of_turn_end_the_box),
		TEST(an_exit_of_another_command_is_not_believed),
		TEST(malformed_changes_end_the_box),
		TEST(bash_gets_an_environment_of_its_own),
		TEST(no_bash_is_told),
		TEST(idle_asks_for_sleep),
		TEST(end_of_boxd_kills_saves_answers_and_ends),
		TEST(sigterm_is_like_stop),
		TEST(without_descriptor_three_it_does_not_start),
	};
	(void)signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
