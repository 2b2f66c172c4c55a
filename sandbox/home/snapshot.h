/* snapshot: writing one commit from a list of changes. SPDX-License-Identifier: ISC */
#ifndef SANDBOX_HOME_SNAPSHOT_H
#define SANDBOX_HOME_SNAPSHOT_H

#include "sandbox/home/home.h"

/*
 * Life: begin → any number of remove, dir, file, link, skip → commit or abandon. Cost follows the
 * changes, not the home. Calls name absolute states, so saying the same twice, or saying what is
 * already so, is harmless. Nothing is visible in the repository before commit moves the branch.
 */
struct home_snapshot;
int home_snapshot_begin(struct home_snapshot **out, struct home *h);
/* The path and all below it are gone. */
int home_snapshot_remove(struct home_snapshot *s, const char *path);
/* A folder with these permission bits; empty says that nothing is in it. */
int home_snapshot_dir(struct home_snapshot *s, const char *path, unsigned mode, bool empty);
/* Files above this are skipped. */
#define HOME_FILE_MAX ((uint64_t)1 << 30)
/*
 * A regular file, read from fd (whose position is moved) up to size bytes or its end; what it loses while it
 * is read becomes zeros. HOME_BAD if fd is no regular file. One that is too large or cannot be read is skipped, and that is HOME_OK.
 */
int home_snapshot_file(
	struct home_snapshot *s, const char *path, unsigned mode, int fd, uint64_t size);
int home_snapshot_link(struct home_snapshot *s, const char *path, const char *target);
/* Not saved, and why (socket, fifo, device, too large …); counted, listed in the commit. What was saved of the path before is dropped. */
int home_snapshot_skip(struct home_snapshot *s, const char *path, const char *reason);

struct home_commit_info {
	const char *tool;    /* author name: shell bash exec attach upload delete restore sleep */
	const char *email;   /* <container id>@<workspace slug> */
	const char *command; /* whole command; NULL if there was none */
	const char *outcome; /* "exit 0", "timeout", "signal SIGKILL" …; NULL if none */
	const char *request_id; /* NULL if none */
	int64_t duration_ms;    /* -1 if none */
	int64_t time;           /* seconds since 1970 */
	bool durable;           /* sync objects and reference before returning */
};
struct home_changed {
	const char *path; /* owned by the snapshot */
	uint64_t bytes;
};
/* What was not saved, by skip() or because of a limit. Owned by the snapshot. */
struct home_skip {
	const char *path;
	const char *reason;
};
#define HOME_SKIPS_MAX 20 /* listed in the commit and by home_snapshot_skips */
/*
 * Writes tree and commit and moves main by compare-and-swap from the head that begin saw (HOME_BUSY
 * if it moved: the caller begins anew). id is "" when the tree is the same as before: no commit.
 */
int home_snapshot_commit(struct home_snapshot *s, const struct home_commit_info *info, home_id id);
/* Regular files that were given by file() and whose blob or mode differs from head, in the order given. Known after commit, valid until free. */
const struct home_changed *home_snapshot_changed(const struct home_snapshot *s, size_t *n);
/* The first HOME_SKIPS_MAX paths that were skipped, and how many there are in all. Known after commit, valid until free. */
const struct home_skip *home_snapshot_skips(
	const struct home_snapshot *s, size_t *listed, size_t *all);
void home_snapshot_free(struct home_snapshot *s);

#endif
