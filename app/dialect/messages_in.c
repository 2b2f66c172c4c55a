/* messages_in: a Messages request, decoded. SPDX-License-Identifier: ISC */
#include "app/dialect/messages_in.h"

#include <string.h>

#include "app/base/json.h"
#include "app/dialect/environment.h"

static int read_system(struct decode *d, const struct place *body, struct err *e)
{
	struct part *parts = NULL;
	int rc = messages_in_parts(&parts, d->arena, body, "system", e);
	if (rc < 0 || !parts)
		return rc;
	for (const struct part *p = parts; p; p = p->next)
		if (p->kind != PART_TEXT)
			return place_fail(
				body, "system", e, "expected a string or an array of text blocks");
	struct item *it = items_add(d->arena, &d->system, ITEM_MESSAGE);
	it->role = ROLE_SYSTEM;
	it->parts = parts;
	return 0;
}

static int read_messages(struct decode *d, const struct place *body, struct err *e)
{
	struct place list;
	const cJSON *v;
	size_t i = 0;
	int rc = place_need_array(&list, body, "messages", e);
	if (rc < 0)
		return rc;
	if (cJSON_GetArraySize(list.v) == 0)
		return place_fail(&list, NULL, e, "expected at least one message");
	cJSON_ArrayForEach(v, list.v)
	{
		struct place message = place_item(&list, i++, v);
		if (!cJSON_IsObject(v))
			return place_fail(&message, NULL, e, "expected an object");
		rc = messages_in_message(d, &message, e);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int read_stop(struct turn *t, const struct place *body, struct err *e)
{
	struct place list;
	const cJSON *v;
	size_t n = 0;
	int rc = place_array(&list, body, "stop_sequences", e);
	if (rc != 0)
		return rc < 0 ? rc : 0;
	size_t most = (size_t)cJSON_GetArraySize(list.v);
	if (most == 0)
		return 0;
	const char **stop = arena_calloc(t->arena, most + 1, sizeof(*stop));
	cJSON_ArrayForEach(v, list.v)
	{
		struct place at = place_item(&list, n, v);
		if (!cJSON_IsString(v) || !*v->valuestring)
			return place_fail(&at, NULL, e, "expected a string that is not empty");
		stop[n++] = v->valuestring;
	}
	t->stop = stop;
	return 0;
}

/* A budget of tokens as the word that chat's servers know. */
static const char *effort_of(int64_t budget)
{
	if (budget <= 2048)
		return "low";
	return budget <= 8192 ? "medium" : "high";
}

static int read_thinking(struct messages_request *out, const struct place *body, struct err *e)
{
	static const char *const types[] = {
		"enabled", "adaptive", "between_tools", "disabled", NULL};
	static const char *const displays[] = {"summarized", "omitted", NULL};
	struct place thinking;
	size_t type = 0, display = 0;
	int64_t budget = 0;
	int rc = place_object(&thinking, body, "thinking", e);
	if (rc != 0)
		return rc < 0 ? rc : 0;
	rc = place_word(&type, &thinking, "type", types, e);
	if (rc != 0)
		return rc < 0 ? rc : place_fail(&thinking, "type", e, "required");
	rc = place_word(&display, &thinking, "display", displays, e);
	if (rc >= 0)
		rc = place_int(&budget, &thinking, "budget_tokens",
			(struct place_range){1, PLACE_INT_MAX}, e);
	if (rc < 0)
		return rc;
	if (display == 1)
		out->thinking = MESSAGES_THINKING_OMITTED;
	if (type == 3)
		out->thinking = MESSAGES_THINKING_NONE;
	if (type == 0 && budget > 0)
		out->turn.reasoning_effort = effort_of(budget);
	return 0;
}

static int read_format(struct turn *t, const struct place *up, const char *key, struct err *e)
{
	static const char *const types[] = {"json_schema", NULL};
	struct place format, schema;
	size_t type = 0;
	int rc = place_object(&format, up, key, e);
	if (rc != 0)
		return rc < 0 ? rc : 0;
	rc = place_word(&type, &format, "type", types, e);
	if (rc != 0)
		return rc < 0 ? rc : place_fail(&format, "type", e, "required");
	rc = place_need_object(&schema, &format, "schema", e);
	if (rc < 0)
		return rc;
	cJSON *o = cJSON_CreateObject();
	cJSON_AddStringToObject(o, "type", "json_schema");
	cJSON *inner = cJSON_AddObjectToObject(o, "json_schema");
	cJSON_AddStringToObject(inner, "name", "answer");
	cJSON_AddItemToObject(inner, "schema", cJSON_Duplicate(schema.v, true));
	cJSON_AddTrueToObject(inner, "strict");
	t->response_format = json_print(t->arena, o);
	cJSON_Delete(o);
	return 0;
}

static int read_output(struct turn *t, const struct place *body, struct err *e)
{
	static const char *const efforts[] = {"low", "medium", "high", "xhigh", "max", NULL};
	struct place output;
	size_t effort = 0;
	int rc = read_format(t, body, "output_format", e);
	if (rc >= 0)
		rc = place_object(&output, body, "output_config", e);
	if (rc != 0)
		return rc < 0 ? rc : 0;
	rc = place_word(&effort, &output, "effort", efforts, e);
	/* Chat's servers agree on three words only. */
	if (rc == 0)
		t->reasoning_effort = efforts[effort < 2 ? effort : 2];
	return rc < 0 ? rc : read_format(t, &output, "format", e);
}

static int read_numbers(struct turn *t, const struct place *body, struct err *e)
{
	const struct place_range count = {1, PLACE_INT_MAX}, from_zero = {0, PLACE_INT_MAX};
	int rc = place_int(&t->max_tokens, body, "max_tokens", count, e);
	if (rc >= 0)
		rc = place_int(&t->max_tool_calls, body, "max_tool_calls", from_zero, e);
	if (rc >= 0)
		rc = place_number(
			&t->temperature, body, "temperature", (struct place_range){0, 2}, e);
	if (rc >= 0)
		rc = place_number(&t->top_p, body, "top_p", (struct place_range){0, 1}, e);
	return rc < 0 ? rc : place_int(&t->top_k, body, "top_k", from_zero, e);
}

static int read_user(struct turn *t, const struct place *body, struct err *e)
{
	struct place metadata;
	int rc = place_string(&t->user, body, "user", e);
	if (rc >= 0)
		rc = place_object(&metadata, body, "metadata", e);
	return rc == 0 ? place_string(&t->user, &metadata, "user_id", e) : rc;
}

static int read_options(struct messages_request *out, const struct place *body, struct err *e)
{
	struct turn *t = &out->turn;
	int rc = place_need_string(&t->model, body, "model", e);
	if (rc >= 0 && !*t->model)
		rc = place_fail(body, "model", e, "expected the name of a model");
	if (rc >= 0)
		rc = place_bool(&out->stream, body, "stream", e);
	if (rc >= 0)
		rc = place_refuse(body, "thread",
			"threads are not kept here; resend the conversation in messages", e);
	if (rc >= 0)
		rc = read_numbers(t, body, e);
	if (rc >= 0)
		rc = read_stop(t, body, e);
	if (rc >= 0)
		rc = read_thinking(out, body, e);
	if (rc >= 0)
		rc = read_output(t, body, e);
	return rc < 0 ? rc : read_user(t, body, e);
}

int messages_decode(struct messages_request *out, struct arena *a, const cJSON *body,
	const char *session_header, struct err *e)
{
	const struct place at = {.v = body};
	*out = (struct messages_request){0};
	struct decode d;
	decode_begin(&d, a, &out->turn);
	if (!cJSON_IsObject(body))
		return place_fail(&at, NULL, e, "expected an object");
	int rc = read_options(out, &at, e);
	if (rc >= 0)
		rc = environment_session(&out->turn.environment, &at, session_header, e);
	if (rc >= 0)
		rc = read_system(&d, &at, e);
	if (rc >= 0)
		rc = messages_in_tools(&d, &at, e);
	if (rc >= 0)
		rc = read_messages(&d, &at, e);
	if (rc < 0)
		return rc;
	decode_end(&d);
	return 0;
}
