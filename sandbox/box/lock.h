/* lock: what a box gives up before it reads anything of a tenant's. SPDX-License-Identifier: ISC */
#ifndef SANDBOX_BOX_LOCK_H
#define SANDBOX_BOX_LOCK_H

/* Descriptors, environment, limits, privileges. Keeps descriptors 0 to 3. Dies when it cannot. */
void lock_process(void);
/*
 * From here on only the repository (or, if it is not there yet, the folder that it will be made in)
 * can be reached, and no program, socket or other process. Dies when it cannot.
 */
void lock_files(const char *repository);

#endif
