/* Tests of app/dialect/responses_out. SPDX-License-Identifier: ISC */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/base/json.h"
#include "app/dialect/responses.h"
#include "tests/lib/dialect.h"
#include "tests/lib/test.h"

/* One scene, encoded as a stream and, with the same events, without one. */
struct run {
	struct arena *arena;
	struct buf stream;
	cJSON *frames;
	const cJSON *object; /* of the encoder that did not stream */
};

static struct responses_out *encoder(struct arena *a, const char *extra, const struct writer *w)
{
	struct responses_request *rq = arena_new_of(a, struct responses_request);
	struct err e = {0};
	cJSON *body;
	const char *text =
		arena_printf(a, "{\"model\":\"acme/lumen-9b\",\"input\":\"hi\"%s}", extra);
	assert_int_equal(json_parse(&body, a, text, strlen(text), &e), 0);
	if (responses_decode(rq, a, body, NULL, &e) < 0)
		fail_msg("%s", e.message);
	return responses_out_new(a, rq, w);
}

static void run(struct run *r, const char *name)
{
	const struct dialect_scene *scene = dialect_scene(name);
	r->arena = arena_new();
	buf_init(&r->stream, 1 << 20);
	const struct writer w = {dialect_write, &r->stream};
	struct dialect_feed streamed = {.arena = r->arena}, plain = {.arena = r->arena};
	streamed.to = (struct sink){responses_out_emit, encoder(r->arena, scene->request, &w)};
	plain.to = (struct sink){responses_out_emit, encoder(r->arena, scene->request, NULL)};
	scene->play(&streamed);
	scene->play(&plain);
	assert_int_equal(streamed.rc, 0);
	assert_int_equal(plain.rc, 0);
	r->object = responses_out_object(plain.to.ctx);
	r->frames = dialect_frames(r->stream.data, r->stream.len, r->stream.len);
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
	snprintf(path, sizeof(path), "tests/unit/golden/responses-%s.sse", name);
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
	check_golden("function-call");
	check_golden("reasoning");
	check_golden("shell");
	check_golden("incomplete");
}

static const cJSON *data(const cJSON *frame)
{
	return json_member(frame, "data");
}

/* "type" of every event, in order, as one line. */
static const char *types(const struct run *r)
{
	const cJSON *f;
	const char *line = "";
	cJSON_ArrayForEach(f, r->frames)
	{
		const char *type = cJSON_IsObject(data(f)) ? json_text(data(f), "type") : "[DONE]";
		if (strncmp(type, "response.", 9) == 0)
			type += 9;
		line = arena_printf(r->arena, "%s%s ", line, type);
	}
	return line;
}

static const cJSON *final_response(const struct run *r)
{
	int n = cJSON_GetArraySize(r->frames);
	return json_member(data(cJSON_GetArrayItem(r->frames, n - 2)), "response");
}

/* Every event of one item names it by the index and id under which it was added. */
static void check_event(const cJSON *d, const char **ids, int *n)
{
	const char *type = json_text(d, "type");
	const char *id = json_text(json_member(d, "item"), "id");
	const cJSON *index = json_member(d, "output_index");
	assert_null(json_member(d, "error"));
	if (!index)
		return;
	if (strcmp(type, "response.output_item.added") == 0) {
		assert_int_equal(index->valueint, *n);
		for (int i = 0; i < *n; i++)
			assert_string_not_equal(ids[i], id);
		ids[(*n)++] = id;
	}
	assert_true(index->valueint < *n);
	assert_string_equal(id ? id : json_text(d, "item_id"), ids[index->valueint]);
}

static void every_stream_obeys_the_rules(void **state)
{
	(void)state;
	for (const struct dialect_scene *s = dialect_scenes; s->name; s++) {
		struct run r;
		const cJSON *f;
		const char *ids[64];
		int sequence = 0, items = 0, done = 0;
		run(&r, s->name);
		cJSON_ArrayForEach(f, r.frames)
		{
			const cJSON *d = data(f);
			assert_int_equal(done, 0);
			if (cJSON_IsString(d)) {
				assert_string_equal(d->valuestring, "[DONE]");
				done++;
				continue;
			}
			assert_string_equal(json_text(f, "event"), json_text(d, "type"));
			assert_int_equal(json_member(d, "sequence_number")->valueint, sequence++);
			check_event(d, ids, &items);
		}
		assert_int_equal(done, 1);
		const cJSON *output = json_member(final_response(&r), "output");
		assert_int_equal(cJSON_GetArraySize(output), items);
		cJSON_ArrayForEach(f, output)
			assert_string_not_equal(json_text(f, "status"), "in_progress");
		stop(&r);
	}
}

static void the_object_is_the_last_response_of_the_stream(void **state)
{
	(void)state;
	for (const struct dialect_scene *s = dialect_scenes; s->name; s++) {
		struct run r;
		run(&r, s->name);
		const char *wrong = dialect_differ(final_response(&r), r.object);
		if (!wrong)
			wrong = dialect_differ(r.object, final_response(&r));
		if (wrong)
			fail_msg("%s: %s", s->name, wrong);
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

static void client_calls_follow_the_server_calls_of_their_turn(void **state)
{
	(void)state;
	struct run r;
	run(&r, "mixed");
	assert_string_equal(types(&r),
		"created in_progress output_item.added output_item.added output_item.done "
		"output_item.done output_item.added function_call_arguments.delta "
		"function_call_arguments.done output_item.done completed [DONE] ");
	const cJSON *output = json_member(r.object, "output");
	const cJSON *ran = cJSON_GetArrayItem(output, 0), *not = cJSON_GetArrayItem(output, 1);
	assert_string_equal(json_text(ran, "type"), "openrouter:shell");
	assert_string_equal(json_text(ran, "status"), "completed");
	assert_string_equal(json_text(not, "status"), "failed");
	assert_string_equal(
		json_text(not, "error"), "Container limit reached: 20 containers are running.");
	assert_null(json_member(not, "output"));
	assert_string_equal(json_text(cJSON_GetArrayItem(output, 2), "call_id"), "call_ticket0");
	stop(&r);
}

static void a_failure_closes_what_is_open(void **state)
{
	(void)state;
	struct run r;
	run(&r, "failed");
	assert_string_equal(types(&r),
		"created in_progress output_item.added content_part.added output_text.delta "
		"output_text.done content_part.done output_item.done output_item.added "
		"output_item.done failed [DONE] ");
	const cJSON *output = json_member(r.object, "output");
	assert_int_equal(cJSON_GetArraySize(output), 2);
	assert_string_equal(json_text(cJSON_GetArrayItem(output, 1), "status"), "incomplete");
	assert_string_equal(json_text(r.object, "status"), "failed");
	assert_string_equal(json_text(r.object, "error_type"), "provider_overloaded");
	const cJSON *error = json_member(r.object, "error");
	assert_string_equal(json_text(error, "code"), "server_error");
	assert_string_equal(json_text(error, "message"), "Upstream is overloaded.");
	assert_int_equal(
		json_member(json_member(r.object, "usage"), "total_tokens")->valueint, 102);
	stop(&r);
}

static void inner_errors_are_not_told(void **state)
{
	(void)state;
	struct arena *a = arena_new();
	struct dialect_feed f = {.arena = a};
	f.to = (struct sink){responses_out_emit, encoder(a, "", NULL)};
	dialect_failed(&f, ERR_SERVER, "/var/lib/sandgate/x: no space");
	const cJSON *error = json_member(responses_out_object(f.to.ctx), "error");
	assert_string_equal(json_text(error, "message"), "Internal error");
	arena_free(a);
}

static void a_refusal_is_a_part_of_its_own_kind(void **state)
{
	(void)state;
	struct run r;
	run(&r, "refusal");
	assert_string_equal(types(&r),
		"created in_progress output_item.added content_part.added refusal.delta "
		"refusal.delta refusal.done content_part.done output_item.done completed [DONE] ");
	const cJSON *item = cJSON_GetArrayItem(json_member(r.object, "output"), 0);
	const cJSON *part = cJSON_GetArrayItem(json_member(item, "content"), 0);
	assert_string_equal(json_text(part, "refusal"), "I cannot help with that.");
	stop(&r);
}

static void heartbeats_are_a_comment_and_an_event(void **state)
{
	(void)state;
	struct arena *a = arena_new();
	struct buf b;
	buf_init(&b, 1 << 20);
	const struct writer w = {dialect_write, &b};
	struct dialect_feed f = {.arena = a};
	f.to = (struct sink){responses_out_emit, encoder(a, "", &w)};
	dialect_say(&f, EVENT_IDLE, NULL);
	assert_non_null(strstr(buf_str(&b), "event: response.created\n"));
	assert_non_null(strstr(buf_str(&b),
		"\n\n: keepalive\n\nevent: keepalive\n"
		"data: {\"type\":\"keepalive\",\"sequence_number\":2}\n\n"));
	buf_free(&b);
	arena_free(a);
}

static void the_request_is_echoed_without_secrets(void **state)
{
	(void)state;
	struct arena *a = arena_new();
	struct responses_out *o = encoder(a,
		",\"instructions\":\"Be "
		"brief.\",\"metadata\":{\"a\":\"b\"},\"max_output_tokens\":9,"
		"\"parallel_tool_calls\":false,\"tool_choice\":\"required\",\"tools\":["
		"{\"type\":\"function\",\"name\":\"f\"},"
		"{\"type\":\"openrouter:shell\",\"parameters\":{\"environment\":{\"type\":"
		"\"container_auto\",\"network_policy\":{\"type\":\"disabled\",\"domain_secrets\":"
		"[{\"value\":\"hush\"}]}}}}],\"text\":{\"format\":{\"type\":\"json_object\"}}",
		NULL);
	char *text = json_print(a, responses_out_object(o));
	assert_null(strstr(text, "hush"));
	assert_non_null(strstr(text, "\"instructions\":\"Be brief.\""));
	assert_non_null(strstr(text, "\"metadata\":{\"a\":\"b\"}"));
	assert_non_null(strstr(text, "\"max_output_tokens\":9"));
	assert_non_null(strstr(text, "\"parallel_tool_calls\":false"));
	assert_non_null(strstr(text, "\"tool_choice\":\"required\""));
	assert_non_null(
		strstr(text, "\"format\":{\"type\":\"json_object\"},\"verbosity\":\"medium\""));
	assert_non_null(strstr(text,
		"{\"type\":\"function\",\"name\":\"f\",\"parameters\":null,\"strict\":null}"));
	assert_non_null(strstr(text, "\"store\":false"));
	arena_free(a);
}

static int refuse(void *ctx, const char *p, size_t n)
{
	(void)ctx;
	(void)p;
	(void)n;
	return ERR_CLIENT_GONE;
}

static void the_writers_error_is_returned(void **state)
{
	(void)state;
	struct arena *a = arena_new();
	const struct writer w = {refuse, NULL};
	struct dialect_feed f = {.arena = a};
	f.to = (struct sink){responses_out_emit, encoder(a, "", &w)};
	dialect_say(&f, EVENT_TEXT, "x");
	assert_int_equal(f.rc, ERR_CLIENT_GONE);
	arena_free(a);
}

static void mended_arguments_replace_their_pieces(void **state)
{
	(void)state;
	struct arena *a = arena_new();
	struct buf b;
	buf_init(&b, 1 << 20);
	const struct writer w = {dialect_write, &b};
	struct dialect_feed f = {.arena = a};
	struct call c = {TOOL_CLIENT, "call_1", "f", "{}"};
	f.to = (struct sink){responses_out_emit, encoder(a, "", &w)};
	dialect_call_event(&f, EVENT_CALL_START, &c, NULL);
	dialect_call_event(&f, EVENT_CALL_ARGS, &c, "{\"a\":[1");
	c.arguments = "{\"a\":[1]}";
	dialect_call_event(&f, EVENT_CALL_END, &c, NULL);
	dialect_turn_end(&f, FINISH_CALLS);
	dialect_done(&f, FINISH_CALLS);
	assert_non_null(strstr(buf_str(&b), "\"delta\":\"]}\""));
	const cJSON *item =
		cJSON_GetArrayItem(json_member(responses_out_object(f.to.ctx), "output"), 0);
	assert_string_equal(json_text(item, "arguments"), "{\"a\":[1]}");
	assert_string_equal(json_text(item, "status"), "completed");
	buf_free(&b);
	arena_free(a);
}

static void a_model_that_never_stops_is_stopped(void **state)
{
	(void)state;
	struct arena *a = arena_new();
	struct dialect_feed f = {.arena = a};
	f.to = (struct sink){responses_out_emit, encoder(a, "", NULL)};
	for (int i = 0; i < 11000 && f.rc == 0; i++)
		dialect_say(&f, i % 2 ? EVENT_TEXT : EVENT_REASONING, "x");
	assert_int_equal(f.rc, ERR_PROVIDER_UNAVAILABLE);
	arena_free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(matches_the_golden_streams),
		cmocka_unit_test(every_stream_obeys_the_rules),
		cmocka_unit_test(the_object_is_the_last_response_of_the_stream),
		cmocka_unit_test(streams_split_anywhere_are_read_the_same),
		cmocka_unit_test(client_calls_follow_the_server_calls_of_their_turn),
		cmocka_unit_test(a_failure_closes_what_is_open),
		cmocka_unit_test(inner_errors_are_not_told),
		cmocka_unit_test(a_refusal_is_a_part_of_its_own_kind),
		cmocka_unit_test(heartbeats_are_a_comment_and_an_event),
		cmocka_unit_test(the_request_is_echoed_without_secrets),
		cmocka_unit_test(the_writers_error_is_returned),
		cmocka_unit_test(mended_arguments_replace_their_pieces),
		cmocka_unit_test(a_model_that_never_stops_is_stopped),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
