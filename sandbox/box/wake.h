/* wake: loading the saved home into a fresh environment. SPDX-License-Identifier: ISC */
#ifndef SANDBOX_BOX_WAKE_H
#define SANDBOX_BOX_WAKE_H

struct box;

/*
 * Opens the repository, if there is one, and has the shell's init make its files; sets b->found.
 * 0, or -1 with b->trouble set.
 */
int wake_home(struct box *b);

#endif
