/* test_home_names: names that git refuses, and files that it reads. SPDX-License-Identifier: ISC */
#include "tests/unit/test_home.h"

#include "sandbox/home/names.h"

#define SEED 20260716u

static enum names_class class(const char *name) { return names_class(name, strlen(name)); }

static void ordinary_names_are_stored_as_they_are(void **state)
{
	static const char *const names[] = {"a", ".gitx", ".g", "git", ".github", "x.git", ".git2",
		"a%sgb", "%sg-metal", " ", "...", "-rf", "\xff\xfe", "new\nline", "git~12",
		"gitmod~5", "a\\b", ".gitkeep", "%s", "\xe2\x80\xae"};

	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (class(names[i]) != NAMES_PLAIN)
			fail_msg("%s", names[i]);
}

static void names_that_git_refuses_are_escaped(void **state)
{
	static const char *const names[] = {".git", ".GIT", ".Git", "git~1", "GIT~1", ".git ",
		".git.", ".git . .", ".git::$INDEX_ALLOCATION", ".git:x", ".g\xe2\x80\x8cit",
		"\xef\xbb\xbf.git", ".git\xff", ".git\xe2\x81\xaf", ".git\\x", "x\\.git",
		"x\\git~1 ", ".gitmodules ", ".GITMODULES", "gitmod~1", "GI7EBA~1", "gi7eb~10",
		"~1000000", ".gitattributes.", "gitatt~4", "gi7d29~1", ".gitignore:a", "maba30~1",
		".mailmap ", "x\\.gitmodules", "%sg", "a%sg", ".git%sg", "%sg-meta", "a%sg%sg"};

	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (class(names[i]) != NAMES_ESCAPE)
			fail_msg("%s", names[i]);
}

static void assert_stored(const char *name, const char *expected)
{
	char stored[NAMES_LIMIT], real[NAMES_MAX + 1];
	size_t n = names_store(stored, name, strlen(name), class(name) == NAMES_ESCAPE);

	assert_string_equal(stored, expected);
	assert_int_equal(names_real(real, stored, n), strlen(name));
	assert_string_equal(real, name);
}

static void the_mark_is_appended_and_one_is_stripped(void **state)
{
	(void)state;
	assert_stored("plain", "plain");
	assert_stored(".git", ".git%sg");
	assert_stored("%sg", "%sg%sg");
	assert_stored("a%sg%sg", "a%sg%sg%sg");
	assert_stored("%sg-meta", "%sg-meta%sg");
	assert_stored("x\\.git", "x\\.git%sg");
	assert_stored(".git..", ".git..%sg");
}

static void names_that_the_mark_does_not_hide_are_coded(void **state)
{
	(void)state;
	assert_stored(".git:x", "%sg=.git%3ax%sg");
	assert_stored(".git\\%", "%sg=.git%5c%25%sg");
	assert_stored(".git\xff", "%sg=.git%ff%sg");
	assert_stored("%sg=x%sg", "%sg=%25sg=x%25sg%sg");
}

static void a_name_of_any_length_has_a_stored_form(void **state)
{
	char stored[NAMES_LIMIT], real[NAMES_MAX + 1], longest[NAMES_MAX + 1];
	size_t n;

	(void)state;
	memset(longest, 'x', NAMES_MAX);
	n = names_store(stored, longest, NAMES_MAX, true);
	assert_int_equal(n, NAMES_MAX + 3);
	assert_int_equal(names_real(real, stored, n), NAMES_MAX);
	memset(longest, '\\', NAMES_MAX);
	memcpy(longest, ".git", 4);
	n = names_store(stored, longest, NAMES_MAX, true);
	assert_int_equal(n, 3 * (NAMES_MAX - 4) + 4 + 4 + 3);
	assert_int_equal(names_real(real, stored, n), NAMES_MAX);
	assert_memory_equal(real, longest, NAMES_MAX);
}

static void names_that_no_file_can_have_are_not_read(void **state)
{
	static const char *const names[] = {"%sg", "..%sg", ".", "..", "a/b", "", "%sg=%sg",
		"%sg=..%sg", "%sg=a%2fb%sg", "%sg=%00%sg", "%sg=%g0%sg", "%sg=%0%sg"};
	char real[NAMES_MAX + 1], longest[NAMES_LIMIT + 1];

	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (names_real(real, names[i], strlen(names[i])) != 0)
			fail_msg("%s", names[i]);
	memset(longest, 'x', sizeof longest);
	assert_int_equal(names_real(real, longest, NAMES_MAX + 1), 0);
	assert_int_equal(names_real(real, longest, sizeof longest), 0);
}

static bool modules_ok(const char *text)
{
	return names_content_ok(NAMES_GITMODULES, text, strlen(text));
}

static void plain_gitmodules_are_accepted_and_others_are_not(void **state)
{
	(void)state;
	assert_true(modules_ok(""));
	assert_true(modules_ok(
		"[submodule \"lib/x\"]\n\tpath = lib/x\n\turl = https://example.org/x.git\n\n"));
	assert_false(modules_ok("[submodule \"../x\"]\n"));
	assert_false(modules_ok("[submodule \"x\"]\n\turl = -u./payload\n"));
	assert_false(modules_ok("[submodule \"x\"]\n\tpath = -x\n"));
	assert_false(modules_ok("[submodule \"x\"]\n\tupdate = !sh\n"));
	assert_false(modules_ok("\tpath = x\n"));
	assert_false(modules_ok("[broken\n"));
	assert_false(modules_ok("[submodule \"x\"]\n\tpath = x"));
}

static void gitattributes_with_a_long_line_are_not_accepted(void **state)
{
	char line[2100];

	(void)state;
	memset(line, 'a', sizeof line);
	assert_false(names_content_ok(NAMES_GITATTRIBUTES, line, 2048));
	assert_true(names_content_ok(NAMES_GITATTRIBUTES, line, 2047));
	line[1000] = '\n';
	assert_true(names_content_ok(NAMES_GITATTRIBUTES, line, 2048));
}

/* -- against git itself ----------------------------------------------------- */

static void a_git_folder_in_a_home_survives(void **state)
{
	struct fixture *f = *state;
	struct home_snapshot *s = begin(f);

	put(s, "p/.git/HEAD", 0644, "ref: refs/heads/main\n");
	put(s, "p/.git/config", 0644, "[core]\n\tfsmonitor = evil\n");
	put(s, "p/.git/objects/ab/cd", 0444, "x");
	put(s, "p/.git/hooks/pre-commit", 0755, "#!/bin/sh\n");
	home_snapshot_dir(s, "p/.git/refs/tags", 0755, true);
	put(s, "p/a.c", 0644, "int x;\n");
	assert_true(commit(f, s));
	assert_home(f,
		"d 755 p\n"
		"d 755 p/.git\n"
		"f 644 p/.git/HEAD=ref: refs/heads/main\n\n"
		"f 644 p/.git/config=[core]\n\tfsmonitor = evil\n\n"
		"d 755 p/.git/hooks\n"
		"f 755 p/.git/hooks/pre-commit=#!/bin/sh\n\n"
		"d 755 p/.git/objects\n"
		"d 755 p/.git/objects/ab\n"
		"f 444 p/.git/objects/ab/cd=x\n"
		"f 644 p/a.c=int x;\n\n"
		"d 755 p/.git/refs\n"
		"d 755 p/.git/refs/tags\n");
	assert_sound(f);
}

static void files_that_git_reads_are_plain_while_it_accepts_them(void **state)
{
	struct fixture *f = *state;
	struct home_snapshot *s = begin(f);
	struct buf out;

	buf_init(&out, 1 << 20);
	put(s, ".gitignore", 0644, "*\n");
	put(s, ".gitattributes", 0644, "* text=auto eol=crlf\n");
	put(s, ".gitmodules", 0644,
		"[submodule \"x\"]\n\tpath = x\n\turl = https://example.org/x\n");
	put(s, ".mailmap", 0644, "A <a@b> C <c@d>\n");
	put(s, "sub/.gitmodules", 0644, "[submodule \"x\"]\n\turl = --upload-pack=evil\n");
	assert_true(commit(f, s));
	assert_git(&out, f, "ls-tree", "-r", "--name-only", "main");
	assert_string_equal(buf_str(&out),
		".gitattributes\n.gitignore\n.gitmodules\n.mailmap\nsub/.gitmodules%sg\n");
	assert_sound(f);

	/* Now as git does not take them; what stood there under the other name is gone. */
	s = begin(f);
	home_snapshot_link(s, ".gitignore", "/etc/passwd");
	home_snapshot_link(s, ".gitmodules", "x");
	put(s, ".mailmap/x", 0644, "");
	put(s, ".gitattributes/y", 0644, "");
	put(s, "sub/.gitmodules", 0644, "");
	assert_true(commit(f, s));
	assert_git(&out, f, "ls-tree", "-r", "--name-only", "main");
	assert_string_equal(buf_str(&out),
		".gitattributes%sg/y\n.gitignore%sg\n.gitmodules%sg\n.mailmap%sg/x\nsub/"
		".gitmodules\n");
	assert_home(f,
		"d 755 .gitattributes\nf 644 .gitattributes/y=\nl 0 .gitignore=/etc/passwd\n"
		"l 0 .gitmodules=x\nd 755 .mailmap\nf 644 .mailmap/x=\nd 755 sub\nf 644 "
		"sub/.gitmodules=\n");
	assert_sound(f);
	buf_free(&out);
}

static unsigned draw(unsigned *seed, unsigned n)
{
	*seed = *seed * 1103515245u + 12345u;
	return (*seed >> 16) % n;
}

static void random_name(char name[NAMES_MAX + 1], unsigned *seed)
{
	static const char *const parts[] = {".git", ".GiT", "git~1", "gitmodules", ".gitmodules",
		".gitattributes", ".gitignore", ".mailmap", "gitmod~2", "gi7eba~1", "gi7d2~12",
		"maba30~9", "gi25~100", "~1", "\\", " ", ".", ":", "::$INDEX_ALLOCATION",
		"\xe2\x80\x8c", "\xef\xbb\xbf", "\xff", "\xc3\xa9", "%sg", "x", "-", "\n",
		"\xe2\x81", "g", "it", "modules", "..", "\x01", "\xf0\x9f\x90\x99"};
	unsigned n = 1 + draw(seed, 4);

	name[0] = '\0';
	for (unsigned i = 0; i < n; i++)
		strcat(name, parts[draw(seed, sizeof parts / sizeof parts[0])]);
	if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		strcat(name, "x");
}

#define NNAMES 4000

struct names {
	char name[NNAMES][NAMES_MAX + 1];
	size_t seen;
};

/* Paths are N/name, or N/name/f. */
static int check_node(void *ctx, const struct home_node *n)
{
	struct names *all = ctx;
	char *rest;
	unsigned long i = strtoul(n->path, &rest, 10);

	assert_true(i < NNAMES);
	all->seen++;
	if (*rest == '/' && strcmp(rest + 1, all->name[i]) != 0) {
		size_t len = strlen(all->name[i]);

		assert_memory_equal(rest + 1, all->name[i], len);
		assert_string_equal(rest + 1 + len, "/f");
	}
	return 0;
}

static void git_accepts_every_name_whatever_stands_there(void **state)
{
	struct fixture *f = *state;
	struct home_snapshot *s = begin(f);
	unsigned seed = SEED;
	struct names *all = calloc(1, sizeof *all);
	char path[NAMES_MAX + 32];
	int64_t when;

	assert_non_null(all);
	print_message("seed %u\n", seed);
	for (unsigned i = 0; i < NNAMES; i++) {
		random_name(all->name[i], &seed);
		snprintf(path, sizeof path, "%u/%s", i, all->name[i]);
		switch (i % 4) {
		case 0:
			put(s, path, 0644, "[submodule \"../..\"]\n\turl = -x\n\tpath = -y\n");
			break;
		case 1:
			home_snapshot_link(s, path, "../x");
			break;
		case 2:
			strncat(path, "/f", 3);
			put(s, path, 0644, "x");
			break;
		default:
			put(s, path, 0644, "");
		}
	}
	assert_true(commit(f, s));
	assert_int_equal(home_checkout(f->h, NULL, &when, check_node, all), HOME_OK);
	assert_int_equal(all->seen, NNAMES * 2 + NNAMES / 4);
	free(all);
	assert_sound(f);
}

int main(void)
{
#define REPO_TEST(t) cmocka_unit_test_setup_teardown(t, setup, teardown)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ordinary_names_are_stored_as_they_are),
		cmocka_unit_test(names_that_git_refuses_are_escaped),
		cmocka_unit_test(the_mark_is_appended_and_one_is_stripped),
		cmocka_unit_test(names_that_the_mark_does_not_hide_are_coded),
		cmocka_unit_test(a_name_of_any_length_has_a_stored_form),
		cmocka_unit_test(names_that_no_file_can_have_are_not_read),
		cmocka_unit_test(plain_gitmodules_are_accepted_and_others_are_not),
		cmocka_unit_test(gitattributes_with_a_long_line_are_not_accepted),
		REPO_TEST(a_git_folder_in_a_home_survives),
		REPO_TEST(files_that_git_reads_are_plain_while_it_accepts_them),
		REPO_TEST(git_accepts_every_name_whatever_stands_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
