/* Tests of app/dialect/messages_in. SPDX-License-Identifier: ISC */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "app/base/json.h"
#include "app/dialect/messages.h"
#include "tests/lib/dialect.h"
#include "tests/lib/test.h"

static struct arena *arena;

static int setup(void **state)
{
	(void)state;
	arena = arena_new();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	arena_free(arena);
	return 0;
}

static int decode(struct messages_request *rq, const char *text, struct err *e)
{
	cJSON *body;
	if (json_parse(&body, arena, text, strlen(text), e) < 0)
		fail_msg("%s in %s", e->message, text);
	return messages_decode(rq, arena, body, NULL, e);
}

static struct messages_request *good(const char *body)
{
	struct messages_request *rq = arena_new_of(arena, struct messages_request);
	struct err e = {0};
	if (decode(rq, body, &e) < 0)
		fail_msg("%s", e.message);
	return rq;
}

static struct messages_request *golden(const char *path)
{
	size_t n;
	char *body = test_read(path, &n);
	struct messages_request *rq = good(body);
	free(body);
	return rq;
}

#define WITH(MEMBERS)                                                                              \
	"{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]," MEMBERS "}"
#define MESSAGES(LIST)    "{\"model\":\"m\",\"messages\":[" LIST "]}"
#define USER(BLOCKS)      MESSAGES("{\"role\":\"user\",\"content\":[" BLOCKS "]}")
#define ASSISTANT(BLOCKS) MESSAGES("{\"role\":\"assistant\",\"content\":[" BLOCKS "]}")

static void check_items(const char *body, const char *want)
{
	assert_string_equal(dialect_items(arena, &good(body)->turn), want);
}

static void system_is_a_string_or_blocks(void **state)
{
	(void)state;
	check_items(WITH("\"system\":\"be brief\""), "system: be brief\nuser: x\n");
	check_items(
		WITH("\"system\":[{\"type\":\"text\",\"text\":\"a\",\"cache_control\":{\"type\":"
		     "\"ephemeral\"}},{\"type\":\"text\",\"text\":\"b\"}]"),
		"system: a, b\nuser: x\n");
	check_items(MESSAGES("{\"role\":\"user\",\"content\":\"x\"},{\"role\":\"system\","
			     "\"content\":\"s\"}"),
		"system: s\nuser: x\n");
}

static void content_blocks_become_parts(void **state)
{
	(void)state;
	check_items(USER("{\"type\":\"text\",\"text\":\"a\"},{\"type\":\"image\",\"source\":{"
			 "\"type\":\"base64\","
			 "\"media_type\":\"image/"
			 "png\",\"data\":\"AA==\"}},{\"type\":\"image\",\"source\":"
			 "{\"type\":\"url\",\"url\":\"https://x/"
			 "y\"}},{\"type\":\"document\",\"title\":\"t.pdf\","
			 "\"source\":{\"type\":\"base64\",\"media_type\":\"application/"
			 "pdf\",\"data\":\"BB==\"}},"
			 "{\"type\":\"document\",\"title\":\"T\",\"context\":\"C\",\"source\":{"
			 "\"type\":\"text\","
			 "\"media_type\":\"text/"
			 "plain\",\"data\":\"D\"}},{\"type\":\"document\",\"source\":"
			 "{\"type\":\"content\",\"content\":[{\"type\":\"text\",\"text\":\"E\"},{"
			 "\"type\":"
			 "\"text\",\"text\":\"F\"}]}},{\"type\":\"search_result\",\"title\":\"G\","
			 "\"source\":\"H\","
			 "\"content\":[{\"type\":\"text\",\"text\":\"I\"}]}"),
		"user: a, image data:image/png;base64,AA==, image https://x/y, "
		"file t.pdf data:application/pdf;base64,BB==, T\nC\nD, E\nF, G\nH\nI\n");
}

static void tool_results_come_before_the_text_of_their_message(void **state)
{
	(void)state;
	check_items(
		MESSAGES("{\"role\":\"assistant\",\"content\":[{\"type\":\"tool_use\",\"id\":"
			 "\"toolu_1\","
			 "\"name\":\"f\",\"input\":{\"a\":1}},{\"type\":\"text\",\"text\":"
			 "\"calling\"},"
			 "{\"type\":\"tool_use\",\"id\":\"toolu_2\",\"name\":\"g\",\"input\":{}}]},"
			 "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"and\"},"
			 "{\"type\":\"tool_result\",\"tool_use_id\":\"toolu_2\",\"is_error\":true,"
			 "\"content\":\"bad\"},{\"type\":\"tool_result\",\"tool_use_id\":\"toolu_"
			 "1\","
			 "\"content\":[{\"type\":\"text\",\"text\":\"ok\"},{\"type\":\"image\","
			 "\"source\":"
			 "{\"type\":\"url\",\"url\":\"https://x/y\"}}]}]}"),
		"assistant: calling\ncall toolu_1 f {\"a\":1}\ncall toolu_2 g {}\n"
		"result toolu_2: Error: bad\nresult toolu_1: ok\n[see the image below]\n"
		"user: image https://x/y\nuser: and\n");
}

static void a_result_may_be_empty(void **state)
{
	(void)state;
	check_items(MESSAGES("{\"role\":\"assistant\",\"content\":[{\"type\":\"tool_use\",\"id\":"
			     "\"t\",\"name\":"
			     "\"f\",\"input\":{}}]},{\"role\":\"user\",\"content\":[{\"type\":"
			     "\"tool_result\","
			     "\"tool_use_id\":\"t\"}]}"),
		"call t f {}\nresult t: \n");
}

static void thinking_is_kept_and_redacted_thinking_dropped(void **state)
{
	(void)state;
	check_items(ASSISTANT("{\"type\":\"thinking\",\"thinking\":\"hm\",\"signature\":\"s\"},"
			      "{\"type\":\"redacted_thinking\",\"data\":\"x\"},"
			      "{\"type\":\"thinking\",\"thinking\":\"\",\"signature\":\"s\"},"
			      "{\"type\":\"text\",\"text\":\"a\"}"),
		"reasoning: hm\nassistant: a\n");
}

static void our_blocks_become_a_call_and_its_result(void **state)
{
	(void)state;
	const struct messages_request *rq =
		golden("tests/unit/golden/messages-replay-request.json");
	assert_string_equal(dialect_items(arena, &rq->turn),
		"user: How many lines are in notes.md?\n"
		"call srvtoolu_9Dm3 !bash {\"command\":\"wc -l notes.md > count.txt; cat "
		"count.txt\"}\n"
		"result srvtoolu_9Dm3: {\"command\":\"wc -l notes.md > count.txt; cat count.txt\","
		"\"stdout\":\"12 notes.md\\n\",\"stderr\":\"\",\"exitCode\":0}\n"
		"assistant: There are 12 lines.\nuser: Delete count.txt.\n");
	assert_string_equal(rq->turn.environment.replayed_id, "sess_job-7f3a21");
	check_items(
		ASSISTANT(
			"{\"type\":\"server_tool_use\",\"id\":\"a\",\"name\":\"openrouter:shell\","
			"\"input\":{\"commands\":[\"ls\"]}},{\"type\":\"openrouter_shell_tool_"
			"result\","
			"\"tool_use_id\":\"a\",\"content\":[]},{\"type\":\"text\",\"text\":\"t\"},"
			"{\"type\":\"server_tool_use\",\"id\":\"b\",\"name\":\"openrouter:shell\","
			"\"input\":{}},{\"type\":\"openrouter_shell_tool_result\",\"tool_use_id\":"
			"\"b\","
			"\"content\":{\"error\":\"no\"}}"),
		"call a !shell {\"commands\":[\"ls\"]}\nresult a: {\"output\":[]}\nassistant: t\n"
		"call b !shell {}\nresult b: {\"error\":\"no\"}\n");
}

static void an_unpaired_server_call_is_not_run_again(void **state)
{
	(void)state;
	check_items(
		MESSAGES("{\"role\":\"assistant\",\"content\":[{\"type\":\"server_tool_use\","
			 "\"id\":\"a\","
			 "\"name\":\"openrouter:shell\",\"input\":{}},{\"type\":\"tool_use\","
			 "\"id\":\"b\","
			 "\"name\":\"f\",\"input\":{}}]},{\"role\":\"user\",\"content\":[{\"type\":"
			 "\"tool_result\",\"tool_use_id\":\"b\",\"content\":\"ok\"}]}"),
		"call a !shell {}\ncall b f {}\nresult b: ok\nresult a: (no result)\n");
}

static void the_samples_tools_are_read(void **state)
{
	(void)state;
	const struct messages_request *rq = golden("tests/unit/golden/messages-request-bash.json");
	const struct tool *t = rq->turn.tools;
	assert_int_equal(t->kind, TOOL_BASH);
	assert_string_equal(t->name, "bash");
	assert_string_equal(t->next->name, "book_room");
	assert_non_null(strstr(t->next->parameters, "\"room\""));
	assert_int_equal(rq->turn.max_tool_calls, 10);
	assert_int_equal(rq->turn.max_tokens, 1024);
	assert_true(rq->turn.environment.present);
	rq = golden("tests/unit/golden/messages-request-shell.json");
	assert_int_equal(rq->turn.tools->kind, TOOL_SHELL);
	assert_string_equal(rq->turn.environment.session_key, "job-7f3a21");
	assert_true(rq->stream);
}

static void bash_without_our_engine_is_the_clients(void **state)
{
	(void)state;
	static const char *const tools[] = {
		"{\"type\":\"bash_20250124\",\"name\":\"bash\"}",
		"{\"type\":\"openrouter:bash\"}",
		"{\"type\":\"openrouter:bash\",\"parameters\":{\"engine\":\"native\"}}",
	};
	for (size_t i = 0; i < 3; i++) {
		const struct messages_request *rq =
			good(arena_printf(arena, WITH("\"tools\":[%s]"), tools[i]));
		assert_int_equal(rq->turn.tools->kind, TOOL_CLIENT);
		assert_string_equal(rq->turn.tools->name, "bash");
		assert_non_null(strstr(rq->turn.tools->parameters, "\"restart\""));
		assert_false(rq->turn.environment.present);
	}
}

static void both_bashes_have_names_of_their_own(void **state)
{
	(void)state;
	const struct messages_request *rq =
		good(WITH("\"tools\":[{\"type\":\"openrouter:bash\",\"parameters\":{\"engine\":"
			  "\"openrouter\"}},{\"type\":\"bash_20250124\",\"name\":\"bash\"}],"
			  "\"tool_choice\":{\"type\":\"tool\",\"name\":\"openrouter:bash\"}"));
	assert_string_equal(rq->turn.tools->name, "sandbox_bash");
	assert_string_equal(rq->turn.choice_name, "sandbox_bash");
}

static void tool_choice_has_all_forms(void **state)
{
	(void)state;
#define CHOOSE(CHOICE)                                                                             \
	good(WITH("\"tools\":[{\"name\":\"f\",\"input_schema\":{\"type\":\"object\"}}],"           \
		  "\"tool_choice\":" CHOICE))
	const struct messages_request *rq = CHOOSE("{\"type\":\"auto\"}");
	assert_int_equal(rq->turn.choice, CHOICE_AUTO);
	assert_int_equal(rq->turn.parallel_tool_calls, -1);
	rq = CHOOSE("{\"type\":\"any\",\"disable_parallel_tool_use\":true}");
	assert_int_equal(rq->turn.choice, CHOICE_REQUIRED);
	assert_int_equal(rq->turn.parallel_tool_calls, 0);
	rq = CHOOSE("{\"type\":\"tool\",\"name\":\"f\"}");
	assert_int_equal(rq->turn.choice, CHOICE_TOOL);
	assert_string_equal(rq->turn.choice_name, "f");
	assert_int_equal(CHOOSE("{\"type\":\"none\"}")->turn.choice, CHOICE_NONE);
}

static void options_are_read(void **state)
{
	(void)state;
	const struct messages_request *rq = good(WITH(
		"\"max_tokens\":7,\"temperature\":1,\"top_p\":0.5,\"top_k\":4,\"stop_sequences\":"
		"[\"a\",\"b\"],\"metadata\":{\"user_id\":\"u\"},\"thinking\":{\"type\":\"enabled\","
		"\"budget_tokens\":4096},\"prompt_cache_key\":\"p\",\"container\":\"cntr_1\","
		"\"output_config\":{\"format\":{\"type\":\"json_schema\",\"schema\":{\"a\":1}}}"));
	const struct turn *t = &rq->turn;
	assert_int_equal(t->max_tokens, 7);
	assert_true(t->temperature == 1 && t->top_p == 0.5);
	assert_int_equal(t->top_k, 4);
	assert_string_equal(t->stop[0], "a");
	assert_string_equal(t->stop[1], "b");
	assert_null(t->stop[2]);
	assert_string_equal(t->user, "u");
	assert_string_equal(t->reasoning_effort, "medium");
	assert_string_equal(t->environment.session_key, "p");
	assert_string_equal(t->response_format,
		"{\"type\":\"json_schema\",\"json_schema\":{\"name\":\"answer\",\"schema\":{\"a\":"
		"1},"
		"\"strict\":true}}");
	t = &good(WITH("\"output_config\":{\"effort\":\"max\"}"))->turn;
	assert_string_equal(t->reasoning_effort, "high");
	assert_int_equal(t->max_tokens, -1);
	assert_true(isnan(t->temperature));
	assert_null(t->stop);
	assert_int_equal(good(WITH("\"thinking\":{\"type\":\"disabled\"}"))->thinking,
		MESSAGES_THINKING_NONE);
}

/* Each with the field that is named and a word of the message. */
static const struct {
	const char *body, *param, *word;
} wrong[] = {
	{"[]", "body", "object"},
	{"{\"messages\":[]}", "model", "required"},
	{"{\"model\":\"m\"}", "messages", "required"},
	{"{\"model\":\"m\",\"messages\":\"x\"}", "messages", "array"},
	{MESSAGES(""), "messages", "at least one"},
	{MESSAGES("1"), "messages[0]", "object"},
	{MESSAGES("{\"content\":\"x\"}"), "messages[0].role", "required"},
	{MESSAGES("{\"role\":\"tool\",\"content\":\"x\"}"), "messages[0].role", "\"user\""},
	{MESSAGES("{\"role\":\"user\"}"), "messages[0].content", "required"},
	{MESSAGES("{\"role\":\"user\",\"content\":{}}"), "messages[0].content", "array"},
	{USER("1"), "messages[0].content[0]", "object"},
	{USER("{}"), "messages[0].content[0].type", "required"},
	{USER("{\"type\":\"text\"}"), "messages[0].content[0].text", "required"},
	{USER("{\"type\":\"audio\"}"), "messages[0].content[0].type", "tool_result"},
	{USER("{\"type\":\"container_upload\",\"file_id\":\"f\"}"), "messages[0].content[0].type",
		"not offered"},
	{USER("{\"type\":\"image\"}"), "messages[0].content[0].source", "required"},
	{USER("{\"type\":\"image\",\"source\":{\"type\":\"file\",\"file_id\":\"f\"}}"),
		"messages[0].content[0].source.type", "not offered"},
	{USER("{\"type\":\"image\",\"source\":{\"type\":\"url\",\"url\":\"file:///x\"}}"),
		"messages[0].content[0].source.url", "https:"},
	{USER("{\"type\":\"image\",\"source\":{\"type\":\"base64\",\"media_type\":\"image/tiff\","
	      "\"data\":\"\"}}"),
		"messages[0].content[0].source.media_type", "image/png"},
	{USER("{\"type\":\"document\",\"source\":{\"type\":\"content\",\"content\":[{\"type\":"
	      "\"image\"}]}}"),
		"messages[0].content[0].source.content[0]", "text block"},
	{USER("{\"type\":\"tool_use\",\"id\":\"a\",\"name\":\"f\",\"input\":{}}"),
		"messages[0].content[0].type", "only assistant"},
	{USER("{\"type\":\"tool_result\",\"tool_use_id\":\"a\"}"),
		"messages[0].content[0].tool_use_id", "no call"},
	{USER("{\"type\":\"tool_result\",\"content\":\"x\"}"), "messages[0].content[0].tool_use_id",
		"required"},
	{ASSISTANT("{\"type\":\"tool_result\",\"tool_use_id\":\"a\"}"),
		"messages[0].content[0].type", "only user"},
	{ASSISTANT("{\"type\":\"tool_use\",\"id\":\"a\",\"name\":\"f\",\"input\":\"x\"}"),
		"messages[0].content[0].input", "object"},
	{ASSISTANT("{\"type\":\"tool_use\",\"id\":\"a\",\"name\":\"f\",\"input\":{}},{\"type\":"
		   "\"tool_use\",\"id\":\"a\",\"name\":\"f\",\"input\":{}}"),
		"messages[0].content[1].id", "no result yet"},
	{ASSISTANT("{\"type\":\"server_tool_use\",\"id\":\"a\",\"name\":\"web_search\",\"input\":{}"
		   "}"),
		"messages[0].content[0].name", "openrouter:shell"},
	{ASSISTANT("{\"type\":\"openrouter_shell_tool_result\",\"tool_use_id\":\"a\",\"content\":"
		   "\"x\"}"),
		"messages[0].content[0].content", "object"},
	{ASSISTANT("{\"type\":\"image\",\"source\":{\"type\":\"url\",\"url\":\"https://x\"}}"),
		"messages[0].content[0].type", "only user"},
	{WITH("\"system\":1"), "system", "string"},
	{WITH("\"system\":[{\"type\":\"image\",\"source\":{\"type\":\"url\",\"url\":\"https://"
	      "x\"}}]"),
		"system", "text blocks"},
	{WITH("\"thread\":{\"id\":\"t\"}"), "thread", "resend"},
	{WITH("\"max_tokens\":0"), "max_tokens", "at least 1"},
	{WITH("\"max_tokens\":\"9\""), "max_tokens", "integer"},
	{WITH("\"temperature\":3"), "temperature", "from 0 to 2"},
	{WITH("\"stop_sequences\":[\"\"]"), "stop_sequences[0]", "not empty"},
	{WITH("\"metadata\":{\"user_id\":1}"), "metadata.user_id", "string"},
	{WITH("\"thinking\":{\"type\":\"on\"}"), "thinking.type", "\"adaptive\""},
	{WITH("\"thinking\":{\"type\":\"enabled\",\"budget_tokens\":0}"), "thinking.budget_tokens",
		"at least 1"},
	{WITH("\"output_config\":{\"effort\":\"some\"}"), "output_config.effort", "\"medium\""},
	{WITH("\"output_config\":{\"format\":{\"type\":\"json_schema\"}}"),
		"output_config.format.schema", "required"},
	{WITH("\"tools\":[{\"name\":\"f\"}]"), "tools[0].input_schema", "required"},
	{WITH("\"tools\":[{\"type\":\"text_editor_20250728\",\"name\":\"e\"}]"), "tools[0].type",
		"openrouter:bash"},
	{WITH("\"tools\":[{\"type\":\"bash_20250124\",\"name\":\"sh\"}]"), "tools[0].name",
		"\"bash\""},
	{WITH("\"tools\":[{\"type\":\"bash_\",\"name\":\"bash\"}]"), "tools[0].type", "custom"},
	{WITH("\"tools\":[{\"type\":\"openrouter:bash\",\"parameters\":{\"engine\":\"mine\"}}]"),
		"tools[0].parameters.engine", "\"native\""},
	{WITH("\"tools\":[{\"type\":\"openrouter:shell\",\"parameters\":{\"environment\":{\"type\":"
	      "\"container_reference\",\"container_id\":\"a\"}}},{\"type\":\"openrouter:bash\","
	      "\"parameters\":{\"engine\":\"openrouter\",\"environment\":{\"type\":"
	      "\"container_reference\",\"container_id\":\"b\"}}}]"),
		"tools[1].parameters.environment", "one container"},
	{WITH("\"tool_choice\":\"auto\""), "tool_choice", "object"},
	{WITH("\"tool_choice\":{\"type\":\"any\"}"), "tool_choice.type", "needs"},
	{WITH("\"tool_choice\":{\"type\":\"tool\",\"name\":\"f\"}"), "tool_choice.name", "offered"},
};

static void wrong_fields_are_named(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		struct messages_request rq;
		struct err e = {0};
		if (decode(&rq, wrong[i].body, &e) != ERR_INVALID_REQUEST)
			fail_msg("accepted: %s", wrong[i].body);
		if (strcmp(e.param, wrong[i].param) != 0 || !strstr(e.message, wrong[i].param) ||
			!strstr(e.message, wrong[i].word))
			fail_msg("%s: got param %s, message %s", wrong[i].body, e.param, e.message);
	}
}

#define TEST(NAME) cmocka_unit_test_setup_teardown(NAME, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(system_is_a_string_or_blocks),
		TEST(content_blocks_become_parts),
		TEST(tool_results_come_before_the_text_of_their_message),
		TEST(a_result_may_be_empty),
		TEST(thinking_is_kept_and_redacted_thinking_dropped),
		TEST(our_blocks_become_a_call_and_its_result),
		TEST(an_unpaired_server_call_is_not_run_again),
		TEST(the_samples_tools_are_read),
		TEST(bash_without_our_engine_is_the_clients),
		TEST(both_bashes_have_names_of_their_own),
		TEST(tool_choice_has_all_forms),
		TEST(options_are_read),
		TEST(wrong_fields_are_named),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
