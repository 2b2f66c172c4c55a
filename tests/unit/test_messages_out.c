/* Tests of app/dialect/messages_out. SPDX-License-Identifier: ISC */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/base/json.h"
#include "app/dialect/messages.h"
#include "tests/lib/dialect.h"
#include "tests/lib/test.h"

/* One scene, encoded as a stream and, with the same events, without one. */
struct run {
	struct arena *arena;
	struct buf stream;
	cJSON *frames;
	const cJSON *object; /* of the encoder that did not stream */
};

static struct messages_out *encoder(
	struct arena *a, bool tools, const char *extra, const struct writer *w)
{
	struct messages_request *rq = arena_new_of(a, struct messages_request);
	struct err e = {0};
	cJSON *body;
	const char *text = arena_printf(a,
		"{\"model\":\"acme/lumen-9b\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]"
		"%s}",
		extra);
	assert_int_equal(json_parse(&body, a, text, strlen(text), &e), 0);
	if (messages_decode(rq, a, body, NULL, &e) < 0)
		fail_msg("%s", e.message);
	rq->turn.environment.present = tools;
	rq->request_id = "req_1";
	return messages_out_new(a, rq, w);
}

static void run_with(struct run *r, const struct dialect_scene *scene, const char *extra)
{
	r->arena = arena_new();
	buf_init(&r->stream, 1 << 20);
	const struct writer w = {dialect_write, &r->stream};
	struct dialect_feed streamed = {.arena = r->arena}, plain = {.arena = r->arena};
	streamed.to.emit = plain.to.emit = messages_out_emit;
	streamed.to.ctx = encoder(r->arena, scene->tools, extra, &w);
	plain.to.ctx = encoder(r->arena, scene->tools, extra, NULL);
	scene->play(&streamed);
	scene->play(&plain);
	assert_int_equal(streamed.rc, 0);
	assert_int_equal(plain.rc, 0);
	r->object = messages_out_object(plain.to.ctx);
	r->frames = dialect_frames(r->stream.data, r->stream.len, r->stream.len);
}

static void run(struct run *r, const char *name)
{
	run_with(r, dialect_scene(name), "");
}

static void stop(struct run *r)
{
	cJSON_Delete(r->frames);
	buf_free(&r->stream);
	arena_free(r->arena);
}

static void check_golden(const char *name)
{
	char path[128];
	size_t n;
	struct run r;
	run(&r, name);
	snprintf(path, sizeof(path), "tests/unit/golden/messages-%s.sse", name);
	char *golden = test_read(path, &n);
	cJSON *want = dialect_frames(golden, n, n);
	const char *wrong = dialect_differ(want, r.frames);
	if (wrong)
		fail_msg("%s: %s\n%s", name, wrong, buf_str(&r.stream));
	cJSON_Delete(want);
	free(golden);
	stop(&r);
}

static void matches_the_golden_streams(void **state)
{
	(void)state;
	check_golden("text");
	check_golden("text-and-call");
	check_golden("reasoning");
	check_golden("shell");
	check_golden("bash");
}

static const cJSON *data(const cJSON *frame)
{
	return json_member(frame, "data");
}

static const char *append(const char *so_far, const cJSON *delta, const char *key, struct arena *a)
{
	const char *more = json_text(delta, key);
	return more ? arena_printf(a, "%s%s", so_far, more) : so_far;
}

/* What clients make of a stream, by the rules that break them: one block at a time, in order. */
static cJSON *accumulated(const struct run *r)
{
	cJSON *message = NULL, *content = NULL, *block = NULL;
	const char *text = "", *input = "", *thinking = "", *signature = "";
	const cJSON *f;
	int index = 0;
	bool open = false, stopped = false;
	cJSON_ArrayForEach(f, r->frames)
	{
		const cJSON *d = data(f), *delta = json_member(d, "delta");
		const char *type = cJSON_IsObject(d) ? json_text(d, "type") : "[DONE]";
		if (cJSON_IsObject(d))
			assert_string_equal(json_text(f, "event"), type);
		if (strcmp(type, "message_start") == 0) {
			assert_null(message);
			message = cJSON_Duplicate(json_member(d, "message"), true);
			content = cJSON_GetObjectItemCaseSensitive(message, "content");
		} else if (strcmp(type, "content_block_start") == 0) {
			assert_false(open);
			open = true;
			assert_int_equal(json_member(d, "index")->valueint, index);
			block = cJSON_Duplicate(json_member(d, "content_block"), true);
			cJSON_AddItemToArray(content, block);
			text = input = thinking = signature = "";
		} else if (strcmp(type, "content_block_delta") == 0) {
			assert_true(open);
			assert_int_equal(json_member(d, "index")->valueint, index);
			text = append(text, delta, "text", r->arena);
			input = append(input, delta, "partial_json", r->arena);
			thinking = append(thinking, delta, "thinking", r->arena);
			signature = append(signature, delta, "signature", r->arena);
		} else if (strcmp(type, "content_block_stop") == 0) {
			assert_true(open);
			open = false;
			assert_int_equal(json_member(d, "index")->valueint, index++);
			if (*text)
				cJSON_ReplaceItemInObject(block, "text", cJSON_CreateString(text));
			if (*thinking)
				cJSON_ReplaceItemInObject(
					block, "thinking", cJSON_CreateString(thinking));
			if (*signature)
				cJSON_ReplaceItemInObject(
					block, "signature", cJSON_CreateString(signature));
			if (*input)
				cJSON_ReplaceItemInObject(block, "input", cJSON_Parse(input));
		} else if (strcmp(type, "message_delta") == 0) {
			const cJSON *v;
			cJSON_ArrayForEach(v, delta) cJSON_ReplaceItemInObject(
				message, v->string, cJSON_Duplicate(v, true));
			cJSON_ReplaceItemInObject(
				message, "usage", cJSON_Duplicate(json_member(d, "usage"), true));
		} else if (strcmp(type, "message_stop") == 0) {
			stopped = true;
		}
	}
	assert_true(stopped);
	return message;
}

static void the_object_is_what_clients_make_of_the_stream(void **state)
{
	(void)state;
	for (const struct dialect_scene *s = dialect_scenes; s->name; s++) {
		struct run r;
		if (strcmp(s->name, "failed") == 0)
			continue;
		run(&r, s->name);
		cJSON *message = accumulated(&r);
		const char *wrong = dialect_differ(message, r.object);
		if (!wrong)
			wrong = dialect_differ(r.object, message);
		if (wrong)
			fail_msg("%s: %s", s->name, wrong);
		cJSON_Delete(message);
		stop(&r);
	}
}

static void streams_split_anywhere_are_read_the_same(void **state)
{
	(void)state;
	for (const struct dialect_scene *s = dialect_scenes; s->name; s++) {
		struct run r;
		run(&r, s->name);
		for (size_t step = 1; step < 9; step++) {
			cJSON *again = dialect_frames(r.stream.data, r.stream.len, step);
			assert_true(cJSON_Compare(again, r.frames, true));
			cJSON_Delete(again);
		}
		stop(&r);
	}
}

static const cJSON *block(const struct run *r, int i)
{
	return cJSON_GetArrayItem(json_member(r->object, "content"), i);
}

static void server_calls_and_results_come_before_client_calls(void **state)
{
	(void)state;
	static const char *const types[] = {"server_tool_use", "server_tool_use",
		"openrouter_shell_tool_result", "openrouter_shell_tool_result", "tool_use"};
	struct run r;
	run(&r, "mixed");
	for (int i = 0; i < 5; i++)
		assert_string_equal(json_text(block(&r, i), "type"), types[i]);
	assert_null(block(&r, 5));
	assert_string_equal(json_text(r.object, "stop_reason"), "tool_use");
	assert_string_equal(json_text(block(&r, 4), "id"), "toolu_ticket0");
	for (int i = 0; i < 2; i++)
		assert_string_equal(
			json_text(block(&r, i), "id"), json_text(block(&r, i + 2), "tool_use_id"));
	assert_memory_equal(json_text(block(&r, 0), "id"), "srvtoolu_", 9);
	const cJSON *content = json_member(block(&r, 3), "content");
	assert_string_equal(
		json_text(content, "error"), "Container limit reached: 20 containers are running.");
	stop(&r);
}

static void a_failure_is_an_error_event_and_the_end(void **state)
{
	(void)state;
	struct run r;
	run(&r, "failed");
	const cJSON *last = cJSON_GetArrayItem(r.frames, cJSON_GetArraySize(r.frames) - 1);
	assert_string_equal(json_text(last, "event"), "error");
	assert_string_equal(json_text(data(last), "request_id"), "req_1");
	const cJSON *error = json_member(data(last), "error");
	assert_string_equal(json_text(error, "type"), "overloaded_error");
	assert_string_equal(json_text(error, "error_type"), "provider_overloaded");
	assert_string_equal(json_text(error, "message"), "Upstream is overloaded.");
	assert_null(strstr(buf_str(&r.stream), "message_stop"));
	assert_null(strstr(buf_str(&r.stream), "open_ticket"));
	stop(&r);
}

static void a_call_that_was_not_run_has_a_result_that_says_so(void **state)
{
	(void)state;
	const char *const pieces[] = {"{\"commands\":[\"ls\"]}", NULL};
	struct arena *a = arena_new();
	struct dialect_feed f = {.arena = a};
	f.to = (struct sink){messages_out_emit, encoder(a, true, "", NULL)};
	dialect_call(&f, TOOL_SHELL, "shell", pieces);
	dialect_turn_end(&f, FINISH_LENGTH);
	dialect_done(&f, FINISH_LENGTH);
	struct run r = {.object = messages_out_object(f.to.ctx)};
	assert_string_equal(json_text(r.object, "stop_reason"), "max_tokens");
	assert_string_equal(json_text(block(&r, 1), "type"), "openrouter_shell_tool_result");
	assert_non_null(json_text(json_member(block(&r, 1), "content"), "error"));
	arena_free(a);
}

static const cJSON *input_of(struct arena *a, const char *arguments)
{
	const char *const pieces[] = {arguments, NULL};
	struct dialect_feed f = {.arena = a};
	f.to = (struct sink){messages_out_emit, encoder(a, false, "", NULL)};
	dialect_call(&f, TOOL_CLIENT, "f", pieces);
	dialect_turn_end(&f, FINISH_CALLS);
	dialect_done(&f, FINISH_CALLS);
	struct run r = {.object = messages_out_object(f.to.ctx)};
	return json_member(block(&r, 0), "input");
}

static void arguments_that_are_no_object_are_wrapped(void **state)
{
	(void)state;
	static const char *const bad[] = {
		"ls -la", "[1]", "{\"a\":1}}", "{\"a\":\"\n\"}", "\"x\"", ""};
	struct arena *a = arena_new();
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_string_equal(json_text(input_of(a, bad[i]), "raw_arguments"), bad[i]);
	assert_int_equal(json_member(input_of(a, " {\"a\":1} "), "a")->valueint, 1);
	arena_free(a);
}

static void thinking_is_shown_as_the_client_wants(void **state)
{
	(void)state;
	const struct dialect_scene *scene = dialect_scene("reasoning");
	struct run r;
	run_with(&r, scene, ",\"thinking\":{\"type\":\"adaptive\",\"display\":\"omitted\"}");
	assert_string_equal(json_text(block(&r, 0), "thinking"), "");
	assert_memory_equal(json_text(block(&r, 0), "signature"), "sg1.", 4);
	assert_null(strstr(buf_str(&r.stream), "thinking_delta"));
	stop(&r);
	run_with(&r, scene, ",\"thinking\":{\"type\":\"disabled\"}");
	assert_string_equal(json_text(block(&r, 0), "type"), "text");
	assert_null(strstr(buf_str(&r.stream), "\"thinking\""));
	stop(&r);
}

static const char *reason_for(struct arena *a, enum finish finish, const char *sequence)
{
	struct messages_out *o = encoder(a, false, "", NULL);
	messages_out_emit(o, &(struct event){.type = EVENT_TEXT, .text = "x", .len = 1});
	messages_out_emit(o, &(struct event){.type = EVENT_TURN_END, .finish = finish});
	messages_out_emit(o,
		&(struct event){.type = EVENT_DONE, .finish = finish, .stop_sequence = sequence});
	if (sequence)
		assert_string_equal(json_text(messages_out_object(o), "stop_sequence"), sequence);
	return json_text(messages_out_object(o), "stop_reason");
}

static void finishes_are_stop_reasons(void **state)
{
	(void)state;
	struct arena *a = arena_new();
	assert_string_equal(reason_for(a, FINISH_STOP, NULL), "end_turn");
	assert_string_equal(reason_for(a, FINISH_LENGTH, NULL), "max_tokens");
	assert_string_equal(reason_for(a, FINISH_CONTENT_FILTER, NULL), "refusal");
	assert_string_equal(reason_for(a, FINISH_STOP_SEQUENCE, "<<END>>"), "stop_sequence");
	struct run r;
	run(&r, "refusal");
	assert_string_equal(json_text(r.object, "stop_reason"), "refusal");
	assert_string_equal(json_text(json_member(r.object, "stop_details"), "type"), "refusal");
	stop(&r);
	arena_free(a);
}

static void heartbeats_are_pings(void **state)
{
	(void)state;
	struct arena *a = arena_new();
	struct buf b;
	buf_init(&b, 1 << 20);
	const struct writer w = {dialect_write, &b};
	struct dialect_feed f = {.arena = a};
	f.to = (struct sink){messages_out_emit, encoder(a, false, "", &w)};
	dialect_say(&f, EVENT_IDLE, NULL);
	dialect_say(&f, EVENT_IDLE, NULL);
	cJSON *frames = dialect_frames(b.data, b.len, b.len);
	assert_int_equal(cJSON_GetArraySize(frames), 3);
	assert_string_equal(json_text(cJSON_GetArrayItem(frames, 0), "event"), "message_start");
	assert_string_equal(json_text(cJSON_GetArrayItem(frames, 1), "event"), "ping");
	assert_string_equal(json_text(cJSON_GetArrayItem(frames, 2), "event"), "ping");
	cJSON_Delete(frames);
	buf_free(&b);
	arena_free(a);
}

static void usage_counts_cached_tokens_apart(void **state)
{
	(void)state;
	struct arena *a = arena_new();
	struct messages_out *o = encoder(a, false, "", NULL);
	const struct usage u = {.input = 100, .cached = 60, .cache_write = 10, .output = 7};
	messages_out_emit(o, &(struct event){.type = EVENT_DONE, .usage = u});
	const cJSON *usage = json_member(messages_out_object(o), "usage");
	assert_int_equal(json_member(usage, "input_tokens")->valueint, 30);
	assert_int_equal(json_member(usage, "cache_read_input_tokens")->valueint, 60);
	assert_int_equal(json_member(usage, "cache_creation_input_tokens")->valueint, 10);
	assert_int_equal(json_member(usage, "output_tokens")->valueint, 7);
	assert_non_null(json_member(usage, "cache_creation"));
	assert_true(cJSON_IsNull(json_member(usage, "server_tool_use")));
	arena_free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(matches_the_golden_streams),
		cmocka_unit_test(the_object_is_what_clients_make_of_the_stream),
		cmocka_unit_test(streams_split_anywhere_are_read_the_same),
		cmocka_unit_test(server_calls_and_results_come_before_client_calls),
		cmocka_unit_test(a_failure_is_an_error_event_and_the_end),
		cmocka_unit_test(a_call_that_was_not_run_has_a_result_that_says_so),
		cmocka_unit_test(arguments_that_are_no_object_are_wrapped),
		cmocka_unit_test(thinking_is_shown_as_the_client_wants),
		cmocka_unit_test(finishes_are_stop_reasons),
		cmocka_unit_test(heartbeats_are_pings),
		cmocka_unit_test(usage_counts_cached_tokens_apart),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
