/* proc: finding processes that a test started, by what they have open. SPDX-License-Identifier: ISC */
#include "tests/lib/proc.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool link_ends(pid_t pid, const char *link, const char *end)
{
	char path[64], target[4096];
	size_t len = strlen(end);
	ssize_t n;

	(void)snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, link);
	n = readlink(path, target, sizeof target);
	return n >= (ssize_t)len && memcmp(target + (size_t)n - len, end, len) == 0;
}

size_t proc_count(const char *err, const char *exe, pid_t but, pid_t *found)
{
	DIR *proc = opendir("/proc");
	struct dirent *e;
	size_t n = 0;

	while (proc && (e = readdir(proc))) {
		pid_t pid = (pid_t)strtol(e->d_name, NULL, 10);
		if (pid <= 0 || pid == but || !link_ends(pid, "fd/2", err) ||
			(exe && !link_ends(pid, "exe", exe)))
			continue;
		n++;
		if (found)
			*found = pid;
	}
	if (proc)
		(void)closedir(proc);
	return n;
}
