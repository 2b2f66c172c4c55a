/* box_run: commands, their output, and the queue. SPDX-License-Identifier: ISC */
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

/* -- one command ---------------------------------------------------------------------- */

static void a_command_runs_and_is_answered(void **state)
{
	(void)state;
	rig_start();
	int c = rig_attach();
	struct wire_exec m = rig_shell("echo hi");
	m.cwd = "sub";
	m.nenv = 1;
	m.envp[0] = "A=1";
	rig_ask(c, m, -1);
	rig_receive(c, WIRE_STARTED);
	rig_take_run();
	assert_string_equal(rig.run.command, "echo hi");
	assert_string_equal(rig.run.cwd, "sub");
	assert_int_equal(rig.run.nenv, 1);
	assert_string_equal(rig.run.envp[0], "A=1");
	assert_int_equal(read(rig.in_fd, rig.output, 1), 0);
	assert_int_equal(write(rig.out_fd, "hi\n", 3), 3);
	assert_int_equal(write(rig.err_fd, "oh\xff\n", 4), 4);
	rig_close_run();
	rig_exit_on(rig.init, WIRE_HOW_EXIT, 3, 0);
	rig_no_changes();
	rig_take_done(c);
	assert_int_equal(rig.done.found, WIRE_NEW);
	assert_int_equal(rig.done.outcome, WIRE_EXIT);
	assert_int_equal(rig.done.code, 3);
	assert_int_equal(rig.done.out_len, 3);
	assert_string_equal(rig.output, "hi\noh\xef\xbf\xbd\n");
	assert_int_equal(rig.done.background_output_open, 0);
	assert_string_equal(rig.done.commit, "");
	assert_string_equal(rig.done.error, "");
	close(c);
	rig_stop();
	/* Nothing was saved, so there is no repository. */
	assert_int_equal(access(rig_repository(), F_OK), -1);
}

static void input_is_handed_on(void **state)
{
	(void)state;
	rig_start();
	int c = rig_attach(), fd = io_memfd("in", "stdin", 5);
	rig_ask(c, rig_shell("cat"), fd);
	close(fd);
	rig_take_run();
	assert_int_equal(read(rig.in_fd, rig.output, 10), 5);
	rig_end_run(c);
	close(c);
	rig_stop();
}

static void how(enum wire_exit_how h, uint32_t code, uint32_t oom, uint32_t outcome, uint32_t said)
{
	int c = rig_attach();
	rig_ask(c, rig_shell("x"), -1);
	rig_take_run();
	rig_close_run();
	rig_exit_on(rig.init, h, code, oom);
	rig_no_changes();
	rig_take_answer(c);
	assert_int_equal(rig.done.outcome, outcome);
	assert_int_equal(rig.done.code, said);
	close(c);
}

static void outcomes_are_told_apart(void **state)
{
	(void)state;
	rig_start();
	how(WIRE_HOW_EXIT, 255, 0, WIRE_EXIT, 255);
	how(WIRE_HOW_SIGNAL, 11, 0, WIRE_SIGNAL, 11);
	how(WIRE_HOW_SIGNAL, 9, 1, WIRE_OUT_OF_MEMORY, 0);
	how(WIRE_HOW_EXIT, 137, 1, WIRE_OUT_OF_MEMORY, 0);
	how(WIRE_HOW_EXIT, 0, 1, WIRE_EXIT, 0); /* it got over it */
	how(WIRE_HOW_EXIT, 137, 0, WIRE_EXIT, 137);
	how(WIRE_HOW_ERROR, ENOENT, 0, WIRE_FAILED, ENOENT);
	assert_string_equal(
		rig.done.error, "the command could not be started: No such file or directory");
	rig_stop();
}

static void time_is_up(void **state)
{
	uint32_t id;
	(void)state;
	rig_start();
	int c = rig_attach();
	struct wire_exec m = rig_shell("sleep 60");
	m.timeout_ms = 100;
	int64_t t0 = io_now_ms();
	rig_ask(c, m, -1);
	rig_take_run();
	assert_int_equal(write(rig.out_fd, "partial", 7), 7);
	rig_receive(rig.init, WIRE_KILL);
	assert_int_equal(wire_number_get(&rig.in, &id), 0);
	assert_int_equal(id, rig.run.id);
	assert_in_range(io_now_ms() - t0, 99, 300);
	rig_close_run();
	/* Either may come first. */
	wire_number(&rig.out, WIRE_KILLED, id);
	assert_int_equal(wire_send(rig.init, &rig.out, NULL, 0), 0);
	rig_exit_on(rig.init, WIRE_HOW_SIGNAL, 9, 0);
	rig_no_changes();
	rig_take_answer(c);
	assert_int_equal(rig.done.outcome, WIRE_TIMEOUT);
	assert_string_equal(rig.output, "partial");
	close(c);
	rig_stop();
}

static void more_output_than_a_pipe_holds_flows(void **state)
{
	static char block[65536];
	size_t sent = 0;
	(void)state;
	rig_start();
	int c = rig_attach();
	struct wire_exec m = rig_shell("yes");
	m.max_output = 100;
	rig_ask(c, m, -1);
	rig_take_run();
	memset(block, 'y', sizeof(block));
	for (int k = 0; k < 160; k++) {
		assert_int_equal(io_write_full(rig.out_fd, block, sizeof(block)), 0);
		sent += sizeof(block);
	}
	rig_end_run(c);
	assert_true(rig.done.out_len < 110);
	assert_non_null(strstr(rig.output, " characters omitted …]\n"));
	size_t kept = 0;
	for (char *p = rig.output; *p; p++)
		kept += *p == 'y';
	assert_true(rig.done.out_omitted + kept == sent);
	close(c);
	rig_stop();
}

static void a_pipe_that_is_held_is_not_waited_for(void **state)
{
	(void)state;
	rig_start();
	int c = rig_attach();
	rig_ask(c, rig_shell("sleep 60 &"), -1);
	rig_take_run();
	assert_int_equal(write(rig.out_fd, "x", 1), 1);
	int held = dup(rig.out_fd);
	rig_close_run();
	int64_t t0 = io_now_ms();
	rig_exit_on(rig.init, WIRE_HOW_EXIT, 0, 0);
	rig_no_changes();
	rig_take_answer(c);
	assert_in_range(io_now_ms() - t0, 90, 500);
	assert_int_equal(rig.done.background_output_open, 1);
	assert_string_equal(rig.output, "x");
	/* Whoever holds it may write on, and what it writes goes nowhere. */
	static char block[65536];
	for (int k = 0; k < 3; k++)
		assert_int_equal(io_write_full(held, block, sizeof(block)), 0);
	rig_ask(c, rig_shell("true"), -1);
	rig_take_run();
	rig_end_run(c);
	assert_int_equal(rig.done.out_len, 0);
	assert_int_equal(rig.done.found, WIRE_WARM);
	close(held);
	close(c);
	rig_stop();
}

static void output_that_never_ends_is_given_up(void **state)
{
	(void)state;
	rig_start();
	int c = rig_attach();
	rig_ask(c, rig_shell("yes &"), -1);
	rig_take_run();
	int held = dup(rig.out_fd);
	rig_close_run();
	int64_t t0 = io_now_ms();
	rig_exit_on(rig.init, WIRE_HOW_EXIT, 0, 0);
	while (!rig_readable(rig.init, 0)) {
		assert_int_equal(write(held, "y", 1), 1);
		(void)poll(NULL, 0, 10);
	}
	assert_in_range(io_now_ms() - t0, 900, 1500);
	rig_no_changes();
	rig_take_answer(c);
	assert_int_equal(rig.done.background_output_open, 1);
	close(held);
	close(c);
	rig_stop();
}

static void many_commands_follow_one_another(void **state)
{
	(void)state;
	rig_start();
	int c = rig_attach();
	for (int k = 0; k < 100; k++) {
		rig_ask(c, rig_shell("true"), -1);
		rig_take_run();
		rig_end_run(c);
		assert_int_equal(rig.done.found, k ? WIRE_WARM : WIRE_NEW);
	}
	close(c);
	rig_stop();
}

/* -- queue and connections -------------------------------------------------------------- */

static void commands_of_two_connections_wait_for_each_other(void **state)
{
	(void)state;
	rig_start();
	int a = rig_attach(), b = rig_attach();
	rig_ask(a, rig_shell("first"), -1);
	rig_take_run();
	rig_ask(b, rig_shell("second"), -1);
	assert_false(rig_readable(rig.init, 100));
	assert_false(rig_readable(b, 0));
	rig_close_run();
	rig_exit_on(rig.init, WIRE_HOW_EXIT, 0, 0);
	rig_no_changes();
	rig_take_run();
	assert_string_equal(rig.run.command, "second");
	rig_end_run(a);
	rig_take_answer(b);
	close(a);
	close(b);
	rig_stop();
}

static void a_waiting_command_whose_app_goes_never_runs(void **state)
{
	(void)state;
	rig_start();
	int a = rig_attach(), b = rig_attach(), c = rig_attach();
	rig_ask(a, rig_shell("first"), -1);
	rig_take_run();
	rig_ask(b, rig_shell("second"), -1);
	(void)poll(NULL, 0, 50);
	rig_ask(c, rig_shell("third"), -1);
	close(b);
	rig_close_run();
	rig_exit_on(rig.init, WIRE_HOW_EXIT, 0, 0);
	rig_no_changes();
	rig_take_run();
	assert_string_equal(rig.run.command, "third");
	rig_end_run(c);
	close(a);
	close(c);
	rig_stop();
}

static void an_app_that_goes_kills_its_command_but_files_are_saved(void **state)
{
	uint32_t id;
	(void)state;
	rig_start();
	int c = rig_attach();
	rig_ask(c, rig_shell("sleep 60"), -1);
	rig_take_run();
	close(c);
	rig_receive(rig.init, WIRE_KILL);
	assert_int_equal(wire_number_get(&rig.in, &id), 0);
	rig_close_run();
	rig_exit_on(rig.init, WIRE_HOW_SIGNAL, 9, 0);
	wire_number(&rig.out, WIRE_KILLED, id);
	assert_int_equal(wire_send(rig.init, &rig.out, NULL, 0), 0);
	(void)rig_begin_scan();
	rig_tell_file("half.txt", "half", 1);
	rig_end_scan(1);
	rig_stop();
	assert_string_equal(rig_git("show", "main:half.txt"), "half");
	assert_non_null(strstr(rig_git("log", "--format=%B"), "Outcome: signal SIGKILL"));
}

static void a_malformed_message_ends_the_connection_only(void **state)
{
	(void)state;
	rig_start();
	int a = rig_attach(), b = rig_attach();
	wire_empty(&rig.out, WIRE_DONE);
	assert_int_equal(wire_send(a, &rig.out, NULL, 0), 0);
	rig_at_end(a);
	struct wire_exec m = rig_shell("x");
	m.cwd = "../up";
	close(a);
	a = rig_attach();
	rig_ask(a, m, -1);
	rig_at_end(a);
	close(a);
	rig_ask(b, rig_shell("true"), -1);
	rig_take_run();
	rig_end_run(b);
	close(b);
	rig_stop();
}

#define TEST(f) cmocka_unit_test_teardown(f, rig_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_command_runs_and_is_answered),
		TEST(input_is_handed_on),
		TEST(outcomes_are_told_apart),
		TEST(time_is_up),
		TEST(more_output_than_a_pipe_holds_flows),
		TEST(a_pipe_that_is_held_is_not_waited_for),
		TEST(output_that_never_ends_is_given_up),
		TEST(many_commands_follow_one_another),
		TEST(commands_of_two_connections_wait_for_each_other),
		TEST(a_waiting_command_whose_app_goes_never_runs),
		TEST(an_app_that_goes_kills_its_command_but_files_are_saved),
		TEST(a_malformed_message_ends_the_connection_only),
	};
	(void)signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
