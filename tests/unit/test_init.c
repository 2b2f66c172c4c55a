/* test_init: starting, ending and freezing commands. SPDX-License-Identifier: ISC */
#include "tests/lib/test.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox/sys/io.h"
#include "tests/lib/jail.h"

static struct wire_out out;
static struct wire_in in;

static void runs_a_command(void **state)
{
	const struct jail_result *r;
	struct jail e;

	(void)state;
	jail_open(&e);
	r = jail_run_ms(&e, "echo hi; echo oops >&2; exit 3", 5000);
	assert_string_equal(r->out, "hi\noops\n");
	assert_int_equal(r->exited.how, WIRE_HOW_EXIT);
	assert_int_equal(r->exited.code, 3);
	assert_int_equal(r->exited.out_of_memory, 0);
	jail_close(&e);
}

static void reports_a_signal(void **state)
{
	const struct jail_result *r;
	struct jail e;

	(void)state;
	jail_open(&e);
	r = jail_run_ms(&e, "kill -SEGV $$", 5000);
	assert_int_equal(r->exited.how, WIRE_HOW_SIGNAL);
	assert_int_equal(r->exited.code, SIGSEGV);
	jail_close(&e);
}

static void gives_the_standard_environment(void **state)
{
	struct jail e;

	(void)state;
	jail_open(&e);
	assert_string_equal(
		jail_run(&e, "env | grep -v -e ^_= -e ^SHLVL= | sort; umask; ulimit -c")->out,
		"HOME=/home/sandbox\nLANG=C.UTF-8\nLOGNAME=sandbox\n"
		"PATH=/home/sandbox/.local/bin:/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/"
		"sbin:/sbin\n"
		"PWD=/home/sandbox\nSHELL=/bin/bash\nTERM=dumb\nUSER=sandbox\n0022\n0\n");
	/* No signal is ignored or blocked, and standard input is at its end. */
	assert_string_equal(
		jail_run(&e, "grep -E '^Sig(Ign|Blk)' /proc/self/status | tr -d '\\t'; cat; trap")
			->out,
		"SigBlk:0000000000000000\nSigIgn:0000000000000000\n");
	jail_close(&e);
}

/* RUN with folder and variables; EXITED and, in text, what was printed. */
static struct wire_exited run_in(struct jail *e, const char *cwd, const char *var, char text[256])
{
	struct wire_run m = {.id = e->next_id++, .command = "pwd; echo $A-$TERM", .cwd = cwd};
	struct wire_exited x = {0};
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC), fds[2];
	size_t n = 0;
	ssize_t got;

	m.envp[0] = "TERM=vt";
	m.envp[1] = var;
	m.nenv = 2;
	assert_int_equal(io_pipe(fds, false), 0);
	wire_run(&out, &m);
	assert_int_equal(wire_send(e->channel, &out, (int[]){null, fds[1], fds[1]}, 3), 0);
	io_close(&fds[1]);
	while ((got = read(fds[0], text + n, 255 - n)) > 0)
		n += (size_t)got;
	text[n] = 0;
	io_close(&fds[0]);
	io_close(&null);
	do
		assert_int_equal(wire_recv(e->channel, &in), 1);
	while (wire_type(&in) == WIRE_RUNNING);
	assert_int_equal(wire_exited_get(&in, &x), 0);
	return x;
}

static void runs_in_a_folder_of_the_home(void **state)
{
	struct wire_exited x;
	char text[256];
	struct jail e;

	(void)state;
	jail_open(&e);
	(void)jail_run(&e,
		"mkdir -p a/b closed; ln -s a l; ln -s /tmp out; ln -s .. up; echo >f; chmod 0 "
		"closed");
	x = run_in(&e, "a/b", "A=1", text);
	assert_int_equal(x.how, WIRE_HOW_EXIT);
	assert_string_equal(text, "/home/sandbox/a/b\n1-vt\n");
	(void)run_in(&e, "l", "A=", text);
	assert_string_equal(text, "/home/sandbox/l\n-vt\n");
	static const struct {
		const char *cwd;
		unsigned error;
	} bad[] = {{"none", ENOENT}, {"f", ENOTDIR}, {"out", EXDEV}, {"up", EXDEV},
		{"../..", EXDEV}, {"/tmp", EXDEV}, {"closed", EACCES}};
	for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
		x = run_in(&e, bad[k].cwd, "A=", text);
		assert_int_equal(x.how, WIRE_HOW_ERROR);
		assert_int_equal(x.code, bad[k].error);
		assert_string_equal(text, "");
	}
	jail_close(&e);
}

static void refuses_an_id_in_use(void **state)
{
	struct wire_run m = {.id = 1, .command = "true", .cwd = ""};
	struct wire_exited x;
	struct jail e;
	uint32_t id;

	(void)state;
	jail_open(&e);
	id = jail_start_command(&e, "sleep 60", STDERR_FILENO);
	m.id = id;
	wire_run(&out, &m);
	assert_int_equal(wire_send(e.channel, &out, (int[]){0, 1, 2}, 3), 0);
	assert_true(jail_wait(&e, id, &x, 5000));
	assert_int_equal(x.how, WIRE_HOW_ERROR);
	assert_int_equal(x.code, EEXIST);
	jail_close(&e);
}

static void leaves_background_processes_alone(void **state)
{
	struct jail e;

	(void)state;
	jail_open(&e);
	assert_string_equal(jail_run(&e, "sleep 60 & echo $! >pid; disown")->out, "");
	assert_int_equal(jail_processes(&e), 2);
	assert_string_equal(
		jail_run(&e, "kill -0 $(cat pid) && echo alive; kill $(cat pid)")->out, "alive\n");
	jail_close(&e);
}

static void kills_what_an_ended_command_left(void **state)
{
	struct jail e;

	(void)state;
	jail_open(&e);
	(void)jail_run(&e, "(setsid sleep 60 &) ; (trap '' TERM; setsid sleep 61 &)");
	assert_int_equal(jail_processes(&e), 3);
	jail_kill(&e, 1);
	assert_int_equal(jail_processes(&e), 1);
	/* Twice, and one that never was: nothing is left, which is what was asked. */
	jail_kill(&e, 1);
	jail_kill(&e, 4242);
	jail_close(&e);
}

static void survives_kill_of_everything(void **state)
{
	const struct jail_result *r;
	struct jail e;

	(void)state;
	jail_open(&e);
	r = jail_run_ms(&e, "kill -9 1; kill -9 -1; sleep 0.1", 10000);
	/* kill(-1) spares its caller; and PID 1 is not the tenant's to kill. */
	assert_int_equal(r->exited.how, WIRE_HOW_EXIT);
	assert_string_equal(jail_run(&e, "echo alive")->out, "alive\n");
	jail_close(&e);
}

static void reaps_a_storm_of_orphans(void **state)
{
	struct jail e;

	(void)state;
	jail_open(&e);
	(void)jail_run(
		&e, "for k in {1..4}; do for j in {1..50}; do (: & ); done; sleep 0.02; done");
	assert_string_equal(
		jail_run(&e, "sleep 0.2; grep -l zombie /proc/[0-9]*/status | wc -l")->out, "0\n");
	assert_int_equal(jail_processes(&e), 1);
	jail_close(&e);
}

static void freezes_all_commands(void **state)
{
	struct jail e, b;
	char before[64];
	int fd;

	(void)state;
	jail_open(&e);
	jail_open_beside(&b, &e);
	(void)jail_run(&b, "touch n; (while :; do echo x >>n; done) & disown");
	fd = e.channel;
	wire_empty(&out, WIRE_FREEZE);
	assert_int_equal(wire_send(fd, &out, NULL, 0), 0);
	assert_int_equal(wire_recv(fd, &in), 1);
	assert_int_equal(wire_type(&in), WIRE_FROZEN);
	(void)snprintf(before, sizeof before, "/proc/%d/root/home/sandbox/n", (int)e.pid);
	char *one = io_read_file(AT_FDCWD, before, 64 << 20, NULL);
	(void)poll(NULL, 0, 30);
	char *two = io_read_file(AT_FDCWD, before, 64 << 20, NULL);
	assert_non_null(one);
	assert_string_equal(one, two);
	free(two);
	wire_empty(&out, WIRE_THAW);
	assert_int_equal(wire_send(fd, &out, NULL, 0), 0);
	assert_int_equal(wire_recv(fd, &in), 1);
	assert_int_equal(wire_type(&in), WIRE_THAWED);
	(void)poll(NULL, 0, 30);
	two = io_read_file(AT_FDCWD, before, 64 << 20, NULL);
	assert_true(strlen(two) > strlen(one));
	free(one);
	free(two);
	jail_close(&b);
	jail_close(&e);
}

static void kills_a_frozen_command(void **state)
{
	struct wire_exited x;
	struct jail e;
	uint32_t id;

	(void)state;
	jail_open(&e);
	id = jail_start_command(&e, "sleep 60", STDERR_FILENO);
	wire_empty(&out, WIRE_FREEZE);
	assert_int_equal(wire_send(e.channel, &out, NULL, 0), 0);
	assert_int_equal(wire_recv(e.channel, &in), 1);
	jail_kill(&e, id);
	assert_true(jail_wait(&e, id, &x, 2000));
	assert_int_equal(x.how, WIRE_HOW_SIGNAL);
	jail_close(&e);
}

/* The channel closes: everything in the pid namespace ends with init. */
static void ends_all_when_the_box_is_gone(void **state)
{
	struct jail e;
	char c;
	int fds[2];

	(void)state;
	jail_open(&e);
	assert_int_equal(io_pipe(fds, false), 0);
	(void)jail_start_command(&e, "setsid sleep 600 & setsid sleep 600", fds[1]);
	io_close(&fds[1]);
	jail_close(&e);
	assert_int_equal(read(fds[0], &c, 1), 0);
	io_close(&fds[0]);
}

/* A message that no box sends, or that lacks what it must have: init gives up, and says so by its status. */
static void gives_up_on_a_bad_message(void **state)
{
	static const struct {
		enum wire_type type;
		uint32_t extra;
	} bad[] = {{WIRE_READY, 0}, {WIRE_EXEC, 0}, {WIRE_RUN, 0}, {WIRE_LOAD, 0}, {WIRE_SCAN, 0},
		{WIRE_KILL, 0}, {WIRE_FREEZE, 1}};
	int status;

	(void)state;
	for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
		struct jail e;
		jail_open(&e);
		wire_empty(&out, bad[k].type);
		if (bad[k].extra)
			wire_put_u32(&out, 1);
		assert_int_equal(wire_send(e.channel, &out, NULL, 0), 0);
		assert_int_equal(waitpid(e.pid, &status, 0), e.pid);
		assert_true(WIFEXITED(status));
		assert_int_equal(WEXITSTATUS(status), 1);
		io_close(&e.channel);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(runs_a_command),
		cmocka_unit_test(reports_a_signal),
		cmocka_unit_test(gives_the_standard_environment),
		cmocka_unit_test(runs_in_a_folder_of_the_home),
		cmocka_unit_test(refuses_an_id_in_use),
		cmocka_unit_test(leaves_background_processes_alone),
		cmocka_unit_test(kills_what_an_ended_command_left),
		cmocka_unit_test(survives_kill_of_everything),
		cmocka_unit_test(reaps_a_storm_of_orphans),
		cmocka_unit_test(freezes_all_commands),
		cmocka_unit_test(kills_a_frozen_command),
		cmocka_unit_test(ends_all_when_the_box_is_gone),
		cmocka_unit_test(gives_up_on_a_bad_message),
	};

	return cmocka_run_group_tests(tests, jail_set_up, jail_tear_down);
}
