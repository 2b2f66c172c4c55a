/* env: starting the compute environment of a container. SPDX-License-Identifier: ISC */
#ifndef SANDBOX_JAIL_ENV_H
#define SANDBOX_JAIL_ENV_H

#include <stdint.h>
#include <sys/types.h>

#include "sandbox/jail/cgroup.h"
#include "sandbox/jail/mounts.h"

/* Descriptors that init finds open, besides 0-2. */
enum env_fd {
	ENV_FD_CHANNEL = 3, /* SOCK_SEQPACKET to the box */
	ENV_FD_CMDS,        /* the cgroup folder for commands */
	ENV_FD_FILTER,      /* the seccomp filter, compiled */
	ENV_FD_EVENTS,      /* out-of-memory counts */
	ENV_FD__END
};

struct env_spec {
	const char *name; /* "shell", "bash": argv[1] of init */
	int program;      /* init */
	int channel;      /* init's end */
	int filter;       /* of filter_build */
	const struct cgroup_at *at;
	struct mounts_sizes sizes;
	/* of a first environment */
	uint32_t base; /* first host id of the block */
	int image;     /* of image_clone */
	int home;      /* of mounts_home */
};
/*
 * Starts init as PID 1 of fresh namespaces; the descriptors stay the caller's. Returns its pid (a
 * child of the caller) while it still prepares itself: init says so on the channel when it is ready,
 * and a failure closes the channel after logging why. -1 with errno.
 */
pid_t env_start(const struct env_spec *s);
/*
 * Starts a second one inside the user namespace of the first (whose init is pid), with pid, mount,
 * net, ipc and uts namespaces of its own, sharing image and home.
 */
pid_t env_join(const struct env_spec *s, pid_t first);

#endif
