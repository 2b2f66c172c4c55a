/* cgroup_find: where the hierarchies of control groups are mounted. SPDX-License-Identifier: ISC */
#ifndef SANDBOX_JAIL_CGROUP_FIND_H
#define SANDBOX_JAIL_CGROUP_FIND_H

/* The folder where version 2 is mounted, open; -1 if it is not. */
int cgroup_find_v2(void);
/* The folder where a controller ("memory") is mounted as version 1, open; -1 if it is not on v1. */
int cgroup_find_v1(const char *controller);

#endif
