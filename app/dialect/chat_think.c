/* chat_think: reasoning written into the text as <think>…</think>. SPDX-License-Identifier: ISC */
#include "app/dialect/chat_think.h"

#include <string.h>

static const char opening[] = "<think>";
static const char closing[] = "</think>";
#define LEADING_MAX 64 /* bytes of white space before the tag */

void chat_think_init(struct chat_think *th, size_t max, chat_think_fn *fn, void *ctx)
{
	*th = (struct chat_think){.fn = fn, .ctx = ctx};
	buf_init(&th->held, max);
}

void chat_think_free(struct chat_think *th)
{
	buf_free(&th->held);
}

static int say(struct chat_think *th, bool reasoning, const char *s, size_t n)
{
	return n == 0 ? 0 : th->fn(th->ctx, reasoning, s, n);
}

static size_t skip_space(const char *s, size_t n)
{
	size_t i = 0;
	while (i < n && (s[i] == ' ' || s[i] == '\n' || s[i] == '\r' || s[i] == '\t'))
		i++;
	return i;
}

static int say_held(struct chat_think *th, bool reasoning)
{
	int rc = say(th, reasoning, buf_str(&th->held), th->held.len);
	buf_reset(&th->held);
	return rc;
}

static void start(struct chat_think *th)
{
	const size_t space = skip_space(th->held.data, th->held.len);
	const size_t have = th->held.len - space;
	const size_t tag = sizeof(opening) - 1;

	if (space > LEADING_MAX ||
		memcmp(th->held.data + space, opening, have < tag ? have : tag) != 0) {
		th->state = CHAT_THINK_TEXT;
	} else if (have >= tag) {
		buf_consume(&th->held, space + tag);
		th->state = CHAT_THINK_INSIDE;
	}
}

/* Passes on what cannot belong to the closing tag. */
static int inside(struct chat_think *th)
{
	const size_t tag = sizeof(closing) - 1;
	struct buf *h = &th->held;
	char *end = h->len > 0 ? strstr(h->data, closing) : NULL;
	size_t n;
	int rc;

	if (end != NULL) {
		n = (size_t)(end - h->data);
		*end = '\0';
		rc = say(th, true, h->data, n);
		buf_consume(h, n + tag);
		th->state = CHAT_THINK_AFTER;
		return rc;
	}
	size_t keep = h->len < tag - 1 ? h->len : tag - 1;
	while (keep > 0 && memcmp(h->data + h->len - keep, closing, keep) != 0)
		keep--;
	n = h->len - keep;
	if (n == 0)
		return 0;
	char tail[sizeof(closing)];
	memcpy(tail, h->data + n, keep);
	h->data[n] = '\0';
	rc = say(th, true, h->data, n);
	buf_reset(h);
	buf_put(h, tail, keep);
	return rc;
}

int chat_think_put(struct chat_think *th, const char *s, size_t n)
{
	int rc = 0;

	if (th->state == CHAT_THINK_TEXT)
		return say(th, false, s, n);
	buf_put(&th->held, s, n);
	if (th->held.len == 0)
		return 0;
	if (th->state == CHAT_THINK_START)
		start(th);
	if (th->state == CHAT_THINK_INSIDE)
		rc = inside(th);
	if (th->state == CHAT_THINK_AFTER) {
		buf_consume(&th->held, skip_space(buf_str(&th->held), th->held.len));
		if (th->held.len > 0)
			th->state = CHAT_THINK_TEXT;
	}
	if (rc == 0 && th->state == CHAT_THINK_TEXT)
		rc = say_held(th, false);
	return rc;
}

int chat_think_end(struct chat_think *th)
{
	if (th->state == CHAT_THINK_AFTER)
		return 0;
	return say_held(th, th->state == CHAT_THINK_INSIDE);
}
