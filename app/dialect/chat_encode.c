/* chat_encode: a turn as a Chat Completions request. SPDX-License-Identifier: ISC */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/base/json.h"
#include "app/dialect/chat.h"
#include "app/dialect/chat_message.h"
#include "app/dialect/chat_put.h"
#include "app/dialect/chat_tool.h"
#include "sandbox/sys/buf.h"

static const char no_parameters[] = "{\"type\":\"object\",\"properties\":{}}";

static void put_tool(struct buf *b, const struct chat_tool_names *names, const struct tool *k)
{
	chat_put_sep(b);
	buf_puts(b, "{\"type\":\"function\",\"function\":{");
	chat_put_string(b, "name", chat_tool_wire(names, k->kind, k->name));
	if (k->description != NULL)
		chat_put_string(b, "description", k->description);
	if (!chat_put_raw(b, "parameters", k->parameters, cJSON_Object)) {
		chat_put_key(b, "parameters");
		buf_puts(b, no_parameters);
	}
	if (k->strict >= 0)
		chat_put_bool(b, "strict", k->strict != 0);
	buf_puts(b, "}}");
}

/* The tool that a choice names: the client's function before one of ours of the same name. */
static const char *chosen(const struct chat_tool_names *names, const struct turn *t)
{
	const struct tool *found = NULL;
	for (const struct tool *k = t->tools; k != NULL && t->choice_name != NULL; k = k->next) {
		if (strcmp(k->name, t->choice_name) != 0)
			continue;
		if (found == NULL || k->kind == TOOL_CLIENT)
			found = k;
	}
	return found == NULL ? NULL : chat_tool_wire(names, found->kind, found->name);
}

static void put_choice(struct buf *b, const struct chat_tool_names *names, const struct turn *t)
{
	const char *name;
	switch (t->choice) {
	case CHOICE_AUTO: /* what every provider does unasked */
		break;
	case CHOICE_NONE:
		chat_put_string(b, "tool_choice", "none");
		break;
	case CHOICE_REQUIRED:
		chat_put_string(b, "tool_choice", "required");
		break;
	case CHOICE_TOOL:
		name = chosen(names, t);
		if (name == NULL)
			break;
		chat_put_key(b, "tool_choice");
		buf_puts(b, "{\"type\":\"function\",\"function\":{");
		chat_put_string(b, "name", name);
		buf_puts(b, "}}");
		break;
	}
}

/* Choice and parallelism are refused by some providers when there is no tool. */
static void put_tools(struct buf *b, const struct chat_tool_names *names, const struct turn *t)
{
	if (t->tools == NULL)
		return;
	chat_put_key(b, "tools");
	buf_putc(b, '[');
	for (const struct tool *k = t->tools; k != NULL; k = k->next)
		put_tool(b, names, k);
	buf_putc(b, ']');
	put_choice(b, names, t);
	if (t->parallel_tool_calls >= 0)
		chat_put_bool(b, "parallel_tool_calls", t->parallel_tool_calls != 0);
}

/* The shortest of two precisions that reads back as the same number: 0.7, not 0.69999999999999996. */
static void put_number(struct buf *b, const char *key, double v)
{
	char text[32];
	if (!isfinite(v))
		return;
	snprintf(text, sizeof(text), "%.15g", v);
	if (strtod(text, NULL) < v || strtod(text, NULL) > v)
		snprintf(text, sizeof(text), "%.17g", v);
	chat_put_key(b, key);
	buf_puts(b, text);
}

static void put_integer(struct buf *b, const char *key, int64_t v)
{
	if (v < 0)
		return;
	chat_put_key(b, key);
	buf_printf(b, "%lld", (long long)v);
}

static void put_settings(struct buf *b, const struct turn *t)
{
	put_integer(b, "max_tokens", t->max_tokens);
	put_number(b, "temperature", t->temperature);
	put_number(b, "top_p", t->top_p);
	put_integer(b, "top_k", t->top_k);
	put_number(b, "presence_penalty", t->presence_penalty);
	put_number(b, "frequency_penalty", t->frequency_penalty);
	if (t->stop != NULL && t->stop[0] != NULL) {
		chat_put_key(b, "stop");
		buf_putc(b, '[');
		for (size_t i = 0; t->stop[i] != NULL; i++) {
			chat_put_sep(b);
			buf_put_json(b, t->stop[i], strlen(t->stop[i]));
		}
		buf_putc(b, ']');
	}
	chat_put_raw(b, "response_format", t->response_format, cJSON_Object);
	if (t->reasoning_effort != NULL)
		chat_put_string(b, "reasoning_effort", t->reasoning_effort);
	if (t->user != NULL)
		chat_put_string(b, "user", t->user);
}

static void release(void *p)
{
	buf_free(p);
}

char *chat_encode(struct arena *a, const struct turn *t, const char *model)
{
	struct buf *b = arena_new_of(a, struct buf);
	struct chat_tool_names names;

	buf_init(b, CHAT_REQUEST_MAX);
	arena_defer(a, release, b);
	chat_tool_names(&names, a, t);
	buf_putc(b, '{');
	chat_put_string(b, "model", model);
	buf_puts(b, ",\"stream\":true,\"stream_options\":{\"include_usage\":true}");
	chat_put_key(b, "messages");
	buf_putc(b, '[');
	chat_message_all(b, a, t, &names);
	buf_putc(b, ']');
	put_tools(b, &names, t);
	put_settings(b, t);
	buf_putc(b, '}');
	return buf_ok(b) ? b->data : NULL;
}
