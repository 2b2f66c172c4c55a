/* tree: what init remembers of the home between two scans. SPDX-License-Identifier: ISC */
#ifndef SANDBOX_INIT_TREE_H
#define SANDBOX_INIT_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

/* One name in the home. */
struct node {
	struct node *parent, *child, *next; /* child: the newest; next: its sibling */
	struct node *cursor;                /* of a walk: the child to descend into next */
	struct node *chain;                 /* of the hash table */
	uint64_t ino, size;
	int64_t mtime_ns, ctime_ns;
	uint32_t mode;     /* type and permission bits; 0: never looked at */
	uint32_t seen;     /* number of the scan that met it last */
	uint16_t path_len; /* from the home */
	uint16_t name_len;
	bool empty;     /* folder without anything that is saved */
	bool racy;      /* file that may change without its times telling */
	bool long_told; /* folder: that a path in it is too long has been said */
	bool pending;   /* in the list of changes */
	char name[];
};

struct tree;
/* NULL if memory is short. The root stands for the home itself; its path is "". */
struct tree *tree_new(void);
void tree_free(struct tree *t);
struct node *tree_root(struct tree *t);
/* The name in a folder, made (mode 0) if it is not known. NULL if memory is short or there are too many. */
struct node *tree_get(struct tree *t, struct node *folder, const char *name, size_t n);
/* Forgets everything in a folder; or the children that scan number `seen` did not meet, after calling gone for each. */
void tree_empty(struct tree *t, struct node *folder);
void tree_drop_unseen(struct tree *t, struct node *folder, uint32_t seen,
	void (*gone)(void *ctx, struct node *n), void *ctx);
/* The path from the home (path_len bytes and a NUL) into out. */
void tree_path(const struct node *n, char *out);

#endif
