/* Tests of app/tool: running calls on a boxd that only speaks the protocol. SPDX-License-Identifier: ISC */
#include "tests/lib/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/base/json.h"
#include "app/core/result.h"
#include "app/tool/tool.h"
#include "sandbox/sys/io.h"
#include "tests/lib/boxpeer.h"

struct fixture {
	struct arena *arena;
	struct boxpeer *boxes;
	struct conf conf;
	struct tool_context tools;
	struct call call;
	char path[128];
};

static int no_heartbeat(void *ctx)
{
	(void)ctx;
	return 0;
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	if (!f)
		return -1;
	f->arena = arena_new();
	snprintf(f->path, sizeof(f->path), "%s/boxd.sock", test_tmp());
	f->boxes = boxpeer_start(f->path);
	f->conf = (struct conf){
		.boxd = f->path,
		.command_timeout_ms_default = 120000,
		.command_timeout_ms_max = 300000,
		.output_chars_default = 16384,
		.output_chars_max = 65536,
		.heartbeat_ms = 1000,
		.sandbox_price_per_second = 0.0001,
		.sandbox_minimum_seconds = 30,
	};
	f->tools = (struct tool_context){
		.arena = f->arena,
		.conf = &f->conf,
		.workspace = "main",
		.request_id = "req_1",
		.container_id = "sess_a",
		.sleep_after_seconds = 900,
		.client_fd = -1,
		.wait = no_heartbeat,
	};
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	arena_free(f->arena);
	boxpeer_stop(f->boxes);
	test_tmp_remove();
	free(f);
	return 0;
}

static struct result *run(struct fixture *f, enum tool_kind kind, const char *arguments)
{
	struct call *call = arena_new_of(f->arena, struct call);
	struct result *r = NULL;
	struct err e;

	*call = (struct call){.tool = kind, .id = "c", .name = "x", .arguments = arguments};
	assert_int_equal(tool_run(&f->tools, call, &r, &e), 0);
	assert_non_null(r);
	assert_ptr_equal(r->call, call);
	return r;
}

static void cites(const struct result *r, const char *expected)
{
	char list[1024] = "";

	for (const struct citation *c = r->files; c; c = c->next)
		snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s ", c->filename);
	assert_string_equal(list, expected);
}

static void a_shell_call_gives_all_outputs(void **state)
{
	struct fixture *f = *state;
	const struct result *r = run(f, TOOL_SHELL,
		"{\"commands\":[\"echo a\",\"exit "
		"7\"],\"timeout_ms\":999999,\"max_output_length\":10}");

	assert_null(r->error);
	assert_string_equal(r->container_id, "sess_a");
	assert_int_equal(r->ncommands, 2);
	assert_true(r->timeout_ms == 999999);
	assert_true(r->max_output_length == 10);
	assert_string_equal(r->text,
		"{\"output\":[{\"stdout\":\"a\\n\",\"stderr\":\"\",\"outcome\":{\"type\":\"exit\","
		"\"exit_code\":0}},"
		"{\"stdout\":\"\",\"stderr\":\"\",\"outcome\":{\"type\":\"exit\",\"exit_code\":7}}]"
		"}");
}

static void citations_are_the_newest_first_over_the_whole_call(void **state)
{
	struct fixture *f = *state;

	cites(run(f, TOOL_SHELL, "{\"commands\":[\"write a b\",\"echo x\",\"write c\"]}"),
		"c a b ");
}

static void a_file_written_twice_is_cited_once(void **state)
{
	struct fixture *f = *state;

	cites(run(f, TOOL_SHELL, "{\"commands\":[\"write a b\",\"write b\"]}"), "b a ");
}

static void at_most_ten_files_are_cited(void **state)
{
	struct fixture *f = *state;

	cites(run(f, TOOL_SHELL, "{\"commands\":[\"write 1 2 3 4 5 6\",\"write a b c d e f\"]}"),
		"a b c d e f 1 2 3 4 ");
}

static void the_first_call_is_cold_the_second_warm(void **state)
{
	struct fixture *f = *state;

	assert_true(run(f, TOOL_SHELL, "{\"commands\":[\"echo a\"]}")->cold);
	assert_false(run(f, TOOL_SHELL, "{\"commands\":[\"echo a\"]}")->cold);
	assert_true(f->tools.cold);
}

static void a_cold_request_pays_the_minimum_a_warm_one_its_seconds(void **state)
{
	struct fixture *f = *state;
	double seconds;

	run(f, TOOL_SHELL, "{\"commands\":[\"echo a\"]}");
	assert_float_equal(tool_cost(&f->tools, &seconds), 0.003, 1e-9);
	assert_float_equal(seconds, 30, 0);
	f->tools.cold = false;
	assert_float_equal(tool_cost(&f->tools, &seconds), 0.0001, 1e-9);
	f->tools.first_ms = io_now_ms() - 1001;
	tool_cost(&f->tools, &seconds);
	assert_float_equal(seconds, 2, 0);
	f->tools.first_ms = io_now_ms() - 100500;
	f->tools.cold = true;
	assert_float_equal(tool_cost(&f->tools, NULL), 0.0101, 1e-9);
}

static void refused_arguments_reach_no_box(void **state)
{
	struct fixture *f = *state;
	const struct result *r = run(f, TOOL_SHELL, "{\"commands\":[\"ls\"");
	char log[256];

	assert_non_null(r->error);
	assert_null(r->container_id);
	assert_null(r->outputs);
	boxpeer_log(f->boxes, log, sizeof(log));
	assert_string_equal(log, "");
	assert_true(f->tools.first_ms == 0);
}

static void a_failed_call_still_says_what_was_asked(void **state)
{
	struct fixture *f = *state;
	const struct result *r;
	cJSON *action;

	f->tools.container_id = "full";
	r = run(f, TOOL_SHELL, "{\"commands\":[\"ls\"]}");
	assert_non_null(strstr(r->error, "limit"));
	assert_null(r->container_id);
	action = result_action(r);
	assert_string_equal(json_member(action, "commands")->child->valuestring, "ls");
	cJSON_Delete(action);
	assert_true(strncmp(r->text, "{\"error\":\"", 10) == 0);
	assert_true(tool_cost(&f->tools, NULL) == 0);
}

static void a_command_that_could_not_start_is_an_error(void **state)
{
	struct fixture *f = *state;
	const struct result *r = run(f, TOOL_SHELL, "{\"commands\":[\"break\"]}");

	assert_non_null(strstr(r->error, "could not start"));
}

static void a_restart_alone_says_so(void **state)
{
	struct fixture *f = *state;
	const struct result *r = run(f, TOOL_BASH, "{\"restart\":true}");
	cJSON *v = result_bash(r);

	assert_true(strncmp(r->container_id, "sess_a-r", 8) == 0);
	assert_string_equal(r->container_id, f->tools.container_id);
	assert_string_equal(json_text(v, "command"), "");
	assert_non_null(strstr(json_text(v, "stdout"), "new container"));
	assert_int_equal(json_member(v, "exitCode")->valueint, 0);
	cJSON_Delete(v);
}

static void a_restart_with_a_command_runs_it_there(void **state)
{
	struct fixture *f = *state;
	const struct result *r = run(f, TOOL_BASH, "{\"restart\":true,\"command\":\"exit 5\"}");
	char log[256];

	boxpeer_log(f->boxes, log, sizeof(log));
	assert_non_null(strstr(log, r->container_id));
	assert_string_equal(
		r->text, "{\"command\":\"exit 5\",\"stdout\":\"\",\"stderr\":\"\",\"exitCode\":5}");
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_shell_call_gives_all_outputs),
		TEST(citations_are_the_newest_first_over_the_whole_call),
		TEST(a_file_written_twice_is_cited_once),
		TEST(at_most_ten_files_are_cited),
		TEST(the_first_call_is_cold_the_second_warm),
		TEST(a_cold_request_pays_the_minimum_a_warm_one_its_seconds),
		TEST(refused_arguments_reach_no_box),
		TEST(a_failed_call_still_says_what_was_asked),
		TEST(a_command_that_could_not_start_is_an_error),
		TEST(a_restart_alone_says_so),
		TEST(a_restart_with_a_command_runs_it_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
