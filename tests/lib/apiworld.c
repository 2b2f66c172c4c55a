/* apiworld: the application behind a socket, with a database and keys. SPDX-License-Identifier: ISC */
#include "tests/lib/test.h"

#include "tests/lib/apiworld.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/base/json.h"
#include "sandbox/sys/log.h"

enum { HEADERS_MAX = 16, PIECE = 32768, WAIT_MS = 20000 };

/* -- the application's process -------------------------------------------------- */

static _Thread_local struct api_env env;

static int start(void *ctx)
{
	(void)ctx;
	return api_global_init(NULL);
}

static int enter(void *ctx)
{
	const struct apiworld *w = ctx;

	env.conf = &w->conf;
	api_set_env(&env);
	return store_open(&env.store, w->conf.state, NULL);
}

static void leave(void *ctx)
{
	(void)ctx;
	store_close(env.store);
}

/* -- the test's ------------------------------------------------------------------- */

static const struct conf defaults = {
	.body_limit_bytes = 32 * 1024 * 1024,
	.command_timeout_ms_default = 120000,
	.command_timeout_ms_max = 300000,
	.output_chars_default = 16384,
	.output_chars_max = 65536,
	.sleep_after_seconds_default = 900,
	.sleep_after_seconds_max = 14400,
	.max_tool_calls = 30,
	.upstream_connect_timeout_ms = 1000,
	.upstream_idle_timeout_ms = 10000,
	.upstream_total_timeout_ms = 20000,
	.heartbeat_ms = 200,
	.sandbox_price_per_second = 0.0001,
	.sandbox_minimum_seconds = 30,
};

static char *copy(struct arena *a, const char *s)
{
	return arena_strdup(a, s);
}

static void fill_conf(struct apiworld *w)
{
	struct arena *a = w->arena;
	char **models = arena_calloc(a, 2, sizeof(*models));

	models[0] = copy(a, "sandgate/script");
	w->script = (struct conf_provider){
		.name = copy(a, "sandgate"),
		.protocol = copy(a, "script"),
		.models = models,
		.prefix = copy(a, ""),
	};
	w->conf = defaults;
	w->conf.state = arena_printf(a, "%s/state", test_tmp());
	w->conf.boxd = arena_printf(a, "%s/boxd.sock", test_tmp());
	w->conf.providers = &w->script;
}

int apiworld_setup(void **state)
{
	struct apiworld *w = calloc(1, sizeof(*w));
	struct err e = {0};
	char *key = NULL, *key_two = NULL;

	log_open("test", LOG_ERROR);
	*state = w;
	w->arena = arena_new();
	fill_conf(w);
	mkdir(w->conf.state, 0700);
	if (store_open(&w->store, w->conf.state, &e) < 0 ||
		store_workspace_add(w->store, w->arena, "one", &w->one, &e) < 0 ||
		store_workspace_add(w->store, w->arena, "two", &w->two, &e) < 0 ||
		store_key_add(w->store, w->arena, &w->one, "", &key, &e) < 0 ||
		store_key_add(w->store, w->arena, &w->two, "", &key_two, &e) < 0) {
		print_error("%s\n", e.message);
		return -1;
	}
	w->key = key;
	w->key_two = key_two;
	return 0;
}

int apiworld_teardown(void **state)
{
	struct apiworld *w = *state;
	int status = 0;

	if (w->asked)
		fcgi_close(&w->client);
	if (w->server.pid > 0)
		status = fcgi_server_stop(&w->server);
	store_close(w->store);
	arena_free(w->arena);
	test_tmp_remove();
	free(w);
	return status;
}

void apiworld_start(struct apiworld *w)
{
	if (w->server.pid > 0)
		return;
	w->worker = (struct worker){
		.processes = 1,
		.threads = 4,
		.drain_seconds = 1,
		.start = start,
		.enter = enter,
		.leave = leave,
		.serve = api_serve,
		.ctx = w,
	};
	fcgi_server_start(&w->server, &w->worker);
}

/* "x-api-key: v" as HTTP_X_API_KEY=v. */
static const char *as_param(struct arena *a, const char *line, size_t n)
{
	char *param = arena_printf(a, "HTTP_%.*s", (int)n, line), *colon = strchr(param, ':');

	assert_non_null(colon);
	for (char *c = param; c < colon; c++)
		*c = *c == '-' ? '_' : (char)(*c >= 'a' && *c <= 'z' ? *c - 32 : *c);
	*colon = '=';
	memmove(colon + 1, colon + 1 + strspn(colon + 1, " "),
		strlen(colon + 1 + strspn(colon + 1, " ")) + 1);
	return param;
}

static void send_params(struct apiworld *w, const char *method, const char *uri,
	const char *headers, const char *body)
{
	struct arena *a = w->arena;
	const char *params[HEADERS_MAX + 8], *query = strchr(uri, '?');
	size_t n = 0;
	bool has_key = false;

	params[n++] = arena_printf(a, "REQUEST_METHOD=%s", method);
	params[n++] = arena_printf(a, "REQUEST_URI=%s", uri);
	params[n++] = arena_printf(a, "QUERY_STRING=%s", query ? query + 1 : "");
	if (body) {
		params[n++] = arena_printf(a, "CONTENT_LENGTH=%zu", strlen(body));
		params[n++] = "CONTENT_TYPE=application/json";
	}
	for (const char *at = headers; at && *at && n < HEADERS_MAX;) {
		size_t len = strcspn(at, "\n");

		has_key = has_key || strncasecmp(at, "authorization:", 14) == 0 ||
			strncasecmp(at, "x-api-key:", 10) == 0;
		params[n++] = as_param(a, at, len);
		at += len + (at[len] == '\n');
	}
	if (!has_key)
		params[n++] = arena_printf(a, "HTTP_AUTHORIZATION=Bearer %s", w->key);
	params[n] = NULL;
	fcgi_send_params(&w->client, params);
}

void apiworld_begin(struct apiworld *w, const char *method, const char *uri, const char *headers,
	const char *body)
{
	size_t n = body ? strlen(body) : 0;

	apiworld_start(w);
	if (w->asked)
		fcgi_close(&w->client);
	w->asked = true;
	fcgi_connect(&w->client, w->server.where);
	send_params(w, method, uri, headers, body);
	/* A body that is refused unread need not be sent to its end. */
	if (n == 0 || fcgi_send_body(&w->client, body, n) == 0)
		fcgi_send_body(&w->client, "", 0);
}

struct reply apiworld_ask(struct apiworld *w, const char *method, const char *uri,
	const char *headers, const char *body)
{
	struct reply r;
	char *text;

	apiworld_begin(w, method, uri, headers, body);
	if (!fcgi_read(&w->client, NULL, WAIT_MS))
		fail_msg("%s %s: no answer in %d ms", method, uri, WAIT_MS);
	r.status = fcgi_status(&w->client);
	r.len = fcgi_body_len(&w->client);
	r.head = arena_strndup(w->arena, buf_str(&w->client.out), w->client.out.len - r.len);
	text = arena_alloc(w->arena, r.len + 1);
	memcpy(text, fcgi_body(&w->client), r.len);
	r.body = text;
	return r;
}

const char *apiworld_header(struct apiworld *w, const struct reply *r, const char *name)
{
	size_t n = strlen(name);

	for (const char *line = r->head; *line; line += strcspn(line, "\n") + 1)
		if (strncasecmp(line, name, n) == 0 && line[n] == ':')
			return arena_strndup(w->arena, line + n + 2, strcspn(line + n + 2, "\r\n"));
	return NULL;
}

const cJSON *apiworld_json(struct apiworld *w, const struct reply *r)
{
	struct err e = {0};
	cJSON *v;

	if (json_parse(&v, w->arena, r->body, r->len, &e) < 0)
		fail_msg("no JSON (%s): %.200s", e.message, r->body);
	return v;
}

const char *apiworld_text(struct apiworld *w, const struct reply *r, const char *path)
{
	const cJSON *v = apiworld_json(w, r);

	for (const char *at = path; *at; at += strcspn(at, ".") + (at[strcspn(at, ".")] == '.'))
		v = json_member(v, arena_strndup(w->arena, at, strcspn(at, ".")));
	if (!cJSON_IsString(v))
		fail_msg("no text at %s: %.400s", path, r->body);
	return cJSON_GetStringValue(v);
}
