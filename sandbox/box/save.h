/* save: one commit of what changed in the home. SPDX-License-Identifier: ISC */
#ifndef SANDBOX_BOX_SAVE_H
#define SANDBOX_BOX_SAVE_H

#include "sandbox/home/snapshot.h"
#include "sandbox/wire/exec.h"

struct box;

/* What a save found. Zeroed before use; its texts are freed by save_free. */
struct saved {
	home_id commit;            /* "" if nothing changed */
	char error[WIRE_TEXT_MAX]; /* not "": files were not saved */
	uint32_t nskipped;         /* all; the first ones are kept */
	uint32_t nskips;
	char *skip_path[WIRE_FILES_MAX], *skip_reason[WIRE_FILES_MAX];
	uint32_t nfiles; /* newest first */
	char *file_path[WIRE_FILES_MAX];
	uint64_t file_bytes[WIRE_FILES_MAX];
};
/*
 * Freezes the container, has its init report the changes, thaws it and commits. Blocks, for a time
 * that follows the changes. 0, with s->error set if it went wrong: the next save then looks at
 * everything. -1 when the shell's init is of no use any more (b->lost is set).
 */
int save_home(struct box *b, const struct home_commit_info *info, struct saved *s);
/* Lists what was saved in an answer, which borrows from s. */
void save_tell(const struct saved *s, struct wire_done *d);
void save_free(struct saved *s);

#endif
