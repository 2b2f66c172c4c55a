/* Tests of app/core/result: the shapes of a tool result. SPDX-License-Identifier: ISC */
#include "tests/lib/test.h"

#include <stdlib.h>
#include <string.h>

#include "app/core/result.h"

static struct output output_of(const char *out, const char *err, enum outcome_kind how, int code)
{
	return (struct output){
		.command = "x",
		.out = out,
		.out_len = strlen(out),
		.err = err,
		.err_len = strlen(err),
		.outcome = how,
		.code = code,
	};
}

static void prints_as(cJSON *v, const char *expected)
{
	char *text = cJSON_PrintUnformatted(v);

	assert_string_equal(text, expected);
	cJSON_free(text);
	cJSON_Delete(v);
}

static void an_exit_status_is_reported(void **state)
{
	struct output o = output_of("5050\n", "", OUTCOME_EXIT, 0);
	struct result r = {.outputs = &o};

	(void)state;
	prints_as(result_outputs(&r),
		"[{\"stdout\":\"5050\\n\",\"stderr\":\"\","
		"\"outcome\":{\"type\":\"exit\",\"exit_code\":0}}]");
}

static void outputs_follow_the_commands(void **state)
{
	struct output second = output_of("", "no\n", OUTCOME_EXIT, 2);
	struct output first = output_of("a", "", OUTCOME_TIMEOUT, 0);
	struct result r = {.outputs = &first};

	(void)state;
	first.next = &second;
	prints_as(result_outputs(&r),
		"[{\"stdout\":\"a\",\"stderr\":\"\",\"outcome\":{\"type\":\"timeout\"}},"
		"{\"stdout\":\"\",\"stderr\":\"no\\n\",\"outcome\":{\"type\":\"exit\",\"exit_"
		"code\":2}}]");
}

static void a_signal_is_128_and_its_number(void **state)
{
	struct output o = output_of("", "", OUTCOME_SIGNAL, 15);
	struct result r = {.outputs = &o};

	(void)state;
	prints_as(result_outputs(&r),
		"[{\"stdout\":\"\",\"stderr\":\"\","
		"\"outcome\":{\"type\":\"exit\",\"exit_code\":143}}]");
}

static void lost_memory_is_137_and_a_line_on_stderr(void **state)
{
	struct output o = output_of("", "half", OUTCOME_OUT_OF_MEMORY, 9);
	struct result r = {.outputs = &o};
	cJSON *v = result_outputs(&r), *entry = v->child;
	const char *err = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(entry, "stderr"));
	cJSON *outcome = cJSON_GetObjectItemCaseSensitive(entry, "outcome");

	(void)state;
	assert_true(strncmp(err, "half\n", 5) == 0);
	assert_non_null(strstr(err, "memory"));
	assert_int_equal(err[strlen(err) - 1], '\n');
	assert_int_equal(cJSON_GetObjectItemCaseSensitive(outcome, "exit_code")->valueint, 137);
	cJSON_Delete(v);
}

static void no_outputs_are_an_empty_list(void **state)
{
	struct result r = {0};

	(void)state;
	prints_as(result_outputs(&r), "[]");
}

static void bash_has_one_command_and_camel_case(void **state)
{
	struct output o = output_of("Python 3.11.14\n", "", OUTCOME_EXIT, 0);
	const char *const commands[] = {"python3 -V"};
	struct result r = {.outputs = &o, .commands = commands, .ncommands = 1};

	(void)state;
	prints_as(result_bash(&r),
		"{\"command\":\"python3 -V\",\"stdout\":\"Python 3.11.14\\n\","
		"\"stderr\":\"\",\"exitCode\":0}");
}

static void bash_joins_several_commands(void **state)
{
	struct output b = output_of("2\n", "bad\n", OUTCOME_EXIT, 3);
	struct output a = output_of("1\n", "", OUTCOME_EXIT, 0);
	const char *const commands[] = {"echo 1", "echo 2; exit 3", "echo never"};
	struct result r = {.outputs = &a, .commands = commands, .ncommands = 3};

	(void)state;
	a.next = &b;
	prints_as(result_bash(&r),
		"{\"command\":\"echo 1\\necho 2; exit 3\\necho never\",\"stdout\":\"1\\n2\\n\","
		"\"stderr\":\"bad\\n\",\"exitCode\":3}");
}

static void a_bash_timeout_is_124_and_a_line_on_stderr(void **state)
{
	struct output o = output_of("", "", OUTCOME_TIMEOUT, 0);
	const char *const commands[] = {"sleep 60"};
	struct result r = {.outputs = &o, .commands = commands, .ncommands = 1};
	cJSON *v = result_bash(&r);

	(void)state;
	assert_int_equal(cJSON_GetObjectItemCaseSensitive(v, "exitCode")->valueint, 124);
	assert_non_null(strstr(
		cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(v, "stderr")), "time limit"));
	cJSON_Delete(v);
}

static void citations_carry_both_indexes(void **state)
{
	struct citation c = {.container_id = "sess_a",
		.file_id = "cfile_b3V0L3JlcG9ydC5jc3Y",
		.filename = "out/report.csv"};
	struct result r = {.files = &c};

	(void)state;
	prints_as(result_citations(&r),
		"[{\"type\":\"container_file_citation\",\"container_id\":\"sess_a\","
		"\"file_id\":\"cfile_b3V0L3JlcG9ydC5jc3Y\",\"filename\":\"out/report.csv\","
		"\"start_index\":0,\"end_index\":0}]");
}

static void a_file_name_that_is_no_utf8_stays_valid_json(void **state)
{
	struct citation c = {.container_id = "c", .file_id = "cfile_eA", .filename = "a\xff"};
	struct result r = {.files = &c};
	cJSON *v = result_citations(&r);

	(void)state;
	assert_string_equal(
		cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(v->child, "filename")),
		"a\xEF\xBF\xBD");
	cJSON_Delete(v);
}

static void an_action_echoes_what_was_sent(void **state)
{
	const char *const commands[] = {"ls", "pwd"};
	struct result r = {.commands = commands,
		.ncommands = 2,
		.timeout_ms = 900000,
		.max_output_length = -1};

	(void)state;
	prints_as(result_action(&r),
		"{\"commands\":[\"ls\",\"pwd\"],\"timeout_ms\":900000,"
		"\"max_output_length\":null}");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_exit_status_is_reported),
		cmocka_unit_test(outputs_follow_the_commands),
		cmocka_unit_test(a_signal_is_128_and_its_number),
		cmocka_unit_test(lost_memory_is_137_and_a_line_on_stderr),
		cmocka_unit_test(no_outputs_are_an_empty_list),
		cmocka_unit_test(bash_has_one_command_and_camel_case),
		cmocka_unit_test(bash_joins_several_commands),
		cmocka_unit_test(a_bash_timeout_is_124_and_a_line_on_stderr),
		cmocka_unit_test(citations_carry_both_indexes),
		cmocka_unit_test(a_file_name_that_is_no_utf8_stays_valid_json),
		cmocka_unit_test(an_action_echoes_what_was_sent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
