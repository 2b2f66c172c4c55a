/* host: what the kernel and its settings must offer. SPDX-License-Identifier: ISC */
#include "sandbox/jail/host.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox/jail/cgroup_find.h"
#include "sandbox/jail/userns.h"
#include "sandbox/sys/io.h"

static bool is_root(void)
{
	return geteuid() == 0;
}

static bool has_user_namespaces(void)
{
	size_t n;
	char *most = io_read_file(AT_FDCWD, "/proc/sys/user/max_user_namespaces", 64, &n);
	bool some = most && strtoull(most, NULL, 10) > 0;

	free(most);
	return some;
}

static bool can_clone(void)
{
	int status = 1;
	pid_t pid = userns_clone(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET |
			CLONE_NEWIPC | CLONE_NEWUTS,
		-1);

	if (pid == 0)
		_exit(0);
	return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

static bool has_mount_interface(void)
{
	int fd = fsopen("tmpfs", FSOPEN_CLOEXEC);
	bool yes = fd >= 0;

	io_close(&fd);
	/* With a bad descriptor, so that nothing happens: only an absent call says ENOSYS. */
	return yes && !(mount_setattr(-1, "", AT_EMPTY_PATH, NULL, 0) < 0 && errno == ENOSYS);
}

static bool has_openat2(void)
{
	struct open_how how = {.flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_BENEATH};
	int fd = (int)syscall(SYS_openat2, AT_FDCWD, ".", &how, sizeof how);
	bool yes = fd >= 0 || errno != ENOSYS;

	io_close(&fd);
	return yes;
}

static bool has_seccomp(void)
{
	uint32_t action = SECCOMP_RET_KILL_PROCESS;

	return syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
}

static bool has_cgroup2(void)
{
	int fd = cgroup_find_v2();
	bool yes = fd >= 0;

	io_close(&fd);
	return yes;
}

static bool has_word(const char *list, const char *word)
{
	size_t n = strlen(word), len;

	for (; *list; list += len) {
		list += strspn(list, " \n");
		len = strcspn(list, " \n");
		if (len == n && memcmp(list, word, n) == 0)
			return true;
	}
	return false;
}

static bool has_controller(const char *name)
{
	int v1 = cgroup_find_v1(name), v2 = -1;
	bool yes = v1 >= 0;
	char *list;

	io_close(&v1);
	if (yes || (v2 = cgroup_find_v2()) < 0)
		return yes;
	list = io_read_file(v2, "cgroup.controllers", 4096, NULL);
	yes = list && has_word(list, name);
	free(list);
	io_close(&v2);
	return yes;
}

static bool has_memory(void)
{
	return has_controller("memory");
}

static bool has_pids(void)
{
	return has_controller("pids");
}

static const struct requirement {
	bool (*met)(void);
	const char *problem;
} requirements[] = {
	{is_root, "sandgate-boxd must be started as root, because containers need it"},
	{has_user_namespaces,
		"user namespaces are switched off: sysctl -w user.max_user_namespaces=15000"},
	{can_clone,
		"namespaces cannot be made: Linux 5.14 or newer is needed, with user, pid, net, "
		"ipc and uts "
		"namespaces; in a container, it must be a privileged one"},
	{has_mount_interface, "the new mount interface is missing: Linux 5.14 or newer is needed"},
	{has_openat2, "openat2 is missing: Linux 5.14 or newer is needed"},
	{has_seccomp,
		"seccomp filters are missing: a kernel with CONFIG_SECCOMP_FILTER=y is needed"},
	{has_cgroup2,
		"cgroup version 2 is not mounted: mkdir -p /sys/fs/cgroup/unified && "
		"mount -t cgroup2 none /sys/fs/cgroup/unified"},
	{has_memory,
		"the memory controller of cgroups is off: remove cgroup_disable=memory from, or "
		"add cgroup_enable=memory to, the kernel's command line"},
	{has_pids,
		"the pids controller of cgroups is missing: a kernel with CONFIG_CGROUP_PIDS=y is "
		"needed"},
};
#define N (sizeof requirements / sizeof *requirements)

const char *host_missing(size_t *k)
{
	while (*k < N) {
		const struct requirement *r = &requirements[(*k)++];
		if (!r->met())
			return r->problem;
	}
	return NULL;
}
