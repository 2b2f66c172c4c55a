/* repo: what the parts of this folder know of an open repository. SPDX-License-Identifier: ISC */
#ifndef SANDBOX_HOME_REPO_H
#define SANDBOX_HOME_REPO_H

#include <git2.h>

#include "sandbox/home/home.h"

#define REPO_BRANCH "refs/heads/main"

struct home {
	git_repository *git;
	git_odb *odb;
	int dir; /* the repository's folder */
};

/* Remember the text for home_error() and return the code. */
int repo_fail(int code, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The same with libgit2's text or errno's, choosing the code: HOME_FULL, HOME_NOT_FOUND or HOME_BROKEN. */
int repo_fail_git(const char *what);
int repo_fail_errno(const char *what);

/* Syncs a folder of the repository. 0, or -1 with errno. */
int repo_sync_folder(struct home *h, const char *name);
/* Whether the file system keeps the order of renames over a crash, so that to sync the last is to sync them all. */
bool repo_keeps_order(struct home *h);

/* An object that must be of this type. Free with git_odb_object_free. */
int repo_read(git_odb_object **out, struct home *h, const git_oid *id, git_object_t type);
/* What the branch points at; HOME_NOT_FOUND without a failure text if there is no commit yet. */
int repo_head(git_oid *id, struct home *h);

struct repo_commit {
	git_oid tree;
	git_oid parent; /* the first one */
	bool has_parent;
	int64_t time;
};
int repo_commit(struct repo_commit *out, struct home *h, const git_oid *id);

#endif
