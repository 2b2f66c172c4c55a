/* Tests of app/dialect/responses_in. SPDX-License-Identifier: ISC */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "app/base/json.h"
#include "app/dialect/responses.h"
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

static int decode(struct responses_request *rq, const char *text, const char *header, struct err *e)
{
	cJSON *body;
	if (json_parse(&body, arena, text, strlen(text), e) < 0)
		fail_msg("%s in %s", e->message, text);
	return responses_decode(rq, arena, body, header, e);
}

/* The request with these members beside a model. */
static struct responses_request *good_with(const char *members, const char *header)
{
	struct responses_request *rq = arena_new_of(arena, struct responses_request);
	struct err e = {0};
	if (decode(rq, arena_printf(arena, "{\"model\":\"m\",%s}", members), header, &e) < 0)
		fail_msg("%s", e.message);
	return rq;
}

static struct responses_request *good(const char *members)
{
	return good_with(members, NULL);
}

/* The items that an input array makes. */
static void check_items(const char *input, const char *want)
{
	const struct responses_request *rq = good(arena_printf(arena, "\"input\":%s", input));
	assert_string_equal(dialect_items(arena, &rq->turn), want);
}

static void a_string_is_a_message(void **state)
{
	(void)state;
	check_items("\"hi\"", "user: hi\n");
}

static void messages_have_all_forms(void **state)
{
	(void)state;
	check_items(
		"[{\"role\":\"user\",\"content\":\"a\"},"
		"{\"type\":\"message\",\"role\":\"assistant\",\"id\":\"msg_1\",\"status\":"
		"\"completed\","
		"\"content\":[{\"type\":\"output_text\",\"text\":\"b\",\"annotations\":[]},"
		"{\"type\":\"refusal\",\"refusal\":\"no\"}]},"
		"{\"role\":\"user\",\"content\":[{\"type\":\"input_text\",\"text\":\"c\"},"
		"{\"type\":\"input_image\",\"image_url\":\"https://x/y.png\",\"detail\":\"low\"},"
		"{\"type\":\"input_image\",\"image_url\":\"data:image/png;base64,AA==\"},"
		"{\"type\":\"input_file\",\"filename\":\"a.pdf\",\"file_data\":\"data:application/"
		"pdf;base64,AA==\"}]},"
		"{\"role\":\"user\",\"content\":[]}]",
		"user: a\nassistant: b, refusal no\n"
		"user: c, image https://x/y.png low, image data:image/png;base64,AA==, "
		"file a.pdf data:application/pdf;base64,AA==\n");
}

static void system_messages_come_first(void **state)
{
	(void)state;
	const struct responses_request *rq =
		good("\"instructions\":\"one\",\"input\":[{\"role\":\"user\",\"content\":\"a\"},"
		     "{\"role\":\"developer\",\"content\":\"two\"},{\"role\":\"system\","
		     "\"content\":\"three\"}]");
	assert_string_equal(dialect_items(arena, &rq->turn),
		"system: one\nsystem: two\nsystem: three\nuser: a\n");
	rq = good("\"instructions\":\"one\",\"input\":[{\"role\":\"system\",\"content\":\"two\"}]");
	assert_string_equal(dialect_items(arena, &rq->turn), "system: one\nsystem: two\n");
}

static void function_calls_have_their_results_behind_them(void **state)
{
	(void)state;
	check_items(
		"[{\"type\":\"function_call\",\"call_id\":\"c1\",\"name\":\"f\",\"arguments\":\"{}"
		"\"},"
		"{\"type\":\"function_call\",\"call_id\":\"c2\",\"name\":\"g\",\"arguments\":\"\"},"
		"{\"role\":\"user\",\"content\":\"between\"},"
		"{\"type\":\"function_call_output\",\"call_id\":\"c2\",\"output\":\"two\"},"
		"{\"type\":\"function_call_output\",\"call_id\":\"c1\",\"output\":"
		"[{\"type\":\"input_text\",\"text\":\"one\"},{\"type\":\"input_text\",\"text\":"
		"\"more\"}]}]",
		"call c1 f {}\ncall c2 g {}\nresult c2: two\nresult c1: one\nmore\nuser: "
		"between\n");
}

static void a_call_without_a_result_gets_one(void **state)
{
	(void)state;
	check_items("[{\"type\":\"function_call\",\"call_id\":\"c1\",\"name\":\"f\",\"arguments\":"
		    "\"{}\"},"
		    "{\"type\":\"function_call\",\"call_id\":\"c2\",\"name\":\"f\",\"arguments\":"
		    "\"{}\"},"
		    "{\"type\":\"function_call_output\",\"call_id\":\"c2\",\"output\":\"two\"},"
		    "{\"role\":\"user\",\"content\":\"go on\"}]",
		"call c1 f {}\ncall c2 f {}\nresult c2: two\nresult c1: (no result)\nuser: go "
		"on\n");
	check_items("[{\"type\":\"function_call\",\"call_id\":\"c1\",\"name\":\"f\",\"arguments\":"
		    "\"{}\"}]",
		"call c1 f {}\nresult c1: (no result)\n");
}

static void an_id_may_come_again_once_it_has_its_result(void **state)
{
	(void)state;
	check_items("[{\"type\":\"function_call\",\"call_id\":\"c\",\"name\":\"f\",\"arguments\":"
		    "\"{}\"},"
		    "{\"type\":\"function_call_output\",\"call_id\":\"c\",\"output\":\"1\"},"
		    "{\"type\":\"function_call\",\"call_id\":\"c\",\"name\":\"f\",\"arguments\":\"{"
		    "}\"},"
		    "{\"type\":\"function_call_output\",\"call_id\":\"c\",\"output\":\"2\"}]",
		"call c f {}\nresult c: 1\ncall c f {}\nresult c: 2\n");
}

static void pictures_of_a_result_follow_it(void **state)
{
	(void)state;
	check_items("[{\"type\":\"function_call\",\"call_id\":\"c\",\"name\":\"f\",\"arguments\":"
		    "\"{}\"},"
		    "{\"type\":\"function_call_output\",\"call_id\":\"c\",\"output\":[{\"type\":"
		    "\"input_image\",\"image_url\":\"https://x/y.png\"}]}]",
		"call c f {}\nresult c: [see the image below]\nuser: image https://x/y.png\n");
}

static void reasoning_is_kept_as_text(void **state)
{
	(void)state;
	check_items(
		"[{\"type\":\"reasoning\",\"id\":\"rs_1\",\"summary\":[{\"type\":\"summary_text\","
		"\"text\":\"short\"}],\"content\":[{\"type\":\"reasoning_text\",\"text\":\"long\"}]"
		"},"
		"{\"type\":\"reasoning\",\"id\":\"rs_2\",\"summary\":[{\"type\":\"summary_text\","
		"\"text\":"
		"\"a\"},{\"type\":\"summary_text\",\"text\":\"b\"}]},"
		"{\"type\":\"reasoning\",\"id\":\"rs_3\",\"summary\":[],\"encrypted_content\":"
		"\"x\"},"
		"{\"role\":\"user\",\"content\":\"go\"}]",
		"reasoning: long\nreasoning: a\n\nb\nuser: go\n");
}

static void our_items_become_a_call_and_its_result(void **state)
{
	(void)state;
	size_t n;
	struct responses_request rq;
	struct err e = {0};
	char *body = test_read("tests/unit/golden/responses-replay-request.json", &n);
	if (decode(&rq, body, NULL, &e) < 0)
		fail_msg("%s", e.message);
	assert_string_equal(dialect_items(arena, &rq.turn),
		"user: Sum column b.\n"
		"call call_5d21 !shell {\"commands\":[\"awk -F, 'NR>1{s+=$2}END{print s}' "
		"~/b6Kd8NmQ-in.csv\",\"mkdir -p out && echo 42 > out/sum.txt\"]}\n"
		"result call_5d21: {\"output\":[{\"stdout\":\"42\",\"stderr\":\"\",\"outcome\":"
		"{\"type\":\"exit\",\"exit_code\":0}},{\"stdout\":\"\",\"stderr\":\"\",\"outcome\":"
		"{\"type\":\"exit\",\"exit_code\":0}}]}\n"
		"assistant: The column adds up to 42.\nuser: Now double it.\n");
	assert_string_equal(rq.turn.environment.replayed_id, "sess_job-7f3a21");
	free(body);
}

static void items_of_all_shells_are_replayed(void **state)
{
	(void)state;
	check_items("[{\"type\":\"openrouter:shell\",\"status\":\"failed\",\"call_id\":\"a\","
		    "\"action\":"
		    "{\"commands\":[\"ls\"],\"timeout_ms\":null},\"error\":\"no room\"},"
		    "{\"type\":\"openrouter:bash\",\"status\":\"completed\",\"id\":\"b\","
		    "\"command\":\"wc\","
		    "\"stdout\":\"1\",\"stderr\":\"\",\"exitCode\":0},"
		    "{\"type\":\"shell_call\",\"id\":\"sh\",\"call_id\":\"c\",\"action\":{"
		    "\"commands\":[\"id\"],"
		    "\"max_output_length\":null}},"
		    "{\"type\":\"shell_call_output\",\"call_id\":\"c\",\"output\":[]},"
		    "{\"type\":\"local_shell_call\",\"id\":\"l\",\"call_id\":\"d\",\"action\":{"
		    "\"type\":\"exec\","
		    "\"command\":[\"ls\",\"-l\"]}},"
		    "{\"type\":\"local_shell_call_output\",\"id\":\"d\",\"output\":\"done\"},"
		    "{\"type\":\"custom_tool_call\",\"call_id\":\"e\",\"name\":\"patch\",\"input\":"
		    "\"x \\\"y\\\"\"},"
		    "{\"type\":\"custom_tool_call_output\",\"call_id\":\"e\",\"output\":\"ok\"},"
		    "{\"type\":\"openrouter:shell\",\"status\":\"in_progress\",\"call_id\":\"f\"}]",
		"call a !shell {\"commands\":[\"ls\"]}\nresult a: {\"error\":\"no room\"}\n"
		"call b !bash {\"command\":\"wc\"}\n"
		"result b: {\"command\":\"wc\",\"stdout\":\"1\",\"stderr\":\"\",\"exitCode\":0}\n"
		"call c !shell {\"commands\":[\"id\"]}\nresult c: {\"output\":[]}\n"
		"call d !shell {\"command\":[\"ls\",\"-l\"]}\nresult d: done\n"
		"call e patch {\"input\":\"x \\\"y\\\"\"}\nresult e: ok\n"
		"call f !shell {}\nresult f: (no result)\n");
}

static void the_newest_container_wins(void **state)
{
	(void)state;
	const struct responses_request *rq =
		good("\"input\":[{\"type\":\"openrouter:shell\",\"container_id\":\"gen_a\","
		     "\"output\":[]},"
		     "{\"type\":\"shell_call\",\"call_id\":\"c\",\"action\":{},\"environment\":{"
		     "\"type\":"
		     "\"container_reference\",\"container_id\":\"gen_b\"}},"
		     "{\"type\":\"openrouter:shell\",\"container_id\":\"no good\",\"output\":[]}]");
	assert_string_equal(rq->turn.environment.replayed_id, "gen_b");
}

static void tools_are_offered_in_order(void **state)
{
	(void)state;
	const struct responses_request *rq =
		good("\"input\":\"x\",\"tools\":[{\"type\":\"function\",\"name\":\"f\","
		     "\"description\":\"d\","
		     "\"parameters\":{\"type\":\"object\"},\"strict\":true},{\"type\":\"openrouter:"
		     "shell\"},"
		     "{\"type\":\"function\",\"name\":\"g\",\"parameters\":null,\"strict\":null}]");
	const struct tool *t = rq->turn.tools;
	assert_string_equal(t->name, "f");
	assert_string_equal(t->description, "d");
	assert_string_equal(t->parameters, "{\"type\":\"object\"}");
	assert_int_equal(t->strict, 1);
	t = t->next;
	assert_int_equal(t->kind, TOOL_SHELL);
	assert_string_equal(t->name, "shell");
	t = t->next;
	assert_null(t->parameters);
	assert_int_equal(t->strict, -1);
	assert_null(t->next);
	assert_true(rq->turn.environment.present);
}

static void a_clients_tool_keeps_its_name_from_ours(void **state)
{
	(void)state;
	const struct responses_request *rq =
		good("\"input\":[{\"type\":\"openrouter:shell\",\"call_id\":\"a\",\"output\":[]}],"
		     "\"tools\":[{\"type\":\"openrouter:shell\"},{\"type\":\"function\",\"name\":"
		     "\"shell\"}],"
		     "\"tool_choice\":{\"type\":\"shell\"}");
	assert_string_equal(rq->turn.tools->name, "sandbox_shell");
	assert_string_equal(rq->turn.choice_name, "sandbox_shell");
	assert_string_equal(dialect_items(arena, &rq->turn),
		"call a !sandbox_shell {}\nresult a: {\"output\":[]}\n");
}

static void environments_are_read(void **state)
{
	(void)state;
	const struct responses_request *rq =
		good("\"input\":\"x\",\"tools\":[{\"type\":\"openrouter:shell\",\"parameters\":{"
		     "\"engine\":"
		     "\"openrouter\",\"sleep_after_seconds\":60,\"environment\":{\"type\":"
		     "\"container_reference\",\"container_id\":\"t-42_X\",\"file_ids\":[],"
		     "\"network_policy\":"
		     "{\"type\":\"disabled\"},\"other\":1}}}]");
	assert_string_equal(rq->turn.environment.container_id, "t-42_X");
	assert_int_equal(rq->turn.environment.sleep_after_seconds, 60);
	rq = good("\"input\":\"x\",\"tools\":[{\"type\":\"openrouter:shell\",\"parameters\":{"
		  "\"engine\":"
		  "\"auto\",\"environment\":{\"type\":\"container_auto\",\"network_policy\":{"
		  "\"type\":"
		  "\"allowlist\",\"allowed_domains\":[]}}}}]");
	assert_true(rq->turn.environment.present);
	assert_null(rq->turn.environment.container_id);
}

static void the_first_session_key_that_is_there_counts(void **state)
{
	(void)state;
	const char *const all = "\"input\":\"x\",\"session_id\":\"s\",\"prompt_cache_key\":\"p\"";
	const char *const empty = "\"input\":\"x\",\"session_id\":\"\",\"prompt_cache_key\":\"p\"";
	assert_string_equal(good_with(all, "h")->turn.environment.session_key, "s");
	assert_string_equal(good_with(empty, "h")->turn.environment.session_key, "h");
	assert_string_equal(good_with(empty, "")->turn.environment.session_key, "p");
	assert_null(good("\"input\":\"x\"")->turn.environment.session_key);
}

#define TWO_TOOLS                                                                                  \
	"\"input\":\"x\",\"tools\":[{\"type\":\"function\",\"name\":\"f\"},{\"type\":"             \
	"\"openrouter:shell\"}],"

static void tool_choice_has_all_forms(void **state)
{
	(void)state;
	assert_int_equal(good("\"input\":\"x\"")->turn.choice, CHOICE_AUTO);
	assert_int_equal(
		good("\"input\":\"x\",\"tool_choice\":\"none\"")->turn.choice, CHOICE_NONE);
	assert_int_equal(
		good(TWO_TOOLS "\"tool_choice\":\"required\"")->turn.choice, CHOICE_REQUIRED);
	const struct responses_request *rq =
		good(TWO_TOOLS "\"tool_choice\":{\"type\":\"function\",\"name\":\"f\"}");
	assert_int_equal(rq->turn.choice, CHOICE_TOOL);
	assert_string_equal(rq->turn.choice_name, "f");
	rq = good(TWO_TOOLS "\"tool_choice\":{\"type\":\"openrouter:shell\"}");
	assert_string_equal(rq->turn.choice_name, "shell");
	rq = good(TWO_TOOLS "\"tool_choice\":{\"type\":\"allowed_tools\",\"mode\":\"required\","
			    "\"tools\":[{\"type\":\"shell\"}]}");
	assert_int_equal(rq->turn.choice, CHOICE_REQUIRED);
	assert_int_equal(rq->turn.tools->kind, TOOL_SHELL);
	assert_null(rq->turn.tools->next);
}

static void options_are_read(void **state)
{
	(void)state;
	const struct responses_request *rq =
		good("\"input\":\"x\",\"stream\":true,\"max_output_tokens\":9,\"max_tool_calls\":0,"
		     "\"temperature\":0.5,\"top_p\":1,\"top_k\":3,\"presence_penalty\":-2,"
		     "\"frequency_penalty\":2,\"parallel_tool_calls\":false,\"user\":\"u\","
		     "\"store\":false,"
		     "\"previous_response_id\":null,\"background\":false,\"reasoning\":{\"effort\":"
		     "\"low\"},"
		     "\"text\":{\"format\":{\"type\":\"json_schema\",\"name\":\"n\",\"schema\":{"
		     "\"a\":1},"
		     "\"strict\":true}},\"unknown\":{\"x\":1}");
	const struct turn *t = &rq->turn;
	assert_true(rq->stream);
	assert_int_equal(t->max_tokens, 9);
	assert_int_equal(t->max_tool_calls, 0);
	assert_true(t->temperature == 0.5 && t->top_p == 1);
	assert_int_equal(t->top_k, 3);
	assert_true(t->presence_penalty == -2 && t->frequency_penalty == 2);
	assert_int_equal(t->parallel_tool_calls, 0);
	assert_string_equal(t->user, "u");
	assert_string_equal(t->reasoning_effort, "low");
	assert_string_equal(t->response_format,
		"{\"type\":\"json_schema\",\"json_schema\":{\"name\":\"n\",\"schema\":{\"a\":1},"
		"\"strict\":true}}");
	t = &good("\"input\":\"x\"")->turn;
	assert_true(isnan(t->temperature) && isnan(t->top_p));
	assert_int_equal(t->max_tokens, -1);
	assert_int_equal(t->max_tool_calls, -1);
	assert_int_equal(t->parallel_tool_calls, -1);
	assert_null(t->response_format);
}

#define SHELL(PARAMETERS)                                                                          \
	"{\"model\":\"m\",\"input\":\"x\",\"tools\":[{\"type\":\"openrouter:shell\","              \
	"\"parameters\":" PARAMETERS "}]}"
#define INPUT(ITEM)  "{\"model\":\"m\",\"input\":[" ITEM "]}"
#define WITH(MEMBER) "{\"model\":\"m\",\"input\":\"x\"," MEMBER "}"

/* Each with the field that is named and a word of the message. */
static const struct {
	const char *body, *param, *word;
} wrong[] = {
	{"[]", "body", "object"},
	{"{\"input\":\"x\"}", "model", "required"},
	{"{\"model\":\"\",\"input\":\"x\"}", "model", "name"},
	{"{\"model\":1,\"input\":\"x\"}", "model", "string"},
	{"{\"model\":\"m\"}", "input", "required"},
	{"{\"model\":\"m\",\"input\":[]}", "input", "at least one"},
	{"{\"model\":\"m\",\"input\":{}}", "input", "array"},
	{INPUT("1"), "input[0]", "object"},
	{INPUT("{\"content\":\"x\"}"), "input[0].role", "required"},
	{INPUT("{\"role\":\"bot\",\"content\":\"x\"}"), "input[0].role", "\"developer\""},
	{INPUT("{\"role\":\"user\"}"), "input[0].content", "required"},
	{INPUT("{\"role\":\"user\",\"content\":1}"), "input[0].content", "array"},
	{INPUT("{\"role\":\"user\",\"content\":[1]}"), "input[0].content[0]", "object"},
	{INPUT("{\"role\":\"user\",\"content\":[{\"type\":\"input_text\",\"text\":\"a\"},{\"type\":"
	       "\"audio\"}]}"),
		"input[0].content[1].type", "input_text"},
	{INPUT("{\"role\":\"user\",\"content\":[{\"type\":\"input_text\"}]}"),
		"input[0].content[0].text", "required"},
	{INPUT("{\"role\":\"user\",\"content\":[{\"type\":\"input_image\"}]}"),
		"input[0].content[0].image_url", "required"},
	{INPUT("{\"role\":\"user\",\"content\":[{\"type\":\"input_image\",\"file_id\":\"f\"}]}"),
		"input[0].content[0].file_id", "not offered"},
	{INPUT("{\"role\":\"user\",\"content\":[{\"type\":\"input_image\",\"image_url\":"
	       "\"http://x\"}]}"),
		"input[0].content[0].image_url", "https:"},
	{INPUT("{\"role\":\"user\",\"content\":[{\"type\":\"input_file\",\"file_url\":\"u\"}]}"),
		"input[0].content[0].file_url", "not offered"},
	{INPUT("{\"role\":\"user\",\"content\":[{\"type\":\"input_file\",\"file_data\":\"AA\"}]}"),
		"input[0].content[0].file_data", "data: URL"},
	{INPUT("{\"role\":\"assistant\",\"content\":[{\"type\":\"input_image\",\"image_url\":"
	       "\"data:x\"}]}"),
		"input[0].content", "only user"},
	{INPUT("{\"type\":\"item_reference\",\"id\":\"x\"}"), "input[0].type", "not kept"},
	{INPUT("{\"type\":\"compaction\"}"), "input[0].type", "function_call"},
	{INPUT("{\"type\":\"function_call\",\"name\":\"f\",\"arguments\":\"\"}"),
		"input[0].call_id", "required"},
	{INPUT("{\"type\":\"function_call\",\"call_id\":\"c\",\"name\":\"f\",\"arguments\":{}}"),
		"input[0].arguments", "string"},
	{INPUT("{\"type\":\"function_call_output\",\"call_id\":\"c\",\"output\":\"x\"}"),
		"input[0].call_id", "no call"},
	{INPUT("{\"type\":\"function_call\",\"call_id\":\"c\",\"name\":\"f\",\"arguments\":\"\"},"
	       "{\"type\":\"function_call\",\"call_id\":\"c\",\"name\":\"f\",\"arguments\":\"\"}"),
		"input[1].call_id", "no result yet"},
	{INPUT("{\"type\":\"shell_call\",\"call_id\":\"c\"}"), "input[0].action", "required"},
	{INPUT("{\"type\":\"reasoning\",\"summary\":[1]}"), "input[0].summary[0]", "object"},
	{INPUT("{\"type\":\"openrouter:shell\",\"output\":1}"), "input[0].output", "array"},
	{WITH("\"store\":true"), "store", "not kept"},
	{WITH("\"background\":true"), "background", "stream"},
	{WITH("\"previous_response_id\":\"r\""), "previous_response_id", "resend"},
	{WITH("\"conversation\":\"c\""), "conversation", "resend"},
	{WITH("\"prompt\":{\"id\":\"p\"}"), "prompt", "instructions"},
	{WITH("\"stream\":1"), "stream", "true or false"},
	{WITH("\"instructions\":[]"), "instructions", "string"},
	{WITH("\"temperature\":2.1"), "temperature", "from 0 to 2"},
	{WITH("\"top_p\":-1"), "top_p", "from 0 to 1"},
	{WITH("\"top_k\":1.5"), "top_k", "integer"},
	{WITH("\"max_output_tokens\":0"), "max_output_tokens", "at least 1"},
	{WITH("\"max_output_tokens\":1e300"), "max_output_tokens", "integer"},
	{WITH("\"max_tool_calls\":-1"), "max_tool_calls", "at least 0"},
	{WITH("\"parallel_tool_calls\":\"no\""), "parallel_tool_calls", "true or false"},
	{WITH("\"session_id\":1"), "session_id", "string"},
	{WITH("\"metadata\":[]"), "metadata", "object"},
	{WITH("\"metadata\":{\"a\":1}"), "metadata.a", "512"},
	{WITH("\"metadata\":{\"a[0]\":\"x\"}"), "metadata", "brackets"},
	{WITH("\"metadata\":{\"a\":\"\",\"b\":\"\",\"c\":\"\",\"d\":\"\",\"e\":\"\",\"f\":\"\","
	      "\"g\":\"\",\"h\":\"\",\"i\":\"\",\"j\":\"\",\"k\":\"\",\"l\":\"\",\"m\":\"\","
	      "\"n\":\"\",\"o\":\"\",\"p\":\"\",\"q\":\"\"}"),
		"metadata", "16"},
	{WITH("\"text\":{\"format\":{}}"), "text.format.type", "required"},
	{WITH("\"text\":{\"format\":{\"type\":\"xml\"}}"), "text.format.type", "json_schema"},
	{WITH("\"text\":{\"format\":{\"type\":\"json_schema\",\"name\":\"n\"}}"),
		"text.format.schema", "required"},
	{WITH("\"reasoning\":{\"effort\":\"lots\"}"), "reasoning.effort", "\"minimal\""},
	{WITH("\"tools\":{}"), "tools", "array"},
	{WITH("\"tools\":[1]"), "tools[0]", "object"},
	{WITH("\"tools\":[{}]"), "tools[0].type", "required"},
	{WITH("\"tools\":[{\"type\":\"web_search\"}]"), "tools[0].type", "openrouter:shell"},
	{WITH("\"tools\":[{\"type\":\"shell\"}]"), "tools[0].type", "use \"openrouter:shell\""},
	{WITH("\"tools\":[{\"type\":\"local_shell\"}]"), "tools[0].type",
		"use \"openrouter:shell\""},
	{WITH("\"tools\":[{\"type\":\"openrouter:bash\"}]"), "tools[0].type", "Messages"},
	{WITH("\"tools\":[{\"type\":\"function\"}]"), "tools[0].name", "required"},
	{WITH("\"tools\":[{\"type\":\"function\",\"name\":\"a b\"}]"), "tools[0].name", "128"},
	{WITH("\"tools\":[{\"type\":\"function\",\"name\":\"f\",\"parameters\":\"x\"}]"),
		"tools[0].parameters", "object"},
	{WITH("\"tools\":[{\"type\":\"function\",\"name\":\"f\"},{\"type\":\"function\",\"name\":"
	      "\"f\"}]"),
		"tools[1].name", "another"},
	{SHELL("{\"engine\":\"native\"}"), "tools[0].parameters.engine", "\"auto\""},
	{SHELL("{\"sleep_after_seconds\":0}"), "tools[0].parameters.sleep_after_seconds",
		"at least 1"},
	{SHELL("{\"environment\":{}}"), "tools[0].parameters.environment.type", "required"},
	{SHELL("{\"environment\":{\"type\":\"local\"}}"), "tools[0].parameters.environment.type",
		"container_auto"},
	{SHELL("{\"environment\":{\"type\":\"container_reference\"}}"),
		"tools[0].parameters.environment.container_id", "required"},
	{SHELL("{\"environment\":{\"type\":\"container_reference\",\"container_id\":\"../x\"}}"),
		"tools[0].parameters.environment.container_id", "40"},
	{SHELL("{\"environment\":{\"type\":\"container_reference\",\"container_id\":\"a234567890"
	       "b234567890c234567890d2345678901\"}}"),
		"tools[0].parameters.environment.container_id", "40"},
	{SHELL("{\"environment\":{\"type\":\"container_auto\",\"file_ids\":[\"f\"]}}"),
		"tools[0].parameters.environment.file_ids", "not offered"},
	{SHELL("{\"environment\":{\"type\":\"container_auto\",\"network_policy\":{\"type\":"
	       "\"allowlist\",\"allowed_domains\":[\"x\"]}}}"),
		"tools[0].parameters.environment.network_policy", "not offered"},
	{WITH("\"tool_choice\":\"maybe\""), "tool_choice", "\"required\""},
	{WITH("\"tool_choice\":\"required\""), "tool_choice", "needs"},
	{WITH("\"tool_choice\":{\"type\":\"function\",\"name\":\"f\"}"), "tool_choice", "offered"},
	{WITH("\"tool_choice\":{\"type\":\"shell\"}"), "tool_choice", "offered"},
	{WITH("\"tool_choice\":{\"type\":\"mcp\"}"), "tool_choice.type", "allowed_tools"},
	{WITH("\"tools\":[{\"type\":\"openrouter:shell\"}],\"tool_choice\":{\"type\":"
	      "\"allowed_tools\",\"tools\":[{\"type\":\"function\",\"name\":\"f\"}]}"),
		"tool_choice.tools[0]", "offered"},
	{WITH("\"tools\":[{\"type\":\"openrouter:shell\"}],\"tool_choice\":{\"type\":"
	      "\"allowed_tools\",\"tools\":[]}"),
		"tool_choice.tools", "offered"},
};

static void wrong_fields_are_named(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		struct responses_request rq;
		struct err e = {0};
		if (decode(&rq, wrong[i].body, NULL, &e) != ERR_INVALID_REQUEST)
			fail_msg("accepted: %s", wrong[i].body);
		assert_int_equal(e.code, ERR_INVALID_REQUEST);
		/* A long path is cut in param, but whole in the message. */
		if (strncmp(e.param, wrong[i].param, sizeof(e.param) - 1) != 0 ||
			!strstr(e.message, wrong[i].param) || !strstr(e.message, wrong[i].word))
			fail_msg("%s: got param %s, message %s", wrong[i].body, e.param, e.message);
	}
}

static void long_histories_take_no_time(void **state)
{
	(void)state;
	struct buf b;
	buf_init(&b, 1 << 26);
	buf_puts(&b, "{\"model\":\"m\",\"input\":[");
	for (int i = 0; i < 50000; i++)
		buf_printf(&b,
			"%s{\"type\":\"function_call\",\"call_id\":\"c%d\",\"name\":\"f\","
			"\"arguments\":"
			"\"\"}",
			i > 0 ? "," : "", i);
	buf_puts(&b, "]}");
	struct responses_request rq;
	struct err e = {0};
	assert_int_equal(decode(&rq, buf_str(&b), NULL, &e), 0);
	size_t n = 0;
	for (const struct item *it = rq.turn.items.first; it; it = it->next)
		n++;
	assert_int_equal(n, 100000);
	buf_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_string_is_a_message, setup, teardown),
		cmocka_unit_test_setup_teardown(messages_have_all_forms, setup, teardown),
		cmocka_unit_test_setup_teardown(system_messages_come_first, setup, teardown),
		cmocka_unit_test_setup_teardown(
			function_calls_have_their_results_behind_them, setup, teardown),
		cmocka_unit_test_setup_teardown(a_call_without_a_result_gets_one, setup, teardown),
		cmocka_unit_test_setup_teardown(
			an_id_may_come_again_once_it_has_its_result, setup, teardown),
		cmocka_unit_test_setup_teardown(pictures_of_a_result_follow_it, setup, teardown),
		cmocka_unit_test_setup_teardown(reasoning_is_kept_as_text, setup, teardown),
		cmocka_unit_test_setup_teardown(
			our_items_become_a_call_and_its_result, setup, teardown),
		cmocka_unit_test_setup_teardown(items_of_all_shells_are_replayed, setup, teardown),
		cmocka_unit_test_setup_teardown(the_newest_container_wins, setup, teardown),
		cmocka_unit_test_setup_teardown(tools_are_offered_in_order, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_clients_tool_keeps_its_name_from_ours, setup, teardown),
		cmocka_unit_test_setup_teardown(environments_are_read, setup, teardown),
		cmocka_unit_test_setup_teardown(
			the_first_session_key_that_is_there_counts, setup, teardown),
		cmocka_unit_test_setup_teardown(tool_choice_has_all_forms, setup, teardown),
		cmocka_unit_test_setup_teardown(options_are_read, setup, teardown),
		cmocka_unit_test_setup_teardown(wrong_fields_are_named, setup, teardown),
		cmocka_unit_test_setup_teardown(long_histories_take_no_time, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
