/* test_api: routes, keys, limits and envelopes, models and health. SPDX-License-Identifier: ISC */
#include "tests/lib/test.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "app/base/version.h"
#include "tests/lib/apiworld.h"

#define ANTHROPIC "anthropic-version: 2023-06-01"

static struct reply get(struct apiworld *w, const char *uri)
{
	return apiworld_ask(w, "GET", uri, NULL, NULL);
}

/* {"error":{"code":STATUS,"message":…,"metadata":{"error_type":TYPE}}} */
static void assert_openai_error(
	struct apiworld *w, const struct reply *r, int status, const char *type)
{
	const cJSON *error = cJSON_GetObjectItem(apiworld_json(w, r), "error");

	assert_int_equal(r->status, status);
	assert_int_equal(cJSON_GetNumberValue(cJSON_GetObjectItem(error, "code")), status);
	assert_string_not_equal(apiworld_text(w, r, "error.message"), "");
	assert_string_equal(apiworld_text(w, r, "error.metadata.error_type"), type);
}

/* {"type":"error","error":{"type":TYPE,"message":…},"request_id":…} */
static void assert_anthropic_error(
	struct apiworld *w, const struct reply *r, int status, const char *type)
{
	assert_int_equal(r->status, status);
	assert_string_equal(apiworld_text(w, r, "type"), "error");
	assert_string_equal(apiworld_text(w, r, "error.type"), type);
	assert_string_not_equal(apiworld_text(w, r, "error.message"), "");
	assert_non_null(cJSON_GetObjectItem(apiworld_json(w, r), "request_id"));
}

static void every_answer_carries_its_request_id(void **state)
{
	static const char *const uris[] = {"/healthz", "/api/v1/models", "/nowhere"};

	for (size_t i = 0; i < 3; i++) {
		struct reply r = get(*state, uris[i]);
		const char *id = apiworld_header(*state, &r, "x-request-id");

		assert_non_null(id);
		assert_memory_equal(id, "req_", 4);
		assert_string_equal(apiworld_header(*state, &r, "request-id"), id);
	}
}

static void every_route_but_health_wants_a_key(void **state)
{
	struct apiworld *w = *state;

	for (size_t i = 0; i < api_nroutes; i++) {
		struct reply r = apiworld_ask(w, api_routes[i].method, api_routes[i].pattern,
			"authorization: ", api_routes[i].body_max ? "{}" : NULL);

		if (strcmp(api_routes[i].pattern, "/healthz") == 0)
			assert_true(r.status == 200 || r.status == 503);
		else
			assert_int_equal(r.status, 401);
	}
}

static void a_missing_key_is_said_as_documented(void **state)
{
	struct reply r = apiworld_ask(*state, "GET", "/api/v1/models", "authorization: ", NULL);

	assert_openai_error(*state, &r, 401, "authentication");
	assert_string_equal(
		apiworld_text(*state, &r, "error.message"), "Missing Authentication header");
	assert_string_equal(apiworld_header(*state, &r, "www-authenticate"), "Bearer");
}

static void a_key_is_taken_from_either_header(void **state)
{
	struct apiworld *w = *state;
	struct reply r;

	r = apiworld_ask(w, "GET", "/api/v1/models",
		arena_printf(w->arena, "authorization: Bearer %s", w->key), NULL);
	assert_int_equal(r.status, 200);
	r = apiworld_ask(w, "GET", "/api/v1/models",
		arena_printf(w->arena, "authorization: bearer \t%s", w->key), NULL);
	assert_int_equal(r.status, 200);
	r = apiworld_ask(
		w, "GET", "/api/v1/models", arena_printf(w->arena, "x-api-key: %s", w->key), NULL);
	assert_int_equal(r.status, 200);
	r = apiworld_ask(w, "GET", "/api/v1/models",
		arena_printf(w->arena, "authorization: Basic eDp5\nx-api-key: %s", w->key), NULL);
	assert_int_equal(r.status, 200);
}

static void what_is_no_key_is_refused(void **state)
{
	struct apiworld *w = *state;
	const char *bad[] = {
		"authorization: Bearer sk-sg-aaaaaaaa-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
		"authorization: Bearer x",
		"authorization: Bearer ",
		"authorization: Basic eDp5",
		arena_printf(w->arena, "authorization: %s", w->key),
		arena_printf(w->arena, "authorization: Bearer%s", w->key),
		arena_printf(w->arena, "authorization: Bearer %s x", w->key),
		"x-api-key: ",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct reply r = apiworld_ask(w, "GET", "/api/v1/models", bad[i], NULL);

		assert_openai_error(w, &r, 401, "authentication");
	}
}

static void a_revoked_key_is_refused(void **state)
{
	struct apiworld *w = *state;
	struct principal p;
	struct reply r;

	assert_int_equal(store_key_find(w->store, w->arena, w->key, &p, NULL), 0);
	assert_int_equal(store_key_revoke(w->store, p.key_id, NULL), 0);
	r = get(w, "/api/v1/models");
	assert_openai_error(w, &r, 401, "authentication");
}

static void errors_on_messages_wear_anthropics_envelope(void **state)
{
	struct apiworld *w = *state;
	struct reply r;

	r = apiworld_ask(w, "POST", "/api/v1/messages", "authorization: ", "{}");
	assert_anthropic_error(w, &r, 401, "authentication_error");
	r = apiworld_ask(w, "GET", "/api/v1/messages", NULL, NULL);
	assert_anthropic_error(w, &r, 405, "invalid_request_error");
	r = apiworld_ask(w, "POST", "/api/v1/messages", NULL, "{");
	assert_anthropic_error(w, &r, 400, "invalid_request_error");
	r = apiworld_ask(w, "GET", "/api/v1/messages/batches", NULL, NULL);
	assert_anthropic_error(w, &r, 404, "not_found_error");
}

static void anthropics_header_asks_for_its_envelope_anywhere(void **state)
{
	struct apiworld *w = *state;
	struct reply r;

	r = apiworld_ask(w, "GET", "/api/v1/nowhere", ANTHROPIC, NULL);
	assert_anthropic_error(w, &r, 404, "not_found_error");
	r = apiworld_ask(w, "GET", "/api/v1/models", ANTHROPIC "\nauthorization: ", NULL);
	assert_anthropic_error(w, &r, 401, "authentication_error");
	r = apiworld_ask(w, "POST", "/api/v1/containers/c/exec", ANTHROPIC, "{}");
	assert_anthropic_error(w, &r, 400, "invalid_request_error");
	r = apiworld_ask(w, "GET", "/api/v1/messagesx", NULL, NULL);
	assert_openai_error(w, &r, 404, "not_found");
}

static void an_unknown_path_is_not_found(void **state)
{
	static const char *const uris[] = {"/", "/api/v1", "/api/v1/", "/api/v1/models/",
		"/api/v2/models", "/api/v1/containers", "/api/v1/containers//files",
		"/api/v1/containers/c/files/", "/api/v1/containers/c/files/cfile_YQ/content/x",
		"/healthz/x", "//healthz", "/API/V1/MODELS"};

	for (size_t i = 0; i < sizeof(uris) / sizeof(uris[0]); i++) {
		struct reply r = get(*state, uris[i]);

		assert_openai_error(*state, &r, 404, "not_found");
	}
}

static void another_method_is_told_which_one(void **state)
{
	struct apiworld *w = *state;
	struct reply r;

	r = apiworld_ask(w, "DELETE", "/api/v1/containers/c/files/cfile_YQ", NULL, NULL);
	assert_openai_error(w, &r, 405, "invalid_request");
	assert_non_null(strstr(apiworld_header(w, &r, "allow"), "GET"));
	r = apiworld_ask(w, "GET", "/api/v1/responses", NULL, NULL);
	assert_openai_error(w, &r, 405, "invalid_request");
	assert_string_equal(apiworld_header(w, &r, "allow"), "POST");
	r = apiworld_ask(w, "POST", "/healthz", NULL, "");
	assert_openai_error(w, &r, 405, "invalid_request");
}

static void tricks_in_a_path_open_nothing(void **state)
{
	static const struct {
		const char *uri;
		int status;
	} tricks[] = {
		{"/api/v1/containers/../files", 400},
		{"/api/v1/containers/%2e%2e/files", 400},
		{"/api/v1/containers/..%2f..%2fx/files", 400},
		{"/api/v1/containers/a%2Fb/files", 400},
		{"/api/v1/containers/a%00b/files", 404},
		{"/api/v1/containers/a%zzb/files", 404},
		{"/api/v1/containers/a%20b/files", 400},
		{"/api/v1/containers/a.git/files", 400},
		{"/api/v1/containers/%C3%A4/files", 400},
		{"/api/v1/containers/01234567890123456789012345678901234567890/files", 400},
	};

	for (size_t i = 0; i < sizeof(tricks) / sizeof(tricks[0]); i++) {
		struct reply r = get(*state, tricks[i].uri);

		assert_int_equal(r.status, tricks[i].status);
	}
}

static void a_body_over_the_routes_limit_is_refused(void **state)
{
	struct apiworld *w = *state;
	size_t n = 10u * 1024 * 1024 + 1;
	char *body = arena_alloc(w->arena, n + 1);
	struct reply r;

	memset(body, ' ', n);
	r = apiworld_ask(w, "POST", "/api/v1/containers/c/exec", NULL, body);
	assert_openai_error(w, &r, 413, "payload_too_large");
	body[n - 1] = '\0';
	r = apiworld_ask(w, "POST", "/api/v1/containers/c/exec", NULL, body);
	assert_openai_error(w, &r, 400, "invalid_request");
}

static void the_operators_limit_is_for_every_route(void **state)
{
	struct apiworld *w = *state;
	struct reply r;

	w->conf.body_limit_bytes = 8;
	r = apiworld_ask(w, "POST", "/api/v1/messages", NULL, "{\"a\":1234}");
	assert_anthropic_error(w, &r, 413, "invalid_request_error");
}

static void bad_json_is_located(void **state)
{
	struct reply r = apiworld_ask(*state, "POST", "/api/v1/responses", NULL, "{\"model\" 1}");

	assert_openai_error(*state, &r, 400, "invalid_request");
	assert_non_null(strstr(apiworld_text(*state, &r, "error.message"), "byte 9"));
}

static void what_fails_inside_is_logged_not_told(void **state)
{
	struct apiworld *w = *state;
	struct reply r =
		apiworld_ask(w, "POST", "/api/v1/containers/c/exec", NULL, "{\"command\":\"x\"}");

	assert_openai_error(w, &r, 500, "server");
	assert_string_equal(apiworld_text(w, &r, "error.message"),
		arena_printf(w->arena, "Internal error (request %s)",
			apiworld_header(w, &r, "x-request-id")));
	assert_true(fcgi_server_logged(&w->server, "boxd", 1000));
}

/* What the schemas of OpenRouter's SDK demand of a model, beside what OpenAI's does. */
static void models_have_what_the_clients_demand(void **state)
{
	static const struct {
		const char *key;
		int type;
	} demanded[] = {
		{"id", cJSON_String},
		{"canonical_slug", cJSON_String},
		{"name", cJSON_String},
		{"created", cJSON_Number},
		{"object", cJSON_String},
		{"owned_by", cJSON_String},
		{"context_length", cJSON_NULL},
		{"architecture", cJSON_Object},
		{"pricing", cJSON_Object},
		{"top_provider", cJSON_Object},
		{"per_request_limits", cJSON_NULL},
		{"supported_parameters", cJSON_Array},
		{"supported_voices", cJSON_NULL},
		{"default_parameters", cJSON_NULL},
		{"links", cJSON_Object},
	};
	struct apiworld *w = *state;
	struct reply r = get(w, "/api/v1/models");
	const cJSON *list = apiworld_json(w, &r);
	const cJSON *model = cJSON_GetArrayItem(cJSON_GetObjectItem(list, "data"), 0);

	assert_int_equal(r.status, 200);
	for (size_t i = 0; i < sizeof(demanded) / sizeof(demanded[0]); i++) {
		const cJSON *v = cJSON_GetObjectItem(model, demanded[i].key);

		assert_non_null(v);
		assert_int_equal(v->type & 0xff, demanded[i].type);
	}
	assert_string_equal(apiworld_text(w, &r, "object"), "list");
	assert_string_equal(cJSON_GetStringValue(cJSON_GetObjectItem(model, "object")), "model");
	assert_true(cJSON_IsNull(cJSON_GetObjectItem(cJSON_GetObjectItem(list, "links"), "next")));
	assert_int_equal(cJSON_GetNumberValue(cJSON_GetObjectItem(list, "total_count")),
		cJSON_GetArraySize(cJSON_GetObjectItem(list, "data")));
}

static void anthropic_clients_get_their_models(void **state)
{
	struct apiworld *w = *state;
	struct reply r = apiworld_ask(w, "GET", "/api/v1/models?limit=1000", ANTHROPIC, NULL);
	const cJSON *list = apiworld_json(w, &r);
	const cJSON *model = cJSON_GetArrayItem(cJSON_GetObjectItem(list, "data"), 0);

	assert_int_equal(r.status, 200);
	assert_string_equal(cJSON_GetStringValue(cJSON_GetObjectItem(model, "type")), "model");
	assert_non_null(cJSON_GetStringValue(cJSON_GetObjectItem(model, "display_name")));
	assert_string_equal(cJSON_GetStringValue(cJSON_GetObjectItem(model, "created_at")),
		"1970-01-01T00:00:00Z");
	assert_true(cJSON_IsFalse(cJSON_GetObjectItem(list, "has_more")));
	assert_string_equal(apiworld_text(w, &r, "first_id"),
		cJSON_GetStringValue(cJSON_GetObjectItem(model, "id")));
	assert_null(cJSON_GetObjectItem(list, "total_count"));
}

/* Five models before the built-in one. */
static void add_provider(struct apiworld *w)
{
	struct arena *a = w->arena;
	struct conf_provider *p = arena_new_of(a, struct conf_provider);
	char **models = arena_calloc(a, 6, sizeof(*models));

	for (int i = 0; i < 5; i++)
		models[i] = arena_printf(a, "%c", 'a' + i);
	*p = (struct conf_provider){
		.name = arena_strdup(a, "acme"),
		.protocol = arena_strdup(a, "chat"),
		.base_url = arena_strdup(a, "http://127.0.0.1:1/v1"),
		.prefix = arena_strdup(a, "acme/"),
		.models = models,
		.next = w->conf.providers,
	};
	w->conf.providers = p;
}

static void models_come_in_pages(void **state)
{
	struct apiworld *w = *state;
	struct reply r;

	add_provider(w);
	r = get(w, "/api/v1/models?offset=1&limit=2");
	assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(apiworld_json(w, &r), "data")), 2);
	assert_string_equal(apiworld_text(w, &r, "first_id"), "acme/b");
	assert_string_equal(apiworld_text(w, &r, "last_id"), "acme/c");
	assert_string_equal(apiworld_text(w, &r, "links.next"), "/api/v1/models?offset=3&limit=2");
	r = get(w, "/api/v1/models?offset=100");
	assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(apiworld_json(w, &r), "data")), 0);
	r = apiworld_ask(w, "GET", "/api/v1/models?limit=1&after_id=acme/d", ANTHROPIC, NULL);
	assert_string_equal(apiworld_text(w, &r, "first_id"), "acme/e");
	assert_true(cJSON_IsTrue(cJSON_GetObjectItem(apiworld_json(w, &r), "has_more")));
}

static void bad_pages_of_models_are_refused(void **state)
{
	static const char *const queries[] = {"limit=0", "limit=1001", "limit=-1", "limit=x",
		"limit=", "offset=-1", "offset=1.5", "offset=99999999999999999999"};
	struct apiworld *w = *state;
	struct reply r;

	for (size_t i = 0; i < sizeof(queries) / sizeof(queries[0]); i++) {
		r = get(w, arena_printf(w->arena, "/api/v1/models?%s", queries[i]));
		assert_openai_error(w, &r, 400, "invalid_request");
	}
	r = apiworld_ask(w, "GET", "/api/v1/models?after_id=none", ANTHROPIC, NULL);
	assert_anthropic_error(w, &r, 400, "invalid_request_error");
}

static void one_model_is_found_by_its_name(void **state)
{
	struct apiworld *w = *state;
	struct reply r;

	r = get(w, "/api/v1/models/sandgate/script");
	assert_string_equal(apiworld_text(w, &r, "id"), "sandgate/script");
	r = get(w, "/api/v1/models/sandgate%2Fscript");
	assert_string_equal(apiworld_text(w, &r, "id"), "sandgate/script");
	r = apiworld_ask(w, "GET", "/api/v1/models/sandgate%2Fscript", ANTHROPIC, NULL);
	assert_string_equal(apiworld_text(w, &r, "type"), "model");
	r = get(w, "/api/v1/models/none");
	assert_openai_error(w, &r, 404, "not_found");
}

/* A socket that somebody listens on, as boxd does. */
static int listen_as_boxd(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	assert_int_equal(bind(fd, (const struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(fd, 8), 0);
	return fd;
}

static void health_is_good_when_all_parts_are(void **state)
{
	struct apiworld *w = *state;
	int fd = listen_as_boxd(w->conf.boxd);
	struct reply r = apiworld_ask(w, "GET", "/healthz", "authorization: ", NULL);

	assert_int_equal(r.status, 200);
	assert_string_equal(apiworld_text(w, &r, "status"), "ok");
	assert_string_equal(apiworld_text(w, &r, "version"), SANDGATE_VERSION);
	assert_string_equal(apiworld_text(w, &r, "checks.database"), "ok");
	assert_string_equal(apiworld_text(w, &r, "checks.boxd"), "ok");
	close(fd);
}

static void health_names_the_part_that_fails(void **state)
{
	struct apiworld *w = *state;
	struct reply r = apiworld_ask(w, "GET", "/healthz", "authorization: ", NULL);

	assert_int_equal(r.status, 503);
	assert_string_equal(apiworld_text(w, &r, "checks.database"), "ok");
	assert_string_equal(apiworld_text(w, &r, "checks.boxd"), "failed");
	assert_null(strstr(r.body, w->conf.state));
}

static void a_dead_boxds_socket_is_no_boxd(void **state)
{
	struct apiworld *w = *state;
	int fd = listen_as_boxd(w->conf.boxd);
	struct reply r;

	close(fd);
	r = apiworld_ask(w, "GET", "/healthz", NULL, NULL);
	assert_int_equal(r.status, 503);
	assert_string_equal(apiworld_text(w, &r, "checks.boxd"), "failed");
}

static void head_has_no_body(void **state)
{
	struct reply r = apiworld_ask(*state, "HEAD", "/api/v1/models", NULL, NULL);

	assert_int_equal(r.status, 200);
	assert_int_equal(r.len, 0);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, apiworld_setup, apiworld_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(every_answer_carries_its_request_id),
		TEST(every_route_but_health_wants_a_key),
		TEST(a_missing_key_is_said_as_documented),
		TEST(a_key_is_taken_from_either_header),
		TEST(what_is_no_key_is_refused),
		TEST(a_revoked_key_is_refused),
		TEST(errors_on_messages_wear_anthropics_envelope),
		TEST(anthropics_header_asks_for_its_envelope_anywhere),
		TEST(an_unknown_path_is_not_found),
		TEST(another_method_is_told_which_one),
		TEST(tricks_in_a_path_open_nothing),
		TEST(a_body_over_the_routes_limit_is_refused),
		TEST(the_operators_limit_is_for_every_route),
		TEST(bad_json_is_located),
		TEST(what_fails_inside_is_logged_not_told),
		TEST(models_have_what_the_clients_demand),
		TEST(anthropic_clients_get_their_models),
		TEST(models_come_in_pages),
		TEST(bad_pages_of_models_are_refused),
		TEST(one_model_is_found_by_its_name),
		TEST(health_is_good_when_all_parts_are),
		TEST(health_names_the_part_that_fails),
		TEST(a_dead_boxds_socket_is_no_boxd),
		TEST(head_has_no_body),
	};

	return cmocka_run_group_tests_name("api", tests, NULL, NULL);
}
