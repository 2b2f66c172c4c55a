/* edits: the changes of one snapshot, as a tree of path components. SPDX-License-Identifier: ISC */
#ifndef SANDBOX_HOME_EDITS_H
#define SANDBOX_HOME_EDITS_H

#include <git2.h>
#include <stdbool.h>
#include <stdint.h>

#include "sandbox/sys/buf.h"

enum edit_kind {
	EDIT_PASSAGE, /* nothing is said of it, but of something below */
	EDIT_DIR,
	EDIT_FILE,
	EDIT_LINK,
	EDIT_SKIPPED, /* it is there, but not saved */
	EDIT_REMOVED
};

struct edit {
	struct edit *parent, *child, *sibling, *chain;
	size_t index; /* in edits.order */
	enum edit_kind kind;
	bool cleared; /* what the base has at and below this path is gone */
	unsigned mode;
	git_oid id; /* of a file's or link's blob */
	uint64_t size;
	char *reason;  /* of a skip; owned */
	bool plain_ok; /* of a file: git accepts its content under its special name */
	bool listed;   /* in the snapshot's list of files */

	/* Found and made when the edits are applied: */
	bool live;          /* its parent is a folder */
	unsigned base_mode; /* in the base's tree; 0 if not in it */
	git_oid base_id;
	bool base_escaped;
	unsigned tree_mode; /* in the new tree; 0 if not in it */
	git_oid tree_id;
	bool exists;  /* in the home, saved or not */
	bool changed; /* of a file: differs from the base */

	size_t len;
	char name[]; /* the real one; NUL-terminated */
};

struct edits {
	struct edit **order; /* all, parents before children; order[0] is the home itself */
	size_t n, cap;
	struct edit **table; /* by parent and name */
	size_t buckets;
};

int edits_new(struct edits **out);
void edits_free(struct edits *e);
/*
 * The edit of a legal path, made if it is new; what is on the way becomes passable. NULL without
 * memory. edits_gone is for removal: NULL and *none true if what is above is known to be no folder.
 */
struct edit *edits_at(struct edits *e, const char *path);
struct edit *edits_gone(struct edits *e, const char *path, bool *none);
/* Forgets all that was said of what lies below, and what the base has at and below it. */
void edits_clear(struct edit *d);
static inline bool edits_is_folder(const struct edit *d)
{
	return d->kind == EDIT_PASSAGE || d->kind == EDIT_DIR;
}
/* The path from the home into an empty buffer; slash puts one at its end. */
void edits_path(struct buf *out, const struct edit *d, bool slash);

#endif
