/* Turns as requests to a provider: chat_encode. SPDX-License-Identifier: ISC */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/base/arena.h"
#include "app/base/json.h"
#include "app/dialect/chat.h"
#include "tests/lib/events.h"
#include "tests/lib/test.h"

struct fixture {
	struct arena *arena;
	struct turn turn;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	f->arena = arena_new();
	events_turn(&f->turn, f->arena);
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

/* -- conversations ----------------------------------------------------------- */

static void says(struct fixture *f, enum role role, const char *text)
{
	items_add_text(f->arena, &f->turn.items, role, text);
}

static void calls(struct fixture *f, enum tool_kind kind, const char *id, const char *arguments)
{
	struct item *it = items_add(f->arena, &f->turn.items, ITEM_CALL);
	it->call = (struct call){.tool = kind,
		.id = id,
		.name = kind == TOOL_BASH ? "bash" : "shell",
		.arguments = arguments};
}

static void results(struct fixture *f, const char *id, const char *text)
{
	struct item *it = items_add(f->arena, &f->turn.items, ITEM_RESULT);
	it->call_id = id;
	it->text = text;
}

static void reasons(struct fixture *f, const char *text, const char *raw)
{
	struct item *it = items_add(f->arena, &f->turn.items, ITEM_REASONING);
	it->reasoning = text;
	it->raw = raw;
}

static cJSON *encoded(struct fixture *f)
{
	cJSON *o;
	const char *text = chat_encode(f->arena, &f->turn, "lumen-9b");
	assert_non_null(text);
	assert_int_equal(json_parse(&o, f->arena, text, strlen(text), NULL), 0);
	return o;
}

/* The messages of the request are these. */
static void messages(struct fixture *f, const char *expected)
{
	assert_string_equal(json_print(f->arena, json_member(encoded(f), "messages")), expected);
}

static void member(struct fixture *f, const char *key, const char *expected)
{
	const cJSON *m = json_member(encoded(f), key);
	assert_string_equal(m != NULL ? json_print(f->arena, m) : "absent", expected);
}

#define USER "{\"role\":\"user\",\"content\":\"q\"}"
#define CALL(id)                                                                                   \
	"{\"id\":\"" id                                                                            \
	"\",\"type\":\"function\",\"function\":{\"name\":\"shell\",\"arguments\":\"{}\"}}"
#define TOOL(id, text) "{\"role\":\"tool\",\"tool_call_id\":\"" id "\",\"content\":\"" text "\"}"

/* -- against the samples ----------------------------------------------------- */

/* The request is that of the golden file, but for members that say what is the default. */
static void same_as(struct fixture *f, const char *name)
{
	size_t n;
	cJSON *golden;
	char *text = test_read(name, &n);
	assert_int_equal(json_parse(&golden, f->arena, text, n, NULL), 0);
	cJSON_DeleteItemFromObjectCaseSensitive(golden, "tool_choice");
	free(text);
	const cJSON *mine = encoded(f);
	if (!cJSON_Compare(mine, golden, true))
		fail_msg("%s\n%s", json_print(f->arena, mine), json_print(f->arena, golden));
}

static void offer_shell(struct fixture *f)
{
	events_offer(&f->turn, TOOL_SHELL, "shell");
	f->turn.tools->description = "Run shell commands in the sandbox.";
	f->turn.tools->parameters =
		"{\"type\":\"object\",\"properties\":{\"commands\":{\"type\":\"array\",\"items\":"
		"{\"type\":\"string\"}},\"timeout_ms\":{\"type\":\"integer\"},\"max_output_"
		"length\":"
		"{\"type\":\"integer\"}},\"required\":[\"commands\"]}";
}

static void a_first_turn_is_as_in_the_sample(void **state)
{
	struct fixture *f = *state;
	says(f, ROLE_SYSTEM, "Answer briefly.");
	says(f, ROLE_USER, "Count the lines of app.log");
	struct item *it = f->turn.items.first->next;
	struct part *image = item_add_part(f->arena, it, PART_IMAGE);
	image->url = "data:image/png;base64,iVBORw0KGgo=";
	image->detail = "auto";
	offer_shell(f);
	events_offer(&f->turn, TOOL_CLIENT, "open_ticket");
	f->turn.tools->next->description = "File a ticket";
	f->turn.tools->next->parameters = "{\"type\":\"object\",\"properties\":{\"title\":{"
					  "\"type\":\"string\"}},\"required\":"
					  "[\"title\"]}";
	f->turn.parallel_tool_calls = 1;
	f->turn.max_tokens = 4096;
	f->turn.temperature = 1.0;
	same_as(f, "tests/unit/golden/chat-request-turn1.json");
}

static void a_second_turn_is_as_in_the_sample(void **state)
{
	struct fixture *f = *state;
	says(f, ROLE_SYSTEM, "Answer briefly.");
	says(f, ROLE_USER, "Count the lines of app.log");
	calls(f, TOOL_SHELL, "call_e1", "{\"commands\":[\"wc -l app.log\"]}");
	calls(f, TOOL_SHELL, "call_e2", "{\"commands\":[\"date\"]}");
	results(f, "call_e1",
		"{\"output\":[{\"stdout\":\"812 app.log\\n\",\"stderr\":\"\",\"outcome\":{\"type\":"
		"\"exit\",\"exit_code\":0}}]}");
	results(f, "call_e2",
		"{\"output\":[{\"stdout\":\"Mon\\n\",\"stderr\":\"\",\"outcome\":{\"type\":"
		"\"exit\","
		"\"exit_code\":0}}]}");
	offer_shell(f);
	same_as(f, "tests/unit/golden/chat-request-turn2.json");
}

/* -- what is sent ------------------------------------------------------------ */

static void only_what_was_said_is_sent(void **state)
{
	struct fixture *f = *state;
	says(f, ROLE_USER, "q");
	assert_string_equal(chat_encode(f->arena, &f->turn, "m"),
		"{\"model\":\"m\",\"stream\":true,\"stream_options\":{\"include_usage\":true},"
		"\"messages\":[" USER "]}");
}

static void all_settings_are_sent(void **state)
{
	struct fixture *f = *state;
	static const char *const stop[] = {"a\"", "b", NULL};
	f->turn.max_tokens = 0;
	f->turn.temperature = 0.7;
	f->turn.top_p = 1.0 / 3;
	f->turn.top_k = 40;
	f->turn.presence_penalty = -2;
	f->turn.frequency_penalty = 0;
	f->turn.stop = stop;
	f->turn.response_format = "{\"type\":\"json_object\"}";
	f->turn.reasoning_effort = "low";
	f->turn.user = "u";
	const char *text = chat_encode(f->arena, &f->turn, "m");
	const char *settings = strstr(text, "\"messages\":[],");
	assert_non_null(settings);
	assert_string_equal(settings + 14,
		"\"max_tokens\":0,\"temperature\":0.7,\"top_p\":0.33333333333333331,\"top_k\":40,"
		"\"presence_penalty\":-2,\"frequency_penalty\":0,\"stop\":[\"a\\\"\",\"b\"],"
		"\"response_format\":{\"type\":\"json_object\"},\"reasoning_effort\":\"low\","
		"\"user\":\"u\"}");
}

static void unsound_json_is_not_sent(void **state)
{
	struct fixture *f = *state;
	f->turn.response_format = "{\"type\":\"x\"},\"n\":9";
	member(f, "response_format", "absent");
	member(f, "n", "absent");
	events_offer(&f->turn, TOOL_CLIENT, "t");
	f->turn.tools->parameters = "[1]";
	member(f, "tools",
		"[{\"type\":\"function\",\"function\":{\"name\":\"t\",\"parameters\":{\"type\":"
		"\"object\","
		"\"properties\":{}}}}]");
}

static void a_choice_needs_tools(void **state)
{
	struct fixture *f = *state;
	f->turn.choice = CHOICE_REQUIRED;
	f->turn.parallel_tool_calls = 0;
	member(f, "tool_choice", "absent");
	member(f, "parallel_tool_calls", "absent");
	events_offer(&f->turn, TOOL_CLIENT, "t");
	f->turn.tools->strict = 1;
	member(f, "tool_choice", "\"required\"");
	member(f, "parallel_tool_calls", "false");
	f->turn.choice = CHOICE_NONE;
	member(f, "tool_choice", "\"none\"");
	f->turn.choice = CHOICE_AUTO;
	member(f, "tool_choice", "absent");
	f->turn.choice = CHOICE_TOOL;
	f->turn.choice_name = "t";
	member(f, "tool_choice", "{\"type\":\"function\",\"function\":{\"name\":\"t\"}}");
	f->turn.choice_name = "gone";
	member(f, "tool_choice", "absent");
}

static void our_tools_give_way_to_the_clients_names(void **state)
{
	struct fixture *f = *state;
	events_offer(&f->turn, TOOL_SHELL, "shell");
	events_offer(&f->turn, TOOL_BASH, "bash");
	events_offer(&f->turn, TOOL_CLIENT, "shell");
	events_offer(&f->turn, TOOL_CLIENT, "sandbox_shell");
	f->turn.choice = CHOICE_TOOL;
	f->turn.choice_name = "shell";
	says(f, ROLE_USER, "q");
	calls(f, TOOL_SHELL, "a", "{}");
	calls(f, TOOL_BASH, "b", "{}");
	calls(f, TOOL_CLIENT, "c", "{}");
	const cJSON *o = encoded(f);
	static const char *const offered[] = {"sandbox_shell_2", "bash", "shell", "sandbox_shell"};
	static const char *const called[] = {"sandbox_shell_2", "bash", "shell"};
	for (int i = 0; i < 4; i++)
		assert_string_equal(
			json_text(json_member(cJSON_GetArrayItem(json_member(o, "tools"), i),
					  "function"),
				"name"),
			offered[i]);
	const cJSON *list =
		json_member(cJSON_GetArrayItem(json_member(o, "messages"), 1), "tool_calls");
	for (int i = 0; i < 3; i++)
		assert_string_equal(
			json_text(json_member(cJSON_GetArrayItem(list, i), "function"), "name"),
			called[i]);
	member(f, "tool_choice", "{\"type\":\"function\",\"function\":{\"name\":\"shell\"}}");
}

/* -- order ------------------------------------------------------------------- */

static void system_texts_become_one_message_in_front(void **state)
{
	struct fixture *f = *state;
	says(f, ROLE_SYSTEM, "one");
	says(f, ROLE_USER, "q");
	says(f, ROLE_SYSTEM, "two");
	item_add_part(f->arena, f->turn.items.first, PART_TEXT)->text = "more";
	messages(f, "[{\"role\":\"system\",\"content\":\"one\\nmore\\n\\ntwo\"}," USER "]");
}

static void neighbours_of_one_role_are_merged(void **state)
{
	struct fixture *f = *state;
	says(f, ROLE_USER, "a");
	says(f, ROLE_USER, "b");
	says(f, ROLE_ASSISTANT, "c");
	says(f, ROLE_SYSTEM, "s");
	says(f, ROLE_ASSISTANT, "d");
	says(f, ROLE_USER, "e");
	messages(f,
		"[{\"role\":\"system\",\"content\":\"s\"},{\"role\":\"user\",\"content\":"
		"\"a\\n\\nb\"},"
		"{\"role\":\"assistant\",\"content\":\"c\\n\\nd\"},{\"role\":\"user\",\"content\":"
		"\"e\"}]");
}

static void parts_of_the_models_text_are_joined(void **state)
{
	struct fixture *f = *state;
	says(f, ROLE_USER, "q");
	says(f, ROLE_ASSISTANT, "a");
	struct item *it = f->turn.items.first->next;
	item_add_part(f->arena, it, PART_TEXT)->text = "b";
	item_add_part(f->arena, it, PART_REFUSAL)->text = "c";
	messages(f, "[" USER ",{\"role\":\"assistant\",\"content\":\"abc\"}]");
}

static void files_and_images_go_as_parts(void **state)
{
	struct fixture *f = *state;
	says(f, ROLE_USER, "q");
	struct part *p = item_add_part(f->arena, f->turn.items.first, PART_FILE);
	p->url = "data:application/pdf;base64,AA==";
	p->filename = "a.pdf";
	says(f, ROLE_USER, "r");
	item_add_part(f->arena, f->turn.items.first->next, PART_IMAGE)->url = "https://h/i.png";
	messages(f,
		"[{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"q\"},"
		"{\"type\":\"file\",\"file\":{\"filename\":\"a.pdf\",\"file_data\":"
		"\"data:application/pdf;base64,AA==\"}},{\"type\":\"text\",\"text\":\"r\"},"
		"{\"type\":\"image_url\",\"image_url\":{\"url\":\"https://h/i.png\"}}]}]");
}

static void text_and_calls_of_a_turn_are_one_message(void **state)
{
	struct fixture *f = *state;
	says(f, ROLE_USER, "q");
	says(f, ROLE_ASSISTANT, "let me see");
	calls(f, TOOL_SHELL, "a", "{}");
	calls(f, TOOL_SHELL, "b", "{}");
	results(f, "b", "B");
	results(f, "a", "A");
	messages(f,
		"[" USER
		",{\"role\":\"assistant\",\"content\":\"let me see\",\"tool_calls\":[" CALL(
			"a") "," CALL("b") "]}," TOOL("a", "A") "," TOOL("b", "B") "]");
}

static void turns_of_a_loop_stay_apart(void **state)
{
	struct fixture *f = *state;
	says(f, ROLE_USER, "q");
	calls(f, TOOL_SHELL, "a", "{}");
	results(f, "a", "A");
	calls(f, TOOL_SHELL, "b", "{}");
	results(f, "b", "B");
	says(f, ROLE_ASSISTANT, "done");
	messages(f,
		"[" USER
		",{\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":[" CALL("a") "]}," TOOL(
			"a", "A") ",{\"role\":\"assistant\",\"content\":\"\","
				  "\"tool_calls\":[" CALL("b") "]}," TOOL("b",
					  "B") ",{\"role\":\"assistant\",\"content\":\"done\"}]");
}

static void a_missing_result_is_made_up(void **state)
{
	struct fixture *f = *state;
	says(f, ROLE_USER, "q");
	calls(f, TOOL_SHELL, "a", "{}");
	says(f, ROLE_USER, "q");
	messages(f,
		"[" USER ",{\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":[" CALL(
			"a") "]}," TOOL("a", "(no result)") "," USER "]");
}

static void a_result_of_no_call_is_left_out(void **state)
{
	struct fixture *f = *state;
	results(f, "a", "before its call");
	says(f, ROLE_USER, "q");
	results(f, "x", "foreign");
	says(f, ROLE_ASSISTANT, "one");
	results(f, "y", "foreign");
	says(f, ROLE_ASSISTANT, "two");
	calls(f, TOOL_SHELL, "a", "{}");
	messages(f,
		"[" USER
		",{\"role\":\"assistant\",\"content\":\"one\\n\\ntwo\",\"tool_calls\":[" CALL(
			"a") "]}," TOOL("a", "(no result)") "]");
}

static void a_late_result_is_put_after_its_call(void **state)
{
	struct fixture *f = *state;
	says(f, ROLE_USER, "q");
	calls(f, TOOL_SHELL, "a", "{}");
	says(f, ROLE_USER, "q");
	says(f, ROLE_ASSISTANT, "one");
	results(f, "a", "A");
	says(f, ROLE_ASSISTANT, "two");
	messages(f,
		"[" USER ",{\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":[" CALL(
			"a") "]}," TOOL("a",
			"A") "," USER ",{\"role\":\"assistant\",\"content\":\"one\\n\\ntwo\"}]");
}

static void an_id_used_twice_is_answered_in_order(void **state)
{
	struct fixture *f = *state;
	says(f, ROLE_USER, "q");
	calls(f, TOOL_SHELL, "a", "{}");
	results(f, "a", "first");
	calls(f, TOOL_SHELL, "a", "{}");
	results(f, "a", "second");
	results(f, "a", "too many");
	messages(f,
		"[" USER
		",{\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":[" CALL("a") "]}," TOOL(
			"a", "first") ",{\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":"
				      "[" CALL("a") "]}," TOOL("a", "second") "]");
}

static void arguments_that_are_no_object_are_wrapped(void **state)
{
	struct fixture *f = *state;
	says(f, ROLE_USER, "q");
	calls(f, TOOL_SHELL, "a", "{\"commands\":[\"ls");
	calls(f, TOOL_SHELL, "b", "");
	calls(f, TOOL_SHELL, "c", NULL);
	const cJSON *o = encoded(f);
	const cJSON *list =
		json_member(cJSON_GetArrayItem(json_member(o, "messages"), 1), "tool_calls");
	static const char *const expected[] = {
		"{\"invalid_arguments\":\"{\\\"commands\\\":[\\\"ls\"}", "{}", "{}"};
	for (int i = 0; i < 3; i++)
		assert_string_equal(json_text(json_member(cJSON_GetArrayItem(list, i), "function"),
					    "arguments"),
			expected[i]);
}

/* -- reasoning --------------------------------------------------------------- */

static void details_go_back_unchanged(void **state)
{
	struct fixture *f = *state;
	says(f, ROLE_USER, "q");
	reasons(f, "hm", "[{\"type\":\"reasoning.encrypted\",\"data\":\"zz\"}]");
	reasons(f, "hm", "[{\"a\":1}]");
	says(f, ROLE_ASSISTANT, "a");
	messages(f,
		"[" USER ",{\"role\":\"assistant\",\"content\":\"a\",\"reasoning_details\":"
		"[{\"type\":\"reasoning.encrypted\",\"data\":\"zz\"},{\"a\":1}]}]");
}

#define FIELD "{\"field\":\"reasoning_content\"}"

static void plain_reasoning_goes_back_within_a_tool_loop(void **state)
{
	struct fixture *f = *state;
	says(f, ROLE_USER, "q");
	reasons(f, "hm", FIELD);
	calls(f, TOOL_SHELL, "a", "{}");
	results(f, "a", "A");
	messages(f,
		"[" USER ",{\"role\":\"assistant\",\"content\":\"\",\"reasoning_content\":\"hm\","
		"\"tool_calls\":[" CALL("a") "]}," TOOL("a", "A") "]");
	says(f, ROLE_USER, "q");
	messages(f,
		"[" USER ",{\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":[" CALL(
			"a") "]}," TOOL("a", "A") "," USER "]");
}

static void reasoning_of_unknown_origin_stays_here(void **state)
{
	struct fixture *f = *state;
	says(f, ROLE_USER, "q");
	reasons(f, "hm", NULL);
	reasons(f, "hm", "{\"field\":\"content\"}");
	reasons(f, "hm", "not json");
	calls(f, TOOL_SHELL, "a", "{}");
	messages(f,
		"[" USER ",{\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":[" CALL(
			"a") "]}," TOOL("a", "(no result)") "]");
}

static void reasoning_alone_is_no_message(void **state)
{
	struct fixture *f = *state;
	says(f, ROLE_USER, "q");
	reasons(f, "hm", FIELD);
	says(f, ROLE_ASSISTANT, "");
	messages(f, "[" USER "]");
}

static void gpt_oss_gets_text_and_calls_without_reasoning(void **state)
{
	struct fixture *f = *state;
	f->turn.model = "openai/gpt-oss-20b";
	says(f, ROLE_USER, "q");
	reasons(f, "hm", FIELD);
	says(f, ROLE_ASSISTANT, "t");
	calls(f, TOOL_SHELL, "a", "{}");
	messages(f,
		"[" USER ",{\"role\":\"assistant\",\"content\":\"t\",\"tool_calls\":[" CALL(
			"a") "]}," TOOL("a", "(no result)") "]");
}

/* -- size -------------------------------------------------------------------- */

static void a_request_that_is_too_large_is_refused(void **state)
{
	struct fixture *f = *state;
	char *big = malloc(CHAT_REQUEST_MAX + 1);
	memset(big, 'x', CHAT_REQUEST_MAX);
	big[CHAT_REQUEST_MAX] = '\0';
	says(f, ROLE_USER, "q");
	f->turn.items.first->parts->text = big;
	assert_null(chat_encode(f->arena, &f->turn, "m"));
	free(big);
}

static void many_calls_of_one_id_take_no_time(void **state)
{
	struct fixture *f = *state;
	for (int i = 0; i < 50000; i++)
		calls(f, TOOL_SHELL, "a", "{}");
	for (int i = 0; i < 50000; i++)
		results(f, i % 2 != 0 ? "a" : "b", "r");
	assert_non_null(chat_encode(f->arena, &f->turn, "m"));
}

int main(void)
{
#define T(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(a_first_turn_is_as_in_the_sample),
		T(a_second_turn_is_as_in_the_sample),
		T(only_what_was_said_is_sent),
		T(all_settings_are_sent),
		T(unsound_json_is_not_sent),
		T(a_choice_needs_tools),
		T(our_tools_give_way_to_the_clients_names),
		T(system_texts_become_one_message_in_front),
		T(neighbours_of_one_role_are_merged),
		T(parts_of_the_models_text_are_joined),
		T(files_and_images_go_as_parts),
		T(text_and_calls_of_a_turn_are_one_message),
		T(turns_of_a_loop_stay_apart),
		T(a_missing_result_is_made_up),
		T(a_result_of_no_call_is_left_out),
		T(a_late_result_is_put_after_its_call),
		T(an_id_used_twice_is_answered_in_order),
		T(arguments_that_are_no_object_are_wrapped),
		T(details_go_back_unchanged),
		T(plain_reasoning_goes_back_within_a_tool_loop),
		T(reasoning_of_unknown_origin_stays_here),
		T(reasoning_alone_is_no_message),
		T(gpt_oss_gets_text_and_calls_without_reasoning),
		T(a_request_that_is_too_large_is_refused),
		T(many_calls_of_one_id_take_no_time),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
