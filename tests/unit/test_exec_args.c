/* test_exec_args: the body of an exec, field by field. SPDX-License-Identifier: ISC */
#include "tests/lib/test.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/api/exec_args.h"

static const struct conf conf = {
	.command_timeout_ms_default = 120000,
	.command_timeout_ms_max = 300000,
	.output_chars_default = 16384,
	.output_chars_max = 65536,
	.sleep_after_seconds_default = 900,
	.sleep_after_seconds_max = 14400,
};

struct fixture {
	struct arena *arena;
	struct exec_args args;
	struct err err;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	f->arena = arena_new();
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	arena_free(f->arena);
	free(f);
	return 0;
}

static int read_body(struct fixture *f, const char *body)
{
	memset(&f->err, 0, sizeof(f->err));
	return exec_args_read(&f->args, f->arena, &conf, body, strlen(body), &f->err);
}

/* A body with one command and fields after it. */
static int read_with(struct fixture *f, const char *fields)
{
	return read_body(f, arena_printf(f->arena, "{\"command\":\"x\",%s}", fields));
}

static void assert_refused(struct fixture *f, int rc, const char *param)
{
	assert_int_equal(rc, ERR_INVALID_REQUEST);
	assert_string_equal(f->err.param, param);
	assert_memory_equal(f->err.message, param, strlen(param));
	assert_non_null(strstr(f->err.message, ": "));
}

static char *repeat(struct arena *a, const char *s, size_t n)
{
	size_t len = strlen(s);
	char *all = arena_alloc(a, n * len + 1);

	for (size_t i = 0; i < n; i++)
		memcpy(all + i * len, s, len);
	return all;
}

static void one_command_gets_the_defaults(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(read_body(f, "{\"command\":\"echo hi\"}"), 0);
	assert_int_equal(f->args.ncommands, 1);
	assert_string_equal(f->args.commands[0], "echo hi");
	assert_int_equal(f->args.tool, TOOL_SHELL);
	assert_int_equal(f->args.timeout_ms, 120000);
	assert_int_equal(f->args.max_output, 16384);
	assert_int_equal(f->args.sleep_after_seconds, 900);
	assert_null(f->args.cwd);
	assert_null(f->args.env);
	assert_null(f->args.input);
}

static void nulls_are_as_good_as_absent(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(
		read_with(f,
			"\"commands\":null,\"tool\":null,\"timeout_ms\":null,\"env\":null,"
			"\"cwd\":null,\"stdin\":null,\"network_policy\":null,\"file_ids\":null,"
			"\"image\":null,\"stream\":null,\"sleep_after_seconds\":null"),
		0);
	assert_int_equal(f->args.timeout_ms, 120000);
}

static void a_list_keeps_its_order(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(read_body(f, "{\"commands\":[\"a\",\"b\",\"c\"],\"tool\":\"bash\"}"), 0);
	assert_int_equal(f->args.ncommands, 3);
	assert_string_equal(f->args.commands[0], "a");
	assert_string_equal(f->args.commands[2], "c");
	assert_int_equal(f->args.tool, TOOL_BASH);
}

static void what_is_no_object_is_refused(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(read_body(f, "[\"ls\"]"), ERR_INVALID_REQUEST);
	assert_non_null(strstr(f->err.message, "object"));
	assert_int_equal(read_body(f, "\"ls\""), ERR_INVALID_REQUEST);
	assert_int_equal(read_body(f, ""), ERR_INVALID_REQUEST);
	assert_int_equal(read_body(f, "{\"command\":"), ERR_INVALID_REQUEST);
	assert_non_null(strstr(f->err.message, "byte 11"));
}

static void commands_or_command_must_be_given(void **state)
{
	struct fixture *f = *state;

	assert_refused(f, read_body(f, "{}"), "commands");
	assert_refused(f, read_body(f, "{\"command\":\"a\",\"commands\":[\"b\"]}"), "commands");
	assert_refused(f, read_body(f, "{\"commands\":[]}"), "commands");
	assert_refused(f, read_body(f, "{\"commands\":\"ls\"}"), "commands");
	assert_refused(f, read_body(f, "{\"command\":[\"ls\"]}"), "command");
	assert_refused(f, read_body(f, "{\"command\":7}"), "command");
	assert_refused(f, read_body(f, "{\"commands\":[\"a\",7]}"), "commands[1]");
}

static void a_hundred_commands_are_the_most(void **state)
{
	struct fixture *f = *state;
	const char *many = repeat(f->arena, "\"a\",", 99);

	assert_int_equal(read_body(f, arena_printf(f->arena, "{\"commands\":[%s\"a\"]}", many)), 0);
	assert_int_equal(f->args.ncommands, 100);
	assert_refused(f,
		read_body(f, arena_printf(f->arena, "{\"commands\":[%s\"a\",\"a\"]}", many)),
		"commands");
}

static void characters_are_counted_not_bytes(void **state)
{
	struct fixture *f = *state;
	const char *most = repeat(f->arena, "\xf0\x9f\x98\x80", 16384);

	assert_int_equal(read_body(f, arena_printf(f->arena, "{\"command\":\"%s\"}", most)), 0);
	assert_refused(
		f, read_body(f, arena_printf(f->arena, "{\"command\":\"%sx\"}", most)), "command");
	assert_refused(f,
		read_body(f, arena_printf(f->arena, "{\"commands\":[\"a\",\"%sx\"]}", most)),
		"commands[1]");
}

static void numbers_are_clamped_to_the_maximum(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(read_with(f,
				 "\"timeout_ms\":300001,\"max_output_length\":99999999999,"
				 "\"sleep_after_seconds\":9007199254740991"),
		0);
	assert_int_equal(f->args.timeout_ms, 300000);
	assert_int_equal(f->args.max_output, 65536);
	assert_int_equal(f->args.sleep_after_seconds, 14400);
	assert_int_equal(read_with(f,
				 "\"timeout_ms\":1,\"max_output_length\":1,"
				 "\"sleep_after_seconds\":1"),
		0);
	assert_int_equal(f->args.timeout_ms, 1);
	assert_int_equal(f->args.max_output, 1);
	assert_int_equal(f->args.sleep_after_seconds, 1);
}

static void numbers_are_positive_integers(void **state)
{
	static const char *const keys[] = {
		"timeout_ms", "max_output_length", "sleep_after_seconds"};
	static const char *const values[] = {
		"0", "-1", "1.5", "\"5\"", "true", "[]", "1e300", "-1e300"};
	struct fixture *f = *state;

	for (size_t k = 0; k < 3; k++)
		for (size_t v = 0; v < sizeof(values) / sizeof(values[0]); v++)
			assert_refused(f,
				read_with(
					f, arena_printf(f->arena, "\"%s\":%s", keys[k], values[v])),
				keys[k]);
}

static void the_tool_is_shell_or_bash(void **state)
{
	struct fixture *f = *state;

	assert_refused(f, read_with(f, "\"tool\":\"zsh\""), "tool");
	assert_refused(f, read_with(f, "\"tool\":1"), "tool");
}

static void the_environment_is_a_list_of_assignments(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(read_with(f, "\"env\":{\"A\":\"1\",\"_b2\":\"x=y\\nz\",\"E\":\"\"}"), 0);
	assert_string_equal(f->args.env[0], "A=1");
	assert_string_equal(f->args.env[1], "_b2=x=y\nz");
	assert_string_equal(f->args.env[2], "E=");
	assert_null(f->args.env[3]);
}

static void environment_names_are_identifiers(void **state)
{
	static const char *const names[] = {"", "1A", "A B", "A=B", "A-B", "\\n", "\xc3\xa9"};
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_refused(f,
			read_with(f, arena_printf(f->arena, "\"env\":{\"%s\":\"x\"}", names[i])),
			"env");
	assert_refused(f,
		read_with(f,
			arena_printf(
				f->arena, "\"env\":{\"%s\":\"x\"}", repeat(f->arena, "A", 129))),
		"env");
}

static void environment_values_are_strings(void **state)
{
	struct fixture *f = *state;

	assert_refused(f, read_with(f, "\"env\":{\"A\":1}"), "env.A");
	assert_refused(f, read_with(f, "\"env\":{\"A\":null}"), "env.A");
	assert_refused(f, read_with(f, "\"env\":{\"A\":\"1\",\"A\":\"2\"}"), "env.A");
	assert_refused(f, read_with(f, "\"env\":[\"A=1\"]"), "env");
}

static void the_environment_is_bounded(void **state)
{
	struct fixture *f = *state;
	char *all = repeat(f->arena, "\"Axx\":\"x\",", 65);
	char number[4];

	for (int i = 0; i < 65; i++) {
		snprintf(number, sizeof(number), "%02d", i);
		memcpy(strstr(all, "xx"), number, 2);
	}
	all[65 * 10 - 1] = '\0';
	assert_refused(f, read_with(f, arena_printf(f->arena, "\"env\":{%s}", all)), "env");
	all[64 * 10 - 1] = '\0';
	assert_int_equal(read_with(f, arena_printf(f->arena, "\"env\":{%s}", all)), 0);
	assert_refused(f,
		read_with(f,
			arena_printf(
				f->arena, "\"env\":{\"A\":\"%s\"}", repeat(f->arena, "x", 32768))),
		"env");
}

static void a_nul_is_refused_wherever_it_stands(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(read_body(f, "{\"command\":\"a\\u0000b\"}"), ERR_INVALID_REQUEST);
	assert_int_equal(read_with(f, "\"env\":{\"A\":\"\\u0000\"}"), ERR_INVALID_REQUEST);
	assert_int_equal(read_with(f, "\"cwd\":\"\\u0000\""), ERR_INVALID_REQUEST);
}

static void assert_cwd(struct fixture *f, const char *cwd, const char *expected)
{
	assert_int_equal(read_with(f, arena_printf(f->arena, "\"cwd\":\"%s\"", cwd)), 0);
	if (expected)
		assert_string_equal(f->args.cwd, expected);
	else
		assert_null(f->args.cwd);
}

static void a_folder_is_named_from_the_home(void **state)
{
	struct fixture *f = *state;

	assert_cwd(f, "src", "src");
	assert_cwd(f, "src/a b/..c", "src/a b/..c");
	assert_cwd(f, "./src//lib/", "src/lib");
	assert_cwd(f, "/home/sandbox/src", "src");
	assert_cwd(f, "/workspace/home/src/", "src");
	assert_cwd(f, "", NULL);
	assert_cwd(f, ".", NULL);
	assert_cwd(f, "/home/sandbox", NULL);
	assert_cwd(f, "/home/sandbox/", NULL);
}

static void a_folder_elsewhere_is_refused(void **state)
{
	static const char *const bad[] = {"..", "a/..", "../a", "a/../b", "/", "/etc",
		"/home/sandboxes", "/home/sandbox/../x", "/home"};
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_refused(
			f, read_with(f, arena_printf(f->arena, "\"cwd\":\"%s\"", bad[i])), "cwd");
	assert_refused(f,
		read_with(
			f, arena_printf(f->arena, "\"cwd\":\"%s\"", repeat(f->arena, "a/", 2048))),
		"cwd");
	assert_refused(f, read_with(f, "\"cwd\":1"), "cwd");
}

static void standard_input_is_text(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(read_with(f, "\"stdin\":\"a\\nb\\u00e9\""), 0);
	assert_int_equal(f->args.input_len, 5);
	assert_memory_equal(f->args.input, "a\nb\xc3\xa9", 5);
	assert_int_equal(read_with(f, "\"stdin\":\"\""), 0);
	assert_non_null(f->args.input);
	assert_refused(f, read_with(f, "\"stdin\":{}"), "stdin");
}

static void no_network_is_the_only_policy(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(read_with(f, "\"network_policy\":{\"type\":\"disabled\"}"), 0);
	assert_int_equal(
		read_with(f, "\"network_policy\":{\"type\":\"allowlist\",\"allowed_domains\":[]}"),
		0);
	assert_refused(f,
		read_with(f,
			"\"network_policy\":{\"type\":\"allowlist\",\"allowed_domains\":[\"a.com\"]"
			"}"),
		"network_policy");
	assert_refused(
		f, read_with(f, "\"network_policy\":{\"type\":\"allowlist\"}"), "network_policy");
	assert_refused(
		f, read_with(f, "\"network_policy\":{\"type\":\"all\"}"), "network_policy.type");
	assert_refused(f, read_with(f, "\"network_policy\":{}"), "network_policy.type");
	assert_refused(f, read_with(f, "\"network_policy\":\"disabled\""), "network_policy");
}

static void what_is_not_offered_yet_is_refused(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(read_with(f, "\"stream\":false,\"image\":\"default\",\"file_ids\":[]"), 0);
	assert_refused(f, read_with(f, "\"stream\":true"), "stream");
	assert_refused(f, read_with(f, "\"stream\":1"), "stream");
	assert_refused(f, read_with(f, "\"image\":\"python\""), "image");
	assert_refused(f, read_with(f, "\"file_ids\":[\"file-1\"]"), "file_ids");
	assert_refused(f, read_with(f, "\"file_ids\":\"file-1\""), "file_ids");
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(one_command_gets_the_defaults),
		TEST(nulls_are_as_good_as_absent),
		TEST(a_list_keeps_its_order),
		TEST(what_is_no_object_is_refused),
		TEST(commands_or_command_must_be_given),
		TEST(a_hundred_commands_are_the_most),
		TEST(characters_are_counted_not_bytes),
		TEST(numbers_are_clamped_to_the_maximum),
		TEST(numbers_are_positive_integers),
		TEST(the_tool_is_shell_or_bash),
		TEST(the_environment_is_a_list_of_assignments),
		TEST(environment_names_are_identifiers),
		TEST(environment_values_are_strings),
		TEST(the_environment_is_bounded),
		TEST(a_nul_is_refused_wherever_it_stands),
		TEST(a_folder_is_named_from_the_home),
		TEST(a_folder_elsewhere_is_refused),
		TEST(standard_input_is_text),
		TEST(no_network_is_the_only_policy),
		TEST(what_is_not_offered_yet_is_refused),
	};

	return cmocka_run_group_tests_name("exec_args", tests, NULL, NULL);
}
