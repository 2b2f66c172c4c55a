/* meta: what git's trees cannot express of a home, the blob %sg-meta. SPDX-License-Identifier: ISC */
#ifndef SANDBOX_HOME_META_H
#define SANDBOX_HOME_META_H

#include <stdbool.h>
#include <stddef.h>

#include "sandbox/sys/buf.h"

/*
 * One entry a line: permission bits in octal, a space, the path; a folder's path ends in a slash.
 * A folder has an entry if its bits are not 755 or if it is not in the tree, being empty; a file
 * if its bits are not 644 or 755, whichever the tree says. Sorted bytewise by path. In paths,
 * control characters and the backslash are written \n \t \\ or \xHH; all other bytes are as they are.
 * In the calls below a key is the real path, a folder's with its slash.
 */
#define META_DIR  0755u
#define META_BITS 07777u

struct meta_entry {
	const char *key; /* NUL-terminated */
	size_t len;
	unsigned mode;
};
struct meta {
	struct meta_entry *entries;
	size_t n;
	char *text;
};
/* Of a blob's content; lines that are not well-formed or out of order are passed over. 0, or -1 out of memory. */
int meta_parse(struct meta *m, const char *data, size_t n);
void meta_free(struct meta *m);
const struct meta_entry *meta_find(const struct meta *m, const char *key, size_t n);

/* Changes for meta_apply. Keys are copied. The last word on a key counts; drop concerns only what was there before. */
struct meta_edits;
int meta_edits_new(struct meta_edits **out);
void meta_edits_free(struct meta_edits *e);
int meta_set(struct meta_edits *e, const char *key, size_t n, unsigned mode);
int meta_unset(struct meta_edits *e, const char *key, size_t n);
/* The file's entry, the folder's, and all below: n bytes of path without a slash at the end. */
int meta_drop(struct meta_edits *e, const char *path, size_t n);
/* Writes the new content; changed tells whether it differs from m. 0, or -1 out of memory. */
int meta_apply(struct buf *out, bool *changed, const struct meta *m, struct meta_edits *e);

/* Puts a path in the escaped form above. */
void meta_escape(struct buf *out, const char *path, size_t n);

#endif
