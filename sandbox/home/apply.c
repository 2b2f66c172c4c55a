/* apply: making the new tree of a home out of the old one and the edits. SPDX-License-Identifier: ISC */
#include "sandbox/home/apply.h"

#include <stdlib.h>
#include <string.h>

#include "sandbox/home/gittree.h"
#include "sandbox/home/meta.h"
#include "sandbox/home/names.h"

/*
 * Two passes. Down: every edited folder reads its old tree and tells its children what stood
 * there. Up: every edit says what stands there now, files first, and a folder writes its old
 * entries, less those that its children replace, together with its children's new ones. On the way
 * up the changes to %sg-meta are gathered; the home itself comes last and stores that too.
 */
struct folder {
	git_odb_object *base;
	size_t *drops; /* offsets of the base's entries that children replace, in order */
	size_t ndrops;
};
struct apply {
	struct edits *edits;
	struct home *h;
	struct objects *o;
	struct folder *folders; /* by index of the edit */
	struct meta meta;
	struct meta_edits *meta_edits;
	git_oid meta_id;
	bool had_meta;
	struct buf path, out;
};

/* A stored name, for sorting. */
struct key {
	const char *name;
	size_t len;
	bool dir;
	struct edit *edit; /* NULL: %sg-meta */
	bool escaped;
};

static int out_of_memory(void)
{
	return repo_fail(HOME_BROKEN, "write tree: out of memory");
}

static int by_order(const void *a, const void *b)
{
	const struct key *x = a, *y = b;

	return gittree_order(x->name, x->len, x->dir, y->name, y->len, y->dir);
}

/* -- down ------------------------------------------------------------------- */

/* Every form in which a child may stand in the base: as file or folder, escaped or not. */
static struct key *base_keys(struct edit *d, char **names, size_t *count)
{
	size_t n = 1, bytes = sizeof NAMES_META, k = 0;
	struct key *keys;
	char *p;

	for (struct edit *c = d->child; c; c = c->sibling) {
		n += 4;
		bytes += 2 * NAMES_ROOM(c->len);
	}
	keys = calloc(n, sizeof *keys);
	p = *names = malloc(bytes);
	if (!keys || !p) {
		free(keys);
		free(p);
		return NULL;
	}
	for (struct edit *c = d->child; c; c = c->sibling) {
		enum names_class class = names_class(c->name, c->len);

		for (int escaped = 0; escaped < 2; escaped++) {
			char stored[NAMES_LIMIT];
			size_t len;

			if ((escaped && class == NAMES_PLAIN) ||
				(!escaped && class == NAMES_ESCAPE))
				continue;
			len = names_store(stored, c->name, c->len, escaped);
			memcpy(p, stored, len);
			keys[k++] = (struct key){p, len, false, c, escaped};
			keys[k++] = (struct key){p, len, true, c, escaped};
			p += len;
		}
	}
	if (!d->parent) {
		memcpy(p, NAMES_META, sizeof NAMES_META - 1);
		keys[k++] = (struct key){p, sizeof NAMES_META - 1, false, NULL, false};
	}
	qsort(keys, k, sizeof *keys, by_order);
	*count = k;
	return keys;
}

static void found(struct apply *a, const struct key *k, const struct gittree_entry *e)
{
	if (!k->edit) {
		a->had_meta = true;
		git_oid_fromraw(&a->meta_id, e->id);
		return;
	}
	k->edit->base_mode = e->mode;
	git_oid_fromraw(&k->edit->base_id, e->id);
	k->edit->base_escaped = k->escaped;
}

static int read_base(struct apply *a, struct edit *d, const git_oid *tree)
{
	struct folder *f = &a->folders[d->index];
	struct gittree_entry e = {.end = 0};
	size_t nkeys = 0, k = 0, size;
	struct key *keys = NULL;
	char *names = NULL;
	const char *data;
	int r = repo_read(&f->base, a->h, tree, GIT_OBJECT_TREE);

	if (r != HOME_OK)
		return r;
	keys = base_keys(d, &names, &nkeys);
	f->drops = calloc(nkeys + 1, sizeof *f->drops);
	if (!keys || !f->drops) {
		r = out_of_memory();
		goto out;
	}
	data = git_odb_object_data(f->base);
	size = git_odb_object_size(f->base);
	while (k < nkeys && (r = gittree_next(&e, data, size, e.end)) > 0) {
		bool dir = e.mode == GITTREE_DIR;
		int c = 1;

		while (k < nkeys &&
			(c = gittree_order(
				 keys[k].name, keys[k].len, keys[k].dir, e.name, e.len, dir)) < 0)
			k++;
		if (k < nkeys && c == 0) {
			found(a, &keys[k++], &e);
			f->drops[f->ndrops++] = e.offset;
		}
	}
	r = r < 0 ? repo_fail(HOME_BROKEN, "malformed tree %s", git_oid_tostr_s(tree)) : HOME_OK;
out:
	free(keys);
	free(names);
	return r;
}

static int read_meta(struct apply *a)
{
	git_odb_object *blob;
	int r;

	if (!a->had_meta)
		return HOME_OK;
	r = repo_read(&blob, a->h, &a->meta_id, GIT_OBJECT_BLOB);
	if (r != HOME_OK)
		return r;
	if (meta_parse(&a->meta, git_odb_object_data(blob), git_odb_object_size(blob)) != 0)
		r = out_of_memory();
	git_odb_object_free(blob);
	return r;
}

static int down(struct apply *a, const git_oid *base)
{
	for (size_t i = 0; i < a->edits->n; i++) {
		struct edit *d = a->edits->order[i];
		const git_oid *tree = NULL;
		int r = HOME_OK;

		d->live = !d->parent || (d->parent->live && edits_is_folder(d->parent));
		/* It may have been named after what is above it was cleared. */
		d->cleared = d->cleared || (d->parent && d->parent->cleared);
		if (!d->live || !edits_is_folder(d) || d->cleared)
			continue;
		if (!d->parent)
			tree = base;
		else if (d->base_mode == GITTREE_DIR)
			tree = &d->base_id;
		if (tree)
			r = read_base(a, d, tree);
		if (r != HOME_OK)
			return r;
	}
	return read_meta(a);
}

/* -- up --------------------------------------------------------------------- */

static int set_meta(struct apply *a, const struct edit *d, bool folder, unsigned mode, bool needed)
{
	int r = 0;

	if (!needed && a->meta.n == 0)
		return HOME_OK;
	edits_path(&a->path, d, folder);
	if (!buf_ok(&a->path))
		return out_of_memory();
	if (needed)
		r = meta_set(a->meta_edits, a->path.data, a->path.len, mode);
	else if (meta_find(&a->meta, a->path.data, a->path.len))
		r = meta_unset(a->meta_edits, a->path.data, a->path.len);
	return r == 0 ? HOME_OK : out_of_memory();
}

static int drop_meta(struct apply *a, const struct edit *d)
{
	if (a->meta.n == 0)
		return HOME_OK;
	edits_path(&a->path, d, false);
	if (!buf_ok(&a->path) || meta_drop(a->meta_edits, a->path.data, a->path.len) != 0)
		return out_of_memory();
	return HOME_OK;
}

static unsigned old_mode(struct apply *a, const struct edit *d, bool folder, unsigned otherwise)
{
	const struct meta_entry *m = NULL;

	if (a->meta.n > 0) {
		edits_path(&a->path, d, folder);
		m = meta_find(&a->meta, buf_str(&a->path), a->path.len);
	}
	return m ? m->mode : otherwise;
}

static unsigned plain_mode(unsigned tree_mode)
{
	return tree_mode == GITTREE_EXEC ? 0755 : 0644;
}

static int up_leaf(struct apply *a, struct edit *d)
{
	bool odd;
	int r = drop_meta(a, d);

	d->exists = d->kind != EDIT_REMOVED;
	if (r != HOME_OK || (d->kind != EDIT_FILE && d->kind != EDIT_LINK))
		return r;
	git_oid_cpy(&d->tree_id, &d->id);
	if (d->kind == EDIT_LINK) {
		d->tree_mode = GITTREE_LINK;
		return HOME_OK;
	}
	d->tree_mode = d->mode & 0100 ? GITTREE_EXEC : GITTREE_FILE;
	d->changed = d->base_mode != d->tree_mode || !git_oid_equal(&d->base_id, &d->id) ||
		old_mode(a, d, false, plain_mode(d->base_mode)) != d->mode;
	odd = d->mode != plain_mode(d->tree_mode);
	return odd ? set_meta(a, d, false, d->mode, true) : HOME_OK;
}

static bool escaped(const struct edit *d)
{
	switch (names_class(d->name, d->len)) {
	case NAMES_PLAIN:
		return false;
	case NAMES_ESCAPE:
		return true;
	case NAMES_GITMODULES:
	case NAMES_GITATTRIBUTES:
	case NAMES_GITIGNORE:
	case NAMES_MAILMAP:
		break;
	}
	return edits_is_folder(d) && d->tree_mode != GITTREE_DIR
		? d->base_escaped /* kept */
		: !(d->kind == EDIT_FILE && d->plain_ok);
}

/* The children's entries, in order, and the meta blob's. */
static struct key *new_keys(struct edit *d, const git_oid *meta, char **names, size_t *count)
{
	size_t n = 1, bytes = sizeof NAMES_META, k = 0;
	struct key *keys;
	char *p;

	for (struct edit *c = d->child; c; c = c->sibling) {
		n++;
		bytes += NAMES_ROOM(c->len);
	}
	keys = calloc(n, sizeof *keys);
	p = *names = malloc(bytes);
	if (!keys || !p) {
		free(keys);
		free(p);
		return NULL;
	}
	for (struct edit *c = d->child; c; c = c->sibling) {
		char stored[NAMES_LIMIT];
		size_t len;

		if (!c->live || !c->tree_mode)
			continue;
		len = names_store(stored, c->name, c->len, escaped(c));
		memcpy(p, stored, len);
		keys[k++] = (struct key){p, len, c->tree_mode == GITTREE_DIR, c, false};
		p += len;
	}
	if (meta) {
		memcpy(p, NAMES_META, sizeof NAMES_META - 1);
		keys[k++] = (struct key){p, sizeof NAMES_META - 1, false, NULL, false};
	}
	qsort(keys, k, sizeof *keys, by_order);
	*count = k;
	return keys;
}

static void put_key(struct buf *out, const struct key *k, const git_oid *meta)
{
	gittree_put(out, k->edit ? k->edit->tree_mode : GITTREE_FILE, k->name, k->len,
		k->edit ? &k->edit->tree_id : meta);
}

/* The folder's new content into a->out. */
static int merge(struct apply *a, struct edit *d, const git_oid *meta)
{
	struct folder *f = &a->folders[d->index];
	const char *data = f->base ? git_odb_object_data(f->base) : "";
	size_t size = f->base ? git_odb_object_size(f->base) : 0, n = 0, k = 0, drop = 0;
	struct gittree_entry e = {.end = 0};
	char *names;
	struct key *keys = new_keys(d, meta, &names, &n);
	int r;

	if (!keys)
		return out_of_memory();
	buf_reset(&a->out);
	while ((r = gittree_next(&e, data, size, e.end)) > 0) {
		if (drop < f->ndrops && f->drops[drop] == e.offset) {
			drop++;
			continue;
		}
		while (k < n &&
			gittree_order(keys[k].name, keys[k].len, keys[k].dir, e.name, e.len,
				e.mode == GITTREE_DIR) < 0)
			put_key(&a->out, &keys[k++], meta);
		buf_put(&a->out, data + e.offset, e.end - e.offset);
	}
	while (k < n)
		put_key(&a->out, &keys[k++], meta);
	free(keys);
	free(names);
	if (r < 0)
		return repo_fail(HOME_BROKEN, "malformed tree");
	return buf_ok(&a->out) ? HOME_OK : out_of_memory();
}

static int up_folder(struct apply *a, struct edit *d)
{
	bool below = false;
	unsigned was = d->cleared ? META_BITS + 1 : old_mode(a, d, true, META_BITS + 1);
	unsigned mode = d->kind == EDIT_DIR ? d->mode : was <= META_BITS ? was : META_DIR;
	int r = HOME_OK;

	for (struct edit *c = d->child; c; c = c->sibling)
		below = below || (c->live && c->exists);
	if (d->kind == EDIT_PASSAGE && !d->cleared && !below && d->base_mode &&
		d->base_mode != GITTREE_DIR) {
		/* Something was removed below what is no folder: nothing to do. */
		d->tree_mode = d->base_mode;
		git_oid_cpy(&d->tree_id, &d->base_id);
		d->exists = true;
		return HOME_OK;
	}
	d->exists = d->kind == EDIT_DIR || below ||
		(!d->cleared && (d->base_mode == GITTREE_DIR || was <= META_BITS));
	if (d->cleared)
		r = drop_meta(a, d);
	else if (d->exists) /* it may have been a file with an entry of its own */
		r = set_meta(a, d, false, 0, false);
	if (r == HOME_OK)
		r = merge(a, d, NULL);
	if (r != HOME_OK)
		return r;
	if (a->out.len > 0) {
		d->tree_mode = GITTREE_DIR;
		d->exists = true;
		r = objects_put(&d->tree_id, a->o, GIT_OBJECT_TREE, a->out.data, a->out.len);
	}
	if (r == HOME_OK)
		r = set_meta(a, d, true, mode, d->exists && (mode != META_DIR || !d->tree_mode));
	return r;
}

static int up_home(git_oid *tree, struct apply *a, struct edit *home)
{
	const git_oid *meta = NULL;
	bool changed = false;
	int r;

	buf_reset(&a->out);
	if (meta_apply(&a->out, &changed, &a->meta, a->meta_edits) != 0)
		return out_of_memory();
	if (a->out.len > 0) {
		meta = &a->meta_id;
		if (changed) {
			r = objects_put(
				&a->meta_id, a->o, GIT_OBJECT_BLOB, a->out.data, a->out.len);
			if (r != HOME_OK)
				return r;
		}
	}
	r = merge(a, home, meta);
	if (r == HOME_OK)
		r = objects_put(tree, a->o, GIT_OBJECT_TREE, buf_str(&a->out), a->out.len);
	return r;
}

static int up(git_oid *tree, struct apply *a)
{
	for (size_t i = a->edits->n - 1; i > 0; i--) {
		struct edit *d = a->edits->order[i];
		struct folder *f = &a->folders[i];
		int r;

		if (!d->live)
			continue;
		r = edits_is_folder(d) ? up_folder(a, d) : up_leaf(a, d);
		if (r != HOME_OK)
			return r;
		git_odb_object_free(f->base);
		free(f->drops);
		memset(f, 0, sizeof *f);
	}
	return up_home(tree, a, a->edits->order[0]);
}

int apply_edits(
	git_oid *tree, struct edits *e, const git_oid *base, struct home *h, struct objects *o)
{
	struct apply a = {.edits = e, .h = h, .o = o};
	int r;

	buf_init(&a.path, 1 << 20);
	buf_init(&a.out, (size_t)1 << 30);
	a.folders = calloc(e->n, sizeof *a.folders);
	if (!a.folders || meta_edits_new(&a.meta_edits) != 0) {
		r = out_of_memory();
		goto out;
	}
	r = down(&a, base);
	if (r == HOME_OK)
		r = up(tree, &a);
out:
	for (size_t i = 0; a.folders && i < e->n; i++) {
		git_odb_object_free(a.folders[i].base);
		free(a.folders[i].drops);
	}
	free(a.folders);
	meta_free(&a.meta);
	meta_edits_free(a.meta_edits);
	buf_free(&a.path);
	buf_free(&a.out);
	return r;
}
