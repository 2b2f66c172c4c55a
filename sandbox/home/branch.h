/* branch: moving main from one commit to the next. SPDX-License-Identifier: ISC */
#ifndef SANDBOX_HOME_BRANCH_H
#define SANDBOX_HOME_BRANCH_H

#include "sandbox/home/repo.h"

/*
 * lock, write, sync, move, unlock. One writer at a time holds the lock, which dies with its process.
 * Git's own protocol (main.lock) is kept as well, so plain git tools may run beside.
 */
struct branch {
	struct home *h;
	int lock;
	int next;
};
/* Waits for other writers; HOME_BUSY when the branch is not at expected (NULL: does not exist). */
int branch_lock(struct branch *b, struct home *h, const git_oid *expected);
/* Writes the new value aside, and waits for the disk. */
int branch_write(struct branch *b, const git_oid *id);
int branch_sync(struct branch *b);
/* Puts it in place if the branch is still at expected, else HOME_BUSY. */
int branch_move(struct branch *b, const git_oid *expected, bool durable);
void branch_unlock(struct branch *b);

#endif
