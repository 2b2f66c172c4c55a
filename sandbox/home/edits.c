/* edits: the changes of one snapshot, as a tree of path components. SPDX-License-Identifier: ISC */
#include "sandbox/home/edits.h"

#include <stdlib.h>
#include <string.h>

static size_t hash(const struct edit *parent, const char *name, size_t n)
{
	uint64_t h = UINT64_C(14695981039346656037) ^ parent->index;

	for (size_t i = 0; i < n; i++)
		h = (h ^ (unsigned char)name[i]) * UINT64_C(1099511628211);
	return (size_t)(h ^ h >> 29);
}

static int grow(struct edits *e)
{
	size_t buckets = e->buckets ? e->buckets * 2 : 256;
	struct edit **order = reallocarray(e->order, buckets, sizeof(struct edit *));
	struct edit **table;

	if (!order)
		return -1;
	e->order = order;
	e->cap = buckets;
	table = calloc(buckets, sizeof(struct edit *));
	if (!table)
		return -1;
	for (size_t i = 1; i < e->n; i++) {
		struct edit *d = e->order[i];
		size_t at = hash(d->parent, d->name, d->len) & (buckets - 1);

		d->chain = table[at];
		table[at] = d;
	}
	free(e->table);
	e->table = table;
	e->buckets = buckets;
	return 0;
}

static struct edit *add(struct edits *e, struct edit *parent, const char *name, size_t n)
{
	struct edit *d;

	if (e->n >= e->buckets && grow(e) != 0)
		return NULL;
	d = calloc(1, sizeof *d + n + 1);
	if (!d)
		return NULL;
	if (n > 0)
		memcpy(d->name, name, n);
	d->len = n;
	d->kind = EDIT_PASSAGE;
	d->index = e->n;
	e->order[e->n++] = d;
	if (parent) {
		size_t at = hash(parent, name, n) & (e->buckets - 1);

		d->parent = parent;
		d->sibling = parent->child;
		parent->child = d;
		d->chain = e->table[at];
		e->table[at] = d;
	}
	return d;
}

int edits_new(struct edits **out)
{
	struct edits *e = calloc(1, sizeof *e);

	if (!e || !add(e, NULL, "", 0)) {
		edits_free(e);
		return -1;
	}
	*out = e;
	return 0;
}

void edits_free(struct edits *e)
{
	if (!e)
		return;
	for (size_t i = 0; i < e->n; i++) {
		free(e->order[i]->reason);
		free(e->order[i]);
	}
	free(e->order);
	free(e->table);
	free(e);
}

static struct edit *find(struct edits *e, struct edit *parent, const char *name, size_t n)
{
	struct edit *d = e->table[hash(parent, name, n) & (e->buckets - 1)];

	while (d && !(d->parent == parent && d->len == n && memcmp(d->name, name, n) == 0))
		d = d->chain;
	return d ? d : add(e, parent, name, n);
}

static struct edit *walk(struct edits *e, const char *path, bool *none)
{
	struct edit *d = e->order[0];

	for (;;) {
		const char *slash = strchrnul(path, '/');

		if (!edits_is_folder(d)) {
			if (none) {
				*none = true;
				return NULL;
			}
			d->kind = EDIT_PASSAGE;
			d->cleared = true;
		}
		d = find(e, d, path, (size_t)(slash - path));
		if (!d || !*slash)
			return d;
		path = slash + 1;
	}
}

struct edit *edits_at(struct edits *e, const char *path)
{
	return walk(e, path, NULL);
}

struct edit *edits_gone(struct edits *e, const char *path, bool *none)
{
	*none = false;
	return walk(e, path, none);
}

void edits_clear(struct edit *d)
{
	struct edit *below = d->child;

	d->cleared = true;
	/* All below in turn, without recursion: down, else aside, else up and aside. */
	while (below) {
		below->kind = EDIT_REMOVED;
		below->cleared = true;
		if (below->child) {
			below = below->child;
			continue;
		}
		while (below != d && !below->sibling)
			below = below->parent;
		if (below == d)
			break;
		below = below->sibling;
	}
}

void edits_path(struct buf *out, const struct edit *d, bool slash)
{
	size_t n = slash ? 1 : 0, at;

	buf_reset(out);
	for (const struct edit *p = d; p->parent; p = p->parent)
		n += p->len + (p->parent->parent ? 1 : 0);
	/* Room first, then the components from the last to the first. */
	for (at = 0; at < n; at++)
		buf_putc(out, '/');
	if (!buf_ok(out))
		return;
	at = n - (slash ? 1 : 0);
	for (const struct edit *p = d; p->parent; p = p->parent) {
		at -= p->len;
		memcpy(out->data + at, p->name, p->len);
		if (p->parent->parent)
			at--;
	}
}
