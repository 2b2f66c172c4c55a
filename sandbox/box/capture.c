/* capture: what is kept of an endless output. SPDX-License-Identifier: ISC */
#include "sandbox/box/capture.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sandbox/sys/utf8.h"

#define REPLACEMENT 0xFFFDu

void capture_init(struct capture *c, uint32_t max)
{
	memset(c, 0, sizeof(*c));
	c->max = max;
	c->ring = max / 4;
}

void capture_free(struct capture *c)
{
	free(c->head);
	free(c->tail);
	capture_init(c, c->max);
}

static size_t encode(char out[4], uint32_t cp)
{
	if (cp < 0x80) {
		out[0] = (char)cp;
		return 1;
	}
	size_t n = cp < 0x800 ? 2 : cp < 0x10000 ? 3 : 4;
	static const unsigned char lead[] = {0, 0, 0xC0, 0xE0, 0xF0};
	for (size_t k = n - 1; k > 0; k--) {
		out[k] = (char)(0x80 | (cp & 0x3F));
		cp >>= 6;
	}
	out[0] = (char)(lead[n] | cp);
	return n;
}

/* Bytes of the character whose first byte is at p: the text in head is valid. */
static size_t width(const char *p)
{
	unsigned char b = (unsigned char)*p;

	return b < 0x80 ? 1 : b < 0xE0 ? 2 : b < 0xF0 ? 3 : 4;
}

static bool reserve(struct capture *c, size_t n)
{
	if (c->cap - c->len >= n)
		return true;
	/* A character takes four bytes at most, so 4 * max always suffices. */
	size_t cap = c->cap ? c->cap : 1024, most = (size_t)c->max * 4;
	while (cap - c->len < n)
		cap = cap > most / 2 ? most : cap * 2;
	char *p = realloc(c->head, cap);
	if (!p) {
		c->short_of_memory = true;
		return false;
	}
	c->head = p;
	c->cap = cap;
	return true;
}

static void ring_put(struct capture *c, uint32_t cp)
{
	c->tail[c->at] = cp;
	if (++c->at == c->ring)
		c->at = 0;
}

/* Head is full: from now on the end is remembered as well, beginning with what head ends in. */
static bool start_ring(struct capture *c)
{
	size_t at = c->len;
	uint32_t cp;

	if (c->tail || !c->ring)
		return c->tail != NULL;
	c->tail = malloc(c->ring * sizeof(*c->tail));
	if (!c->tail) {
		c->short_of_memory = true;
		return false;
	}
	for (uint32_t k = 0; k < c->ring; k++) {
		do
			at--;
		while (((unsigned char)c->head[at] & 0xC0) == 0x80);
	}
	while (at < c->len) {
		at += utf8_next(&cp, c->head + at, c->len - at);
		ring_put(c, cp);
	}
	return true;
}

static void put_one(struct capture *c, uint32_t cp)
{
	if (c->short_of_memory)
		return;
	if (c->total++ < c->max) {
		if (reserve(c, 4))
			c->len += encode(c->head + c->len, cp);
	} else if (start_ring(c)) {
		ring_put(c, cp);
	}
}

static size_t ascii_run(const char *p, size_t n)
{
	const uint64_t high = 0x8080808080808080u;
	size_t k = 0;
	uint64_t word;

	for (; n - k >= sizeof(word); k += sizeof(word)) {
		memcpy(&word, p + k, sizeof(word));
		if (word & high)
			break;
	}
	while (k < n && (unsigned char)p[k] < 0x80)
		k++;
	return k;
}

/* The common case is quick: a flood of output costs little more than reading it. */
static void put_ascii(struct capture *c, const char *p, size_t n)
{
	if (c->short_of_memory)
		return;
	if (c->total < c->max) {
		size_t k = c->max - c->total < n ? (size_t)(c->max - c->total) : n;
		if (!reserve(c, k))
			return;
		memcpy(c->head + c->len, p, k);
		c->len += k;
		c->total += k;
		p += k;
		n -= k;
	}
	if (!n)
		return;
	c->total += n;
	if (!start_ring(c))
		return;
	if (n > c->ring) {
		p += n - c->ring;
		n = c->ring;
	}
	for (size_t k = 0; k < n; k++)
		ring_put(c, (unsigned char)p[k]);
}

/* Whether a sequence that ended early did so for want of bytes; it began well then. */
static bool unfinished(const char *p, size_t used, size_t n)
{
	unsigned char b = (unsigned char)*p;

	return used == n && b >= 0xC2 && b <= 0xF4 && used < width(p);
}

/* Ends the sequence left over by the last piece; returns bytes of p that belong to it. */
static size_t put_part(struct capture *c, const char *p, size_t n)
{
	size_t had = c->npart, room = sizeof(c->part) - had, used;
	size_t more = n < room ? n : room;
	uint32_t cp;

	memcpy(c->part + had, p, more);
	used = utf8_next(&cp, c->part, had + more);
	if (cp == UTF8_INVALID && unfinished(c->part, used, had + more)) {
		c->npart += more;
		return more;
	}
	c->npart = 0;
	put_one(c, cp == UTF8_INVALID ? REPLACEMENT : cp);
	/* What was kept began well, so a sequence that breaks off takes all of it. */
	return used - had;
}

void capture_put(struct capture *c, const char *p, size_t n)
{
	size_t k = 0;

	if (c->npart && n)
		k = put_part(c, p, n);
	while (k < n) {
		size_t run = ascii_run(p + k, n - k);
		if (run) {
			put_ascii(c, p + k, run);
			k += run;
			continue;
		}
		uint32_t cp;
		size_t used = utf8_next(&cp, p + k, n - k);
		if (cp == UTF8_INVALID && unfinished(p + k, used, n - k)) {
			memcpy(c->part, p + k, used);
			c->npart = used;
			return;
		}
		put_one(c, cp == UTF8_INVALID ? REPLACEMENT : cp);
		k += used;
	}
}

static size_t characters(const char *s)
{
	size_t n = 0;

	for (; *s; s++)
		n += ((unsigned char)*s & 0xC0) != 0x80;
	return n;
}

static const char marker[] = "[… %" PRIu64 " characters omitted …]\n";

static void put_cut(struct capture *c, struct buf *out, uint64_t *omitted)
{
	char line[64];
	char utf8[4];
	size_t at = 0;

	/* A newline may be needed before the line; N is at most total, so its digits fit. */
	(void)snprintf(line, sizeof(line), marker, c->total);
	size_t joint = characters(line) + 1;
	uint32_t tail = joint < c->max ? (c->max - (uint32_t)joint) / 4 : 0;
	uint32_t head = joint < c->max ? c->max - (uint32_t)joint - tail : c->max;

	for (uint32_t k = 0; k < head; k++)
		at += width(c->head + at);
	buf_put(out, c->head, at);
	*omitted = c->total - head - tail;
	if (joint >= c->max)
		return;
	(void)snprintf(line, sizeof(line), marker, *omitted);
	if (!at || c->head[at - 1] != '\n')
		buf_putc(out, '\n');
	buf_puts(out, line);
	for (uint32_t k = 0, i = (c->at + c->ring - tail) % c->ring; k < tail; k++) {
		buf_put(out, utf8, encode(utf8, c->tail[i]));
		i = i + 1 == c->ring ? 0 : i + 1;
	}
}

int capture_finish(struct capture *c, struct buf *out, uint64_t *omitted)
{
	*omitted = 0;
	if (c->npart)
		put_one(c, REPLACEMENT);
	c->npart = 0;
	if (c->short_of_memory)
		return -1;
	if (c->total > c->max)
		put_cut(c, out, omitted);
	else
		buf_put(out, c->head, c->len);
	return buf_ok(out) ? 0 : -1;
}
