/* gittree: the raw form of git's tree objects. SPDX-License-Identifier: ISC */
#ifndef SANDBOX_HOME_GITTREE_H
#define SANDBOX_HOME_GITTREE_H

#include <git2.h>

#include "sandbox/sys/buf.h"

#define GITTREE_DIR  040000u
#define GITTREE_FILE 0100644u
#define GITTREE_EXEC 0100755u
#define GITTREE_LINK 0120000u

struct gittree_entry {
	const char *name; /* in the tree; NUL-terminated */
	size_t len;
	unsigned mode;
	const unsigned char *id; /* GIT_OID_RAWSZ bytes */
	size_t offset;           /* of the entry in the tree, and where it ends */
	size_t end;
};
/* The entry at offset (0 at first, then end). 1; 0 at the end of the tree; -1 if it is malformed. */
int gittree_next(struct gittree_entry *e, const void *tree, size_t size, size_t offset);
void gittree_put(struct buf *out, unsigned mode, const char *name, size_t n, const git_oid *id);
/* The order of entries: bytewise, a folder as if its name ended in a slash. */
int gittree_order(const char *a, size_t na, bool dir_a, const char *b, size_t nb, bool dir_b);

#endif
