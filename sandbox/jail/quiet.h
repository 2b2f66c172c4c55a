/* quiet: no new programs, no sockets, no way into other processes. SPDX-License-Identifier: ISC */
#ifndef SANDBOX_JAIL_QUIET_H
#define SANDBOX_JAIL_QUIET_H

/*
 * For a program that is all set up and only works on descriptors and files: takes away, for good,
 * exec, sockets, namespaces, mounts, tracing, keys, and the kernel's larger interfaces. They answer
 * EPERM; foreign architectures' calls kill. Put together by hand, as it is loaded at every start of
 * a container. Needs no_new_privs. 0 or -1 with errno.
 */
int quiet_enter(void);

#endif
