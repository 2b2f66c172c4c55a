/* userns: cloning into namespaces and mapping a block of ids. SPDX-License-Identifier: ISC */
#include "sandbox/jail/userns.h"

#include <fcntl.h>
#include <grp.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sandbox/sys/io.h"

pid_t userns_clone(uint64_t flags, int cgroup)
{
	struct clone_args args = {.flags = flags, .exit_signal = SIGCHLD};

	/* A sibling is announced as its creator would have been: the kernel wants no signal named. */
	if (flags & CLONE_PARENT)
		args.exit_signal = 0;
	if (cgroup >= 0) {
		args.flags |= CLONE_INTO_CGROUP;
		args.cgroup = (unsigned)cgroup;
	}
	return (pid_t)syscall(SYS_clone3, &args, sizeof args);
}

int userns_map(pid_t pid, uint32_t base)
{
	char path[64], text[64];

	(void)snprintf(text, sizeof text, "0 %u %u\n", base, USERNS_BLOCK);
	(void)snprintf(path, sizeof path, "/proc/%d/uid_map", (int)pid);
	if (io_write_file(AT_FDCWD, path, text) < 0)
		return -1;
	(void)snprintf(path, sizeof path, "/proc/%d/gid_map", (int)pid);
	return io_write_file(AT_FDCWD, path, text);
}

int userns_become_root(void)
{
	if (setgroups(0, NULL) < 0 || setresgid(0, 0, 0) < 0)
		return -1;
	return setresuid(0, 0, 0);
}

int userns_forbid_nested(int proc)
{
	return io_write_file(proc, "sys/user/max_user_namespaces", "0\n");
}

int userns_join(pid_t pid)
{
	int fd = (int)syscall(SYS_pidfd_open, pid, 0), r;

	if (fd < 0)
		return -1;
	r = setns(fd, CLONE_NEWUSER | CLONE_NEWNS);
	io_close(&fd);
	return r;
}
