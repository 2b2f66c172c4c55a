/* chat_halves: characters that a provider cut in two. SPDX-License-Identifier: ISC */
#include "app/dialect/chat_halves.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "sandbox/sys/buf.h"
#include "sandbox/sys/utf8.h"

/* A half U+D800…U+DFFF is marked as U+10D800…U+10DFFF, which in UTF-8 begins so. */
#define MARK        0x100000u
#define MARK_PREFIX "\xf4\x8d"
#define REPLACEMENT "\xef\xbf\xbd"

static bool is_high(uint32_t v)
{
	return v >= 0xd800 && v <= 0xdbff;
}

static bool is_low(uint32_t v)
{
	return v >= 0xdc00 && v <= 0xdfff;
}

/* The value of \uXXXX at s, UTF8_INVALID if there is none. */
static uint32_t escape_at(const char *s, size_t n)
{
	char hex[5] = {0};
	if (n < 6 || s[0] != '\\' || s[1] != 'u')
		return UTF8_INVALID;
	memcpy(hex, s + 2, 4);
	if (strspn(hex, "0123456789abcdefABCDEF") != 4)
		return UTF8_INVALID;
	return (uint32_t)strtoul(hex, NULL, 16);
}

/* An escape sequence; returns the bytes that it took. */
static size_t mark_escape(struct buf *b, const char *s, size_t n)
{
	const uint32_t v = escape_at(s, n);
	if (v == UTF8_INVALID) {
		const size_t used = n < 2 ? n : 2;
		buf_put(b, s, used);
		return used;
	}
	if (is_high(v) && is_low(escape_at(s + 6, n - 6))) {
		buf_put(b, s, 12);
		return 12;
	}
	if (is_high(v) || is_low(v)) {
		const uint32_t marked = v + MARK - 0x10000;
		buf_printf(b, "\\u%04x\\u%04x", 0xd800 + (marked >> 10), 0xdc00 + (marked & 0x3ff));
	} else if (v == 0) {
		buf_puts(b, "\\ufffd");
	} else {
		buf_put(b, s, 6);
	}
	return 6;
}

static void release(void *p)
{
	buf_free(p);
}

const char *chat_halves_mark(struct arena *a, const char *json, size_t n, size_t *len)
{
	struct buf *b = arena_new_of(a, struct buf);
	buf_init(b, 3 * n + 1); /* a byte becomes three at most */
	arena_defer(a, release, b);
	for (size_t i = 0; i < n;) {
		uint32_t cp;
		if (json[i] == '\\') {
			i += mark_escape(b, json + i, n - i);
			continue;
		}
		const size_t used = utf8_next(&cp, json + i, n - i);
		if (cp == UTF8_INVALID)
			buf_puts(b, REPLACEMENT);
		else
			buf_put(b, json + i, used);
		i += used;
	}
	*len = b->len;
	return buf_str(b);
}

/* The half that a marked character stands for, 0 if it stands for itself. */
static uint32_t half_of(uint32_t cp)
{
	const uint32_t v = cp - MARK;
	return cp != UTF8_INVALID && cp >= MARK && (is_high(v) || is_low(v)) ? v : 0;
}

static void put_character(struct buf *b, uint32_t cp)
{
	const char utf8[] = {(char)(0xf0 | cp >> 18), (char)(0x80 | (cp >> 12 & 0x3f)),
		(char)(0x80 | (cp >> 6 & 0x3f)), (char)(0x80 | (cp & 0x3f))};
	buf_put(b, utf8, sizeof(utf8));
}

static void join_half(struct chat_halves *h, struct buf *b, uint32_t v)
{
	if (h->high != 0 && is_low(v)) {
		put_character(b, 0x10000 + ((h->high - 0xd800) << 10) + (v - 0xdc00));
		h->high = 0;
		return;
	}
	if (h->high != 0 || is_low(v))
		buf_puts(b, REPLACEMENT);
	h->high = is_high(v) ? v : 0;
}

const char *chat_halves_join(struct chat_halves *h, struct arena *a, const char *s)
{
	if (*s == '\0' || (h->high == 0 && strstr(s, MARK_PREFIX) == NULL))
		return s;
	const size_t n = strlen(s);
	struct buf *b = arena_new_of(a, struct buf);
	buf_init(b, 3 * n + 8);
	arena_defer(a, release, b);
	for (size_t i = 0; i < n;) {
		uint32_t cp;
		const size_t used = utf8_next(&cp, s + i, n - i);
		const uint32_t v = half_of(cp);
		if (v != 0) {
			join_half(h, b, v);
		} else {
			if (h->high != 0)
				buf_puts(b, REPLACEMENT);
			h->high = 0;
			buf_put(b, s + i, used);
		}
		i += used;
	}
	return buf_str(b);
}
