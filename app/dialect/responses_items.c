/* responses_items: the input of a Responses request. SPDX-License-Identifier: ISC */
#include <string.h>

#include "app/dialect/responses_in.h"

static int add_message(struct decode *d, const struct place *at, struct err *e)
{
	static const char *const words[] = {"user", "assistant", "system", "developer", NULL};
	static const enum role roles[] = {ROLE_USER, ROLE_ASSISTANT, ROLE_SYSTEM, ROLE_SYSTEM};
	struct part *parts;
	size_t role = 0;
	int rc = place_word(&role, at, "role", words, e);
	if (rc != 0)
		return rc < 0 ? rc : place_fail(at, "role", e, "required");
	rc = responses_in_parts(&parts, d, at, "content", e);
	if (rc < 0)
		return rc;
	for (const struct part *p = parts; p; p = p->next)
		if (roles[role] != ROLE_USER && !p->text)
			return place_fail(
				at, "content", e, "expected text; only user messages have files");
	if (!parts)
		return 0;
	struct items *to = &d->turn->items;
	if (roles[role] == ROLE_SYSTEM)
		to = &d->system;
	else
		replay_shown(d->replay);
	struct item *it = items_add(d->arena, to, ITEM_MESSAGE);
	it->role = roles[role];
	it->parts = parts;
	return 0;
}

/* Adds the texts of the blocks in the member key, each on lines of its own. */
static int put_texts(struct buf *b, const struct place *at, const char *key, struct err *e)
{
	struct place list;
	const cJSON *v;
	size_t i = 0;
	int rc = place_array(&list, at, key, e);
	if (rc != 0)
		return rc < 0 ? rc : 0;
	cJSON_ArrayForEach(v, list.v)
	{
		struct place block = place_item(&list, i++, v);
		const char *text = NULL;
		if (!cJSON_IsObject(v))
			return place_fail(&block, NULL, e, "expected an object");
		rc = place_need_string(&text, &block, "text", e);
		if (rc < 0)
			return rc;
		buf_printf(b, "%s%s", b->len > 0 ? "\n\n" : "", text);
	}
	return 0;
}

static int add_reasoning(struct decode *d, const struct place *at, struct err *e)
{
	struct buf text;
	buf_init(&text, (size_t)1 << 30);
	int rc = put_texts(&text, at, "content", e);
	if (rc >= 0 && text.len == 0)
		rc = put_texts(&text, at, "summary", e);
	if (rc >= 0 && text.len > 0) {
		replay_shown(d->replay);
		items_add(d->arena, &d->turn->items, ITEM_REASONING)->reasoning =
			arena_strndup(d->arena, buf_str(&text), text.len);
	}
	buf_free(&text);
	return rc;
}

static int add_item(struct decode *d, const struct place *at, struct err *e)
{
	const char *type = "message";
	if (!cJSON_IsObject(at->v))
		return place_fail(at, NULL, e, "expected an object");
	int rc = place_string(&type, at, "type", e);
	if (rc < 0)
		return rc;
	if (strcmp(type, "message") == 0)
		return add_message(d, at, e);
	if (strcmp(type, "reasoning") == 0)
		return add_reasoning(d, at, e);
	if (strcmp(type, "item_reference") == 0)
		return place_fail(at, "type", e,
			"responses are not kept here; send the item itself instead of a reference");
	rc = responses_in_replay(d, at, type, e);
	if (rc <= 0)
		return rc;
	return place_fail(at, "type", e,
		"expected message, reasoning, function_call, custom_tool_call, shell_call or "
		"local_shell_call, one of the last four's _output, openrouter:shell or "
		"openrouter:bash");
}

int responses_in_input(struct decode *d, const struct place *body, struct err *e)
{
	const cJSON *v = place_member(body, "input");
	size_t i = 0;
	if (!v)
		return place_fail(body, "input", e, "required");
	if (cJSON_IsString(v)) {
		items_add_text(d->arena, &d->turn->items, ROLE_USER, v->valuestring);
		return 0;
	}
	if (!cJSON_IsArray(v) || cJSON_GetArraySize(v) == 0)
		return place_fail(
			body, "input", e, "expected a string or an array of at least one item");
	struct place list = {.up = body, .key = "input", .v = v};
	cJSON_ArrayForEach(v, list.v)
	{
		struct place at = place_item(&list, i++, v);
		int rc = add_item(d, &at, e);
		if (rc < 0)
			return rc;
	}
	return 0;
}
