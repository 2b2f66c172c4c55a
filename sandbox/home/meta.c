/* meta: what git's trees cannot express of a home, the blob %sg-meta. SPDX-License-Identifier: ISC */
#include "sandbox/home/meta.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static int order(const char *a, size_t na, const char *b, size_t nb)
{
	int c = memcmp(a, b, na < nb ? na : nb);

	return c ? c : na < nb ? -1 : na > nb;
}

/* -- the blob --------------------------------------------------------------- */

void meta_escape(struct buf *out, const char *path, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)path[i];

		if (c == '\\')
			buf_puts(out, "\\\\");
		else if (c == '\n')
			buf_puts(out, "\\n");
		else if (c == '\t')
			buf_puts(out, "\\t");
		else if (c < 0x20 || c == 0x7f)
			buf_printf(out, "\\x%02x", c);
		else
			buf_putc(out, (char)c);
	}
}

static int hex(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* In place; the length, or 0 if it is malformed. */
static size_t unescape(char *s, size_t n)
{
	size_t len = 0;

	for (size_t i = 0; i < n; i++) {
		int c = s[i];

		if (c == '\\') {
			if (++i == n)
				return 0;
			if (s[i] == 'n') {
				c = '\n';
			} else if (s[i] == 't') {
				c = '\t';
			} else if (s[i] == 'x') {
				if (n - i < 3 || hex(s[i + 1]) < 0 || hex(s[i + 2]) < 0)
					return 0;
				c = hex(s[i + 1]) * 16 + hex(s[i + 2]);
				i += 2;
			} else if (s[i] != '\\') {
				return 0;
			}
		}
		if (c == 0)
			return 0;
		s[len++] = (char)c;
	}
	s[len] = '\0';
	return len;
}

static bool parse_line(struct meta_entry *e, char *line, size_t n)
{
	size_t i = 0;

	e->mode = 0;
	while (i < n && i < 5 && line[i] >= '0' && line[i] <= '7')
		e->mode = e->mode * 8 + (unsigned)(line[i++] - '0');
	if (i == 0 || i >= n || line[i] != ' ' || e->mode > META_BITS)
		return false;
	e->key = line + i + 1;
	e->len = unescape(line + i + 1, n - i - 1);
	return e->len > 0 && e->key[0] != '/';
}

int meta_parse(struct meta *m, const char *data, size_t n)
{
	size_t lines = 0;
	char *end;

	memset(m, 0, sizeof *m);
	for (const char *p = data; n > 0 && (p = memchr(p, '\n', (size_t)(data + n - p))); p++)
		lines++;
	if (lines == 0)
		return 0;
	m->text = malloc(n + 1);
	m->entries = calloc(lines, sizeof *m->entries);
	if (!m->text || !m->entries) {
		meta_free(m);
		return -1;
	}
	memcpy(m->text, data, n);
	end = m->text + n;
	for (char *p = m->text, *eol; p < end && (eol = memchr(p, '\n', (size_t)(end - p)));
		p = eol + 1) {
		struct meta_entry e, *last = m->n ? &m->entries[m->n - 1] : NULL;

		if (parse_line(&e, p, (size_t)(eol - p)) &&
			(!last || order(last->key, last->len, e.key, e.len) < 0))
			m->entries[m->n++] = e;
	}
	return 0;
}

void meta_free(struct meta *m)
{
	free(m->entries);
	free(m->text);
	memset(m, 0, sizeof *m);
}

/* Index of the first entry that is not before the key. */
static size_t lower_bound(const struct meta *m, const char *key, size_t n)
{
	size_t lo = 0, hi = m->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (order(m->entries[mid].key, m->entries[mid].len, key, n) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

const struct meta_entry *meta_find(const struct meta *m, const char *key, size_t n)
{
	size_t i = lower_bound(m, key, n);

	return i < m->n && order(m->entries[i].key, m->entries[i].len, key, n) == 0 ? &m->entries[i]
										    : NULL;
}

/* -- changes ---------------------------------------------------------------- */

#define GONE UINT32_MAX

struct edit {
	char *key;
	size_t len;
	size_t serial;
	unsigned mode; /* or GONE */
	bool drop;
};
struct meta_edits {
	struct edit *list;
	size_t n, cap;
};

int meta_edits_new(struct meta_edits **out)
{
	*out = calloc(1, sizeof **out);
	return *out ? 0 : -1;
}

void meta_edits_free(struct meta_edits *e)
{
	if (!e)
		return;
	for (size_t i = 0; i < e->n; i++)
		free(e->list[i].key);
	free(e->list);
	free(e);
}

static int add(struct meta_edits *e, const char *key, size_t n, unsigned mode, bool drop)
{
	struct edit one = {
		.key = malloc(n + 1), .len = n, .serial = e->n, .mode = mode, .drop = drop};

	if (!one.key)
		return -1;
	memcpy(one.key, key, n);
	one.key[n] = '\0';
	if (e->n == e->cap) {
		size_t cap = e->cap ? e->cap * 2 : 64;
		struct edit *list = reallocarray(e->list, cap, sizeof *list);

		if (!list) {
			free(one.key);
			return -1;
		}
		e->list = list;
		e->cap = cap;
	}
	e->list[e->n++] = one;
	return 0;
}

int meta_set(struct meta_edits *e, const char *key, size_t n, unsigned mode)
{
	return add(e, key, n, mode & META_BITS, false);
}

int meta_unset(struct meta_edits *e, const char *key, size_t n)
{
	return add(e, key, n, GONE, false);
}

int meta_drop(struct meta_edits *e, const char *path, size_t n)
{
	return add(e, path, n, GONE, true);
}

/* Marks what the drops take away: the file's own entry and the range that begins with "path/". */
static void mark_dropped(bool *dropped, const struct meta *m, const struct edit *d)
{
	size_t i = lower_bound(m, d->key, d->len);
	char *key = d->key;

	if (i < m->n && order(m->entries[i].key, m->entries[i].len, d->key, d->len) == 0)
		dropped[i] = true;
	/* The NUL's place serves for the slash. */
	key[d->len] = '/';
	for (i = lower_bound(m, key, d->len + 1); i < m->n && m->entries[i].len > d->len &&
		memcmp(m->entries[i].key, key, d->len + 1) == 0;
		i++)
		dropped[i] = true;
	key[d->len] = '\0';
}

static int by_key(const void *a, const void *b)
{
	const struct edit *x = a, *y = b;
	int c = order(x->key, x->len, y->key, y->len);

	return c ? c : x->serial < y->serial ? -1 : 1;
}

static void put(struct buf *out, unsigned mode, const char *key, size_t n)
{
	buf_printf(out, "%o ", mode);
	meta_escape(out, key, n);
	buf_putc(out, '\n');
}

int meta_apply(struct buf *out, bool *changed, const struct meta *m, struct meta_edits *e)
{
	bool *dropped = calloc(m->n + 1, sizeof *dropped);
	size_t i = 0, sets = 0;

	if (!dropped)
		return -1;
	*changed = false;
	for (size_t k = 0; k < e->n; k++) {
		if (e->list[k].drop) {
			mark_dropped(dropped, m, &e->list[k]);
			free(e->list[k].key);
		} else {
			e->list[sets++] = e->list[k];
		}
	}
	e->n = sets;
	if (e->n > 1)
		qsort(e->list, e->n, sizeof *e->list, by_key);
	for (size_t k = 0; i < m->n || k < e->n;) {
		const struct meta_entry *old = i < m->n ? &m->entries[i] : NULL;
		const struct edit *s = k < e->n ? &e->list[k] : NULL;
		int c = !s ? -1 : !old ? 1 : order(old->key, old->len, s->key, s->len);
		unsigned was = c <= 0 ? old->mode : GONE, is;

		if (s && k + 1 < e->n && order(s->key, s->len, s[1].key, s[1].len) == 0) {
			k++; /* a later word on the same key follows */
			continue;
		}
		is = c >= 0 ? s->mode : dropped[i] ? GONE : was;
		if (is != was)
			*changed = true;
		if (is != GONE)
			put(out, is, c >= 0 ? s->key : old->key, c >= 0 ? s->len : old->len);
		if (c <= 0)
			i++;
		if (c >= 0)
			k++;
	}
	free(dropped);
	return buf_ok(out) ? 0 : -1;
}
