/* spawn: one command's way from init to bash. SPDX-License-Identifier: ISC */
#ifndef SANDBOX_INIT_SPAWN_H
#define SANDBOX_INIT_SPAWN_H

#include <sys/types.h>

#include "sandbox/init/init.h"

/*
 * Starts /bin/bash -c COMMAND in the cgroup leaf (folder), as the tenant, locked down. The pid once
 * bash has been entered; -1 with errno if it could not be started, and then nothing is left of it.
 */
pid_t spawn(struct init *i, const struct wire_run *run, const int fds[3], int leaf);

#endif
