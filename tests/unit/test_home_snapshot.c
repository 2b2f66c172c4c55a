/* test_home_snapshot: what a home is after its commits. SPDX-License-Identifier: ISC */
#include "tests/unit/test_home.h"

static void a_new_repository_has_no_head_and_is_opened_again(void **state)
{
	struct fixture *f = *state;
	struct home *again;
	home_id head = "x";

	assert_int_equal(home_head(f->h, head), HOME_OK);
	assert_string_equal(head, "");
	assert_int_equal(home_create(&again, f->repo), HOME_OK);
	home_close(again);
	assert_int_equal(home_open(&again, "/tmp/no-such-home.git"), HOME_NOT_FOUND);
	assert_home(f, "");
}

static void paths_are_checked(void **state)
{
	char deep[4100];

	(void)state;
	assert_int_equal(home_path_check("a/b c/\xff\n", 8), HOME_OK);
	assert_int_equal(home_path_check("...", 3), HOME_OK);
	assert_int_equal(home_path_check("", 0), HOME_BAD);
	assert_int_equal(home_path_check("/a", 2), HOME_BAD);
	assert_int_equal(home_path_check("a/", 2), HOME_BAD);
	assert_int_equal(home_path_check("a//b", 4), HOME_BAD);
	assert_int_equal(home_path_check("a/./b", 5), HOME_BAD);
	assert_int_equal(home_path_check("../b", 4), HOME_BAD);
	assert_int_equal(home_path_check("a\0b", 3), HOME_BAD);
	for (size_t i = 0; i < sizeof deep; i++)
		deep[i] = i % 2 ? '/' : 'a';
	assert_int_equal(home_path_check(deep, 4095), HOME_OK);
	assert_int_equal(home_path_check(deep, 4097), HOME_BAD);
	memset(deep, 'a', 256);
	assert_int_equal(home_path_check(deep, 255), HOME_OK);
	assert_int_equal(home_path_check(deep, 256), HOME_BAD);
}

static void a_first_commit_holds_files_folders_and_links(void **state)
{
	struct fixture *f = *state;
	struct home_snapshot *s = begin(f);

	home_snapshot_dir(s, "out", 0755, false);
	put(s, "out/report.csv", 0644, "a,b\n");
	put(s, "run.sh", 0755, "#!/bin/sh\n");
	assert_int_equal(home_snapshot_link(s, "latest", "out/\xff\n"), HOME_OK);
	assert_true(commit(f, s));
	assert_home(f,
		"l 0 latest=out/\xff\n\n"
		"d 755 out\n"
		"f 644 out/report.csv=a,b\n\n"
		"f 755 run.sh=#!/bin/sh\n\n");
	assert_sound(f);
}

static void nothing_changed_makes_no_commit(void **state)
{
	struct fixture *f = *state;
	struct home_snapshot *s = begin(f);
	home_id before, after;

	assert_false(commit(f, s));
	assert_int_equal(home_head(f->h, before), HOME_OK);
	assert_string_equal(before, "");

	s = begin(f);
	put(s, "a", 0600, "x");
	home_snapshot_dir(s, "d", 0755, true);
	assert_true(commit(f, s));
	assert_int_equal(home_head(f->h, before), HOME_OK);

	s = begin(f);
	put(s, "a", 0600, "x");
	home_snapshot_dir(s, "d", 0755, true);
	home_snapshot_remove(s, "gone/long/ago");
	home_snapshot_remove(s, "a/below/a/file");
	home_snapshot_skip(s, "socket", "socket");
	assert_false(commit(f, s));
	assert_int_equal(home_head(f->h, after), HOME_OK);
	assert_string_equal(before, after);
	assert_sound(f);
}

/* Within one snapshot: what stood below a folder went when it was none for a while, also for what is named there later. */
static void a_folder_that_was_none_in_between_starts_empty(void **state)
{
	struct fixture *f = *state;
	struct home_snapshot *s = begin(f);

	home_snapshot_dir(s, "a", 0755, false);
	home_snapshot_dir(s, "a/b", 0700, true);
	put(s, "a/c/d", 0600, "x");
	assert_true(commit(f, s));
	s = begin(f);
	home_snapshot_skip(s, "a", "socket");
	home_snapshot_remove(s, "a");
	home_snapshot_dir(s, "a", 0755, true);
	home_snapshot_remove(s, "a/b/x");
	home_snapshot_remove(s, "a/c/x");
	assert_true(commit(f, s));
	assert_home(f, "d 755 a\n");
	assert_sound(f);
}

static void names_are_bytes(void **state)
{
	struct fixture *f = *state;
	struct home_snapshot *s = begin(f);
	char longest[256];

	memset(longest, 'n', 255);
	longest[255] = '\0';
	put(s, "-rf", 0644, "1");
	put(s, "new\nline", 0600, "2");
	put(s, "\xff\xfe/\x80", 0600, "3");
	put(s, "a\\nb", 0600, "4");
	put(s, longest, 0644, "5");
	put(s, " ", 0644, "6");
	put(s, "x%sg", 0644, "7");
	put(s, "%sg-meta", 0644, "8");
	put(s, "\x7f\x01\t", 0600, "9");
	assert_true(commit(f, s));
	assert_home(f,
		"f 644  =6\n"
		"f 644 %sg-meta=8\n"
		"f 644 -rf=1\n"
		"f 600 a\\nb=4\n"
		"f 600 new\nline=2\n"
		"f 644 nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn"
		"nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn"
		"nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn"
		"nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn=5\n"
		"f 644 x%sg=7\n"
		"f 600 \x7f\x01\t=9\n"
		"d 755 \xff\xfe\n"
		"f 600 \xff\xfe/\x80=3\n");
	assert_sound(f);
}

static void permission_bits_and_empty_folders_are_kept(void **state)
{
	struct fixture *f = *state;
	struct home_snapshot *s = begin(f);
	struct buf out;

	buf_init(&out, 1 << 20);
	put(s, "none", 0, "x");
	put(s, "setuid", 04755, "x");
	put(s, "group", 0664, "x");
	home_snapshot_dir(s, "tmp", 01777, true);
	home_snapshot_dir(s, ".ssh", 0700, false);
	put(s, ".ssh/id", 0600, "key");
	home_snapshot_dir(s, "empty", 0755, false);
	home_snapshot_dir(s, "empty/too", 0755, true);
	assert_true(commit(f, s));
	assert_git(&out, f, "show", "main:%sg-meta");
	assert_string_equal(buf_str(&out),
		"700 .ssh/\n600 .ssh/id\n755 empty/\n755 empty/too/\n664 group\n"
		"0 none\n4755 setuid\n1777 tmp/\n");
	assert_home(f,
		"d 700 .ssh\nf 600 .ssh/id=key\nf 664 group=x\nf 0 none=x\nf 4755 setuid=x\n"
		"d 755 empty\nd 755 empty/too\nd 1777 tmp\n");

	/* Ordinary bits again: nothing is left to say. */
	s = begin(f);
	put(s, "none", 0644, "x");
	put(s, "setuid", 0755, "x");
	put(s, "group", 0644, "x");
	home_snapshot_remove(s, "tmp");
	home_snapshot_remove(s, ".ssh");
	home_snapshot_remove(s, "empty");
	assert_true(commit(f, s));
	assert_home(f, "f 644 group=x\nf 644 none=x\nf 755 setuid=x\n");
	assert_git(&out, f, "ls-tree", "-r", "--name-only", "main");
	assert_string_equal(buf_str(&out), "group\nnone\nsetuid\n");
	assert_sound(f);
	buf_free(&out);
}

static void a_folder_that_fills_or_empties_keeps_its_bits(void **state)
{
	struct fixture *f = *state;
	struct home_snapshot *s = begin(f);

	home_snapshot_dir(s, "a", 0755, true);
	home_snapshot_dir(s, "b", 0700, true);
	assert_true(commit(f, s));

	s = begin(f);
	put(s, "a/x", 0644, "");
	put(s, "b/x", 0644, "");
	assert_true(commit(f, s));
	assert_home(f, "d 755 a\nf 644 a/x=\nd 700 b\nf 644 b/x=\n");

	/* The folders themselves are not told of: they are still there. */
	s = begin(f);
	home_snapshot_remove(s, "a/x");
	home_snapshot_remove(s, "b/x");
	assert_true(commit(f, s));
	assert_home(f, "d 755 a\nd 700 b\n");

	s = begin(f);
	home_snapshot_dir(s, "a", 0711, true);
	home_snapshot_remove(s, "b");
	assert_true(commit(f, s));
	assert_home(f, "d 711 a\n");
	assert_sound(f);
}

static void saying_that_a_folder_is_empty_drops_what_was_in_it(void **state)
{
	struct fixture *f = *state;
	struct home_snapshot *s = begin(f);

	put(s, "d/a/b", 0600, "x");
	put(s, "e", 0644, "x");
	assert_true(commit(f, s));
	s = begin(f);
	home_snapshot_dir(s, "d", 0755, true);
	assert_true(commit(f, s));
	assert_home(f, "f 644 e=x\nd 755 d\n");
	assert_sound(f);
}

static void one_snapshot_may_turn_anything_into_anything(void **state)
{
	struct fixture *f = *state;
	struct home_snapshot *s = begin(f);

	put(s, "file-to-dir", 0600, "x");
	put(s, "dir-to-link/a/b", 0600, "x");
	put(s, "dir-to-file/a", 0644, "x");
	home_snapshot_link(s, "link-to-dir", "x");
	home_snapshot_link(s, "link-to-file", "x");
	home_snapshot_dir(s, "empty-to-file", 0700, true);
	put(s, "file-to-empty", 0600, "x");
	put(s, "dir-to-link.x", 0644, "between the two orders");
	assert_true(commit(f, s));

	s = begin(f);
	/* With and without a removal said first. */
	home_snapshot_remove(s, "file-to-dir");
	home_snapshot_dir(s, "file-to-dir", 0755, false);
	put(s, "file-to-dir/x", 0644, "1");
	home_snapshot_link(s, "dir-to-link", "elsewhere");
	home_snapshot_remove(s, "dir-to-file");
	put(s, "dir-to-file", 0644, "2");
	put(s, "link-to-dir/y/z", 0644, "3");
	put(s, "link-to-file", 0755, "4");
	put(s, "empty-to-file", 0644, "5");
	home_snapshot_dir(s, "file-to-empty", 0755, true);
	assert_true(commit(f, s));
	assert_home(f,
		"f 644 dir-to-file=2\n"
		"l 0 dir-to-link=elsewhere\n"
		"f 644 dir-to-link.x=between the two orders\n"
		"f 644 empty-to-file=5\n"
		"d 755 file-to-dir\nf 644 file-to-dir/x=1\n"
		"d 755 link-to-dir\nd 755 link-to-dir/y\nf 644 link-to-dir/y/z=3\n"
		"f 755 link-to-file=4\n"
		"d 755 file-to-empty\n");
	assert_sound(f);
}

static void the_last_word_on_a_path_counts(void **state)
{
	struct fixture *f = *state;
	struct home_snapshot *s = begin(f);

	home_snapshot_link(s, "a", "b");
	put(s, "a/b", 0644, "1");
	home_snapshot_remove(s, "a");
	put(s, "a/c", 0644, "2");
	home_snapshot_skip(s, "d", "socket");
	home_snapshot_dir(s, "d", 0755, true);
	home_snapshot_dir(s, "e", 0755, true);
	home_snapshot_remove(s, "e");
	assert_true(commit(f, s));
	assert_home(f, "d 755 a\nf 644 a/c=2\nd 755 d\n");
}

static void a_tree_is_removed_with_its_bits(void **state)
{
	struct fixture *f = *state;
	struct home_snapshot *s = begin(f);
	struct buf out;

	buf_init(&out, 1 << 20);
	put(s, "d/a", 0600, "");
	put(s, "d/b/c", 0600, "");
	put(s, "d.x", 0600, "");
	put(s, "d", 0600, "a file first");
	put(s, "d/a", 0600, "");
	put(s, "d/b/c", 0600, "");
	assert_true(commit(f, s));
	s = begin(f);
	home_snapshot_remove(s, "d");
	assert_true(commit(f, s));
	assert_git(&out, f, "show", "main:%sg-meta");
	assert_string_equal(buf_str(&out), "600 d.x\n");
	s = begin(f);
	home_snapshot_remove(s, "d.x");
	assert_true(commit(f, s));
	assert_home(f, "");
	buf_free(&out);
}

static void a_folder_of_many_is_changed_in_the_middle(void **state)
{
	struct fixture *f = *state;
	struct home_snapshot *s = begin(f);
	struct buf out;
	char path[32];

	buf_init(&out, 1 << 20);
	for (int i = 0; i < 3000; i++) {
		snprintf(path, sizeof path, "many/%04d", i * 7 % 3000);
		put(s, path, 0644, i % 5 ? "x" : "y");
	}
	assert_true(commit(f, s));
	s = begin(f);
	home_snapshot_remove(s, "many/0000");
	put(s, "many/1500", 0755, "z");
	put(s, "many/1500x/y", 0644, "z");
	home_snapshot_remove(s, "many/2999");
	put(s, "many/9999", 0644, "z");
	assert_true(commit(f, s));
	assert_git(&out, f, "diff", "--summary", "main~1", "main");
	assert_string_equal(buf_str(&out),
		" delete mode 100644 many/0000\n mode change 100644 => 100755 many/1500\n"
		" create mode 100644 many/1500x/y\n delete mode 100644 many/2999\n"
		" create mode 100644 many/9999\n");
	assert_sound(f);
	buf_free(&out);
}

static void two_thousand_levels_are_saved(void **state)
{
	struct fixture *f = *state;
	struct home_snapshot *s = begin(f);
	char path[4096];

	for (size_t i = 0; i < 4095; i++)
		path[i] = i % 2 ? '/' : 'd';
	path[4095] = '\0';
	put(s, path, 0600, "deep");
	assert_true(commit(f, s));
	s = begin(f);
	home_snapshot_remove(s, path);
	assert_true(commit(f, s));
	s = begin(f);
	home_snapshot_remove(s, "d");
	assert_true(commit(f, s));
	assert_home(f, "");
}

static void changed_files_are_listed_in_order(void **state)
{
	struct fixture *f = *state;
	struct home_snapshot *s = begin(f);
	const struct home_changed *c;
	home_id id;
	size_t n;

	put(s, "same", 0600, "x");
	put(s, "bits", 0644, "x");
	assert_true(commit(f, s));
	s = begin(f);
	put(s, "z/new", 0644, "12345");
	put(s, "same", 0600, "x");
	put(s, "bits", 0640, "x");
	put(s, "removed", 0644, "x");
	home_snapshot_link(s, "link", "x");
	home_snapshot_remove(s, "removed");
	put(s, "a", 0644, "");
	assert_int_equal(commit_as(f, s, NULL, id), HOME_OK);
	c = home_snapshot_changed(s, &n);
	assert_int_equal(n, 3);
	assert_string_equal(c[0].path, "z/new");
	assert_int_equal(c[0].bytes, 5);
	assert_string_equal(c[1].path, "bits");
	assert_string_equal(c[2].path, "a");
	home_snapshot_free(s);
}

static void bad_arguments_are_refused(void **state)
{
	struct fixture *f = *state;
	struct home_snapshot *s = begin(f);
	int fds[2], dir = open(f->dir, O_RDONLY | O_DIRECTORY);
	int64_t when;

	assert_int_equal(io_pipe(fds, true), 0);
	assert_int_equal(home_snapshot_file(s, "a", 0644, fds[0], 10), HOME_BAD);
	assert_int_equal(home_snapshot_file(s, "a", 0644, dir, 10), HOME_BAD);
	assert_int_equal(home_snapshot_file(s, "a", 0644, -1, 10), HOME_BAD);
	assert_int_equal(home_snapshot_remove(s, "../a"), HOME_BAD);
	assert_int_equal(home_snapshot_dir(s, "", 0755, true), HOME_BAD);
	assert_int_equal(home_snapshot_link(s, "a", ""), HOME_BAD);
	assert_int_equal(home_snapshot_skip(s, "/a", "x"), HOME_BAD);
	assert_int_equal(home_checkout(f->h, "HEAD", &when, node_line, NULL), HOME_BAD);
	assert_int_equal(home_checkout(f->h, "0123456789012345678901234567890123456789", &when,
				 node_line, NULL),
		HOME_NOT_FOUND);
	assert_true(strlen(home_error()) > 0);
	assert_false(commit(f, s));
	close(fds[0]);
	close(fds[1]);
	close(dir);
}

static int stop_at_second(void *ctx, const struct home_node *n)
{
	(void)n;
	return ++*(int *)ctx == 2 ? 42 : 0;
}

static void a_checkout_of_an_older_commit_can_be_stopped(void **state)
{
	struct fixture *f = *state;
	struct home_snapshot *s = begin(f);
	struct buf out;
	home_id first;
	int64_t when;
	int calls = 0;

	buf_init(&out, 1 << 16);
	put(s, "a", 0644, "1");
	put(s, "b", 0644, "1");
	put(s, "c", 0644, "1");
	assert_int_equal(commit_as(f, s, "x", first), HOME_OK);
	home_snapshot_free(s);
	s = begin(f);
	home_snapshot_remove(s, "a");
	assert_true(commit(f, s));
	assert_int_equal(home_checkout(f->h, first, &when, node_line, &out), HOME_OK);
	assert_string_equal(buf_str(&out), "f 644 a=1\nf 644 b=1\nf 644 c=1\n");
	assert_int_equal(when, f->clock - 2);
	assert_int_equal(home_checkout(f->h, first, &when, stop_at_second, &calls), 42);
	assert_int_equal(calls, 2);
	buf_free(&out);
}

int main(void)
{
#define TEST(t) cmocka_unit_test_setup_teardown(t, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_new_repository_has_no_head_and_is_opened_again),
		cmocka_unit_test(paths_are_checked),
		TEST(a_first_commit_holds_files_folders_and_links),
		TEST(nothing_changed_makes_no_commit),
		TEST(a_folder_that_was_none_in_between_starts_empty),
		TEST(names_are_bytes),
		TEST(permission_bits_and_empty_folders_are_kept),
		TEST(a_folder_that_fills_or_empties_keeps_its_bits),
		TEST(saying_that_a_folder_is_empty_drops_what_was_in_it),
		TEST(one_snapshot_may_turn_anything_into_anything),
		TEST(the_last_word_on_a_path_counts),
		TEST(a_tree_is_removed_with_its_bits),
		TEST(a_folder_of_many_is_changed_in_the_middle),
		TEST(two_thousand_levels_are_saved),
		TEST(changed_files_are_listed_in_order),
		TEST(bad_arguments_are_refused),
		TEST(a_checkout_of_an_older_commit_can_be_stopped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
