/* commitmsg: the commit object of a command. SPDX-License-Identifier: ISC */
#ifndef SANDBOX_HOME_COMMITMSG_H
#define SANDBOX_HOME_COMMITMSG_H

#include <git2.h>

#include "sandbox/home/snapshot.h"
#include "sandbox/sys/buf.h"

/*
 * Subject: the first line of the command that is not blank, cut at 72 columns, or the tool. Then
 * the whole command, each line indented by four spaces (blank lines stay blank), so that no text of a command can be
 * taken for a trailer or a divider. Then the trailers Request-Id, Tool, Outcome, Duration-Ms,
 * Skipped (the count), and Skipped-File for the first ones, "path (reason)", escaped as in meta.h.
 */
void commitmsg_put(struct buf *out, const struct home_commit_info *info, const git_oid *tree,
	const git_oid *parent, const struct home_skip *skips, size_t nlisted, size_t nskips);

#endif
