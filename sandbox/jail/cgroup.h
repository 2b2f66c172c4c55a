/* cgroup: the control groups of one boxd, on v2 or with controllers on v1. SPDX-License-Identifier: ISC */
#ifndef SANDBOX_JAIL_CGROUP_H
#define SANDBOX_JAIL_CGROUP_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * sandgate-XXXXXXXX/         of one boxd
 *   b4096/                   a container, named by its block of host ids
 *     box/                   its sandgate-box
 *     env/                   what the tenant's limits hold
 *       init/                both inits
 *       cmds/                frozen and thawed as a whole
 *         s1/ b2/ …          a command and all that it started; made by init
 * Where memory and pids are still bound to v1, their trees are sandgate-XXXXXXXX/b4096 there and init
 * joins them; what it starts is born in them.
 */
struct cgroup;
struct cgroup_limits {
	uint64_t memory; /* bytes, without swap */
	unsigned pids;
};
/*
 * Finds the hierarchies and makes the tree NAME. -1 with a line for people in err (what is missing,
 * how to enable it). The limits are copied.
 */
int cgroup_open(struct cgroup **out, const char *name, const struct cgroup_limits *l, char *err,
	size_t err_size);
/* Kills and removes what an earlier boxd left in the tree, after giving it grace_ms to end by itself. 0, or -1 if something is left. */
int cgroup_sweep(struct cgroup *g, int grace_ms);
/* Removes the tree, which must be empty, and frees g. */
void cgroup_close(struct cgroup *g);

/* Makes the groups of a container. -1 with errno; EEXIST if any boxd of this host uses the block. */
int cgroup_make(struct cgroup *g, unsigned block);
/* Lets uid (the container's root) make leaves in cmds and move what it clones there. 0 or -1 with errno. */
int cgroup_delegate(struct cgroup *g, unsigned block, uid_t uid);
/* SIGKILL to all in it. 0 or -1 with errno. */
int cgroup_kill(struct cgroup *g, unsigned block);
/* Removes the container's groups. 0, or -1 with errno (EBUSY: something still lives). */
int cgroup_remove(struct cgroup *g, unsigned block);

/* Descriptors to start processes with. */
struct cgroup_at {
	int box, init; /* folders to clone into */
	int cmds;      /* folder, for init */
	int events;    /* the file that counts out-of-memory kills ("oom_kill N") */
	int join[2];   /* v1: cgroup.procs files that init writes "0" to, -1 if none */
};
int cgroup_at(struct cgroup_at *out, struct cgroup *g, unsigned block);
void cgroup_at_close(struct cgroup_at *a);

#endif
