/* test_scan: what changed in a home, and unpacking an archive into it. SPDX-License-Identifier: ISC */
#include "tests/lib/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sandbox/sys/buf.h"
#include "sandbox/sys/io.h"
#include "tests/lib/jail.h"

static void runs(struct jail *e, const char *command)
{
	const struct jail_result *r = jail_run(e, command);

	assert_string_equal(r->out, "");
	assert_int_equal(r->exited.code, 0);
}

/* After the command the scan tells exactly this (sorted), and a second scan tells nothing. */
static void tells(struct jail *e, const char *command, const char *text)
{
	runs(e, command);
	assert_string_equal(jail_scan_text(e), text);
	assert_string_equal(jail_scan_text(e), "");
}

static void tells_each_kind_of_change(void **state)
{
	struct jail e;

	(void)state;
	jail_open(&e);
	tells(&e, "true", "");
	tells(&e, "echo a >a; mkdir d; echo b >d/b; ln -s /etc/passwd l; mkdir -p x/y",
		"dir 755 d\ndir 755 empty x/y\ndir 755 x\nfile 644 2 a = a\n\nfile 644 2 d/b = "
		"b\n\n"
		"link l -> /etc/passwd");
	tells(&e, "echo aa >a", "file 644 3 a = aa\n");
	tells(&e, "chmod 755 a; chmod 700 d", "dir 700 d\nfile 755 3 a = aa\n");
	tells(&e, "rm a", "removed a");
	tells(&e, "mv d/b b", "dir 700 empty d\nfile 644 2 b = b\n\nremoved d/b");
	tells(&e, "rm -r x", "removed x");
	tells(&e, "ln -sfn other l", "link l -> other");
	tells(&e, "touch -d 2001-01-01 b", "file 644 2 b = b\n");
	tells(&e, "touch d/e", "dir 700 d\nfile 644 0 d/e = ");
	tells(&e, "ln d/e h", "file 644 0 d/e = \nfile 644 0 h = ");
	tells(&e, "cat b >/dev/null; ls >/dev/null", "");
	jail_close(&e);
}

static void tells_a_change_of_type(void **state)
{
	struct jail e;

	(void)state;
	jail_open(&e);
	runs(&e, "echo f >p; mkdir q; echo g >q/g; ln -s t r");
	(void)jail_scan_text(&e);
	tells(&e, "rm -r p q r; mkdir p; echo n >p/n; echo q >q; echo r >r",
		"dir 755 p\nfile 644 2 p/n = n\n\nfile 644 2 q = q\n\nfile 644 2 r = r\n\n"
		"removed p\nremoved q\nremoved r");
	tells(&e, "rm q; ln -s p q", "link q -> p\nremoved q");
	jail_close(&e);
}

static void tells_renamed_folders_whole(void **state)
{
	struct jail e;

	(void)state;
	jail_open(&e);
	runs(&e, "mkdir -p a/b; echo 1 >a/b/1; echo 2 >a/2");
	(void)jail_scan_text(&e);
	tells(&e, "mv a c",
		"dir 755 c\ndir 755 c/b\nfile 644 2 c/2 = 2\n\nfile 644 2 c/b/1 = 1\n\nremoved a");
	jail_close(&e);
}

static void puts_removals_first_and_folders_before_contents(void **state)
{
	const struct jail_changes *c;
	struct jail e;

	(void)state;
	jail_open(&e);
	runs(&e, "mkdir -p old/x; touch old/x/f z");
	(void)jail_scan(&e, 0);
	runs(&e, "rm -r old z; mkdir -p new/x/y; touch new/x/y/f new/f");
	c = jail_scan(&e, 0);
	assert_int_equal(c->n, 7);
	for (size_t k = 0; k < c->n; k++)
		assert_int_equal(strncmp(c->lines[k], "removed ", 8) == 0, k < 2);
	for (size_t k = 2; k < c->n; k++) {
		for (size_t j = 2; j < k; j++) {
			/* "dir 755 new" after "file … new/f" would be wrong. */
			const char *dir = strstr(c->lines[k], "dir 755 ");
			if (dir)
				assert_null(strstr(c->lines[j], dir + 8));
		}
	}
	assert_int_equal(c->seen, 5);
	jail_close(&e);
}

/* Written over and over with the same size, so often that many fall into one tick of the clock. */
static void misses_no_change_of_the_same_size(void **state)
{
	char command[64], text[64];
	struct jail e;

	(void)state;
	jail_open(&e);
	for (int k = 100; k < 200; k++) {
		(void)snprintf(command, sizeof command, "printf %%d %d >f", k);
		(void)snprintf(text, sizeof text, "file 644 3 f = %d", k);
		runs(&e, command);
		assert_string_equal(jail_scan_text(&e), text);
	}
	jail_close(&e);
}

static void skips_what_is_no_file(void **state)
{
	struct jail e;

	(void)state;
	jail_open(&e);
	tells(&e,
		"mkfifo fifo; mkdir d; mkfifo d/only; "
		"python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind(\"sock\")'",
		"dir 755 empty d\nskipped d/only: fifo\nskipped fifo: fifo\nskipped sock: socket");
	tells(&e, "rm fifo; echo f >fifo", "file 644 2 fifo = f\n");
	tells(&e, "rm fifo; mkfifo fifo", "removed fifo\nskipped fifo: fifo");
	tells(&e, "rm fifo sock", "");
	jail_close(&e);
}

static void reads_what_its_owner_cannot(void **state)
{
	struct jail e;

	(void)state;
	jail_open(&e);
	tells(&e, "echo s >s; chmod 0 s; mkdir d; echo t >d/t; chmod 0 d",
		"dir 000 d\nfile 000 2 s = s\n\nfile 644 2 d/t = t\n");
	jail_close(&e);
}

static void takes_names_of_any_bytes(void **state)
{
	struct jail e;

	(void)state;
	jail_open(&e);
	tells(&e,
		"mkdir .git; touch -- .git/config $'new\\nline' $'\\xff\\xfe' ' ' -rf '\"' "
		"\"$(printf "
		"%0255d 7)\"",
		"dir 755 .git\nfile 644 0   = \nfile 644 0 \" = \nfile 644 0 -rf = \nfile 644 0 "
		".git/config = \n"
		"file 644 0 "
		"0000000000000000000000000000000000000000000000000000000000000000000000000000000000"
		"0000000000000000000000000000000000000000000000000000000000000000000000000000000000"
		"000000000000"
		"0000000000000000000000000000000000000000000000000000000000000000000000000000007 = "
		"\n"
		"file 644 0 new\nline = \nfile 644 0 \xff\xfe = ");
	jail_close(&e);
}

static void never_leaves_the_home(void **state)
{
	struct jail e;

	(void)state;
	jail_open(&e);
	tells(&e, "ln -s / root; ln -s .. up; ln -s . self; mkdir a; ln -s ../a a/loop",
		"dir 755 a\nlink a/loop -> ../a\nlink root -> /\nlink self -> .\nlink up -> ..");
	jail_close(&e);
}

static void holds_a_very_deep_tree(void **state)
{
	const struct jail_changes *c;
	struct jail e;
	size_t skipped = 0;

	(void)state;
	jail_open(&e);
	runs(&e,
		"python3 -c 'import os\n"
		"for k in range(10000): os.mkdir(\"d\"); os.chdir(\"d\")\nopen(\"f\", \"w\")'; "
		"echo x >top");
	c = jail_scan(&e, 0);
	assert_true(c->n > 2000 && c->n < 2100);
	for (size_t k = 0; k < c->n; k++)
		skipped += strncmp(c->lines[k], "skipped ", 8) == 0;
	assert_int_equal(skipped, 1);
	assert_string_equal(jail_scan_text(&e), "");
	tells(&e, "rm -r d", "removed d");
	jail_close(&e);
}

static void passes_many_files(void **state)
{
	const struct jail_changes *c;
	struct jail e;

	(void)state;
	jail_open(&e);
	runs(&e, "for k in {1..3000}; do echo $k >$k; done");
	c = jail_scan(&e, 0);
	assert_int_equal(c->n, 3000);
	assert_int_equal(c->seen, 3000);
	c = jail_scan(&e, WIRE_SCAN_ALL);
	assert_int_equal(c->n, 3000);
	assert_int_equal(jail_scan(&e, 0)->n, 0);
	runs(&e, "rm -f *");
	assert_int_equal(jail_scan(&e, 0)->n, 3000);
	jail_close(&e);
}

static void passes_unchanged_files_when_told_to(void **state)
{
	struct jail e;

	(void)state;
	jail_open(&e);
	runs(&e, "mkdir d; echo 1 >d/f; echo 2 >g; ln -s g l; sleep 0.02");
	assert_int_equal(jail_scan(&e, 0)->n, 4);
	assert_int_equal(jail_scan(&e, WIRE_SCAN_FILES)->n, 2);
	assert_int_equal(jail_scan(&e, 0)->n, 0);
	jail_close(&e);
}

static void scans_while_background_processes_write(void **state)
{
	struct jail e;

	(void)state;
	jail_open(&e);
	runs(&e,
		"(while :; do mkdir -p a/b/c; touch a/b/c/f; rm -rf a; done) >/dev/null 2>&1 & "
		"disown; "
		"(while :; do ln -sfn / s; rm -f s; mkdir s; rmdir s; done) >/dev/null 2>&1 & "
		"disown");
	for (int k = 0; k < 100; k++)
		(void)jail_scan(&e, 0);
	jail_kill(&e, 1);
	runs(&e, "rm -rf a s");
	(void)jail_scan(&e, 0);
	assert_int_equal(jail_scan(&e, 0)->seen, 0);
	jail_close(&e);
}

static const char *inside(struct jail *e, const char *command)
{
	return jail_run(e, command)->out;
}

static void loads_an_archive(void **state)
{
	struct wire_loaded m;
	struct jail e;
	struct buf b;
	static char big[200000];

	(void)state;
	memset(big, 'x', sizeof big);
	buf_init(&b, 1 << 20);
	jail_archive_put(&b, 'd', 0555, "ro", NULL, 0);
	jail_archive_put(&b, 'f', 0444, "ro/f", "in\n", 3);
	jail_archive_put(&b, 'd', 0, "closed", NULL, 0);
	jail_archive_put(&b, 'd', 0755, "closed/d", NULL, 0);
	jail_archive_put(&b, 'f', 0, "closed/d/none", "n", 1);
	jail_archive_put(&b, 'f', 0755, "x\n", big, sizeof big);
	jail_archive_put(&b, 'l', 0777, "l", "/etc/passwd", 11);
	jail_archive_put(&b, 'f', 04755, "suid", "", 0);
	jail_archive_put(&b, 'e', 0, "", NULL, 0);
	jail_open(&e);
	m = jail_load(&e, b.data, b.len);
	assert_string_equal(m.text, "");
	assert_int_equal(m.failed, 0);
	assert_string_equal(jail_scan_text(&e), "");
	assert_string_equal(
		inside(&e,
			"find . -mindepth 1 -printf '%m %U %y %l %s %T@ %f\\n' 2>/dev/null | "
			"grep -v x | grep -v '^.$' | sed 's/[.]0*//' | sort; wc -c x*; cat ro/f"),
		"\n0 1000 d  60 1000000000 closed\n444 1000 f  3 1000000000 f\n4755 1000 f  0 "
		"1000000000 suid\n"
		"555 1000 d  60 1000000000 ro\n777 1000 l /etc/passwd 11 1000000000 l\n"
		"200000 'x'$'\\n'\nin\n");
	assert_string_equal(
		inside(&e, "chmod 755 closed; stat -c '%a %n' closed/d/*; echo more >>ro/f"),
		"0 closed/d/none\nbash: line 1: ro/f: Permission denied\n");
	assert_string_equal(jail_scan_text(&e), "dir 755 closed");
	/* The first command after a load is told, however soon it comes. */
	runs(&e, "chmod 644 suid");
	assert_string_equal(jail_scan_text(&e), "file 644 0 suid = ");
	buf_free(&b);
	jail_close(&e);
}

static void loads_nothing_outside_the_home(void **state)
{
	static const char *const bad[] = {"/tmp/a", "../a", "a/../../tmp/a", "out/a", "self/../a",
		".", "..", "a//b", "a/", "./a", "file/a", "none/a"};
	struct wire_loaded m;
	struct jail e;
	struct buf b;

	(void)state;
	jail_open(&e);
	runs(&e, "ln -s /tmp out; ln -s . self; echo x >file");
	buf_init(&b, 1 << 16);
	for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
		jail_archive_put(&b, 'f', 0644, bad[k], "evil", 4);
		jail_archive_put(&b, 'd', 0755, bad[k], NULL, 0);
		jail_archive_put(&b, 'l', 0777, bad[k], "evil", 4);
	}
	jail_archive_put(&b, 'f', 0644, "good", "good", 4);
	jail_archive_put(&b, 'e', 0, "", NULL, 0);
	m = jail_load(&e, b.data, b.len);
	assert_int_equal(m.failed, 3 * sizeof bad / sizeof *bad);
	assert_true(m.text[0] != 0);
	assert_string_equal(inside(&e, "ls -A . /tmp; cat good file"),
		".:\nfile\ngood\nout\nself\n\n/tmp:\ngoodx\n");
	buf_free(&b);
	jail_close(&e);
}

static void loads_over_what_is_there(void **state)
{
	struct jail e;
	struct buf b;

	(void)state;
	jail_open(&e);
	runs(&e, "echo old >f; ln -s f l; mkdir d; echo k >d/keep; ln -s d dl; chmod 555 d");
	buf_init(&b, 1 << 16);
	jail_archive_put(&b, 'f', 0600, "f", "new", 3);
	jail_archive_put(&b, 'f', 0644, "l", "file", 4);
	jail_archive_put(&b, 'd', 0750, "d", NULL, 0);
	jail_archive_put(&b, 'd', 0755, "dl", NULL, 0);
	jail_archive_put(&b, 'e', 0, "", NULL, 0);
	assert_int_equal(jail_load(&e, b.data, b.len).failed, 0);
	assert_string_equal(inside(&e, "cat f l d/keep; stat -c '%a %F' d dl f"),
		"newfilek\n750 directory\n755 directory\n600 regular file\n");
	buf_free(&b);
	jail_close(&e);
}

static void survives_a_broken_archive(void **state)
{
	struct wire_loaded m;
	struct jail e;
	struct buf b;

	(void)state;
	jail_open(&e);
	buf_init(&b, 1 << 16);
	jail_archive_put(&b, 'f', 0644, "whole", "1", 1);
	jail_archive_put(&b, 'f', 0644, "cut", "1234567890", 10);
	m = jail_load(&e, b.data, b.len - 5);
	assert_int_equal(m.failed, 1);
	m = jail_load(&e, "", 0);
	assert_int_equal(m.failed, 1);
	m = jail_load(&e, "ZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZ", 30);
	assert_int_equal(m.failed, 1);
	/* A file that the home has no room for fails alone. */
	buf_reset(&b);
	jail_archive_put(&b, 'f', 0644, "after", "2", 1);
	jail_archive_put(&b, 'e', 0, "", NULL, 0);
	m = jail_load(&e, b.data, b.len);
	assert_int_equal(m.failed, 0);
	assert_string_equal(inside(&e, "cat whole after"), "12");
	buf_free(&b);
	jail_close(&e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tells_each_kind_of_change),
		cmocka_unit_test(tells_a_change_of_type),
		cmocka_unit_test(tells_renamed_folders_whole),
		cmocka_unit_test(puts_removals_first_and_folders_before_contents),
		cmocka_unit_test(misses_no_change_of_the_same_size),
		cmocka_unit_test(skips_what_is_no_file),
		cmocka_unit_test(reads_what_its_owner_cannot),
		cmocka_unit_test(takes_names_of_any_bytes),
		cmocka_unit_test(never_leaves_the_home),
		cmocka_unit_test(holds_a_very_deep_tree),
		cmocka_unit_test(passes_many_files),
		cmocka_unit_test(passes_unchanged_files_when_told_to),
		cmocka_unit_test(scans_while_background_processes_write),
		cmocka_unit_test(loads_an_archive),
		cmocka_unit_test(loads_nothing_outside_the_home),
		cmocka_unit_test(loads_over_what_is_there),
		cmocka_unit_test(survives_a_broken_archive),
	};

	return cmocka_run_group_tests(tests, jail_set_up, jail_tear_down);
}
