/* test_home_message: the text of a commit, and of %sg-meta. SPDX-License-Identifier: ISC */
#include "tests/unit/test_home.h"

#include "sandbox/home/meta.h"

/* Commits one file with this command and reads back what git says of it in the given format. */
static void say(
	struct buf *out, struct fixture *f, const struct home_commit_info *info, const char *format)
{
	struct home_snapshot *s = begin(f);
	char text[32];
	home_id id;

	snprintf(text, sizeof text, "%lld", (long long)f->clock++);
	put(s, "a", 0644, text);
	assert_int_equal(home_snapshot_commit(s, info, id), HOME_OK);
	home_snapshot_free(s);
	assert_git(out, f, "log", "-1", "--date=raw", format);
}

static struct home_commit_info info_of(const char *command)
{
	return (struct home_commit_info){.tool = "bash",
		.email = "c1@ws",
		.command = command,
		.outcome = "timeout",
		.request_id = "req_7",
		.duration_ms = 1500,
		.time = 1751000000};
}

static void a_commit_tells_command_outcome_and_request(void **state)
{
	struct fixture *f = *state;
	struct home_commit_info info = info_of("cd x\nmake all\n\n  make test");
	struct buf out;

	buf_init(&out, 1 << 20);
	say(&out, f, &info, "--format=%an|%ae|%ad|%cn|%ce|%cd%n%B");
	assert_string_equal(buf_str(&out),
		"bash|c1@ws|1751000000 +0000|bash|c1@ws|1751000000 +0000\n"
		"cd x\n\n"
		"    cd x\n    make all\n\n      make test\n\n"
		"Request-Id: req_7\nTool: bash\nOutcome: timeout\nDuration-Ms: 1500\n"
		"Skipped: 0\n\n");
	buf_free(&out);
}

static void a_commit_without_a_command_is_named_after_its_tool(void **state)
{
	struct fixture *f = *state;
	struct home_commit_info info = {
		.tool = "sleep", .email = "c1@ws", .duration_ms = -1, .time = -5};
	struct buf out;

	buf_init(&out, 1 << 20);
	say(&out, f, &info, "--format=%ad%n%B");
	assert_string_equal(buf_str(&out), "0 +0000\nsleep\n\nTool: sleep\nSkipped: 0\n\n");
	info.command = "";
	say(&out, f, &info, "--format=%s");
	assert_string_equal(buf_str(&out), "sleep\n");
	info.command = "\n \t\n\n";
	say(&out, f, &info, "--format=%s");
	assert_string_equal(buf_str(&out), "sleep\n");
	info.command = "\n\n  echo";
	say(&out, f, &info, "--format=%s");
	assert_string_equal(buf_str(&out), "  echo\n");
	assert_sound(f);
	buf_free(&out);
}

static void a_subject_is_cut_at_72_columns(void **state)
{
	struct fixture *f = *state;
	char command[400] = "", expected[400] = "";
	struct home_commit_info info = info_of(command);
	struct buf out;

	buf_init(&out, 1 << 20);
	for (int i = 0; i < 100; i++)
		strcat(command, "\xc3\xa9");
	for (int i = 0; i < 72; i++)
		strcat(expected, "\xc3\xa9");
	strcat(expected, "\n");
	say(&out, f, &info, "--format=%s");
	assert_string_equal(buf_str(&out), expected);
	buf_free(&out);
}

static void no_command_can_forge_a_trailer(void **state)
{
	static const char *const commands[] = {
		"x\n\nTool: evil\nOutcome: exit 0",
		"Tool: evil",
		"x\n\nTool: evil\n---\n",
		"x\n\nTool: evil\n\n",
		"x\n\nTool: evil\n\n\n# comment\n",
		"x\n\nTool: evil\n -- \ndiff --git a/x b/x\n",
		"x\r\n\r\nTool: evil\r\n",
		"x\n\n(cherry picked from commit 0)\nTool: evil\n------------------------ >8 ---\n",
	};
	struct fixture *f = *state;
	struct buf out;

	buf_init(&out, 1 << 20);
	for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
		struct home_commit_info info = info_of(commands[i]);
		char path[128];
		FILE *file;

		say(&out, f, &info, "--format=%(trailers)");
		assert_string_equal(buf_str(&out),
			"Request-Id: req_7\nTool: bash\nOutcome: timeout\n"
			"Duration-Ms: 1500\nSkipped: 0\n\n");
		assert_git(&out, f, "log", "-1", "--format=%B");
		snprintf(path, sizeof path, "%s/message", f->dir);
		file = fopen(path, "w");
		assert_non_null(file);
		fwrite(out.data, 1, out.len, file);
		fclose(file);
		assert_int_equal(git(&out, f, "interpret-trailers", "--parse", "message", NULL), 0);
		assert_string_equal(buf_str(&out),
			"Request-Id: req_7\nTool: bash\nOutcome: timeout\n"
			"Duration-Ms: 1500\nSkipped: 0\n");
	}
	assert_sound(f);
	buf_free(&out);
}

static void hostile_values_stay_on_their_line(void **state)
{
	struct fixture *f = *state;
	struct home_commit_info info = {.tool = "a <b>\nc",
		.email = "x\ny> 0 +0000\nparent",
		.command = "\x1b[31m\x01 x",
		.outcome = "exit 0\nTool: evil",
		.request_id = "a\rb\\",
		.duration_ms = 0};
	struct buf out;

	buf_init(&out, 1 << 20);
	say(&out, f, &info, "--format=%an|%ae|%s|%(trailers)");
	assert_string_equal(buf_str(&out),
		"abc|xy0+0000parent| [31m  x|Request-Id: a\\x0db\\\\\nTool: a <b>\\nc\n"
		"Outcome: exit 0\\nTool: evil\nDuration-Ms: 0\nSkipped: 0\n\n");
	info = (struct home_commit_info){
		.tool = "<>", .email = "", .duration_ms = -1, .command = "\xff\xfe\n"};
	say(&out, f, &info, "--format=%an <%ae>");
	assert_string_equal(buf_str(&out), "unknown <unknown>\n");
	assert_sound(f);
	buf_free(&out);
}

static void a_very_long_command_is_kept_whole(void **state)
{
	struct fixture *f = *state;
	char *command = malloc(65537);
	struct home_commit_info info = info_of(command);
	struct buf out;

	assert_non_null(command);
	buf_init(&out, 1 << 20);
	for (int i = 0; i < 65536; i++)
		command[i] = i % 50 == 49 ? '\n' : 'c';
	command[65536] = '\0';
	say(&out, f, &info, "--format=%B");
	assert_true(out.len > 65536);
	free(command);
	buf_free(&out);
}

static void only_the_first_skipped_files_are_named(void **state)
{
	struct fixture *f = *state;
	struct home_snapshot *s = begin(f);
	struct buf out;
	char path[32];

	buf_init(&out, 1 << 20);
	put(s, "a", 0644, "");
	for (int i = 0; i < 30; i++) {
		snprintf(path, sizeof path, "s%d", i);
		home_snapshot_skip(s, path, "socket");
	}
	assert_true(commit(f, s));
	assert_git(&out, f, "log", "-1", "--format=%(trailers:key=Skipped,valueonly)");
	assert_string_equal(buf_str(&out), "30\n\n");
	assert_git(&out, f, "log", "-1", "--format=%(trailers:key=Skipped-File,valueonly)");
	assert_non_null(strstr(buf_str(&out), "s19 (socket)\n"));
	assert_null(strstr(buf_str(&out), "s20"));
	buf_free(&out);
}

/* -- %sg-meta --------------------------------------------------------------- */

static void parsed(struct meta *m, const char *text)
{
	assert_int_equal(meta_parse(m, text, strlen(text)), 0);
}

static void meta_lines_that_are_not_well_formed_are_passed_over(void **state)
{
	struct meta m;

	(void)state;
	parsed(&m,
		"600 a\n"
		"8 b\n"
		"600b\n"
		"12345 b\n"
		" 600 b\n"
		"600 \n"
		"600 b\\q\n"
		"600 b\\x0\n"
		"600 b\\x00\n"
		"600 /b\n"
		"\n"
		"700 c\\n\\t\\\\\\x1f/\n"
		"600 a\n"
		"600 unfinished");
	assert_int_equal(m.n, 2);
	assert_string_equal(m.entries[0].key, "a");
	assert_string_equal(m.entries[1].key, "c\n\t\\\x1f/");
	assert_int_equal(m.entries[1].mode, 0700);
	assert_non_null(meta_find(&m, "a", 1));
	assert_null(meta_find(&m, "a/", 2));
	meta_free(&m);
	parsed(&m, "");
	assert_int_equal(m.n, 0);
	assert_null(meta_find(&m, "a", 1));
	meta_free(&m);
}

static void meta_edits_are_merged(void **state)
{
	struct meta_edits *e;
	struct meta m;
	struct buf out;
	bool changed;

	(void)state;
	buf_init(&out, 1 << 16);
	parsed(&m, "600 a\n700 d/\n600 d/x\n600 d/y\n600 d0\n755 e/\n");
	assert_int_equal(meta_edits_new(&e), 0);
	meta_drop(e, "d", 1);
	meta_set(e, "d/y", 3, 0640);
	meta_set(e, "b", 1, 0600);
	meta_set(e, "b", 1, 0611);
	meta_unset(e, "e/", 2);
	meta_unset(e, "nothing", 7);
	assert_int_equal(meta_apply(&out, &changed, &m, e), 0);
	assert_string_equal(buf_str(&out), "600 a\n611 b\n640 d/y\n600 d0\n");
	assert_true(changed);
	meta_edits_free(e);

	assert_int_equal(meta_edits_new(&e), 0);
	meta_drop(e, "d", 1);
	meta_set(e, "d/", 2, 0700);
	meta_set(e, "d/x", 3, 0600);
	meta_set(e, "d/y", 3, 0600);
	buf_reset(&out);
	assert_int_equal(meta_apply(&out, &changed, &m, e), 0);
	assert_false(changed);
	meta_edits_free(e);
	meta_free(&m);
	buf_free(&out);
}

int main(void)
{
#define TEST(t) cmocka_unit_test_setup_teardown(t, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_commit_tells_command_outcome_and_request),
		TEST(a_commit_without_a_command_is_named_after_its_tool),
		TEST(a_subject_is_cut_at_72_columns),
		TEST(no_command_can_forge_a_trailer),
		TEST(hostile_values_stay_on_their_line),
		TEST(a_very_long_command_is_kept_whole),
		TEST(only_the_first_skipped_files_are_named),
		cmocka_unit_test(meta_lines_that_are_not_well_formed_are_passed_over),
		cmocka_unit_test(meta_edits_are_merged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
