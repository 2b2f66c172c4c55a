/* landlock: which files a process can reach. SPDX-License-Identifier: ISC */
#ifndef SANDBOX_JAIL_LANDLOCK_H
#define SANDBOX_JAIL_LANDLOCK_H

#include <stdbool.h>
#include <stddef.h>

struct landlock_path {
	const char *path; /* a folder (all below it) or a file */
	bool write;       /* else it may only be read */
};
/*
 * From here on the calling process and its children reach nothing but these paths, no TCP, and
 * neither abstract sockets nor processes of others, as far as the kernel's version of Landlock can
 * forbid it. Descriptors that are open stay usable. Nothing below a path can be executed. Needs
 * no_new_privs. 0, or -1 with errno (ENOSYS, EOPNOTSUPP: the kernel has no Landlock).
 */
int landlock_enter(const struct landlock_path *paths, size_t n);

#endif
