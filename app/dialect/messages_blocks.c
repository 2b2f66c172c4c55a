/* messages_blocks: one message of a Messages request. SPDX-License-Identifier: ISC */
#include <string.h>

#include "app/base/json.h"
#include "app/dialect/environment.h"
#include "app/dialect/messages_in.h"

/* The calls of a message that wait for its text to be complete. */
struct waiting {
	struct call call;
	struct place at;
	struct waiting *next;
};

/*
 * A message being read. What an assistant's message says up to a result is one turn of the model:
 * its text, then its calls, whatever their order in the message, for so do models have it.
 */
struct message {
	struct decode *d;
	enum role role;
	struct part *parts, **parts_last;
	struct waiting *calls, **calls_last;
};

static void message_reset(struct message *m)
{
	m->parts = NULL;
	m->parts_last = &m->parts;
	m->calls = NULL;
	m->calls_last = &m->calls;
}

static int flush(struct message *m, struct err *e)
{
	struct items *to = m->role == ROLE_SYSTEM ? &m->d->system : &m->d->turn->items;
	if (m->parts) {
		if (m->role != ROLE_SYSTEM)
			replay_shown(m->d->replay);
		struct item *it = items_add(m->d->arena, to, ITEM_MESSAGE);
		it->role = m->role;
		it->parts = m->parts;
	}
	for (const struct waiting *w = m->calls; w; w = w->next)
		if (!replay_call(m->d->replay, w->call))
			return place_fail(
				&w->at, "id", e, "another call with this id has no result yet");
	message_reset(m);
	return 0;
}

static int add_call(struct message *m, struct call call, const struct place *at, struct err *e)
{
	struct place input;
	int rc = place_need_string(&call.id, at, "id", e);
	if (rc >= 0)
		rc = place_need_object(&input, at, "input", e);
	if (rc < 0)
		return rc;
	call.arguments = json_print(m->d->arena, input.v);
	struct waiting *w = arena_new_of(m->d->arena, struct waiting);
	w->call = call;
	w->at = *at;
	*m->calls_last = w;
	m->calls_last = &w->next;
	return 0;
}

static int tool_use(struct message *m, const struct place *at, struct err *e)
{
	struct call call = {.tool = TOOL_CLIENT};
	int rc = place_need_string(&call.name, at, "name", e);
	return rc < 0 ? rc : add_call(m, call, at, e);
}

static int server_tool_use(struct message *m, const struct place *at, struct err *e)
{
	static const char *const names[] = {"openrouter:shell", "openrouter:bash", NULL};
	size_t name = 0;
	int rc = place_word(&name, at, "name", names, e);
	if (rc != 0)
		return rc < 0 ? rc : place_fail(at, "name", e, "required");
	struct call call = {.tool = name == 0 ? TOOL_SHELL : TOOL_BASH};
	call.name = replay_tool_name(m->d->replay, call.tool);
	return add_call(m, call, at, e);
}

static int add_result(struct message *m, const char *text, const struct place *at, struct err *e)
{
	const char *id = NULL;
	int rc = place_need_string(&id, at, "tool_use_id", e);
	if (rc < 0)
		return rc;
	if (!replay_result(m->d->replay, id, text))
		return place_fail(at, "tool_use_id", e, "no call with this id waits for a result");
	return 0;
}

static int tool_result(struct message *m, const struct place *at, struct err *e)
{
	struct part *parts = NULL;
	bool is_error = false;
	int rc = messages_in_parts(&parts, m->d->arena, at, "content", e);
	if (rc >= 0)
		rc = place_bool(&is_error, at, "is_error", e);
	if (rc < 0)
		return rc;
	const char *text = replay_text(m->d->replay, parts);
	if (is_error)
		text = arena_printf(m->d->arena, "Error: %s", text);
	return add_result(m, text, at, e);
}

/* A result of ours: the model sees again what it saw then. */
static int server_result(struct message *m, const struct place *at, struct err *e)
{
	const char *container = NULL;
	const cJSON *content = place_member(at, "content");
	int rc = place_string(&container, at, "container_id", e);
	if (rc >= 0)
		rc = flush(m, e);
	if (rc < 0)
		return rc;
	if (!cJSON_IsObject(content) && !cJSON_IsArray(content))
		return place_fail(at, "content", e, "expected an object");
	environment_replayed(&m->d->turn->environment, container);
	const char *text = json_print(m->d->arena, content);
	if (cJSON_IsArray(content))
		text = arena_printf(m->d->arena, "{\"output\":%s}", text);
	return add_result(m, text, at, e);
}

static int thinking(struct message *m, const struct place *at, struct err *e)
{
	const char *text = NULL;
	int rc = place_need_string(&text, at, "thinking", e);
	if (rc >= 0)
		rc = flush(m, e);
	if (rc < 0 || !*text)
		return rc;
	replay_shown(m->d->replay);
	items_add(m->d->arena, &m->d->turn->items, ITEM_REASONING)->reasoning = text;
	return 0;
}

/* Readable by the provider that made it only. */
static int redacted_thinking(struct message *m, const struct place *at, struct err *e)
{
	(void)m;
	(void)at;
	(void)e;
	return 0;
}

static int add_special(struct message *m, const struct place *at, const char *type, struct err *e)
{
	static const struct {
		const char *type;
		enum role role;
		int (*add)(struct message *m, const struct place *at, struct err *e);
	} rows[] = {
		{"tool_result", ROLE_USER, tool_result},
		{"tool_use", ROLE_ASSISTANT, tool_use},
		{"thinking", ROLE_ASSISTANT, thinking},
		{"redacted_thinking", ROLE_ASSISTANT, redacted_thinking},
		{"server_tool_use", ROLE_ASSISTANT, server_tool_use},
		{"openrouter_shell_tool_result", ROLE_ASSISTANT, server_result},
		{"openrouter_bash_tool_result", ROLE_ASSISTANT, server_result},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		if (strcmp(rows[i].type, type) != 0)
			continue;
		if (rows[i].role != m->role)
			return place_fail(at, "type", e, "only %s messages have a %s",
				rows[i].role == ROLE_USER ? "user" : "assistant", type);
		return rows[i].add(m, at, e);
	}
	if (strcmp(type, "container_upload") == 0)
		return place_fail(at, "type", e, "attaching files is not offered yet");
	return place_fail(at, "type", e,
		"expected text, image, document, search_result, tool_use, tool_result, thinking, "
		"redacted_thinking, server_tool_use, openrouter_shell_tool_result or "
		"openrouter_bash_tool_result");
}

static int add_block(struct message *m, const struct place *at, struct err *e)
{
	struct part *part;
	int rc = messages_in_part(&part, m->d->arena, at, e);
	if (rc < 0)
		return rc;
	if (rc == 1)
		return add_special(m, at, json_text(at->v, "type"), e);
	if (m->role != ROLE_USER && !part->text)
		return place_fail(at, "type", e, "only user messages have images and files");
	*m->parts_last = part;
	m->parts_last = &part->next;
	return 0;
}

int messages_in_message(struct decode *d, const struct place *message, struct err *e)
{
	static const char *const words[] = {"user", "assistant", "system", NULL};
	static const enum role roles[] = {ROLE_USER, ROLE_ASSISTANT, ROLE_SYSTEM};
	const cJSON *v = place_member(message, "content");
	const struct place list = {.up = message, .key = "content", .v = v};
	struct message m = {.d = d};
	size_t role = 0, i = 0;
	int rc = place_word(&role, message, "role", words, e);
	if (rc != 0)
		return rc < 0 ? rc : place_fail(message, "role", e, "required");
	m.role = roles[role];
	message_reset(&m);
	if (!v)
		return place_fail(message, "content", e, "required");
	if (cJSON_IsString(v)) {
		rc = messages_in_parts(&m.parts, d->arena, message, "content", e);
		return rc < 0 ? rc : flush(&m, e);
	}
	if (!cJSON_IsArray(v))
		return place_fail(message, "content", e, "expected a string or an array of blocks");
	cJSON_ArrayForEach(v, list.v)
	{
		struct place at = place_item(&list, i++, v);
		rc = add_block(&m, &at, e);
		if (rc < 0)
			return rc;
	}
	return flush(&m, e);
}
