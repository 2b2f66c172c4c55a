/* responses_in: a Responses request, decoded. SPDX-License-Identifier: ISC */
#include "app/dialect/responses_in.h"

#include <string.h>

#include "app/base/json.h"
#include "app/dialect/environment.h"

#define METADATA_PAIRS_MAX 16
#define METADATA_KEY_MAX   64
#define METADATA_VALUE_MAX 512

static const struct place_range any_count = {1, PLACE_INT_MAX};

/* What needs state that is not kept here. */
static int refuse_stored(const struct place *body, struct err *e)
{
	bool store = false, background = false;
	int rc = place_bool(&store, body, "store", e);
	if (rc >= 0 && store)
		return place_fail(body, "store", e,
			"responses are not kept here; leave it out or send false");
	rc = rc < 0 ? rc : place_bool(&background, body, "background", e);
	if (rc >= 0 && background)
		return place_fail(body, "background", e,
			"background responses are not offered; use \"stream\": true");
	if (rc >= 0)
		rc = place_refuse(body, "previous_response_id",
			"responses are not kept here; resend the conversation in input", e);
	if (rc >= 0)
		rc = place_refuse(body, "conversation",
			"conversations are not kept here; resend the conversation in input", e);
	if (rc >= 0)
		rc = place_refuse(body, "prompt",
			"stored prompts are not offered; send their text in instructions and input",
			e);
	return rc;
}

static size_t characters(const char *s)
{
	size_t n = 0;
	for (; *s; s++)
		if ((*s & 0xc0) != 0x80)
			n++;
	return n;
}

static int check_metadata(const struct place *body, struct err *e)
{
	struct place meta;
	const cJSON *v;
	size_t n = 0;
	int rc = place_object(&meta, body, "metadata", e);
	if (rc != 0)
		return rc < 0 ? rc : 0;
	cJSON_ArrayForEach(v, meta.v)
	{
		if (++n > METADATA_PAIRS_MAX)
			return place_fail(
				&meta, NULL, e, "expected at most %d pairs", METADATA_PAIRS_MAX);
		if (characters(v->string) > METADATA_KEY_MAX || strpbrk(v->string, "[]"))
			return place_fail(&meta, NULL, e,
				"expected keys of at most %d characters without brackets",
				METADATA_KEY_MAX);
		if (!cJSON_IsString(v) || characters(v->valuestring) > METADATA_VALUE_MAX)
			return place_fail(&meta, v->string, e,
				"expected a string of at most %d characters", METADATA_VALUE_MAX);
	}
	return 0;
}

static int read_sampling(struct turn *t, const struct place *body, struct err *e)
{
	const struct place_range penalty = {-2, 2};
	int rc = place_number(&t->temperature, body, "temperature", (struct place_range){0, 2}, e);
	if (rc >= 0)
		rc = place_number(&t->top_p, body, "top_p", (struct place_range){0, 1}, e);
	if (rc >= 0)
		rc = place_int(&t->top_k, body, "top_k", (struct place_range){0, PLACE_INT_MAX}, e);
	if (rc >= 0)
		rc = place_number(&t->presence_penalty, body, "presence_penalty", penalty, e);
	if (rc >= 0)
		rc = place_number(&t->frequency_penalty, body, "frequency_penalty", penalty, e);
	return rc;
}

static int read_limits(struct turn *t, const struct place *body, struct err *e)
{
	bool parallel = false;
	int rc = place_int(&t->max_tokens, body, "max_output_tokens", any_count, e);
	if (rc >= 0)
		rc = place_int(&t->max_tool_calls, body, "max_tool_calls",
			(struct place_range){0, PLACE_INT_MAX}, e);
	if (rc >= 0)
		rc = place_bool(&parallel, body, "parallel_tool_calls", e);
	if (rc == 0)
		t->parallel_tool_calls = parallel;
	return rc;
}

/* {"type":"json_schema","json_schema":{…}}: chat has the members of text.format one level deeper. */
static int read_schema(struct turn *t, const struct place *format, struct err *e)
{
	static const char *const keys[] = {"name", "description", "schema", "strict"};
	struct place schema;
	const char *name = NULL, *description = NULL;
	bool strict = false;
	int rc = place_need_string(&name, format, "name", e);
	if (rc >= 0)
		rc = place_need_object(&schema, format, "schema", e);
	if (rc >= 0)
		rc = place_string(&description, format, "description", e);
	if (rc >= 0)
		rc = place_bool(&strict, format, "strict", e);
	if (rc < 0)
		return rc;
	cJSON *o = cJSON_CreateObject();
	cJSON_AddStringToObject(o, "type", "json_schema");
	cJSON *inner = cJSON_AddObjectToObject(o, "json_schema");
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		const cJSON *v = place_member(format, keys[i]);
		if (v)
			cJSON_AddItemToObject(inner, keys[i], cJSON_Duplicate(v, true));
	}
	t->response_format = json_print(t->arena, o);
	cJSON_Delete(o);
	return 0;
}

static int read_format(struct turn *t, const struct place *body, struct err *e)
{
	static const char *const types[] = {"text", "json_object", "json_schema", NULL};
	struct place text, format;
	size_t type = 0;
	int rc = place_object(&text, body, "text", e);
	if (rc == 0)
		rc = place_object(&format, &text, "format", e);
	if (rc != 0)
		return rc;
	rc = place_word(&type, &format, "type", types, e);
	if (rc != 0)
		return rc < 0 ? rc : place_fail(&format, "type", e, "required");
	if (type == 1)
		t->response_format = "{\"type\":\"json_object\"}";
	return type == 2 ? read_schema(t, &format, e) : 0;
}

static int read_reasoning(struct turn *t, const struct place *body, struct err *e)
{
	static const char *const efforts[] = {
		"none", "minimal", "low", "medium", "high", "xhigh", "max", NULL};
	struct place reasoning;
	size_t effort = 0;
	int rc = place_object(&reasoning, body, "reasoning", e);
	if (rc == 0)
		rc = place_word(&effort, &reasoning, "effort", efforts, e);
	if (rc == 0)
		t->reasoning_effort = efforts[effort];
	return rc;
}

static int read_options(struct responses_request *out, const struct place *body, struct err *e)
{
	struct turn *t = &out->turn;
	int rc = place_need_string(&t->model, body, "model", e);
	if (rc >= 0 && !*t->model)
		rc = place_fail(body, "model", e, "expected the name of a model");
	if (rc >= 0)
		rc = place_bool(&out->stream, body, "stream", e);
	if (rc >= 0)
		rc = refuse_stored(body, e);
	if (rc >= 0)
		rc = check_metadata(body, e);
	if (rc >= 0)
		rc = read_sampling(t, body, e);
	if (rc >= 0)
		rc = read_limits(t, body, e);
	if (rc >= 0)
		rc = read_format(t, body, e);
	if (rc >= 0)
		rc = read_reasoning(t, body, e);
	return rc < 0 ? rc : place_string(&t->user, body, "user", e);
}

int responses_decode(struct responses_request *out, struct arena *a, const cJSON *body,
	const char *session_header, struct err *e)
{
	const struct place at = {.v = body};
	const char *instructions = NULL;
	*out = (struct responses_request){.body = body};
	struct decode d;
	decode_begin(&d, a, &out->turn);
	if (!cJSON_IsObject(body))
		return place_fail(&at, NULL, e, "expected an object");
	int rc = read_options(out, &at, e);
	if (rc >= 0)
		rc = environment_session(&out->turn.environment, &at, session_header, e);
	if (rc >= 0)
		rc = place_string(&instructions, &at, "instructions", e);
	if (rc == 0)
		items_add_text(a, &d.system, ROLE_SYSTEM, instructions);
	if (rc >= 0)
		rc = responses_in_tools(&d, &at, e);
	if (rc >= 0)
		rc = responses_in_input(&d, &at, e);
	if (rc < 0)
		return rc;
	decode_end(&d);
	return 0;
}
