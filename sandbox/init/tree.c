/* tree: what init remembers of the home between two scans. SPDX-License-Identifier: ISC */
#include "sandbox/init/tree.h"

#include <stdlib.h>
#include <string.h>

#define NODES_MAX   ((size_t)4 << 20)
#define FIRST_SLOTS 64

struct tree {
	struct node *root;
	struct node **slots; /* a power of two of them */
	size_t nslots, count;
};

/* FNV-1a over the name, begun with the folder's address. */
static size_t hash(const struct node *folder, const char *name, size_t n)
{
	uint64_t h = 0xcbf29ce484222325u ^ (uint64_t)(uintptr_t)folder;

	for (size_t k = 0; k < n; k++)
		h = (h ^ (unsigned char)name[k]) * 0x100000001b3u;
	return (size_t)(h ^ h >> 32);
}

static struct node **slot(
	const struct tree *t, const struct node *folder, const char *name, size_t n)
{
	return &t->slots[hash(folder, name, n) & (t->nslots - 1)];
}

static struct node *new_node(const char *name, size_t n)
{
	struct node *node = calloc(1, sizeof *node + n + 1);

	if (node) {
		memcpy(node->name, name, n);
		node->name_len = (uint16_t)n;
	}
	return node;
}

struct tree *tree_new(void)
{
	struct tree *t = calloc(1, sizeof *t);

	if (!t)
		return NULL;
	t->nslots = FIRST_SLOTS;
	t->slots = calloc(t->nslots, sizeof *t->slots);
	t->root = new_node("", 0);
	if (!t->slots || !t->root) {
		tree_free(t);
		return NULL;
	}
	return t;
}

void tree_free(struct tree *t)
{
	if (!t)
		return;
	if (t->root && t->slots)
		tree_empty(t, t->root);
	free(t->root);
	free(t->slots);
	free(t);
}

struct node *tree_root(struct tree *t)
{
	return t->root;
}

/* Without memory for it the chains grow longer, and all stays right. */
static void grow(struct tree *t)
{
	size_t n = t->nslots * 2;
	struct node **slots = calloc(n, sizeof *slots), **old = t->slots, *node;
	size_t nold = t->nslots;

	if (!slots)
		return;
	t->slots = slots;
	t->nslots = n;
	for (size_t k = 0; k < nold; k++) {
		while ((node = old[k])) {
			old[k] = node->chain;
			struct node **at = slot(t, node->parent, node->name, node->name_len);
			node->chain = *at;
			*at = node;
		}
	}
	free(old);
}

struct node *tree_get(struct tree *t, struct node *folder, const char *name, size_t n)
{
	struct node **at = slot(t, folder, name, n), *node;

	for (node = *at; node; node = node->chain) {
		if (node->parent == folder && node->name_len == n &&
			memcmp(node->name, name, n) == 0)
			return node;
	}
	if (t->count >= NODES_MAX || !(node = new_node(name, n)))
		return NULL;
	node->parent = folder;
	node->path_len = (uint16_t)(folder->path_len + (folder->path_len ? 1u : 0u) + n);
	node->next = folder->child;
	folder->child = node;
	node->chain = *at;
	*at = node;
	if (++t->count > t->nslots)
		grow(t);
	return node;
}

static void unhash(struct tree *t, struct node *node)
{
	struct node **at = slot(t, node->parent, node->name, node->name_len);

	while (*at != node)
		at = &(*at)->chain;
	*at = node->chain;
	t->count--;
}

/* Not by recursion: a folder may be as deep as a path is long. */
void tree_empty(struct tree *t, struct node *folder)
{
	struct node *at = folder, *gone;

	for (;;) {
		while (at->child)
			at = at->child;
		if (at == folder)
			return;
		gone = at;
		at = gone->parent;
		at->child = gone->next;
		unhash(t, gone);
		free(gone);
	}
}

void tree_drop_unseen(struct tree *t, struct node *folder, uint32_t seen,
	void (*gone)(void *ctx, struct node *n), void *ctx)
{
	struct node **at = &folder->child, *n;

	while ((n = *at)) {
		if (n->seen == seen) {
			at = &n->next;
			continue;
		}
		gone(ctx, n);
		tree_empty(t, n);
		*at = n->next;
		unhash(t, n);
		free(n);
	}
}

void tree_path(const struct node *n, char *out)
{
	size_t end = n->path_len;

	out[end] = 0;
	for (; n->parent; n = n->parent) {
		end -= n->name_len;
		memcpy(out + end, n->name, n->name_len);
		if (end > 0)
			out[--end] = '/';
	}
}
