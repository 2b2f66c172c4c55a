/* checkout: reading a whole home out of a commit. SPDX-License-Identifier: ISC */
#include "sandbox/home/checkout.h"

#include <stdlib.h>
#include <string.h>

#include "sandbox/home/gittree.h"
#include "sandbox/home/meta.h"
#include "sandbox/home/names.h"
#include "sandbox/home/repo.h"

/* A repository holds what was written to it, so its depth is bounded here and not by the stack. */
#define DEPTH_MAX 2100

struct level {
	git_odb_object *tree;
	size_t offset;   /* of the next entry */
	size_t path_len; /* of the folder's path with its slash */
};
struct checkout {
	struct home *h;
	home_node_fn *fn;
	void *ctx;
	struct meta meta;
	bool *used; /* by entry of meta: a folder of the tree */
	struct level *levels;
	size_t depth;
	struct buf path;
};

static int out_of_memory(void)
{
	return repo_fail(HOME_BROKEN, "checkout: out of memory");
}

static unsigned mode_of(struct checkout *c, unsigned otherwise)
{
	const struct meta_entry *m = NULL;

	if (c->meta.n > 0)
		m = meta_find(&c->meta, c->path.data, c->path.len);
	if (m)
		c->used[m - c->meta.entries] = true;
	return m ? m->mode : otherwise;
}

static int push(struct checkout *c, const git_oid *id)
{
	struct level *l = &c->levels[c->depth];
	int r;

	if (c->depth == DEPTH_MAX)
		return HOME_OK;
	r = repo_read(&l->tree, c->h, id, GIT_OBJECT_TREE);
	l->offset = 0;
	l->path_len = c->path.len;
	if (r == HOME_OK)
		c->depth++;
	return r;
}

static int folder(struct checkout *c, const git_oid *id)
{
	struct home_node n = {.kind = 'd'};
	int r;

	buf_putc(&c->path, '/');
	n.mode = mode_of(c, META_DIR);
	c->path.data[--c->path.len] = '\0';
	n.path = c->path.data;
	r = c->fn(c->ctx, &n);
	buf_putc(&c->path, '/');
	return r ? r : push(c, id);
}

static int leaf(struct checkout *c, unsigned mode, const git_oid *id)
{
	struct home_node n = {.kind = mode == GITTREE_LINK ? 'l' : 'f', .path = c->path.data};
	git_odb_object *blob;
	int r = repo_read(&blob, c->h, id, GIT_OBJECT_BLOB);

	if (r != HOME_OK)
		return r;
	n.data = git_odb_object_data(blob);
	n.len = git_odb_object_size(blob);
	n.mode = n.kind == 'l' ? 0777 : mode_of(c, mode == GITTREE_EXEC ? 0755 : 0644);
	r = c->fn(c->ctx, &n);
	git_odb_object_free(blob);
	return r;
}

/* One entry of the deepest open folder, or its end. */
static int step(struct checkout *c)
{
	struct level *l = &c->levels[c->depth - 1];
	char name[NAMES_MAX + 1];
	struct gittree_entry e;
	size_t n;
	git_oid id;
	int r = gittree_next(
		&e, git_odb_object_data(l->tree), git_odb_object_size(l->tree), l->offset);

	if (r <= 0) {
		git_odb_object_free(l->tree);
		c->depth--;
		return r == 0 ? HOME_OK : repo_fail(HOME_BROKEN, "malformed tree");
	}
	l->offset = e.end;
	n = names_real(name, e.name, e.len);
	if (n == 0 || (c->depth == 1 && strcmp(e.name, NAMES_META) == 0))
		return HOME_OK;
	c->path.len = l->path_len;
	buf_put(&c->path, name, n);
	if (!buf_ok(&c->path))
		return out_of_memory();
	git_oid_fromraw(&id, e.id);
	if (e.mode == GITTREE_DIR)
		return folder(c, &id);
	if (e.mode == GITTREE_FILE || e.mode == GITTREE_EXEC || e.mode == GITTREE_LINK)
		return leaf(c, e.mode, &id);
	return HOME_OK; /* a submodule, which is none of ours */
}

/* Folders that are not in the tree: sorted, so parents come first. */
static int empty_folders(struct checkout *c)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < c->meta.n; i++) {
		const struct meta_entry *m = &c->meta.entries[i];
		struct home_node n = {.kind = 'd', .mode = m->mode};

		if (c->used[i] || m->key[m->len - 1] != '/' ||
			home_path_check(m->key, m->len - 1) != HOME_OK)
			continue;
		buf_reset(&c->path);
		buf_put(&c->path, m->key, m->len - 1);
		n.path = buf_str(&c->path);
		r = buf_ok(&c->path) ? c->fn(c->ctx, &n) : out_of_memory();
	}
	return r;
}

static int load_meta(struct checkout *c, const git_oid *tree)
{
	git_tree *root = NULL;
	const git_tree_entry *e;
	git_odb_object *blob;
	int r = HOME_OK;

	if (git_tree_lookup(&root, c->h->git, tree) != 0)
		return repo_fail_git("read tree");
	e = git_tree_entry_byname(root, NAMES_META);
	if (e && git_tree_entry_type(e) == GIT_OBJECT_BLOB)
		r = repo_read(&blob, c->h, git_tree_entry_id(e), GIT_OBJECT_BLOB);
	if (r == HOME_OK && e && git_tree_entry_type(e) == GIT_OBJECT_BLOB) {
		if (meta_parse(&c->meta, git_odb_object_data(blob), git_odb_object_size(blob)) != 0)
			r = out_of_memory();
		git_odb_object_free(blob);
	}
	git_tree_free(root);
	c->used = calloc(c->meta.n + 1, sizeof *c->used);
	return r == HOME_OK && !c->used ? out_of_memory() : r;
}

static int walk(struct checkout *c, const git_oid *tree)
{
	int r = load_meta(c, tree);

	c->levels = calloc(DEPTH_MAX, sizeof *c->levels);
	if (r == HOME_OK && !c->levels)
		r = out_of_memory();
	if (r == HOME_OK)
		r = push(c, tree);
	while (r == HOME_OK && c->depth > 0)
		r = step(c);
	if (r == HOME_OK)
		r = empty_folders(c);
	while (c->depth > 0)
		git_odb_object_free(c->levels[--c->depth].tree);
	free(c->levels);
	free(c->used);
	meta_free(&c->meta);
	return r;
}

int home_checkout(struct home *h, const char *commit, int64_t *time, home_node_fn *fn, void *ctx)
{
	struct checkout c = {.h = h, .fn = fn, .ctx = ctx};
	struct repo_commit info;
	git_oid id;
	int r;

	*time = 0;
	if (!commit) {
		r = repo_head(&id, h);
		if (r == HOME_NOT_FOUND)
			return HOME_OK;
	} else {
		r = strlen(commit) == HOME_ID_LEN && git_oid_fromstr(&id, commit) == 0
			? HOME_OK
			: repo_fail(HOME_BAD, "malformed commit id");
	}
	if (r == HOME_OK)
		r = repo_commit(&info, h, &id);
	if (r != HOME_OK)
		return r;
	*time = info.time;
	buf_init(&c.path, (size_t)1 << 20);
	r = walk(&c, &info.tree);
	buf_free(&c.path);
	return r;
}
