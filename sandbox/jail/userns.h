/* userns: cloning into namespaces and mapping a block of ids. SPDX-License-Identifier: ISC */
#ifndef SANDBOX_JAIL_USERNS_H
#define SANDBOX_JAIL_USERNS_H

#include <stdint.h>
#include <sys/types.h>

/* Ids of one container: inside 0 … 65535 are base … base + 65535 on the host. */
#define USERNS_BLOCK  65536u
#define USERNS_TENANT 1000u /* uid and gid of commands inside */

/*
 * fork() with flags of clone3(2); the child starts in the cgroup of descriptor cgroup (-1: the
 * parent's). With CLONE_PARENT the child is the caller's sibling. 0 in the child, the pid in the
 * parent, -1 with errno. Only for programs without threads.
 */
pid_t userns_clone(uint64_t flags, int cgroup);
/* Maps ids 0 … 65535 of pid's user namespace to the block at base. 0 or -1 with errno. */
int userns_map(pid_t pid, uint32_t base);
/* In the child, once it is mapped: becomes root of the namespace, without groups. 0 or -1 with errno. */
int userns_become_root(void);
/* Forbids user namespaces below this one, through a proc mount (descriptor). 0 or -1 with errno. */
int userns_forbid_nested(int proc);
/* Enters the user and mount namespaces of a process. 0 or -1 with errno. */
int userns_join(pid_t pid);

#endif
