/* test_exec: POST …/exec, with a peer that only speaks boxd's protocol. SPDX-License-Identifier: ISC */
#include "tests/lib/test.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "app/base/json.h"
#include "sandbox/sys/io.h"
#include "tests/lib/apiworld.h"
#include "tests/lib/boxpeer.h"

static struct boxpeer *peer;

static int teardown(void **state)
{
	if (peer)
		boxpeer_stop(peer);
	peer = NULL;
	return apiworld_teardown(state);
}

/* The peer has threads, so it comes after the fork that is the application. */
static void start(struct apiworld *w)
{
	apiworld_start(w);
	if (!peer)
		peer = boxpeer_start(w->conf.boxd);
}

static struct reply exec_in(struct apiworld *w, const char *container, const char *body)
{
	start(w);
	return apiworld_ask(w, "POST",
		arena_printf(w->arena, "/api/v1/containers/%s/exec", container), NULL, body);
}

/* What the peer was asked. */
static const char *asked(struct apiworld *w)
{
	char log[8192];

	boxpeer_log(peer, log, sizeof(log));
	return arena_strdup(w->arena, log);
}

static const cJSON *output(struct apiworld *w, const struct reply *r, int i)
{
	const cJSON *v = cJSON_GetArrayItem(json_member(apiworld_json(w, r), "output"), i);

	if (!v)
		fail_msg("no output %d: %s", i, r->body);
	return v;
}

static const char *printed(struct apiworld *w, const cJSON *o, const char *key)
{
	return json_print(w->arena, json_member(o, key));
}

static void the_answer_has_the_documented_shape(void **state)
{
	struct apiworld *w = *state;
	struct reply r = exec_in(w, "c-1", "{\"command\":\"echo hi\"}");

	assert_int_equal(r.status, 200);
	assert_string_equal(r.body,
		"{\"object\":\"container.exec\",\"container_id\":\"c-1\",\"started\":\"new\","
		"\"output\":[{\"stdout\":\"hi\\n\",\"stderr\":\"\","
		"\"outcome\":{\"type\":\"exit\",\"exit_code\":0},\"duration_ms\":1.5,"
		"\"omitted\":{\"stdout\":0,\"stderr\":0},\"background_output_open\":false,"
		"\"commit\":null}],\"files\":[],\"skipped\":[],"
		"\"usage\":{\"sandbox_seconds\":30,\"cost\":0.003}}");
}

static void fields_reach_the_box(void **state)
{
	struct apiworld *w = *state;

	exec_in(w, "c",
		"{\"commands\":[\"echo a\",\"echo b\"],\"tool\":\"bash\",\"timeout_ms\":5000,"
		"\"max_output_length\":99,\"sleep_after_seconds\":60}");
	assert_string_equal(asked(w),
		"lease one c\n"
		"run bash exec 5000 99 60 echo a\n"
		"run bash exec 5000 99 60 echo b\n");
}

static void defaults_are_the_operators(void **state)
{
	struct apiworld *w = *state;

	w->conf.command_timeout_ms_default = 1111;
	w->conf.output_chars_default = 222;
	w->conf.sleep_after_seconds_default = 33;
	exec_in(w, "c", "{\"command\":\"exit 0\"}");
	assert_string_equal(asked(w), "lease one c\nrun shell exec 1111 222 33 exit 0\n");
}

static void every_outcome_has_its_name(void **state)
{
	struct apiworld *w = *state;
	struct reply r = exec_in(w, "c",
		"{\"commands\":[\"exit 3\",\"signal 9\",\"signal "
		"15\",\"timeout\",\"memory\",\"signal 40\"]}");

	assert_string_equal(
		printed(w, output(w, &r, 0), "outcome"), "{\"type\":\"exit\",\"exit_code\":3}");
	assert_string_equal(printed(w, output(w, &r, 1), "outcome"),
		"{\"type\":\"signal\",\"signal\":\"SIGKILL\"}");
	assert_string_equal(printed(w, output(w, &r, 2), "outcome"),
		"{\"type\":\"signal\",\"signal\":\"SIGTERM\"}");
	assert_string_equal(printed(w, output(w, &r, 3), "outcome"), "{\"type\":\"timeout\"}");
	assert_string_equal(
		printed(w, output(w, &r, 4), "outcome"), "{\"type\":\"out_of_memory\"}");
	assert_string_equal(printed(w, output(w, &r, 5), "outcome"),
		"{\"type\":\"signal\",\"signal\":\"SIGRTMIN+6\"}");
}

static void a_failure_does_not_stop_what_follows(void **state)
{
	struct apiworld *w = *state;
	struct reply r = exec_in(
		w, "c", "{\"commands\":[\"exit 1\",\"timeout\",\"echo still\"],\"tool\":\"bash\"}");

	assert_int_equal(r.status, 200);
	assert_string_equal(json_text(output(w, &r, 2), "stdout"), "still\n");
}

static void files_are_cited_newest_first_and_once(void **state)
{
	struct apiworld *w = *state;
	struct reply r = exec_in(w, "c", "{\"commands\":[\"write a b\",\"write c a\"]}");
	const cJSON *files = json_member(apiworld_json(w, &r), "files");

	assert_int_equal(cJSON_GetArraySize(files), 3);
	assert_string_equal(json_text(cJSON_GetArrayItem(files, 0), "filename"), "c");
	assert_string_equal(json_text(cJSON_GetArrayItem(files, 1), "filename"), "a");
	assert_string_equal(json_text(cJSON_GetArrayItem(files, 2), "filename"), "b");
	assert_string_equal(
		json_text(cJSON_GetArrayItem(files, 2), "type"), "container_file_citation");
	assert_string_equal(json_text(cJSON_GetArrayItem(files, 2), "file_id"), "cfile_Yg");
	assert_string_equal(
		json_text(output(w, &r, 0), "commit"), "0123456789012345678901234567890123456789");
}

static void ten_files_are_the_most(void **state)
{
	struct apiworld *w = *state;
	struct reply r =
		exec_in(w, "c", "{\"commands\":[\"write 1 2 3 4 5 6\",\"write 7 8 9 10 11 12\"]}");
	const cJSON *files = json_member(apiworld_json(w, &r), "files");

	assert_int_equal(cJSON_GetArraySize(files), 10);
	assert_string_equal(json_text(cJSON_GetArrayItem(files, 0), "filename"), "7");
	assert_string_equal(json_text(cJSON_GetArrayItem(files, 9), "filename"), "4");
}

static void a_warm_container_costs_its_time_only(void **state)
{
	struct apiworld *w = *state;
	struct reply r;
	const cJSON *usage;

	exec_in(w, "c", "{\"command\":\"exit 0\"}");
	r = exec_in(w, "c", "{\"command\":\"exit 0\"}");
	usage = json_member(apiworld_json(w, &r), "usage");
	assert_string_equal(apiworld_text(w, &r, "started"), "warm");
	assert_int_equal(cJSON_GetNumberValue(json_member(usage, "sandbox_seconds")), 1);
	assert_true(cJSON_GetNumberValue(json_member(usage, "cost")) < 0.00011);
}

static void a_run_is_noted_in_the_database(void **state)
{
	struct apiworld *w = *state;
	struct container c;

	exec_in(w, "noted", "{\"command\":\"exit 0\",\"sleep_after_seconds\":77}");
	assert_int_equal(store_container_find(w->store, w->arena, w->one.id, "noted", &c, NULL), 0);
	assert_int_equal(c.sleep_after_seconds, 77);
	assert_int_equal(store_container_find(w->store, w->arena, w->two.id, "noted", &c, NULL),
		ERR_NOT_FOUND);
}

static void a_key_runs_in_its_own_workspace(void **state)
{
	struct apiworld *w = *state;

	start(w);
	apiworld_ask(w, "POST", "/api/v1/containers/c/exec",
		arena_printf(w->arena, "authorization: Bearer %s", w->key_two),
		"{\"command\":\"exit 0\"}");
	assert_memory_equal(asked(w), "lease two c\n", 12);
}

static void a_bad_body_reaches_no_box(void **state)
{
	struct apiworld *w = *state;
	struct reply r = exec_in(w, "c", "{\"command\":\"exit 0\",\"timeout_ms\":0}");

	assert_int_equal(r.status, 400);
	assert_string_equal(apiworld_text(w, &r, "error.param"), "timeout_ms");
	assert_string_equal(
		apiworld_text(w, &r, "error.message"), "timeout_ms: expected a positive integer");
	r = exec_in(w, "no%20good", "{\"command\":\"exit 0\"}");
	assert_int_equal(r.status, 400);
	assert_string_equal(apiworld_text(w, &r, "error.param"), "container_id");
	assert_string_equal(asked(w), "");
}

static void a_limit_is_a_429(void **state)
{
	struct apiworld *w = *state;
	struct reply r = exec_in(w, "full", "{\"command\":\"exit 0\"}");

	assert_int_equal(r.status, 429);
	assert_non_null(strstr(apiworld_text(w, &r, "error.message"), "limit"));
	assert_null(apiworld_header(w, &r, "x-should-retry"));
}

static void a_lost_box_is_an_error_that_is_not_retried(void **state)
{
	struct apiworld *w = *state;
	struct reply r = exec_in(w, "c", "{\"commands\":[\"echo a\",\"lose\"]}");

	assert_int_equal(r.status, 500);
	assert_string_equal(apiworld_header(w, &r, "x-should-retry"), "false");
}

static void a_client_that_leaves_ends_its_command(void **state)
{
	struct apiworld *w = *state;
	int64_t until = io_now_ms() + 5000;

	start(w);
	apiworld_begin(w, "POST", "/api/v1/containers/c/exec", NULL,
		"{\"commands\":[\"sleep 20000\",\"echo never\"]}");
	while (!strstr(asked(w), "run shell") && io_now_ms() < until)
		usleep(10000);
	fcgi_close(&w->client);
	w->asked = false;
	while (!strstr(asked(w), "gone") && io_now_ms() < until)
		usleep(10000);
	assert_non_null(strstr(asked(w), "gone sleep 20000\n"));
	assert_null(strstr(asked(w), "never"));
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, apiworld_setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_answer_has_the_documented_shape),
		TEST(fields_reach_the_box),
		TEST(defaults_are_the_operators),
		TEST(every_outcome_has_its_name),
		TEST(a_failure_does_not_stop_what_follows),
		TEST(files_are_cited_newest_first_and_once),
		TEST(ten_files_are_the_most),
		TEST(a_warm_container_costs_its_time_only),
		TEST(a_run_is_noted_in_the_database),
		TEST(a_key_runs_in_its_own_workspace),
		TEST(a_bad_body_reaches_no_box),
		TEST(a_limit_is_a_429),
		TEST(a_lost_box_is_an_error_that_is_not_retried),
		TEST(a_client_that_leaves_ends_its_command),
	};

	return cmocka_run_group_tests_name("exec", tests, NULL, NULL);
}
