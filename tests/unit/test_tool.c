/* Tests of app/tool: container ids, arguments, limits, offers. SPDX-License-Identifier: ISC */
#include "tests/lib/test.h"

#include <stdlib.h>
#include <string.h>

#include "app/base/json.h"
#include "app/tool/args.h"
#include "app/tool/container.h"
#include "app/tool/tool.h"

static const struct conf conf = {
	.command_timeout_ms_default = 120000,
	.command_timeout_ms_max = 300000,
	.output_chars_default = 16384,
	.output_chars_max = 65536,
	.sleep_after_seconds_default = 900,
	.sleep_after_seconds_max = 14400,
	.sandbox_price_per_second = 0.0001,
	.sandbox_minimum_seconds = 30,
};

static int setup(void **state)
{
	*state = arena_new();
	return 0;
}

static int teardown(void **state)
{
	arena_free(*state);
	return 0;
}

/* -- container ids ------------------------------------------------------------ */

static const char *id_of(void **state, const struct environment *env)
{
	return tool_container_id(*state, env, "req_1");
}

static void a_reference_is_taken_as_it_is(void **state)
{
	const struct environment env = {.container_id = "my-box_1", .session_key = "other"};

	assert_string_equal(id_of(state, &env), "my-box_1");
}

static void a_session_key_is_prefixed(void **state)
{
	const struct environment env = {
		.session_key = "art10-418b8597e044", .replayed_id = "sess_old"};

	assert_string_equal(id_of(state, &env), "sess_art10-418b8597e044");
}

static void a_session_key_of_20_characters_is_whole(void **state)
{
	const struct environment env = {.session_key = "abcdefghijklmnopqrst"};

	assert_string_equal(id_of(state, &env), "sess_abcdefghijklmnopqrst");
}

static void a_longer_session_key_keeps_its_last_20(void **state)
{
	const struct environment env = {.session_key = "Xabcdefghijklmnopqrst"};

	assert_string_equal(id_of(state, &env), "sess_abcdefghijklmnopqrst");
}

static void a_bad_character_makes_the_key_absent(void **state)
{
	const struct environment env = {
		.session_key = "user/42", .replayed_id = "gen_0123456789ab"};
	const struct environment dots = {
		.session_key = "../../../../etc/passwd-aaaaaaaaaaaaaaaaaaaaa"};

	assert_string_equal(id_of(state, &env), "gen_0123456789ab");
	assert_true(strncmp(id_of(state, &dots), "gen_", 4) == 0);
}

static void an_empty_key_is_absent(void **state)
{
	const struct environment env = {.session_key = "", .replayed_id = "sess_a"};

	assert_string_equal(id_of(state, &env), "sess_a");
}

static void a_replayed_id_that_is_none_is_not_used(void **state)
{
	const struct environment dots = {.replayed_id = "../x"};
	const struct environment longer = {
		.replayed_id = "aaaaaaaaaabbbbbbbbbbccccccccccddddddddddX"};
	const struct environment fits = {.replayed_id = "aaaaaaaaaabbbbbbbbbbccccccccccdddddddddd"};

	assert_true(strncmp(id_of(state, &dots), "gen_", 4) == 0);
	assert_true(strncmp(id_of(state, &longer), "gen_", 4) == 0);
	assert_string_equal(id_of(state, &fits), fits.replayed_id);
}

static void else_the_id_is_made_of_the_request_s(void **state)
{
	const struct environment env = {0};
	const char *one = tool_container_id(*state, &env, "req_1");

	assert_int_equal(strlen(one), 16);
	assert_true(strncmp(one, "gen_", 4) == 0);
	assert_int_equal(strspn(one + 4, "0123456789abcdef"), 12);
	assert_string_equal(one, tool_container_id(*state, &env, "req_1"));
	assert_string_not_equal(one, tool_container_id(*state, &env, "req_2"));
}

static void a_restart_adds_a_nonce(void **state)
{
	const char *id = container_restart_id(*state, "sess_a");

	assert_true(strncmp(id, "sess_a-r", 8) == 0);
	assert_int_equal(strlen(id), 14);
	assert_int_equal(strspn(id + 8, "abcdefghijklmnopqrstuvwxyz0123456789"), 6);
	assert_string_not_equal(id, container_restart_id(*state, "sess_a"));
}

static void a_restart_never_passes_40_characters(void **state)
{
	const char *id = "aaaaaaaaaabbbbbbbbbbccccccccccdddddddddd";

	for (int i = 0; i < 4; i++) {
		id = container_restart_id(*state, id);
		assert_int_equal(strlen(id), 40);
	}
	id = container_restart_id(*state, "aaaaaaaaaabbbbbbbbbbccccccccccdddddddddd");
	assert_true(strncmp(id, "aabbbbbbbbbbccccccccccdddddddddd-r", 34) == 0);
	assert_int_equal(
		strlen(container_restart_id(*state, "abbbbbbbbbbbccccccccccdddddddddd")), 40);
}

/* -- arguments ----------------------------------------------------------------- */

static struct err problem;

static int parse(struct args *out, void **state, enum tool_kind kind, const char *text)
{
	const struct call call = {.tool = kind, .id = "call_1", .name = "x", .arguments = text};

	memset(&problem, 0, sizeof(problem));
	return args_parse(out, *state, &conf, &call, &problem);
}

static void whole_arguments_are_read(void **state)
{
	struct args a;

	assert_int_equal(
		parse(&a, state, TOOL_SHELL,
			"{\"commands\":[\"python3 -V\",\"ls -1 out\"],\"timeout_ms\":60000,"
			"\"max_output_length\":8192}"),
		0);
	assert_int_equal(a.ncommands, 2);
	assert_string_equal(a.commands[1], "ls -1 out");
	assert_int_equal(a.timeout_ms, 60000);
	assert_int_equal(a.max_output, 8192);
	assert_int_equal(a.timeout_asked, 60000);
	assert_int_equal(a.output_asked, 8192);
	assert_false(a.restart);
}

static void sloppy_arguments_are_accepted(void **state)
{
	static const char *const texts[] = {
		"{\"commands\":\"ls\"}",
		"{\"command\":\"ls\"}",
		"{\"cmd\":\"ls\"}",
		"{\"command\":[\"ls\"]}",
		"{\"commands\":null,\"cmd\":\"ls\"}",
		"{\"commands\":[\"ls\"],\"command\":\"other\"}",
		"{\"commands\":[\"ls\"],\"unknown\":{\"a\":1},\"timeout_ms\":null}",
		"\"ls\"",
		"[\"ls\"]",
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		for (int kind = TOOL_SHELL; kind <= TOOL_BASH; kind++) {
			struct args a;

			assert_int_equal(parse(&a, state, (enum tool_kind)kind, texts[i]), 0);
			assert_int_equal(a.ncommands, 1);
			assert_string_equal(a.commands[0], "ls");
			assert_int_equal(a.timeout_asked, -1);
			assert_int_equal(a.timeout_ms, 120000);
			assert_int_equal(a.max_output, 16384);
		}
	}
}

static void numbers_are_clamped_and_echoed(void **state)
{
	static const struct {
		const char *value;
		int in_force;
		int64_t asked;
	} rows[] = {
		{"1", 1, 1},
		{"300000", 300000, 300000},
		{"300001", 300000, 300001},
		{"1e300", 300000, 9007199254740991},
		{"0", 120000, 0},
		{"0.4", 120000, 0},
		{"-5", 120000, -1},
		{"1500.9", 1500, 1500},
		{"\"60000\"", 60000, 60000},
		{"\"soon\"", 120000, -1},
		{"\"\"", 120000, -1},
		{"\"nan\"", 120000, -1},
		{"\"inf\"", 300000, 9007199254740991},
		{"true", 120000, -1},
		{"{}", 120000, -1},
		{"null", 120000, -1},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char *text = arena_printf(
			*state, "{\"commands\":[\"ls\"],\"timeout_ms\":%s}", rows[i].value);
		struct args a;

		assert_int_equal(parse(&a, state, TOOL_SHELL, text), 0);
		assert_int_equal(a.timeout_ms, rows[i].in_force);
		assert_true(a.timeout_asked == rows[i].asked);
	}
}

static void output_length_is_clamped_too(void **state)
{
	struct args a;

	assert_int_equal(
		parse(&a, state, TOOL_BASH, "{\"command\":\"ls\",\"max_output_length\":65537}"), 0);
	assert_int_equal(a.max_output, 65536);
	assert_int_equal(a.output_asked, 65537);
}

static void bad_arguments_are_refused(void **state)
{
	static const struct {
		const char *text, *says;
	} rows[] = {
		{"", "not valid JSON"},
		{"{\"commands\":[\"ls\"", "not valid JSON"},
		{"{\"commands\":[\"ls\"]} x", "not valid JSON"},
		{"{\"commands\":[\"a\\u0000b\"]}", "not valid JSON"},
		{"{}", "at least one command"},
		{"{\"commands\":[]}", "at least one command"},
		{"{\"commands\":null}", "at least one command"},
		{"12", "at least one command"},
		{"null", "at least one command"},
		{"{\"commands\":[\"ls\",1]}", "entry 1"},
		{"{\"commands\":[[\"ls\"]]}", "entry 0"},
		{"{\"command\":{\"a\":1}}", "array of strings"},
		{"{\"commands\":7}", "array of strings"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct args a;

		assert_int_equal(parse(&a, state, TOOL_SHELL, rows[i].text), ERR_INVALID_REQUEST);
		assert_non_null(strstr(problem.message, rows[i].says));
	}
}

static char *with_commands(void **state, size_t n)
{
	char *text = arena_alloc(*state, 16 + n * 4), *at = text;

	memcpy(at, "{\"commands\":[", 13);
	at += 13;
	for (size_t i = 0; i < n; i++) {
		memcpy(at, i > 0 ? ",\"a\"" : "\"a\"", i > 0 ? 4 : 3);
		at += i > 0 ? 4 : 3;
	}
	memcpy(at, "]}", 3);
	return text;
}

static void a_hundred_commands_are_allowed_and_no_more(void **state)
{
	struct args a;

	assert_int_equal(parse(&a, state, TOOL_SHELL, with_commands(state, 100)), 0);
	assert_int_equal(a.ncommands, 100);
	assert_int_equal(
		parse(&a, state, TOOL_SHELL, with_commands(state, 101)), ERR_INVALID_REQUEST);
	assert_non_null(strstr(problem.message, "100"));
	assert_int_equal(a.ncommands, 101); /* for the echo */
}

static char *with_command_of(void **state, size_t n, const char *character)
{
	size_t w = strlen(character);
	char *text = arena_alloc(*state, 16 + n * w), *at = text;

	memcpy(at, "{\"commands\":\"", 13);
	at += 13;
	for (size_t i = 0; i < n; i++, at += w)
		memcpy(at, character, w);
	memcpy(at, "\"}", 3);
	return text;
}

static void a_command_s_limit_counts_characters_not_bytes(void **state)
{
	struct args a;

	assert_int_equal(parse(&a, state, TOOL_SHELL, with_command_of(state, 16384, "x")), 0);
	assert_int_equal(
		parse(&a, state, TOOL_SHELL, with_command_of(state, 16384, "\xF0\x9F\x90\x9A")), 0);
	assert_int_equal(strlen(a.commands[0]), 65536);
	assert_int_equal(parse(&a, state, TOOL_SHELL, with_command_of(state, 16385, "x")),
		ERR_INVALID_REQUEST);
	assert_non_null(strstr(problem.message, "16384"));
}

static void restart_needs_no_command_and_is_bash_s(void **state)
{
	struct args a;

	assert_int_equal(parse(&a, state, TOOL_BASH, "{\"restart\":true}"), 0);
	assert_true(a.restart);
	assert_int_equal(a.ncommands, 0);
	assert_int_equal(parse(&a, state, TOOL_BASH, "{\"restart\":true,\"command\":\"ls\"}"), 0);
	assert_true(a.restart);
	assert_int_equal(a.ncommands, 1);
	assert_int_equal(parse(&a, state, TOOL_BASH, "{\"restart\":false,\"command\":\"ls\"}"), 0);
	assert_false(a.restart);
	assert_int_equal(parse(&a, state, TOOL_SHELL, "{\"restart\":true}"), ERR_INVALID_REQUEST);
}

/* -- offers, clamps, metering ---------------------------------------------------- */

static void offers_are_valid_schemas(void **state)
{
	static const struct {
		enum tool_kind kind;
		const char *name, *required, *property;
	} rows[] = {
		{TOOL_SHELL, "shell", "commands", "max_output_length"},
		{TOOL_BASH, "bash", "command", "restart"},
	};

	for (size_t i = 0; i < 2; i++) {
		const struct tool *t = tool_offer(rows[i].kind);
		const cJSON *properties;
		cJSON *schema;

		assert_int_equal(t->kind, rows[i].kind);
		assert_string_equal(t->name, rows[i].name);
		assert_non_null(t->description);
		assert_int_equal(
			json_parse(&schema, *state, t->parameters, strlen(t->parameters), NULL), 0);
		assert_string_equal(json_text(schema, "type"), "object");
		properties = json_member(schema, "properties");
		assert_non_null(json_member(properties, rows[i].required));
		assert_non_null(json_member(properties, rows[i].property));
	}
	assert_null(tool_offer(TOOL_CLIENT));
}

static void sleep_after_is_defaulted_and_clamped(void **state)
{
	(void)state;
	assert_int_equal(tool_sleep_after(&conf, &(struct environment){0}), 900);
	assert_int_equal(
		tool_sleep_after(&conf, &(struct environment){.sleep_after_seconds = 1}), 1);
	assert_int_equal(
		tool_sleep_after(&conf, &(struct environment){.sleep_after_seconds = 14400}),
		14400);
	assert_int_equal(
		tool_sleep_after(&conf, &(struct environment){.sleep_after_seconds = INT64_MAX}),
		14400);
}

static void no_command_costs_nothing(void **state)
{
	struct tool_context tc = {.conf = &conf, .cold = true};
	double seconds = 1;

	(void)state;
	assert_true(tool_cost(&tc, &seconds) == 0);
	assert_true(seconds == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_reference_is_taken_as_it_is, setup, teardown),
		cmocka_unit_test_setup_teardown(a_session_key_is_prefixed, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_session_key_of_20_characters_is_whole, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_longer_session_key_keeps_its_last_20, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_bad_character_makes_the_key_absent, setup, teardown),
		cmocka_unit_test_setup_teardown(an_empty_key_is_absent, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_replayed_id_that_is_none_is_not_used, setup, teardown),
		cmocka_unit_test_setup_teardown(
			else_the_id_is_made_of_the_request_s, setup, teardown),
		cmocka_unit_test_setup_teardown(a_restart_adds_a_nonce, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_restart_never_passes_40_characters, setup, teardown),
		cmocka_unit_test_setup_teardown(whole_arguments_are_read, setup, teardown),
		cmocka_unit_test_setup_teardown(sloppy_arguments_are_accepted, setup, teardown),
		cmocka_unit_test_setup_teardown(numbers_are_clamped_and_echoed, setup, teardown),
		cmocka_unit_test_setup_teardown(output_length_is_clamped_too, setup, teardown),
		cmocka_unit_test_setup_teardown(bad_arguments_are_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_hundred_commands_are_allowed_and_no_more, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_command_s_limit_counts_characters_not_bytes, setup, teardown),
		cmocka_unit_test_setup_teardown(
			restart_needs_no_command_and_is_bash_s, setup, teardown),
		cmocka_unit_test_setup_teardown(offers_are_valid_schemas, setup, teardown),
		cmocka_unit_test(sleep_after_is_defaulted_and_clamped),
		cmocka_unit_test(no_command_costs_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
