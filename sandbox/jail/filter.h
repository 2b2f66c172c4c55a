/* filter: the system calls that a command may make. SPDX-License-Identifier: ISC */
#ifndef SANDBOX_JAIL_FILTER_H
#define SANDBOX_JAIL_FILTER_H

#include <stddef.h>

/* The kernel takes at most 4096 instructions of 8 bytes. */
#define FILTER_MAX (4096 * 8)

/* Compiles the filter into a sealed memfd. The descriptor, or -1 with errno. */
int filter_build(void);
/* Puts the compiled filter (n bytes at program) on the calling process; needs no_new_privs. 0 or -1 with errno. */
int filter_load(const void *program, size_t n);

#endif
