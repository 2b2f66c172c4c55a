/* buf: a growable byte buffer with a hard maximum. SPDX-License-Identifier: ISC */
#include "sandbox/sys/buf.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sandbox/sys/utf8.h"

void buf_init(struct buf *b, size_t max)
{
	*b = (struct buf){.max = max};
}

void buf_free(struct buf *b)
{
	size_t max = b->max;

	free(b->data);
	buf_init(b, max);
}

void buf_reset(struct buf *b)
{
	b->len = 0;
	b->bad = false;
	if (b->data)
		b->data[0] = '\0';
}

bool buf_ok(const struct buf *b)
{
	return !b->bad;
}

const char *buf_str(const struct buf *b)
{
	return b->data ? b->data : "";
}

/* Room for n more bytes and the NUL, or bad. */
static bool reserve(struct buf *b, size_t n)
{
	size_t need, cap;
	char *data;

	if (b->bad)
		return false;
	if (n > b->max - b->len || b->max > SIZE_MAX / 2) {
		b->bad = true;
		return false;
	}
	need = b->len + n + 1;
	if (need <= b->cap)
		return true;
	cap = b->cap < 64 ? 64 : b->cap;
	while (cap < need)
		cap *= 2;
	if (cap > b->max + 1)
		cap = b->max + 1;
	data = realloc(b->data, cap);
	if (!data) {
		b->bad = true;
		return false;
	}
	b->data = data;
	b->cap = cap;
	return true;
}

void buf_put(struct buf *b, const void *p, size_t n)
{
	if (!reserve(b, n))
		return;
	if (n > 0)
		memcpy(b->data + b->len, p, n);
	b->len += n;
	b->data[b->len] = '\0';
}

void buf_puts(struct buf *b, const char *s)
{
	buf_put(b, s, strlen(s));
}

void buf_putc(struct buf *b, char c)
{
	buf_put(b, &c, 1);
}

void buf_vprintf(struct buf *b, const char *fmt, va_list ap)
{
	va_list again;
	int n;

	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, again);
	va_end(again);
	if (n < 0) {
		b->bad = true;
		return;
	}
	if (!reserve(b, (size_t)n))
		return;
	vsnprintf(b->data + b->len, (size_t)n + 1, fmt, ap);
	b->len += (size_t)n;
}

void buf_printf(struct buf *b, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	buf_vprintf(b, fmt, ap);
	va_end(ap);
}

/* How many bytes from s on need no look at each of them. */
static size_t plain(const char *s, size_t n)
{
	size_t i = 0;

	while (i < n && s[i] >= 0x20 && s[i] < 0x7F && s[i] != '"' && s[i] != '\\')
		i++;
	return i;
}

void buf_put_json(struct buf *b, const char *s, size_t n)
{
	size_t start = b->len, i = 0, used, len;
	char out[8];

	/* All or nothing, as every put is. */
	buf_putc(b, '"');
	while (i < n && !b->bad) {
		used = plain(s + i, n - i);
		if (used > 0) {
			buf_put(b, s + i, used);
			i += used;
			continue;
		}
		used = utf8_escape(out, &len, s + i, n - i);
		buf_put(b, out, len);
		i += used;
	}
	buf_putc(b, '"');
	if (b->bad && b->data && b->len > start) {
		b->len = start;
		b->data[start] = '\0';
	}
}

void buf_consume(struct buf *b, size_t n)
{
	if (n == 0)
		return;
	if (n > b->len)
		n = b->len;
	b->len -= n;
	memmove(b->data, b->data + n, b->len + 1);
}
