/* rlimits: per-process limits. SPDX-License-Identifier: ISC */
#include "sandbox/jail/rlimits.h"

#include <errno.h>
#include <stddef.h>
#include <sys/resource.h>

#define COMMAND_FILES 4096

#define KIB ((rlim_t)1024)
#define GIB (KIB * KIB * KIB)

/* The cgroup is what holds memory and processes; these catch what it does not count, and are a second fence. */
static const struct {
	__rlimit_resource_t what;
	rlim_t most;
} limits[] = {
	{RLIMIT_CORE, 0},
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

int rlimits_init(void)
{
	struct rlimit r;

	for (size_t k = 0; k < sizeof limits / sizeof *limits; k++) {
		if (getrlimit(limits[k].what, &r) < 0)
			return -1;
		if (r.rlim_max > limits[k].most)
			r.rlim_max = limits[k].most;
		r.rlim_cur = r.rlim_max;
		if (setrlimit(limits[k].what, &r) < 0)
			return -1;
	}
	return 0;
}

int rlimits_command(void)
{
	const struct rlimit r = {COMMAND_FILES, COMMAND_FILES};

	/* A host may allow less to begin with. */
	return setrlimit(RLIMIT_NOFILE, &r) < 0 && errno != EPERM ? -1 : 0;
}
