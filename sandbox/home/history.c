/* history: which commit last changed a path. SPDX-License-Identifier: ISC */
#include "sandbox/home/history.h"

#include <stdlib.h>
#include <string.h>

#include "sandbox/home/gittree.h"
#include "sandbox/home/names.h"
#include "sandbox/sys/buf.h"

#define DEPTH_MAX 2100

/* The same folder in two commits; one of the trees may be missing. */
struct level {
	git_odb_object *tree[2];
	size_t at[2];
	size_t path_len;
};
enum { OLD, NEW };

struct walk {
	struct home *h;
	struct history *y;
	git_oid commit; /* that is being compared with its parent, and its time */
	int64_t time;
	struct level *levels;
	size_t depth;
	struct buf path;
};

static int out_of_memory(void)
{
	return repo_fail(HOME_BROKEN, "history: out of memory");
}

/* -- the collection --------------------------------------------------------- */

static size_t *slot(
	size_t *table, size_t buckets, const struct history *y, const char *path, size_t n)
{
	uint64_t h = UINT64_C(14695981039346656037);
	size_t i;

	for (i = 0; i < n; i++)
		h = (h ^ (unsigned char)path[i]) * UINT64_C(1099511628211);
	for (i = (size_t)(h ^ h >> 29) & (buckets - 1); table[i]; i = (i + 1) & (buckets - 1)) {
		const struct history_change *c = &y->changes[table[i] - 1];

		if (c->len == n && memcmp(c->path, path, n) == 0)
			break;
	}
	return &table[i];
}

static int grow(struct history *y)
{
	size_t cap = y->cap ? y->cap * 2 : 64, buckets = cap * 2;
	struct history_change *changes = reallocarray(y->changes, cap, sizeof *changes);
	size_t *table;

	if (!changes)
		return out_of_memory();
	y->changes = changes;
	table = calloc(buckets, sizeof *table);
	if (!table)
		return out_of_memory();
	for (size_t i = 0; i < y->n; i++)
		*slot(table, buckets, y, changes[i].path, changes[i].len) = i + 1;
	free(y->table);
	y->table = table;
	y->buckets = buckets;
	y->cap = cap;
	return HOME_OK;
}

/* Commits come newest first, so what is known already stays. */
static int record(struct walk *w, unsigned mode, const git_oid *blob)
{
	struct history *y = w->y;
	struct history_change *c;
	size_t *at;

	if (!buf_ok(&w->path) || (y->n == y->cap && grow(y) != HOME_OK))
		return out_of_memory();
	at = slot(y->table, y->buckets, y, w->path.data, w->path.len);
	if (*at) {
		c = &y->changes[*at - 1];
		/* A name that is stored otherwise than before is gone and there in one commit. */
		if (c->mode != 0 || mode == 0 || !git_oid_equal(&c->commit, &w->commit))
			return HOME_OK;
	} else {
		c = &y->changes[y->n];
		c->path = strdup(w->path.data);
		if (!c->path)
			return out_of_memory();
		c->len = w->path.len;
		*at = ++y->n;
	}
	c->mode = mode;
	git_oid_cpy(&c->blob, blob);
	git_oid_cpy(&c->commit, &w->commit);
	c->time = w->time;
	return HOME_OK;
}

/* -- two trees -------------------------------------------------------------- */

static int push(struct walk *w, const git_oid *old, const git_oid *new)
{
	const git_oid *ids[2] = {old, new};
	struct level *l = &w->levels[w->depth];

	if (w->depth == DEPTH_MAX)
		return HOME_OK;
	memset(l, 0, sizeof *l);
	l->path_len = w->path.len;
	w->depth++;
	for (int side = OLD; side <= NEW; side++) {
		int r = ids[side] ? repo_read(&l->tree[side], w->h, ids[side], GIT_OBJECT_TREE)
				  : HOME_OK;

		if (r != HOME_OK)
			return r;
	}
	return HOME_OK;
}

static void pop(struct walk *w)
{
	struct level *l = &w->levels[--w->depth];

	git_odb_object_free(l->tree[OLD]);
	git_odb_object_free(l->tree[NEW]);
}

/* One entry e that differs: old, new or both, with NULL for the side it is not on. Both are folders, or none is. */
static int differs(struct walk *w, const struct gittree_entry *e, const unsigned char *old,
	const unsigned char *new)
{
	char name[NAMES_MAX + 1];
	size_t n = names_real(name, e->name, e->len);
	git_oid ids[2];

	if (n == 0 || (w->depth == 1 && strcmp(e->name, NAMES_META) == 0))
		return HOME_OK;
	w->path.len = w->levels[w->depth - 1].path_len;
	buf_put(&w->path, name, n);
	if (e->mode == GITTREE_DIR) {
		buf_putc(&w->path, '/');
		git_oid_fromraw(&ids[OLD], old ? old : e->id);
		git_oid_fromraw(&ids[NEW], new ? new : e->id);
		return push(w, old ? &ids[OLD] : NULL, new ? &ids[NEW] : NULL);
	}
	if (e->mode != GITTREE_FILE && e->mode != GITTREE_EXEC && e->mode != GITTREE_LINK)
		return HOME_OK;
	git_oid_fromraw(&ids[NEW], e->id);
	return record(w, new ? e->mode : 0, &ids[NEW]);
}

static int next(struct gittree_entry *e, const struct level *l, int side)
{
	if (!l->tree[side])
		return 0;
	return gittree_next(e, git_odb_object_data(l->tree[side]),
		git_odb_object_size(l->tree[side]), l->at[side]);
}

static int step(struct walk *w)
{
	struct level *l = &w->levels[w->depth - 1];
	struct gittree_entry old = {0}, new = {0};
	int has_old = next(&old, l, OLD), has_new = next(&new, l, NEW), c;

	if (has_old < 0 || has_new < 0)
		return repo_fail(HOME_BROKEN, "malformed tree");
	if (!has_old && !has_new) {
		pop(w);
		return HOME_OK;
	}
	c = !has_new       ? -1
		: !has_old ? 1
			   : gittree_order(old.name, old.len, old.mode == GITTREE_DIR, new.name,
				     new.len, new.mode == GITTREE_DIR);
	if (c <= 0)
		l->at[OLD] = old.end;
	if (c >= 0)
		l->at[NEW] = new.end;
	if (c == 0 && old.mode == new.mode && memcmp(old.id, new.id, GIT_OID_RAWSZ) == 0)
		return HOME_OK;
	return differs(w, c >= 0 ? &new : &old, c <= 0 ? old.id : NULL, c >= 0 ? new.id : NULL);
}

static int compare(struct walk *w, const git_oid *old, const git_oid *new)
{
	int r;

	buf_reset(&w->path);
	r = push(w, old, new);
	while (r == HOME_OK && w->depth > 0)
		r = step(w);
	while (w->depth > 0)
		pop(w);
	return r;
}

/* -- all commits ------------------------------------------------------------ */

static int by_path(const void *a, const void *b)
{
	const struct history_change *x = a, *y = b;
	int c = memcmp(x->path, y->path, x->len < y->len ? x->len : y->len);

	return c ? c : x->len < y->len ? -1 : x->len > y->len;
}

static int commits(struct walk *w, const git_oid *head, const git_oid *until)
{
	git_oid id = *head;
	struct repo_commit now, before;
	int r = repo_commit(&now, w->h, &id);

	while (r == HOME_OK && !(until && git_oid_equal(&id, until))) {
		w->commit = id;
		w->time = now.time;
		if (!now.has_parent) {
			r = until ? repo_fail(HOME_NOT_FOUND, "not an ancestor")
				  : compare(w, NULL, &now.tree);
			break;
		}
		r = repo_commit(&before, w->h, &now.parent);
		if (r == HOME_OK)
			r = compare(w, &before.tree, &now.tree);
		id = now.parent;
		now = before;
	}
	return r;
}

int history_walk(struct history *y, struct home *h, const git_oid *head, const git_oid *until)
{
	struct walk w = {.h = h, .y = y};
	int r;

	memset(y, 0, sizeof *y);
	buf_init(&w.path, (size_t)1 << 20);
	w.levels = calloc(DEPTH_MAX, sizeof *w.levels);
	r = w.levels ? commits(&w, head, until) : out_of_memory();
	free(w.levels);
	buf_free(&w.path);
	if (r == HOME_OK && y->n > 1)
		qsort(y->changes, y->n, sizeof *y->changes, by_path);
	return r;
}

void history_free(struct history *y)
{
	for (size_t i = 0; i < y->n; i++)
		free(y->changes[i].path);
	free(y->changes);
	free(y->table);
	memset(y, 0, sizeof *y);
}
