/* rlimits: per-process limits. SPDX-License-Identifier: ISC */
#include "sandbox/jail/rlimits.h"

#include <stddef.h>
#include <sys/resource.h>

#define KIB ((rlim_t)1024)
#define GIB (KIB * KIB * KIB)

/* The cgroup is what holds memory and processes; these catch what it does not count, and are a second fence. */
static const struct {
	__rlimit_resource_t what;
	rlim_t most;
} command_limits[] = {
	{RLIMIT_CORE, 0},
	{RLIMIT_NOFILE, 4096},
	{RLIMIT_FSIZE, 4 * GIB}, /* sparse files that no tmpfs limit sees */
	{RLIMIT_MEMLOCK, 64 * KIB},
	{RLIMIT_MSGQUEUE, 800 * KIB},
	{RLIMIT_SIGPENDING, 4096},
	{RLIMIT_NPROC, 4096},
	{RLIMIT_NICE, 0},
	{RLIMIT_RTPRIO, 0},
};

void rlimits_files(void)
{
	struct rlimit r;

	if (getrlimit(RLIMIT_NOFILE, &r) < 0)
		return;
	r.rlim_cur = r.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &r);
}

int rlimits_command(void)
{
	struct rlimit r;

	for (size_t k = 0; k < sizeof command_limits / sizeof *command_limits; k++) {
		if (getrlimit(command_limits[k].what, &r) < 0)
			return -1;
		if (r.rlim_max > command_limits[k].most)
			r.rlim_max = command_limits[k].most;
		r.rlim_cur = r.rlim_max;
		if (setrlimit(command_limits[k].what, &r) < 0)
			return -1;
	}
	return 0;
}
