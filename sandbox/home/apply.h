/* apply: making the new tree of a home out of the old one and the edits. SPDX-License-Identifier: ISC */
#ifndef SANDBOX_HOME_APPLY_H
#define SANDBOX_HOME_APPLY_H

#include "sandbox/home/edits.h"
#include "sandbox/home/objects.h"

/*
 * Reads the trees on the way to what changed and no others, puts the new ones and fills in the
 * edits' results. base NULL: an empty home.
 */
int apply_edits(
	git_oid *tree, struct edits *e, const git_oid *base, struct home *h, struct objects *o);

#endif
