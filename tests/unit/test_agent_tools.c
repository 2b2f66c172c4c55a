/* Tests of app/agent: server calls and what the model is told. SPDX-License-Identifier: ISC */
#include "tests/lib/loop.h"

#include <stdio.h>
#include <string.h>

/* -- server calls ------------------------------------------------------------------ */

static void a_call_is_run_and_its_result_sent_back(void **state)
{
	struct world *w = *state;
	const cJSON *messages, *m;

	answers_call(w, "shell", ECHO("5050"));
	answers_text(w, "it is 5050", "stop", 20, 4);
	assert_int_equal(go(w), 0);
	saw(w,
		"start shell 1\nend shell " ECHO(
			"5050") "\nturn calls\nrunning shell\n"
				"result " ECHOED(
					"5050") "\ntext it is 5050\nturn stop\ndone stop\n");
	assert_string_equal(
		asked(w), "lease main sess_s1\nrun shell shell 120000 16384 900 echo 5050\n");
	messages = json_member(request(w, 1), "messages");
	assert_int_equal(cJSON_GetArraySize(messages), 3);
	m = cJSON_GetArrayItem(messages, 2);
	assert_string_equal(json_text(m, "role"), "tool");
	assert_string_equal(json_text(m, "content"), ECHOED("5050"));
	assert_string_equal(json_text(m, "tool_call_id"),
		json_text(json_member(cJSON_GetArrayItem(messages, 1), "tool_calls")->child, "id"));
}

static void our_tools_are_offered_with_their_schema(void **state)
{
	struct world *w = *state;
	const cJSON *tool, *function;

	answers_call(w, "shell", ECHO("1"));
	answers_text(w, "end", "stop", 1, 1);
	assert_int_equal(go(w), 0);
	tool = json_member(request(w, 0), "tools")->child;
	function = json_member(tool, "function");
	assert_string_equal(json_text(function, "name"), "shell");
	assert_non_null(json_text(function, "description"));
	assert_non_null(json_member(
		json_member(json_member(function, "parameters"), "properties"), "commands"));
	assert_non_null(strstr(buf_str(&w->seen), "result " ECHOED("1")));
}

static void the_built_in_model_is_an_upstream_like_any_other(void **state)
{
	struct world *w = *state;
	char script[] = "script";

	w->provider.protocol = script;
	items_add_text(w->arena, &w->turn.items, ROLE_USER, "Run `echo 5050` and `exit 3`");
	assert_int_equal(go(w), 0);
	assert_string_equal(asked(w),
		"lease main sess_s1\n"
		"run shell shell 120000 16384 900 echo 5050\n"
		"run shell shell 120000 16384 900 exit 3\n");
	assert_non_null(strstr(buf_str(&w->seen), "5050"));
	assert_non_null(strstr(buf_str(&w->seen), "turn stop\ndone stop\n"));
	assert_true(w->usage.input > 0 && w->usage.output > 0);
	assert_int_equal(w->usage.tool_calls_executed, 1);
	assert_int_equal(chatpeer_requests(w->chat), 0);
}

static void usage_is_summed_and_sandbox_time_metered(void **state)
{
	struct world *w = *state;

	answers_call(w, "shell", ECHO("a"));
	answers_text(w, "b", "stop", 20, 4);
	assert_int_equal(go(w), 0);
	assert_int_equal(w->usage.input, 30);
	assert_int_equal(w->usage.output, 9);
	assert_int_equal(w->usage.tool_calls_requested, 1);
	assert_int_equal(w->usage.tool_calls_executed, 1);
	assert_true(w->usage.tools_used);
	/* A new container: the minimum. */
	assert_float_equal(w->usage.server_tool_cost, 0.003, 1e-9);
	assert_int_equal(w->used, 1);
}

static void a_request_has_one_lease(void **state)
{
	struct world *w = *state;

	answers_call(
		w, "shell", "{\"commands\":[\"echo 1\",\"exit 3\",\"echo 2\"],\"timeout_ms\":500}");
	answers_call(w, "bash", "{\"command\":\"echo 3\"}");
	answers_text(w, "end", "stop", 1, 1);
	assert_int_equal(go(w), 0);
	assert_string_equal(asked(w),
		"lease main sess_s1\n"
		"run shell shell 500 16384 900 echo 1\n"
		"run shell shell 500 16384 900 exit 3\n"
		"run shell shell 500 16384 900 echo 2\n"
		"run bash bash 120000 16384 900 echo 3\n");
	assert_int_equal(w->used, 1);
}

static void ids_of_calls_are_unique_over_all_turns(void **state)
{
	struct world *w = *state;
	char a[64], b[64], c[64];

	answers_call(w, "shell", ECHO("1"));
	chatpeer_answer(w->chat);
	chatpeer_call(w->chat, 0, "call_0", "shell", ECHO("2"));
	chatpeer_call(w->chat, 1, "call_1", "shell", ECHO("3"));
	chatpeer_finish(w->chat, "stop", 1, 1);
	answers_text(w, "end", "stop", 1, 1);
	assert_int_equal(go(w), 0);
	assert_int_equal(sscanf(w->ids, "%63s %63s %63s", a, b, c), 3);
	assert_string_not_equal(a, b);
	assert_string_not_equal(b, c);
	assert_string_not_equal(a, c);
}

static void calls_of_a_turn_run_in_order_after_it(void **state)
{
	struct world *w = *state;

	chatpeer_answer(w->chat);
	chatpeer_text(w->chat, "let me see");
	chatpeer_call(w->chat, 0, "a", "shell", ECHO("1"));
	chatpeer_call(w->chat, 1, "b", "bash", "{\"command\":\"exit 4\"}");
	chatpeer_finish(w->chat, "tool_calls", 1, 1);
	answers_text(w, "end", "stop", 1, 1);
	assert_int_equal(go(w), 0);
	saw(w,
		"text let me see\nstart shell 1\nend shell " ECHO(
			"1") "\nstart bash 2\n"
			     "end bash {\"command\":\"exit 4\"}\nturn calls\nrunning "
			     "shell\nresult " ECHOED(
				     "1") "\n"
					  "running bash\nresult {\"command\":\"exit "
					  "4\",\"stdout\":\"\",\"stderr\":\"\",\"exitCode\":4}\n"
					  "text end\nturn stop\ndone stop\n");
	assert_int_equal(w->usage.tool_calls_executed, 2);
	/* One assistant message holds both. */
	assert_int_equal(cJSON_GetArraySize(json_member(request(w, 1), "messages")), 4);
}

static void without_parallel_calls_only_the_first_counts(void **state)
{
	struct world *w = *state;

	w->turn.parallel_tool_calls = 0;
	chatpeer_answer(w->chat);
	chatpeer_call(w->chat, 0, "a", "shell", ECHO("1"));
	chatpeer_call(w->chat, 1, "b", "weather", "{}");
	chatpeer_finish(w->chat, "tool_calls", 1, 1);
	answers_text(w, "end", "stop", 1, 1);
	assert_int_equal(go(w), 0);
	saw(w,
		"start shell 1\nend shell " ECHO("1") "\nturn calls\nrunning shell\nresult " ECHOED(
			"1") "\ntext end\nturn stop\ndone stop\n");
	assert_int_equal(cJSON_GetArraySize(json_member(request(w, 1), "messages")), 3);
}

static void partial_calls_of_a_cut_turn_do_not_run(void **state)
{
	struct world *w = *state;

	chatpeer_answer(w->chat);
	chatpeer_call(w->chat, 0, "a", "shell", "{\"commands\":[\"echo");
	chatpeer_finish(w->chat, "length", 1, 1);
	assert_int_equal(go(w), 0);
	assert_non_null(strstr(buf_str(&w->seen), "done length\n"));
	assert_null(strstr(buf_str(&w->seen), "running"));
	assert_string_equal(asked(w), "");
}

static void a_timeout_is_a_result(void **state)
{
	struct world *w = *state;

	answers_call(w, "shell", "{\"commands\":[\"timeout\",\"memory\",\"signal 9\"]}");
	answers_text(w, "end", "stop", 1, 1);
	assert_int_equal(go(w), 0);
	assert_non_null(strstr(buf_str(&w->seen), "{\"type\":\"timeout\"}"));
	assert_non_null(strstr(buf_str(&w->seen), "{\"type\":\"exit\",\"exit_code\":137}"));
}

/* -- calls that fail ---------------------------------------------------------------- */

static void bad_arguments_are_told_to_the_model(void **state)
{
	struct world *w = *state;

	answers_call(w, "shell", "{\"nothing\":1}");
	answers_text(w, "sorry", "stop", 1, 1);
	assert_int_equal(go(w), 0);
	assert_non_null(strstr(buf_str(&w->seen), "result {\"error\":\"commands: at least one"));
	assert_non_null(strstr(buf_str(&w->seen), "done stop"));
	assert_int_equal(w->usage.tool_calls_requested, 1);
	assert_int_equal(w->usage.tool_calls_executed, 0);
	assert_true(w->usage.server_tool_cost == 0);
	assert_true(w->usage.tools_used);
	assert_string_equal(asked(w), "");
}

static void a_full_house_is_told_to_the_model(void **state)
{
	struct world *w = *state;

	w->turn.environment.container_id = "full";
	answers_call(w, "shell", ECHO("1"));
	answers_text(w, "sorry", "stop", 1, 1);
	assert_int_equal(go(w), 0);
	assert_non_null(strstr(buf_str(&w->seen), "result {\"error\":\"Container limit reached"));
	assert_int_equal(w->used, 0);
}

static void a_lost_box_is_told_and_the_next_call_leases_anew(void **state)
{
	struct world *w = *state;

	answers_call(w, "shell", "{\"commands\":[\"echo 1\",\"lose\",\"echo 2\"]}");
	answers_call(w, "shell", ECHO("3"));
	answers_text(w, "end", "stop", 1, 1);
	assert_int_equal(go(w), 0);
	assert_non_null(strstr(buf_str(&w->seen), "result {\"error\":"));
	assert_non_null(strstr(buf_str(&w->seen), "(1 of 3 commands had finished)"));
	assert_non_null(strstr(buf_str(&w->seen), "result " ECHOED("3")));
	assert_null(strstr(asked(w), "echo 2"));
}

/* -- bash ---------------------------------------------------------------------------- */

static void a_bash_batch_stops_at_the_first_failure(void **state)
{
	struct world *w = *state;

	answers_call(
		w, "bash", "{\"commands\":[\"echo 1\",\"exit 2\",\"echo 3\"],\"timeout_ms\":9000}");
	answers_text(w, "end", "stop", 1, 1);
	assert_int_equal(go(w), 0);
	assert_non_null(strstr(buf_str(&w->seen),
		"result {\"command\":\"echo 1\\nexit 2\\necho "
		"3\",\"stdout\":\"1\\n\",\"stderr\":\"\","
		"\"exitCode\":2}"));
	assert_null(strstr(asked(w), "echo 3"));
}

static void a_bash_batch_shares_its_time(void **state)
{
	struct world *w = *state;
	unsigned left = 0;
	const char *second;

	answers_call(w, "bash", "{\"commands\":[\"sleep 200\",\"echo 1\"],\"timeout_ms\":9000}");
	answers_text(w, "end", "stop", 1, 1);
	assert_int_equal(go(w), 0);
	second = strstr(asked(w), "run bash bash ");
	second = second ? strstr(second + 1, "run bash bash ") : NULL;
	assert_non_null(second);
	assert_int_equal(sscanf(second, "run bash bash %u", &left), 1);
	assert_in_range(left, 1, 8800);
}

static void a_restart_goes_on_in_another_container(void **state)
{
	struct world *w = *state;
	char id[64];

	answers_call(w, "bash", "{\"command\":\"echo 1\"}");
	answers_call(w, "bash", "{\"restart\":true}");
	answers_call(w, "bash", "{\"command\":\"echo 2\"}");
	answers_text(w, "end", "stop", 1, 1);
	assert_int_equal(go(w), 0);
	assert_int_equal(sscanf(asked(w),
				 "lease main sess_s1\nrun bash bash 120000 16384 900 echo 1\n"
				 "lease main %63s\nrun bash bash 120000 16384 900 echo 2\n",
				 id),
		1);
	assert_true(strncmp(id, "sess_s1-r", 9) == 0);
	assert_int_equal(w->used, 2);
}

static void a_new_container_is_made_by_a_request_without_a_key(void **state)
{
	struct world *w = *state;

	w->turn.environment.session_key = NULL;
	w->turn.environment.sleep_after_seconds = 99999;
	answers_call(w, "shell", ECHO("1"));
	answers_text(w, "end", "stop", 1, 1);
	assert_int_equal(go(w), 0);
	assert_non_null(strstr(asked(w), "lease main gen_"));
	assert_non_null(strstr(asked(w), " 14400 echo 1"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		LOOP_TEST(a_call_is_run_and_its_result_sent_back),
		LOOP_TEST(our_tools_are_offered_with_their_schema),
		LOOP_TEST(the_built_in_model_is_an_upstream_like_any_other),
		LOOP_TEST(usage_is_summed_and_sandbox_time_metered),
		LOOP_TEST(a_request_has_one_lease),
		LOOP_TEST(ids_of_calls_are_unique_over_all_turns),
		LOOP_TEST(calls_of_a_turn_run_in_order_after_it),
		LOOP_TEST(without_parallel_calls_only_the_first_counts),
		LOOP_TEST(partial_calls_of_a_cut_turn_do_not_run),
		LOOP_TEST(a_timeout_is_a_result),
		LOOP_TEST(bad_arguments_are_told_to_the_model),
		LOOP_TEST(a_full_house_is_told_to_the_model),
		LOOP_TEST(a_lost_box_is_told_and_the_next_call_leases_anew),
		LOOP_TEST(a_bash_batch_stops_at_the_first_failure),
		LOOP_TEST(a_bash_batch_shares_its_time),
		LOOP_TEST(a_restart_goes_on_in_another_container),
		LOOP_TEST(a_new_container_is_made_by_a_request_without_a_key),
	};

	return cmocka_run_group_tests(tests, loop_once, NULL);
}
