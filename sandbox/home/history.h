/* history: which commit last changed a path. SPDX-License-Identifier: ISC */
#ifndef SANDBOX_HOME_HISTORY_H
#define SANDBOX_HOME_HISTORY_H

#include "sandbox/home/repo.h"

/* The newest change of a path among the commits that were walked. */
struct history_change {
	char *path; /* the real one, NUL-terminated */
	size_t len;
	unsigned mode; /* of the tree; 0: gone */
	git_oid blob;
	git_oid commit;
	int64_t time;
};
struct history {
	struct history_change *changes;
	size_t n, cap;
	size_t *table; /* index + 1, by hash of path */
	size_t buckets;
};

/*
 * Every file or link that the commits from head back to until, and without it, changed (until
 * NULL: all). First parents only. Sorted bytewise by path. HOME_NOT_FOUND if until is not among
 * the ancestors. history_free in any case.
 */
int history_walk(struct history *y, struct home *h, const git_oid *head, const git_oid *until);
void history_free(struct history *y);

#endif
