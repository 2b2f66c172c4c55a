/* rlimits: per-process limits. SPDX-License-Identifier: ISC */
#ifndef SANDBOX_JAIL_RLIMITS_H
#define SANDBOX_JAIL_RLIMITS_H

/* As many open files as the hard limit allows, for boxd, a box and init. Never fails: less is kept. */
void rlimits_files(void);
/*
 * What commands get: no core file, bounded files, locked memory, queues and processes. Init puts
 * them on itself, for all that it starts; only the number of open files is a command's own.
 * 0 or -1 with errno.
 */
int rlimits_init(void);
int rlimits_command(void);

#endif
