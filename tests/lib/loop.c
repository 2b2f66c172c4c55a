/* loop: what the tests of the agent loop share. SPDX-License-Identifier: ISC */
#include "tests/lib/loop.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/upstream/upstream.h"
#include "sandbox/sys/log.h"

static const char *const finish_names[] = {
	"stop", "calls", "length", "content_filter", "stop_sequence"};

/* -- recording ------------------------------------------------------------------ */

static void record(struct world *w, const struct event *ev)
{
	switch (ev->type) {
	case EVENT_IDLE:
		w->idles++;
		break;
	case EVENT_TEXT:
		buf_printf(&w->seen, "text %s\n", ev->text);
		break;
	case EVENT_REFUSAL:
		buf_printf(&w->seen, "refusal %s\n", ev->text);
		break;
	case EVENT_REASONING:
		buf_printf(&w->seen, "reasoning %s\n", ev->text);
		break;
	case EVENT_CALL_START:
		snprintf(w->ids + strlen(w->ids), sizeof(w->ids) - strlen(w->ids), "%s ",
			ev->call->id);
		buf_printf(&w->seen, "start %s %d\n", ev->call->name, ev->call->tool);
		break;
	case EVENT_CALL_ARGS:
		break;
	case EVENT_CALL_END:
		buf_printf(&w->seen, "end %s %s\n", ev->call->name, ev->call->arguments);
		break;
	case EVENT_TURN_END:
		buf_printf(&w->seen, "turn %s\n", finish_names[ev->finish]);
		break;
	case EVENT_RUNNING:
		buf_printf(&w->seen, "running %s\n", ev->call->name);
		break;
	case EVENT_RESULT:
		buf_printf(&w->seen, "result %s\n", ev->result->text);
		break;
	case EVENT_DONE:
		w->usage = ev->usage;
		buf_printf(&w->seen, "done %s\n", finish_names[ev->finish]);
		break;
	case EVENT_FAILED:
		w->usage = ev->usage;
		w->err = *ev->err;
		buf_puts(&w->seen, "failed\n");
		break;
	case EVENT__MAX:
		fail();
	}
}

static int on_event(void *ctx, const struct event *ev)
{
	struct world *w = ctx;

	if ((int)ev->type == w->gone_at)
		return ERR_CLIENT_GONE;
	record(w, ev);
	return 0;
}

static int on_used(void *ctx, const char *container_id)
{
	struct world *w = ctx;

	assert_non_null(container_id);
	w->used++;
	return 0;
}

/* -- the world of a test --------------------------------------------------------- */

static char any[] = "*", none[] = "", chat[] = "chat", provider_name[] = "peer", key[] = "k";
static char socket_path[128], url[128];

static void make_conf(struct world *w)
{
	snprintf(socket_path, sizeof(socket_path), "%s/boxd.sock", test_tmp());
	snprintf(url, sizeof(url), "%s", chatpeer_url(w->chat));
	w->models[0] = any;
	w->provider = (struct conf_provider){.name = provider_name,
		.protocol = chat,
		.base_url = url,
		.api_key = key,
		.models = w->models,
		.prefix = none};
	w->conf = (struct conf){
		.boxd = socket_path,
		.command_timeout_ms_default = 120000,
		.command_timeout_ms_max = 300000,
		.output_chars_default = 16384,
		.output_chars_max = 65536,
		.sleep_after_seconds_default = 900,
		.sleep_after_seconds_max = 14400,
		.max_tool_calls = 30,
		.upstream_connect_timeout_ms = 2000,
		.upstream_idle_timeout_ms = 10000,
		.upstream_total_timeout_ms = 20000,
		.heartbeat_ms = 50,
		.sandbox_price_per_second = 0.0001,
		.sandbox_minimum_seconds = 30,
		.providers = &w->provider,
	};
}

static void make_turn(struct world *w)
{
	w->turn = (struct turn){
		.arena = w->arena,
		.model = "m",
		.parallel_tool_calls = -1,
		.max_tokens = -1,
		.temperature = NAN,
		.top_p = NAN,
		.top_k = -1,
		.presence_penalty = NAN,
		.frequency_penalty = NAN,
		.max_tool_calls = -1,
		.environment = {.present = true, .session_key = "s1"},
	};
	items_init(&w->turn.items);
	items_add_text(w->arena, &w->turn.items, ROLE_USER, "do it");
	w->shell = (struct tool){.kind = TOOL_SHELL, .name = "shell", .strict = -1};
	w->bash = (struct tool){.kind = TOOL_BASH, .name = "bash", .strict = -1};
	w->client = (struct tool){.name = "weather",
		.parameters = "{\"type\":\"object\",\"properties\":{}}",
		.strict = -1};
	w->turn.tools = &w->shell;
	w->shell.next = &w->bash;
	w->bash.next = &w->client;
}

int loop_setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	if (!w)
		return -1;
	w->arena = arena_new();
	w->chat = chatpeer_start();
	make_conf(w);
	w->boxes = boxpeer_start(socket_path);
	make_turn(w);
	w->agent = (struct agent){.arena = w->arena,
		.conf = &w->conf,
		.workspace = "main",
		.request_id = "req_1",
		.client_fd = -1,
		.used = on_used,
		.used_ctx = w};
	w->gone_at = -1;
	buf_init(&w->seen, 1 << 20);
	*state = w;
	return 0;
}

int loop_teardown(void **state)
{
	struct world *w = *state;

	/* The arena first: its end closes the leases. */
	arena_free(w->arena);
	chatpeer_stop(w->chat);
	boxpeer_stop(w->boxes);
	test_tmp_remove();
	buf_free(&w->seen);
	free(w);
	return 0;
}

int go(struct world *w)
{
	const struct sink s = {on_event, w};

	return agent_run(&w->agent, &w->turn, &s, &w->err);
}

void saw(const struct world *w, const char *expected)
{
	assert_string_equal(buf_str(&w->seen), expected);
}

const char *asked(struct world *w)
{
	boxpeer_log(w->boxes, w->log, sizeof(w->log));
	return w->log;
}

const cJSON *request(struct world *w, size_t k)
{
	const char *text = chatpeer_request(w->chat, k);
	cJSON *v;

	assert_non_null(text);
	assert_int_equal(json_parse(&v, w->arena, text, strlen(text), NULL), 0);
	return v;
}

void answers_text(struct world *w, const char *text, const char *finish, int in, int out)
{
	chatpeer_answer(w->chat);
	chatpeer_text(w->chat, text);
	chatpeer_finish(w->chat, finish, in, out);
}

void answers_call(struct world *w, const char *name, const char *arguments)
{
	chatpeer_answer(w->chat);
	chatpeer_call(w->chat, 0, "call_0", name, arguments);
	chatpeer_finish(w->chat, "tool_calls", 10, 5);
}

int loop_once(void **state)
{
	(void)state;
	log_open("test", LOG_ERROR);
	return upstream_global_init();
}
