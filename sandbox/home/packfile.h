/* packfile: writing a pack and its index. SPDX-License-Identifier: ISC */
#ifndef SANDBOX_HOME_PACKFILE_H
#define SANDBOX_HOME_PACKFILE_H

#include <git2.h>

#include "sandbox/home/squeeze.h"

/*
 * open, then for each object begin, squeeze_start … squeeze_finish, end; then finish, publish.
 * Until publish the files have temporary names that git's own clean-up knows. Calls return 0, or
 * -1 with errno.
 */
struct packfile;
/* dir is the repository's folder, borrowed. */
int packfile_open(struct packfile **out, int dir, struct squeeze *q);
int packfile_begin(struct packfile *p, git_object_t type, uint64_t size);
int packfile_end(struct packfile *p, const git_oid *id);
/* Instead of end: the object is not wanted after all. */
int packfile_undo(struct packfile *p);
/* Header, checksum and index; durable syncs both files. */
int packfile_finish(struct packfile *p, bool durable);
/* Gives the files their names, the pack first. */
int packfile_publish(struct packfile *p);
/* Removes what was not published. */
void packfile_free(struct packfile *p);

#endif
