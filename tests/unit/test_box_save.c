/* box_save: files, from changes to commits and back. SPDX-License-Identifier: ISC */
#include "tests/lib/rig.h"

#include "tests/lib/test.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox/sys/io.h"

/* -- files -------------------------------------------------------------------------------- */

static void changes_become_a_commit(void **state)
{
	(void)state;
	rig_start();
	int c = rig_attach();
	rig_ask(c, rig_shell("make it\nso"), -1);
	rig_take_run();
	rig_close_run();
	rig_exit_on(rig.init, WIRE_HOW_EXIT, 0, 0);
	(void)rig_begin_scan();
	rig_tell(&(struct wire_change){.kind = WIRE_DIR, .mode = 0755, .path = "out"}, NULL);
	rig_tell_file("out/a", "first", 100);
	rig_tell_file("out/b", "second", 300);
	rig_tell_file("c", "third", 200);
	rig_tell(&(struct wire_change){.kind = WIRE_LINK, .mode = 0777, .path = "l", .text = "c"},
		NULL);
	rig_tell(&(struct wire_change){.kind = WIRE_SKIPPED, .path = "s", .text = "socket"}, NULL);
	rig_end_scan(6);
	rig_take_answer(c);
	assert_int_equal(strlen(rig.done.commit), 40);
	assert_int_equal(rig.done.nfiles, 3);
	assert_string_equal(rig.done.files[0].path, "out/b");
	assert_true(rig.done.files[0].bytes == 6);
	assert_string_equal(rig.done.files[1].path, "c");
	assert_string_equal(rig.done.files[2].path, "out/a");
	assert_int_equal(rig.done.nskipped, 1);
	assert_string_equal(rig.done.skips[0].path, "s");
	assert_string_equal(rig.done.skips[0].reason, "socket");
	char id[41];
	(void)snprintf(id, sizeof(id), "%s", rig.done.commit);
	assert_memory_equal(rig_git("rev-parse", "main"), id, 40);
	assert_string_equal(rig_git("log", "--format=%an %ae %cn %ce %s"),
		"shell c1@acme shell c1@acme make it\n");
	const char *body = rig_git("log", "--format=%B");
	assert_non_null(strstr(body, "Request-Id: req_1\n"));
	assert_non_null(strstr(body, "Tool: shell\n"));
	assert_non_null(strstr(body, "Outcome: exit 0\n"));
	assert_non_null(strstr(body, "Skipped: 1\n"));
	assert_string_equal(
		rig_git("ls-tree", "-r", "--name-only", "main"), "c\nl\nout/a\nout/b\n");
	assert_string_equal(rig_git("show", "main:out/b"), "second");
	assert_string_equal(rig_git("fsck", "--strict"), "");

	/* The same content again is no change; a removal is one without citations. */
	rig_write_file(c, "touch", "c", "third");
	assert_string_equal(rig.done.commit, "");
	assert_int_equal(rig.done.nfiles, 0);
	rig_ask(c, rig_shell("rm"), -1);
	rig_take_run();
	rig_close_run();
	rig_exit_on(rig.init, WIRE_HOW_EXIT, 0, 0);
	(void)rig_begin_scan();
	rig_tell(&(struct wire_change){.kind = WIRE_REMOVED, .path = "out"}, NULL);
	rig_end_scan(1);
	rig_take_answer(c);
	assert_int_equal(strlen(rig.done.commit), 40);
	assert_int_equal(rig.done.nfiles, 0);
	assert_string_equal(rig_git("log", "--format=%s"), "rm\nmake it\n");
	close(c);
	rig_stop();
}

static void at_most_ten_files_are_cited_newest_first(void **state)
{
	char path[16];
	(void)state;
	rig_start();
	int c = rig_attach();
	rig_ask(c, rig_shell("many"), -1);
	rig_take_run();
	rig_close_run();
	rig_exit_on(rig.init, WIRE_HOW_EXIT, 0, 0);
	(void)rig_begin_scan();
	for (unsigned k = 0; k < 300; k++) {
		(void)snprintf(path, sizeof(path), "f%03u", k);
		rig_tell_file(path, path, (k * 7919u) % 300u);
	}
	rig_end_scan(300);
	rig_take_answer(c);
	assert_int_equal(rig.done.nfiles, 10);
	for (unsigned k = 0; k < 10; k++) {
		unsigned n = (unsigned)strtoul(rig.done.files[k].path + 1, NULL, 10);
		assert_int_equal((n * 7919u) % 300u, 299 - k);
	}
	close(c);
	rig_stop();
}

static void sleep_saves_what_the_background_did(void **state)
{
	(void)state;
	rig_start();
	int c = rig_attach();
	rig_write_file(c, "one", "a", "1");
	close(c);
	wire_stop(&rig.out);
	assert_int_equal(wire_send(rig.control, &rig.out, NULL, 0), 0);
	assert_int_equal(rig_begin_scan(), WIRE_SCAN_FILES);
	rig_tell_file("late", "2", 1);
	rig_end_scan(1);
	assert_int_equal(rig_wait_box(), 0);
	rig_close_all();
	assert_string_equal(rig_git("log", "--format=%an %s"), "sleep sleep\nshell one\n");
}

static void a_woken_home_is_loaded(void **state)
{
	struct rig_record r;
	(void)state;
	rig_make_home();
	rig_start();
	int fd = rig_take_load();
	rig_read_record(fd, &r);
	assert_true(r.h.kind == 'd' && r.h.mode == 0700 && r.h.mtime > 1700000000);
	assert_string_equal(r.path, "d");
	rig_read_record(fd, &r);
	assert_true(r.h.kind == 'f' && r.h.mode == 0644);
	assert_string_equal(r.path, "d/f");
	assert_string_equal(r.data, "text");
	rig_read_record(fd, &r);
	assert_true(r.h.kind == 'l');
	assert_string_equal(r.path, "l");
	assert_string_equal(r.data, "d/f");
	rig_read_record(fd, &r);
	assert_true(r.h.kind == 'e');
	assert_int_equal(read(fd, &r, 1), 0);
	close(fd);
	rig_loaded(0);
	int c = rig_attach();
	rig_write_file(c, "two", "g", "x");
	assert_int_equal(rig.done.found, WIRE_WOKEN);
	close(c);
	rig_stop();
	assert_string_equal(rig_git("log", "--format=%s"), "two\none\n");
	assert_string_equal(rig_git("show", "main:d/f"), "text");
}

static void an_init_that_dies_while_loading_is_told_to_the_app(void **state)
{
	(void)state;
	rig_make_home();
	rig_start();
	int fd = rig_take_load();
	close(fd);
	io_close(&rig.init);
	int c = rig_attach();
	rig_ask(c, rig_shell("x"), -1);
	rig_take_done(c);
	assert_int_equal(rig.done.outcome, WIRE_FAILED);
	assert_non_null(strstr(rig.done.error, "the saved files could not be loaded"));
	assert_int_equal(rig_wait_box(), 1);
	close(c);
	rig_close_all();
}

static void a_broken_repository_is_told_to_the_app(void **state)
{
	char path[512];
	(void)state;
	rig_make_home();
	(void)snprintf(path, sizeof(path), "%s/refs/heads/main", rig_repository());
	int fd = open(path, O_WRONLY | O_TRUNC);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "0123456789012345678901234567890123456789\n", 41), 41);
	close(fd);
	rig_start();
	int c = rig_attach();
	rig_ask(c, rig_shell("x"), -1);
	/* The head can be read, its commit cannot. */
	if (rig_readable(rig.init, 500))
		rig_receive(rig.init, WIRE_LOAD);
	rig_take_done(c);
	assert_int_equal(rig.done.outcome, WIRE_FAILED);
	assert_non_null(strstr(rig.done.error, "the saved files could not be"));
	assert_int_equal(rig_wait_box(), 1);
	close(c);
	rig_close_all();
}

/* Changes that only a broken or hostile init would tell. */
static void paths_that_leave_the_home_are_skipped(void **state)
{
	static char longest[WIRE_PATH_MAX + 1];
	(void)state;
	rig_start();
	int c = rig_attach();
	rig_ask(c, rig_shell("x"), -1);
	rig_take_run();
	rig_close_run();
	rig_exit_on(rig.init, WIRE_HOW_EXIT, 0, 0);
	(void)rig_begin_scan();
	memset(longest, 'p', sizeof(longest) - 1);
	rig_tell_file("../up", "x", 1);
	rig_tell_file("/etc/passwd", "x", 1);
	rig_tell_file("a/../b", "x", 1);
	rig_tell_file("a//b", "x", 1);
	rig_tell_file("a/./b", "x", 1);
	rig_tell_file("a/", "x", 1);
	rig_tell_file(longest, "x", 1);
	rig_tell(&(struct wire_change){.kind = WIRE_REMOVED, .path = ".."}, NULL);
	rig_tell_file("good", "x", 1);
	rig_end_scan(8);
	rig_take_answer(c);
	assert_int_equal(rig.done.nfiles, 1);
	assert_string_equal(rig.done.files[0].path, "good");
	assert_int_equal(rig.done.nskipped, 8);
	assert_int_equal(rig.done.nskips, 8);
	assert_string_equal(rig.done.error, "");
	assert_string_equal(rig_git("ls-tree", "-r", "--name-only", "main"), "good\n");
	close(c);
	rig_stop();
}

static void what_is_no_regular_file_is_skipped(void **state)
{
	int fds[2];
	(void)state;
	rig_start();
	int c = rig_attach();
	rig_ask(c, rig_shell("x"), -1);
	rig_take_run();
	rig_close_run();
	rig_exit_on(rig.init, WIRE_HOW_EXIT, 0, 0);
	(void)rig_begin_scan();
	assert_int_equal(io_pipe(fds, false), 0);
	wire_changes_begin(&rig.out);
	assert_true(wire_changes_add(&rig.out,
		&(struct wire_change){.kind = WIRE_FILE, .has_fd = 1, .size = 10, .path = "pipe"}));
	assert_int_equal(wire_send(rig.init, &rig.out, fds, 1), 0);
	rig_end_scan(1);
	rig_take_answer(c);
	assert_int_equal(rig.done.nskipped, 1);
	assert_string_equal(rig.done.skips[0].reason, "not a regular file");
	close(fds[0]);
	close(fds[1]);
	close(c);
	rig_stop();
}

static void a_full_disk_leaves_the_outcome_and_is_made_up_for(void **state)
{
	static char big[300000];
	char homes[256];
	(void)state;
	(void)snprintf(homes, sizeof(homes), "%s/homes", test_tmp());
	assert_int_equal(mkdir(homes, 0700), 0);
	assert_int_equal(mount("none", homes, "tmpfs", 0, "size=400k"), 0);
	rig_start();
	int c = rig_attach();
	rig_write_file(c, "one", "a", "1");
	assert_int_equal(strlen(rig.done.commit), 40);
	srandom(1);
	for (size_t k = 0; k < sizeof(big) - 1; k++)
		big[k] = (char)(1 + random() % 255);
	rig_write_file(c, "two", "big", big);
	rig_write_file(c, "three", "big2", big);
	assert_int_equal(rig.done.outcome, WIRE_EXIT);
	assert_string_equal(rig.done.commit, "");
	assert_non_null(strstr(rig.done.error, "no space is left"));
	/* Room again: now everything is looked at. */
	assert_int_equal(mount("none", homes, "tmpfs", MS_REMOUNT, "size=2m"), 0);
	rig_ask(c, rig_shell("four"), -1);
	rig_take_run();
	rig_close_run();
	rig_exit_on(rig.init, WIRE_HOW_EXIT, 0, 0);
	assert_int_equal(rig_begin_scan(), WIRE_SCAN_ALL);
	rig_tell_file("a", "1", 1);
	rig_tell_file("big2", big, 1);
	rig_end_scan(2);
	rig_take_answer(c);
	assert_string_equal(rig.done.error, "");
	assert_string_equal(rig_git("ls-tree", "-r", "--name-only", "main"), "a\nbig2\n");
	assert_string_equal(rig_git("fsck", "--strict"), "");
	close(c);
	rig_stop();
}

/* The branch moves while the command runs: the box looks at everything and tries once more. */
static void a_moved_branch_makes_it_look_at_everything(void **state)
{
	(void)state;
	rig_start();
	int c = rig_attach();
	rig_write_file(c, "one", "a", "1");
	rig_ask(c, rig_shell("two"), -1);
	rig_take_run();
	rig_close_run();
	rig_exit_on(rig.init, WIRE_HOW_EXIT, 0, 0);
	assert_int_equal(rig_begin_scan(), 0);
	rig_tell_file("b", "2", 1);
	/* Its snapshot has begun with the first change; now somebody else commits. */
	(void)poll(NULL, 0, 100);
	char tree[41], commit[41];
	(void)snprintf(tree, sizeof(tree), "%s", rig_git("rev-parse", "main^{tree}"));
	(void)snprintf(commit, sizeof(commit), "%s",
		rig_git("commit-tree", "-p", "main", "-m", "other", tree));
	assert_string_equal(rig_git("update-ref", "refs/heads/main", commit), "");
	rig_end_scan(1);
	assert_int_equal(rig_begin_scan(), WIRE_SCAN_ALL);
	rig_tell_file("b", "2", 1);
	rig_end_scan(1);
	rig_take_answer(c);
	assert_string_equal(rig.done.error, "");
	assert_string_equal(rig_git("log", "--format=%s"), "two\nother\none\n");
	/* What was not told with everything is gone. */
	assert_string_equal(rig_git("ls-tree", "-r", "--name-only", "main"), "b\n");
	close(c);
	rig_stop();
}

#define TEST(f) cmocka_unit_test_teardown(f, rig_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(changes_become_a_commit),
		TEST(at_most_ten_files_are_cited_newest_first),
		TEST(sleep_saves_what_the_background_did),
		TEST(a_woken_home_is_loaded),
		TEST(an_init_that_dies_while_loading_is_told_to_the_app),
		TEST(a_broken_repository_is_told_to_the_app),
		TEST(paths_that_leave_the_home_are_skipped),
		TEST(what_is_no_regular_file_is_skipped),
		TEST(a_full_disk_leaves_the_outcome_and_is_made_up_for),
		TEST(a_moved_branch_makes_it_look_at_everything),
	};
	(void)signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
