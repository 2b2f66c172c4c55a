/* chat_message: a conversation as Chat Completions messages. SPDX-License-Identifier: ISC */
#include "app/dialect/chat_message.h"

#include <string.h>

#include "app/base/json.h"
#include "app/dialect/chat.h"
#include "app/dialect/chat_order.h"
#include "app/dialect/chat_put.h"

struct encoder {
	struct buf *b;
	struct arena *arena;
	const struct turn *turn;
	const struct chat_tool_names *names;
	const struct chat_order *at;
	size_t n;
	size_t last_user; /* position after which a tool loop is open; CHAT_ORDER_NONE: no user spoke */
};

static bool is_message(const struct item *it, enum role role)
{
	return it->kind == ITEM_MESSAGE && it->role == role;
}

/* Adds the texts of a message, sep between the parts; a blank line before it if text is there already. */
static void join(struct buf *text, const struct item *it, const char *sep)
{
	bool first = true;
	for (const struct part *p = it->parts; p != NULL; p = p->next) {
		if ((p->kind != PART_TEXT && p->kind != PART_REFUSAL) || p->text == NULL ||
			*p->text == '\0')
			continue;
		if (text->len > 0)
			buf_puts(text, first ? "\n\n" : sep);
		buf_puts(text, p->text);
		first = false;
	}
}

static void put_text_member(struct buf *b, const char *key, const struct buf *text)
{
	chat_put_key(b, key);
	buf_put_json(b, buf_str(text), text->len);
	b->bad |= text->bad;
}

/* -- system and user --------------------------------------------------------- */

static void put_system(struct encoder *x)
{
	struct buf text;
	buf_init(&text, CHAT_REQUEST_MAX);
	for (size_t i = 0; i < x->n; i++)
		if (is_message(x->at[i].item, ROLE_SYSTEM))
			join(&text, x->at[i].item, "\n");
	if (text.len > 0) {
		chat_put_sep(x->b);
		buf_puts(x->b, "{\"role\":\"system\"");
		put_text_member(x->b, "content", &text);
		buf_putc(x->b, '}');
	}
	buf_free(&text);
}

static void put_part(struct buf *b, const struct part *p)
{
	switch (p->kind) {
	case PART_TEXT:
	case PART_REFUSAL:
		if (p->text == NULL || *p->text == '\0')
			break;
		chat_put_sep(b);
		buf_puts(b, "{\"type\":\"text\"");
		chat_put_string(b, "text", p->text);
		buf_putc(b, '}');
		break;
	case PART_IMAGE:
		if (p->url == NULL)
			break;
		chat_put_sep(b);
		buf_puts(b, "{\"type\":\"image_url\",\"image_url\":{");
		chat_put_string(b, "url", p->url);
		if (p->detail != NULL)
			chat_put_string(b, "detail", p->detail);
		buf_puts(b, "}}");
		break;
	case PART_FILE:
		if (p->url == NULL)
			break;
		chat_put_sep(b);
		buf_puts(b, "{\"type\":\"file\",\"file\":{");
		if (p->filename != NULL)
			chat_put_string(b, "filename", p->filename);
		chat_put_string(b, "file_data", p->url);
		buf_puts(b, "}}");
		break;
	}
}

static bool only_text(const struct item *it)
{
	for (const struct part *p = it->parts; p != NULL; p = p->next)
		if (p->kind == PART_IMAGE || p->kind == PART_FILE)
			return false;
	return true;
}

/* The user's messages from i on, up to the next word of the model. Plain text goes as a string: not every provider takes parts. */
static size_t put_user(struct encoder *x, size_t i)
{
	size_t end = i;
	bool plain = true;
	for (; end < x->n; end++) {
		const struct item *it = x->at[end].item;
		if (is_message(it, ROLE_ASSISTANT) || it->kind == ITEM_REASONING ||
			it->kind == ITEM_CALL)
			break;
		if (is_message(it, ROLE_USER))
			plain = plain && only_text(it);
	}
	chat_put_sep(x->b);
	buf_puts(x->b, "{\"role\":\"user\"");
	struct buf text;
	buf_init(&text, CHAT_REQUEST_MAX);
	if (!plain) {
		chat_put_key(x->b, "content");
		buf_putc(x->b, '[');
	}
	for (; i < end; i++) {
		if (!is_message(x->at[i].item, ROLE_USER))
			continue;
		if (plain)
			join(&text, x->at[i].item, "\n");
		for (const struct part *p = x->at[i].item->parts; !plain && p != NULL; p = p->next)
			put_part(x->b, p);
	}
	if (plain)
		put_text_member(x->b, "content", &text);
	else
		buf_putc(x->b, ']');
	buf_putc(x->b, '}');
	buf_free(&text);
	return end;
}

/* -- reasoning --------------------------------------------------------------- */

/* Entries of all reasoning_details between i and end, unchanged. */
static void put_details(struct encoder *x, size_t i, size_t end)
{
	bool any = false;
	for (; i < end; i++) {
		const struct item *it = x->at[i].item;
		if (it->kind != ITEM_REASONING || it->raw == NULL)
			continue;
		struct arena *scratch = arena_new();
		cJSON *raw;
		if (json_parse(&raw, scratch, it->raw, strlen(it->raw), NULL) == 0 &&
			cJSON_IsArray(raw)) {
			const cJSON *entry;
			cJSON_ArrayForEach(entry, raw)
			{
				if (!any) {
					chat_put_key(x->b, "reasoning_details");
					buf_putc(x->b, '[');
				}
				any = true;
				chat_put_sep(x->b);
				buf_puts(x->b, json_print(scratch, entry));
			}
		}
		arena_free(scratch);
	}
	if (any)
		buf_putc(x->b, ']');
}

/* The field in which the provider gave its reasoning (see chat.h), NULL if that is not known. */
static const char *reasoning_field(const struct item *it)
{
	if (it->raw == NULL)
		return NULL;
	if (strcmp(it->raw, "{\"field\":\"reasoning_content\"}") == 0)
		return "reasoning_content";
	if (strcmp(it->raw, "{\"field\":\"reasoning\"}") == 0)
		return "reasoning";
	return NULL;
}

/*
 * Plain reasoning goes back only within an open tool loop, to a provider that gave it: others
 * refuse the field, and once the user has spoken again templates leave it out. The template of
 * gpt-oss refuses reasoning, text and calls in one message (llama.cpp).
 */
static void put_reasoning(struct encoder *x, size_t i, size_t end, bool has_text)
{
	if (x->last_user != CHAT_ORDER_NONE && i < x->last_user)
		return;
	if (has_text && x->turn->model != NULL && strstr(x->turn->model, "gpt-oss") != NULL)
		return;
	struct buf text;
	const char *field = NULL;
	buf_init(&text, CHAT_REQUEST_MAX);
	for (; i < end; i++) {
		const struct item *it = x->at[i].item;
		if (it->kind != ITEM_REASONING || reasoning_field(it) == NULL ||
			it->reasoning == NULL)
			continue;
		field = reasoning_field(it);
		buf_puts(&text, it->reasoning);
	}
	if (field != NULL && text.len > 0)
		put_text_member(x->b, field, &text);
	buf_free(&text);
}

/* -- the model's turns ------------------------------------------------------- */

/*
 * Where the turn that begins at i ends: at the user's next message, or at the model's first word
 * after a result of one of its calls. Results that stand elsewhere end nothing.
 */
static size_t turn_end(const struct encoder *x, size_t i)
{
	const size_t begin = i;
	bool answered = false;
	for (; i < x->n; i++) {
		const struct item *it = x->at[i].item;
		if (is_message(it, ROLE_USER))
			break;
		if (is_message(it, ROLE_SYSTEM))
			continue;
		if (it->kind == ITEM_RESULT)
			answered |= x->at[i].mate != CHAT_ORDER_NONE && x->at[i].mate >= begin;
		else if (answered)
			break;
	}
	return i;
}

/* Templates parse the arguments again, so what is no JSON object would fail every later turn. */
static void put_arguments(struct encoder *x, const char *arguments)
{
	struct arena *scratch = arena_new();
	cJSON *v;
	const char *s = arguments != NULL && *arguments != '\0' ? arguments : "{}";
	chat_put_key(x->b, "arguments");
	if (json_parse(&v, scratch, s, strlen(s), NULL) == 0 && cJSON_IsObject(v)) {
		buf_put_json(x->b, s, strlen(s));
	} else {
		cJSON *wrap = cJSON_CreateObject();
		json_add_text(wrap, "invalid_arguments", s, strlen(s));
		const char *wrapped = json_print(scratch, wrap);
		cJSON_Delete(wrap);
		buf_put_json(x->b, wrapped, strlen(wrapped));
	}
	arena_free(scratch);
}

static void put_calls(struct encoder *x, size_t i, size_t end)
{
	chat_put_key(x->b, "tool_calls");
	buf_putc(x->b, '[');
	for (; i < end; i++) {
		const struct call *c = &x->at[i].item->call;
		if (x->at[i].item->kind != ITEM_CALL)
			continue;
		chat_put_sep(x->b);
		buf_putc(x->b, '{');
		chat_put_string(x->b, "id", c->id != NULL ? c->id : "");
		buf_puts(x->b, ",\"type\":\"function\",\"function\":{");
		chat_put_string(x->b, "name",
			chat_tool_wire(x->names, c->tool, c->name != NULL ? c->name : ""));
		put_arguments(x, c->arguments);
		buf_puts(x->b, "}}");
	}
	buf_putc(x->b, ']');
}

static void put_results(struct encoder *x, size_t i, size_t end)
{
	for (; i < end; i++) {
		if (x->at[i].item->kind != ITEM_CALL)
			continue;
		const char *id = x->at[i].item->call.id;
		const char *text = NULL;
		if (x->at[i].mate != CHAT_ORDER_NONE)
			text = x->at[x->at[i].mate].item->text;
		chat_put_sep(x->b);
		buf_puts(x->b, "{\"role\":\"tool\"");
		chat_put_string(x->b, "tool_call_id", id != NULL ? id : "");
		chat_put_string(x->b, "content", text != NULL ? text : "(no result)");
		buf_putc(x->b, '}');
	}
}

static size_t put_assistant(struct encoder *x, size_t i)
{
	const size_t end = turn_end(x, i);
	bool calls = false;
	struct buf text;

	buf_init(&text, CHAT_REQUEST_MAX);
	for (size_t k = i; k < end; k++) {
		calls |= x->at[k].item->kind == ITEM_CALL;
		if (is_message(x->at[k].item, ROLE_ASSISTANT))
			join(&text, x->at[k].item, "");
	}
	/* Reasoning alone is not a message that providers take. */
	if (calls || text.len > 0) {
		chat_put_sep(x->b);
		buf_puts(x->b, "{\"role\":\"assistant\"");
		/* "" beside calls, for null is refused by some. */
		put_text_member(x->b, "content", &text);
		put_details(x, i, end);
		if (calls) {
			put_reasoning(x, i, end, text.len > 0);
			put_calls(x, i, end);
		}
		buf_putc(x->b, '}');
	}
	buf_free(&text);
	put_results(x, i, end);
	return end;
}

void chat_message_all(
	struct buf *b, struct arena *a, const struct turn *t, const struct chat_tool_names *names)
{
	struct encoder x = {
		.b = b, .arena = a, .turn = t, .names = names, .last_user = CHAT_ORDER_NONE};

	x.at = chat_order(a, &t->items, &x.n);
	for (size_t i = 0; i < x.n; i++)
		if (is_message(x.at[i].item, ROLE_USER))
			x.last_user = i;
	put_system(&x);
	for (size_t i = 0; i < x.n;) {
		const struct item *it = x.at[i].item;
		if (is_message(it, ROLE_SYSTEM) || it->kind == ITEM_RESULT)
			i++; /* written at the top, or with its call */
		else if (is_message(it, ROLE_USER))
			i = put_user(&x, i);
		else
			i = put_assistant(&x, i);
	}
}
