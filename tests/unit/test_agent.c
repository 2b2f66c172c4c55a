/* Tests of app/agent: turns, limits and failures. SPDX-License-Identifier: ISC */
#include "tests/lib/loop.h"

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* -- plain turns ------------------------------------------------------------------ */

static void a_text_turn_is_passed_on(void **state)
{
	struct world *w = *state;

	answers_text(w, "hello", "stop", 7, 3);
	assert_int_equal(go(w), 0);
	saw(w, "text hello\nturn stop\ndone stop\n");
	assert_int_equal(w->usage.input, 7);
	assert_int_equal(w->usage.output, 3);
	assert_false(w->usage.tools_used);
	assert_true(w->usage.server_tool_cost == 0);
	assert_int_equal(w->used, 0);
	assert_string_equal(asked(w), "");
}

static void an_error_before_anything_is_returned(void **state)
{
	struct world *w = *state;

	chatpeer_error(w->chat, 400, "{\"error\":{\"message\":\"bad temperature\"}}");
	assert_int_equal(go(w), ERR_INVALID_REQUEST);
	assert_int_equal(w->err.code, ERR_INVALID_REQUEST);
	assert_non_null(strstr(w->err.message, "bad temperature"));
	saw(w, "");
}

static void an_unknown_model_is_returned(void **state)
{
	struct world *w = *state;

	w->provider.models[0] = NULL;
	assert_int_equal(go(w), ERR_NOT_FOUND);
	saw(w, "");
}

static void length_ends_as_length(void **state)
{
	struct world *w = *state;

	answers_text(w, "hel", "length", 1, 1);
	assert_int_equal(go(w), 0);
	saw(w, "text hel\nturn length\ndone length\n");
}

static void a_filtered_turn_ends_as_filtered(void **state)
{
	struct world *w = *state;

	answers_text(w, "hm", "content_filter", 1, 1);
	assert_int_equal(go(w), 0);
	saw(w, "text hm\nturn content_filter\ndone content_filter\n");
}

static void a_stream_cut_short_fails(void **state)
{
	struct world *w = *state;

	answers_text(w, "hel", NULL, 1, 1);
	assert_int_equal(go(w), 0);
	saw(w, "text hel\nfailed\n");
	assert_int_equal(w->err.code, ERR_PROVIDER_UNAVAILABLE);
}

/* -- calls of the client --------------------------------------------------------------- */

static void a_client_call_is_handed_back(void **state)
{
	struct world *w = *state;

	answers_call(w, "weather", "{\"city\":\"Ulm\"}");
	assert_int_equal(go(w), 0);
	saw(w, "start weather 0\nend weather {\"city\":\"Ulm\"}\nturn calls\ndone calls\n");
	assert_int_equal(w->usage.tool_calls_requested, 0);
	assert_false(w->usage.tools_used);
	assert_int_equal(chatpeer_requests(w->chat), 1);
}

static void a_mixed_turn_runs_ours_then_hands_back(void **state)
{
	struct world *w = *state;

	chatpeer_answer(w->chat);
	chatpeer_call(w->chat, 0, "a", "weather", "{}");
	chatpeer_call(w->chat, 1, "b", "shell", ECHO("1"));
	chatpeer_finish(w->chat, "tool_calls", 1, 1);
	assert_int_equal(go(w), 0);
	saw(w,
		"start weather 0\nend weather {}\nstart shell 1\nend shell " ECHO(
			"1") "\nturn calls\nrunning shell\nresult " ECHOED("1") "\ndone calls\n");
	assert_int_equal(chatpeer_requests(w->chat), 1);
}

static void an_unknown_tool_is_handed_back(void **state)
{
	struct world *w = *state;

	answers_call(w, "python", "{\"code\":\"1\"}");
	assert_int_equal(go(w), 0);
	saw(w, "start python 0\nend python {\"code\":\"1\"}\nturn calls\ndone calls\n");
}

static void shell_is_the_client_s_where_we_offer_none(void **state)
{
	struct world *w = *state;

	w->shell.kind = TOOL_CLIENT;
	answers_call(w, "shell", ECHO("1"));
	assert_int_equal(go(w), 0);
	assert_non_null(strstr(buf_str(&w->seen), "start shell 0\n"));
	assert_string_equal(asked(w), "");
}

/* -- limits ------------------------------------------------------------------------------ */

static void at_the_limit_one_last_turn_goes_without_tools(void **state)
{
	struct world *w = *state;

	w->turn.max_tool_calls = 1;
	answers_call(w, "shell", ECHO("1"));
	chatpeer_answer(w->chat);
	chatpeer_text(w->chat, "that is all");
	chatpeer_call(w->chat, 0, "z", "shell", ECHO("2"));
	chatpeer_finish(w->chat, "tool_calls", 1, 1);
	assert_int_equal(go(w), 0);
	assert_int_equal(chatpeer_requests(w->chat), 2);
	assert_string_equal(json_text(request(w, 1), "tool_choice"), "none");
	assert_non_null(json_member(request(w, 1), "tools"));
	/* The provider called all the same: nobody hears of it. */
	assert_non_null(strstr(buf_str(&w->seen), "text that is all\nturn stop\ndone stop\n"));
	assert_null(strstr(asked(w), "echo 2"));
}

static void pending_calls_run_though_the_limit_be_passed(void **state)
{
	struct world *w = *state;

	w->turn.max_tool_calls = 1;
	chatpeer_answer(w->chat);
	chatpeer_call(w->chat, 0, "a", "shell", ECHO("1"));
	chatpeer_call(w->chat, 1, "b", "shell", ECHO("2"));
	chatpeer_finish(w->chat, "tool_calls", 1, 1);
	answers_text(w, "end", "stop", 1, 1);
	assert_int_equal(go(w), 0);
	assert_non_null(strstr(asked(w), "echo 2"));
	assert_int_equal(w->usage.tool_calls_executed, 2);
	assert_string_equal(json_text(request(w, 1), "tool_choice"), "none");
}

static void the_server_s_limit_is_the_highest(void **state)
{
	struct world *w = *state;

	w->conf.max_tool_calls = 3;
	w->turn.max_tool_calls = 1000;
	for (int i = 0; i < 3; i++)
		answers_call(w, "shell", ECHO("x"));
	answers_text(w, "end", "stop", 1, 1);
	assert_int_equal(go(w), 0);
	assert_int_equal(chatpeer_requests(w->chat), 4);
	assert_null(json_member(request(w, 2), "tool_choice"));
	assert_string_equal(json_text(request(w, 3), "tool_choice"), "none");
	assert_int_equal(w->usage.tool_calls_executed, 3);
}

static void a_limit_of_zero_withdraws_our_tools(void **state)
{
	struct world *w = *state;
	const cJSON *tools;

	w->turn.max_tool_calls = 0;
	w->turn.choice = CHOICE_TOOL;
	w->turn.choice_name = "shell";
	answers_text(w, "no", "stop", 1, 1);
	assert_int_equal(go(w), 0);
	tools = json_member(request(w, 0), "tools");
	assert_int_equal(cJSON_GetArraySize(tools), 1);
	assert_string_equal(json_text(json_member(tools->child, "function"), "name"), "weather");
}

static void a_limit_of_zero_leaves_no_tool_if_all_are_ours(void **state)
{
	struct world *w = *state;

	w->turn.max_tool_calls = 0;
	w->turn.choice = CHOICE_REQUIRED;
	w->bash.next = NULL;
	answers_text(w, "no", "stop", 1, 1);
	assert_int_equal(go(w), 0);
	assert_null(json_member(request(w, 0), "tools"));
	assert_null(json_member(request(w, 0), "tool_choice"));
}

static void a_forced_choice_holds_for_the_first_turn(void **state)
{
	struct world *w = *state;

	w->turn.choice = CHOICE_REQUIRED;
	answers_call(w, "shell", ECHO("1"));
	answers_text(w, "end", "stop", 1, 1);
	assert_int_equal(go(w), 0);
	assert_string_equal(json_text(request(w, 0), "tool_choice"), "required");
	if (json_member(request(w, 1), "tool_choice"))
		assert_string_equal(json_text(request(w, 1), "tool_choice"), "auto");
}

static void max_tokens_is_a_budget_over_turns(void **state)
{
	struct world *w = *state;
	const cJSON *first, *second;

	w->turn.max_tokens = 100;
	chatpeer_answer(w->chat);
	chatpeer_call(w->chat, 0, "a", "shell", ECHO("1"));
	chatpeer_finish(w->chat, "tool_calls", 1, 60);
	answers_text(w, "end", "stop", 1, 10);
	assert_int_equal(go(w), 0);
	first = json_member(request(w, 0), "max_tokens");
	second = json_member(request(w, 1), "max_tokens");
	assert_int_equal(first ? first->valueint : 0, 100);
	assert_int_equal(second ? second->valueint : 0, 40);
}

static void a_spent_budget_ends_as_length(void **state)
{
	struct world *w = *state;

	w->turn.max_tokens = 50;
	chatpeer_answer(w->chat);
	chatpeer_call(w->chat, 0, "a", "shell", ECHO("1"));
	chatpeer_finish(w->chat, "tool_calls", 1, 50);
	assert_int_equal(go(w), 0);
	assert_int_equal(chatpeer_requests(w->chat), 1);
	assert_non_null(strstr(buf_str(&w->seen), "result " ECHOED("1") "\ndone length\n"));
}

/* -- failures on the way ------------------------------------------------------------------ */

static void a_failure_of_the_second_turn_is_the_last_event(void **state)
{
	struct world *w = *state;

	answers_call(w, "shell", ECHO("1"));
	chatpeer_error(w->chat, 401, "{\"error\":{\"message\":\"key revoked\"}}");
	assert_int_equal(go(w), 0);
	assert_non_null(strstr(buf_str(&w->seen), "result " ECHOED("1") "\nfailed\n"));
	assert_int_not_equal(w->err.code, ERR_OK);
	assert_int_equal(w->usage.input, 10);
	assert_int_equal(w->usage.tool_calls_executed, 1);
	assert_float_equal(w->usage.server_tool_cost, 0.003, 1e-9);
	assert_true(w->usage.tools_used);
}

static void a_conversation_that_outgrew_the_model_ends_as_length(void **state)
{
	struct world *w = *state;

	answers_call(w, "shell", ECHO("1"));
	chatpeer_error(w->chat, 400,
		"{\"error\":{\"message\":\"too long\",\"code\":\"context_length_exceeded\"}}");
	assert_int_equal(go(w), 0);
	assert_non_null(strstr(buf_str(&w->seen), "done length\n"));
}

static void heartbeats_come_while_a_command_runs(void **state)
{
	struct world *w = *state;

	answers_call(w, "shell", "{\"commands\":[\"sleep 400\"]}");
	answers_text(w, "end", "stop", 1, 1);
	assert_int_equal(go(w), 0);
	assert_in_range(w->idles, 2, 20);
}

static void a_sink_that_gives_up_ends_all(void **state)
{
	struct world *w = *state;

	w->gone_at = EVENT_RUNNING;
	answers_call(w, "shell", ECHO("1"));
	assert_int_equal(go(w), ERR_CLIENT_GONE);
	saw(w, "start shell 1\nend shell " ECHO("1") "\nturn calls\n");
	assert_string_equal(asked(w), "");
}

static void a_heartbeat_that_nobody_hears_kills_the_command(void **state)
{
	struct world *w = *state;

	w->gone_at = EVENT_IDLE;
	answers_call(w, "shell", "{\"commands\":[\"sleep 5000\",\"echo 1\"]}");
	assert_int_equal(go(w), ERR_CLIENT_GONE);
	arena_free(w->arena);
	w->arena = arena_new();
	for (int i = 0; i < 100 && !strstr(asked(w), "gone sleep 5000"); i++)
		usleep(10000);
	assert_non_null(strstr(asked(w), "gone sleep 5000"));
	assert_null(strstr(asked(w), "echo 1"));
	assert_null(strstr(buf_str(&w->seen), "failed"));
}

static void a_client_that_hangs_up_kills_the_command(void **state)
{
	struct world *w = *state;
	int pair[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	close(pair[1]);
	w->agent.client_fd = pair[0];
	w->conf.heartbeat_ms = 10000;
	answers_call(w, "shell", "{\"commands\":[\"sleep 5000\"]}");
	assert_int_equal(go(w), ERR_CLIENT_GONE);
	close(pair[0]);
	assert_null(strstr(buf_str(&w->seen), "done"));
	assert_null(strstr(buf_str(&w->seen), "failed"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		LOOP_TEST(a_text_turn_is_passed_on),
		LOOP_TEST(an_error_before_anything_is_returned),
		LOOP_TEST(an_unknown_model_is_returned),
		LOOP_TEST(length_ends_as_length),
		LOOP_TEST(a_filtered_turn_ends_as_filtered),
		LOOP_TEST(a_stream_cut_short_fails),
		LOOP_TEST(a_client_call_is_handed_back),
		LOOP_TEST(a_mixed_turn_runs_ours_then_hands_back),
		LOOP_TEST(an_unknown_tool_is_handed_back),
		LOOP_TEST(shell_is_the_client_s_where_we_offer_none),
		LOOP_TEST(at_the_limit_one_last_turn_goes_without_tools),
		LOOP_TEST(pending_calls_run_though_the_limit_be_passed),
		LOOP_TEST(the_server_s_limit_is_the_highest),
		LOOP_TEST(a_limit_of_zero_withdraws_our_tools),
		LOOP_TEST(a_limit_of_zero_leaves_no_tool_if_all_are_ours),
		LOOP_TEST(a_forced_choice_holds_for_the_first_turn),
		LOOP_TEST(max_tokens_is_a_budget_over_turns),
		LOOP_TEST(a_spent_budget_ends_as_length),
		LOOP_TEST(a_failure_of_the_second_turn_is_the_last_event),
		LOOP_TEST(a_conversation_that_outgrew_the_model_ends_as_length),
		LOOP_TEST(heartbeats_come_while_a_command_runs),
		LOOP_TEST(a_sink_that_gives_up_ends_all),
		LOOP_TEST(a_heartbeat_that_nobody_hears_kills_the_command),
		LOOP_TEST(a_client_that_hangs_up_kills_the_command),
	};

	return cmocka_run_group_tests(tests, loop_once, NULL);
}
