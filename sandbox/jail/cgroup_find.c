/* cgroup_find: where the hierarchies of control groups are mounted. SPDX-License-Identifier: ISC */
#include "sandbox/jail/cgroup_find.h"

#include <fcntl.h>
#include <mntent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The mount table escapes what is odd in a path, and getmntent undoes it. */
static int find(const char *type, const char *option)
{
	FILE *table = setmntent("/proc/self/mounts", "re");
	char text[8192];
	struct mntent m;
	int fd = -1;

	if (!table)
		return -1;
	while (fd < 0 && getmntent_r(table, &m, text, sizeof text)) {
		if (strcmp(m.mnt_type, type) == 0 && (!option || hasmntopt(&m, option)))
			fd = open(m.mnt_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	}
	(void)endmntent(table);
	return fd;
}

int cgroup_find_v2(void)
{
	return find("cgroup2", NULL);
}

int cgroup_find_v1(const char *controller)
{
	return find("cgroup", controller);
}
