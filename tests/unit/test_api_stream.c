/* api/stream: model requests from the wire to a scripted provider and boxd, and back. SPDX-License-Identifier: ISC */
#include "tests/lib/test.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/base/json.h"
#include "sandbox/home/snapshot.h"
#include "sandbox/sys/io.h"
#include "tests/lib/apiworld.h"
#include "tests/lib/boxpeer.h"
#include "tests/lib/chatpeer.h"

static struct chatpeer *chat;
static struct boxpeer *boxes;
static struct conf_provider provider;
static char *models[2];
static char protocol[] = "chat", name[] = "peer", none[] = "", any[] = "*";

/* The provider's port must be known before the application forks, and there must be no thread yet. */
static int setup(void **state)
{
	int rc = apiworld_setup(state);
	struct apiworld *w = *state;

	if (rc < 0)
		return rc;
	chat = chatpeer_listen();
	models[0] = any;
	provider = (struct conf_provider){.name = name,
		.protocol = protocol,
		.base_url = arena_strdup(w->arena, chatpeer_url(chat)),
		.models = models,
		.prefix = none};
	w->conf.providers = &provider;
	apiworld_start(w);
	chatpeer_serve(chat);
	boxes = boxpeer_start(w->conf.boxd);
	return home_global_init();
}

static int teardown(void **state)
{
	int rc = apiworld_teardown(state);

	chatpeer_stop(chat);
	boxpeer_stop(boxes);
	return rc;
}

#define SHELL "\"session_id\":\"s\",\"tools\":[{\"type\":\"openrouter:shell\"}]"

static struct reply responses(struct apiworld *w, const char *more)
{
	return apiworld_ask(w, "POST", "/api/v1/responses", NULL,
		arena_printf(w->arena, "{\"model\":\"m\",\"input\":\"x\"%s," SHELL "}", more));
}

static struct reply messages(struct apiworld *w, const char *more)
{
	return apiworld_ask(w, "POST", "/api/v1/messages", NULL,
		arena_printf(w->arena,
			"{\"model\":\"m\",\"max_tokens\":100,\"messages\":[{\"role\":\"user\","
			"\"content\":\"x\"}]%s," SHELL "}",
			more));
}

static void calls(const char *arguments)
{
	chatpeer_answer(chat);
	chatpeer_call(chat, 0, "call_0", "shell", arguments);
	chatpeer_finish(chat, "tool_calls", 10, 5);
}

static void says(const char *text)
{
	chatpeer_answer(chat);
	chatpeer_text(chat, text);
	chatpeer_finish(chat, "stop", 20, 4);
}

#define STREAM ",\"stream\":true"
#define ECHO   "{\"commands\":[\"echo 5050\"]}"

static void an_answer_comes_whole(void **state)
{
	struct apiworld *w = *state;
	const cJSON *output;
	struct reply r;

	calls(ECHO);
	says("done");
	r = responses(w, "");
	assert_int_equal(r.status, 200);
	assert_string_equal(apiworld_text(w, &r, "status"), "completed");
	output = json_member(apiworld_json(w, &r), "output");
	assert_int_equal(cJSON_GetArraySize(output), 2);
	assert_string_equal(json_text(output->child, "type"), "openrouter:shell");
	assert_string_equal(json_text(output->child, "container_id"), "sess_s");
	assert_non_null(strstr(r.body, "5050\\n"));
	assert_true(strncmp(apiworld_header(w, &r, "x-generation-id"), "gen-", 4) == 0);
}

static void an_answer_is_streamed(void **state)
{
	struct apiworld *w = *state;
	struct reply r;

	calls(ECHO);
	says("done");
	r = messages(w, STREAM);
	assert_int_equal(r.status, 200);
	assert_true(strncmp(apiworld_header(w, &r, "content-type"), "text/event-stream", 17) == 0);
	assert_non_null(apiworld_header(w, &r, "x-generation-id"));
	assert_true(strncmp(r.body, "event: message_start\n", 21) == 0);
	assert_non_null(strstr(r.body, "openrouter_shell_tool_result"));
	assert_non_null(strstr(r.body, "event: message_stop\n"));
}

static void the_container_is_noted(void **state)
{
	struct apiworld *w = *state;
	struct container c;

	calls(ECHO);
	says("done");
	responses(w, ",\"stream\":false");
	assert_int_equal(
		store_container_find(w->store, w->arena, w->one.id, "sess_s", &c, NULL), 0);
	assert_int_equal(c.sleep_after_seconds, 900);
}

static void an_error_before_a_stream_is_a_plain_answer(void **state)
{
	struct apiworld *w = *state;
	struct reply r;

	chatpeer_error(chat, 400, "{\"error\":{\"message\":\"bad temperature\"}}");
	chatpeer_error(chat, 400, "{\"error\":{\"message\":\"bad temperature\"}}");
	r = responses(w, STREAM);
	assert_int_equal(r.status, 400);
	assert_non_null(strstr(apiworld_text(w, &r, "error.message"), "bad temperature"));
	r = messages(w, STREAM);
	assert_int_equal(r.status, 400);
	assert_string_equal(apiworld_text(w, &r, "type"), "error");
	assert_string_equal(apiworld_text(w, &r, "error.type"), "invalid_request_error");
	assert_null(apiworld_header(w, &r, "x-should-retry"));
}

static void a_failure_after_commands_is_not_to_be_retried(void **state)
{
	struct apiworld *w = *state;
	struct reply r;

	calls(ECHO);
	chatpeer_error(chat, 401, "{\"error\":{\"message\":\"no\"}}");
	r = responses(w, "");
	assert_in_range(r.status, 500, 599);
	assert_string_equal(apiworld_header(w, &r, "x-should-retry"), "false");
	assert_non_null(json_member(apiworld_json(w, &r), "error"));
}

static void a_failure_in_mid_stream_is_its_last_event(void **state)
{
	struct apiworld *w = *state;
	struct reply r;

	calls(ECHO);
	chatpeer_error(chat, 401, "{\"error\":{\"message\":\"no\"}}");
	r = responses(w, STREAM);
	assert_int_equal(r.status, 200);
	assert_non_null(strstr(r.body, "event: response.failed\n"));
	assert_null(strstr(r.body, "event: response.completed\n"));
}

static void a_message_that_fails_in_mid_stream_has_no_stop(void **state)
{
	struct apiworld *w = *state;
	struct reply r;

	calls(ECHO);
	chatpeer_error(chat, 401, "{\"error\":{\"message\":\"no\"}}");
	r = messages(w, STREAM);
	assert_int_equal(r.status, 200);
	assert_non_null(strstr(r.body, "event: error\n"));
	assert_null(strstr(r.body, "event: message_stop\n"));
}

static void bad_json_is_refused_in_both_envelopes(void **state)
{
	struct apiworld *w = *state;
	struct reply r = apiworld_ask(w, "POST", "/api/v1/responses", NULL, "{\"model\":");

	assert_int_equal(r.status, 400);
	assert_non_null(strstr(apiworld_text(w, &r, "error.message"), "byte 9"));
	r = apiworld_ask(w, "POST", "/api/v1/messages", NULL, "[}");
	assert_int_equal(r.status, 400);
	assert_string_equal(apiworld_text(w, &r, "error.type"), "invalid_request_error");
}

/* The repository as the box of the peer would have left it: kept is there, gone is not. */
static void commit_kept(struct apiworld *w)
{
	struct home *home;
	struct home_snapshot *s;
	const struct home_commit_info info = {
		.tool = "shell", .email = "s@one", .command = "x", .duration_ms = -1, .time = 1};
	int fd = io_memfd("kept", "x", 1);
	home_id id;

	mkdir(arena_printf(w->arena, "%s/homes", w->conf.state), 0700);
	mkdir(arena_printf(w->arena, "%s/homes/one", w->conf.state), 0700);
	assert_int_equal(home_create(&home,
				 arena_printf(w->arena, "%s/homes/one/sess_s.git", w->conf.state)),
		HOME_OK);
	assert_int_equal(home_snapshot_begin(&s, home), HOME_OK);
	assert_int_equal(home_snapshot_file(s, "kept", 0644, fd, 1), HOME_OK);
	assert_int_equal(home_snapshot_commit(s, &info, id), HOME_OK);
	home_snapshot_free(s);
	home_close(home);
	close(fd);
}

static void a_file_that_is_gone_again_is_not_cited(void **state)
{
	struct apiworld *w = *state;
	const cJSON *files;
	struct reply r;

	commit_kept(w);
	calls("{\"commands\":[\"write gone kept\",\"echo x\"]}");
	says("done");
	r = responses(w, "");
	files = json_member(json_member(apiworld_json(w, &r), "output")->child, "files");
	assert_int_equal(cJSON_GetArraySize(files), 1);
	assert_string_equal(json_text(files->child, "filename"), "kept");
}

static void without_a_repository_nothing_is_left_out(void **state)
{
	struct apiworld *w = *state;
	const cJSON *files;
	struct reply r;

	calls("{\"commands\":[\"write a b\",\"echo x\"]}");
	says("done");
	r = responses(w, "");
	files = json_member(json_member(apiworld_json(w, &r), "output")->child, "files");
	assert_int_equal(cJSON_GetArraySize(files), 2);
}

static void a_client_that_leaves_stops_all(void **state)
{
	struct apiworld *w = *state;
	char log[1024] = "";

	calls("{\"commands\":[\"sleep 15000\",\"echo never\"]}");
	apiworld_begin(w, "POST", "/api/v1/responses", NULL,
		"{\"model\":\"m\",\"input\":\"x\"," SHELL "}");
	for (int i = 0; i < 500 && !strstr(log, "sleep 15000"); i++) {
		usleep(10000);
		boxpeer_log(boxes, log, sizeof(log));
	}
	assert_non_null(strstr(log, "run shell shell"));
	fcgi_close(&w->client);
	w->asked = false;
	for (int i = 0; i < 300 && !strstr(log, "gone sleep 15000"); i++) {
		usleep(10000);
		boxpeer_log(boxes, log, sizeof(log));
	}
	assert_non_null(strstr(log, "gone sleep 15000"));
	assert_null(strstr(log, "never"));
	assert_int_equal(chatpeer_requests(chat), 1);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_answer_comes_whole),
		TEST(an_answer_is_streamed),
		TEST(the_container_is_noted),
		TEST(an_error_before_a_stream_is_a_plain_answer),
		TEST(a_failure_after_commands_is_not_to_be_retried),
		TEST(a_failure_in_mid_stream_is_its_last_event),
		TEST(a_message_that_fails_in_mid_stream_has_no_stop),
		TEST(bad_json_is_refused_in_both_envelopes),
		TEST(a_file_that_is_gone_again_is_not_cited),
		TEST(without_a_repository_nothing_is_left_out),
		TEST(a_client_that_leaves_stops_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
