/* chat_args: the arguments of one call, as they trickle in. SPDX-License-Identifier: ISC */
#include "app/dialect/chat_args.h"

#include <string.h>

#include "app/base/json.h"

void chat_args_init(struct chat_args *g, size_t max)
{
	*g = (struct chat_args){0};
	buf_init(&g->text, max);
}

void chat_args_free(struct chat_args *g)
{
	buf_free(&g->text);
}

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static void restart(struct chat_args *g)
{
	buf_reset(&g->text);
	g->depth = 0;
	g->in_string = g->escaped = g->filled = g->complete = g->odd = false;
}

static void in_string(struct chat_args *g, char c)
{
	if (g->escaped)
		g->escaped = false;
	else if (c == '\\')
		g->escaped = true;
	else if (c == '"')
		g->in_string = false;
}

static void push(struct chat_args *g, char closer)
{
	if (g->depth == CHAT_ARGS_DEPTH)
		g->odd = true;
	else
		g->open[g->depth++] = closer;
}

static void pop(struct chat_args *g, char closer)
{
	if (g->depth == 0 || g->open[g->depth - 1] != closer)
		g->odd = true;
	else
		g->complete = --g->depth == 0;
}

static void follow(struct chat_args *g, char c)
{
	if (g->in_string) {
		in_string(g, c);
		return;
	}
	switch (c) {
	case '"':
		g->in_string = true;
		break;
	case '{':
		push(g, '}');
		break;
	case '[':
		push(g, ']');
		break;
	case '}':
	case ']':
		pop(g, c);
		break;
	default:
		break;
	}
}

static void put_byte(struct chat_args *g, char c)
{
	if (g->complete) {
		if (g->filled || c != '{')
			return;
		restart(g);
	}
	if (g->text.len == 0) {
		if (is_space(c))
			return;
		g->odd = c != '{';
	} else if (!g->filled && !is_space(c) && c != '}') {
		g->filled = true;
	}
	buf_putc(&g->text, c);
	if (!g->odd)
		follow(g, c);
}

void chat_args_put(struct chat_args *g, const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		put_byte(g, s[i]);
}

bool chat_args_firm(const struct chat_args *g)
{
	return g->filled && g->text.data[0] == '{';
}

static bool sound(const char *s, size_t n)
{
	struct arena *scratch = arena_new();
	cJSON *v;
	bool ok = json_parse(&v, scratch, s, n, NULL) == 0;
	arena_free(scratch);
	return ok;
}

/* Closes what is open, in a copy first: text may have been passed on already. */
static void close_open(struct chat_args *g)
{
	struct buf whole;
	const size_t len = g->text.len;

	buf_init(&whole, g->text.max);
	buf_put(&whole, g->text.data, len);
	if (g->escaped)
		buf_putc(&whole, '\\');
	if (g->in_string)
		buf_putc(&whole, '"');
	size_t last = whole.len;
	while (last > 0 && is_space(whole.data[last - 1]))
		last--;
	if (last > 0 && whole.data[last - 1] == ':')
		buf_puts(&whole, "null");
	for (size_t i = g->depth; i > 0; i--)
		buf_putc(&whole, g->open[i - 1]);
	if (buf_ok(&whole) && sound(whole.data, whole.len)) {
		buf_put(&g->text, whole.data + len, whole.len - len);
		g->complete = true;
	}
	buf_free(&whole);
}

/* Arguments that were encoded twice: "{\"commands\":…}". */
static void unwrap(struct chat_args *g)
{
	struct arena *scratch = arena_new();
	cJSON *v;
	if (json_parse(&v, scratch, g->text.data, g->text.len, NULL) == 0 && cJSON_IsString(v)) {
		const char *s = v->valuestring;
		cJSON *inner;
		if (json_parse(&inner, scratch, s, strlen(s), NULL) == 0 && cJSON_IsObject(inner)) {
			restart(g);
			chat_args_put(g, s, strlen(s));
		}
	}
	arena_free(scratch);
}

void chat_args_end(struct chat_args *g, bool repair)
{
	while (g->odd && !chat_args_firm(g) && g->text.len > 0 &&
		is_space(g->text.data[g->text.len - 1]))
		g->text.data[--g->text.len] = '\0';
	if (g->text.len == 0 || strcmp(g->text.data, "null") == 0) {
		restart(g);
		chat_args_put(g, "{}", 2);
	} else if (g->odd && g->text.data[0] == '"') {
		unwrap(g);
	} else if (!g->odd && !g->complete && repair) {
		close_open(g);
	}
}
