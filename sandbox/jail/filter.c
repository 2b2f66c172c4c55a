/* filter: the system calls that a command may not make, compiled by libseccomp. SPDX-License-Identifier: ISC */
#include "sandbox/jail/filter.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <sched.h>
#include <seccomp.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sandbox/sys/io.h"

#define LOW32          0xffffffffu
#define FAMILIES_KNOWN 64 /* every family from here on is refused as well */

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x00000080
#endif

/*
 * What is refused whatever its arguments are. ENOSYS where programs know how to do without (they try
 * the newer call first), EPERM elsewhere. The number is for calls that libseccomp has no name for.
 */
static const struct denied {
	const char *name;
	int error;
	int number;
} denied[] = {
	/* mounts, old interface and new */
	{"mount", EPERM, -1},
	{"umount", EPERM, -1},
	{"umount2", EPERM, -1},
	{"pivot_root", EPERM, -1},
	{"chroot", EPERM, -1},
	{"fsopen", EPERM, -1},
	{"fsconfig", EPERM, -1},
	{"fsmount", EPERM, -1},
	{"fspick", EPERM, -1},
	{"move_mount", EPERM, -1},
	{"open_tree", EPERM, -1},
	{"open_tree_attr", EPERM, 467},
	{"mount_setattr", EPERM, -1},
	{"statmount", ENOSYS, 457},
	{"listmount", ENOSYS, 458},
	{"swapon", EPERM, -1},
	{"swapoff", EPERM, -1},
	{"quotactl", EPERM, -1},
	{"quotactl_fd", EPERM, 443},
	/* namespaces: clone is judged by its flags below; clone3 hides them in memory */
	{"unshare", EPERM, -1},
	{"setns", EPERM, -1},
	{"clone3", ENOSYS, -1},
	/* large kernel interfaces that a command has no use for */
	{"io_uring_setup", ENOSYS, -1},
	{"io_uring_enter", ENOSYS, -1},
	{"io_uring_register", ENOSYS, -1},
	{"bpf", EPERM, -1},
	{"perf_event_open", EPERM, -1},
	{"userfaultfd", EPERM, -1},
	{"keyctl", ENOSYS, -1},
	{"add_key", ENOSYS, -1},
	{"request_key", ENOSYS, -1},
	{"fanotify_init", EPERM, -1},
	{"fanotify_mark", EPERM, -1},
	{"lookup_dcookie", EPERM, -1},
	/* other processes */
	{"ptrace", EPERM, -1},
	{"process_vm_readv", EPERM, -1},
	{"process_vm_writev", EPERM, -1},
	{"process_madvise", EPERM, -1},
	{"process_mrelease", EPERM, 448},
	{"pidfd_getfd", EPERM, -1},
	{"kcmp", EPERM, -1},
	{"migrate_pages", EPERM, -1},
	{"move_pages", EPERM, -1},
	/* files by handle pass by every path check */
	{"name_to_handle_at", EPERM, -1},
	{"open_by_handle_at", EPERM, -1},
	{"file_getattr", ENOSYS, 468},
	{"file_setattr", ENOSYS, 469},
	/* the machine */
	{"kexec_load", EPERM, -1},
	{"kexec_file_load", EPERM, -1},
	{"init_module", EPERM, -1},
	{"finit_module", EPERM, -1},
	{"delete_module", EPERM, -1},
	{"create_module", EPERM, -1},
	{"query_module", EPERM, -1},
	{"get_kernel_syms", EPERM, -1},
	{"reboot", EPERM, -1},
	{"acct", EPERM, -1},
	{"syslog", EPERM, -1},
	{"iopl", EPERM, -1},
	{"ioperm", EPERM, -1},
	{"settimeofday", EPERM, -1},
	{"stime", EPERM, -1},
	{"clock_settime", EPERM, -1},
	{"clock_adjtime", EPERM, -1},
	{"adjtimex", EPERM, -1},
	{"sethostname", EPERM, -1},
	{"setdomainname", EPERM, -1},
	{"vhangup", EPERM, -1},
	{"mbind", EPERM, -1},
	{"set_mempolicy", EPERM, -1},
	{"set_mempolicy_home_node", EPERM, 450},
	/* relics */
	{"modify_ldt", ENOSYS, -1},
	{"vm86", ENOSYS, -1},
	{"vm86old", ENOSYS, -1},
	{"uselib", ENOSYS, -1},
	{"sysfs", ENOSYS, -1},
	{"_sysctl", ENOSYS, -1},
	{"nfsservctl", ENOSYS, -1},
};

/* clone with any of these makes a namespace. */
static const uint64_t namespaces[] = {CLONE_NEWUSER, CLONE_NEWNS, CLONE_NEWPID, CLONE_NEWNET,
	CLONE_NEWIPC, CLONE_NEWUTS, CLONE_NEWCGROUP, CLONE_NEWTIME};

/* Requests that type into, or rewire, a terminal. The kernel reads the low 32 bits only, and so do we. */
static const uint64_t ioctls[] = {TIOCSTI, TIOCLINUX, TIOCSETD, TIOCCONS};

static int add_calls(scmp_filter_ctx f)
{
	for (size_t k = 0; k < sizeof denied / sizeof *denied; k++) {
		int nr = seccomp_syscall_resolve_name(denied[k].name);
		if (nr == __NR_SCMP_ERROR)
			nr = denied[k].number;
		if (nr == -1)
			continue;
		int r = seccomp_rule_add(f, SCMP_ACT_ERRNO((unsigned)denied[k].error), nr, 0);
		if (r < 0)
			return r;
	}
	return 0;
}

/* Refuses a call when the comparisons (n of them) all hold. */
static int refuse(
	scmp_filter_ctx f, int call, int error, const struct scmp_arg_cmp *when, unsigned n)
{
	return seccomp_rule_add_array(f, SCMP_ACT_ERRNO((unsigned)error), call, n, when);
}

static int add_flags(scmp_filter_ctx f)
{
	struct scmp_arg_cmp c = {.arg = 0, .op = SCMP_CMP_MASKED_EQ};
	int r = 0;

	for (size_t k = 0; r == 0 && k < sizeof namespaces / sizeof *namespaces; k++) {
		c.datum_a = c.datum_b = namespaces[k];
		r = refuse(f, SCMP_SYS(clone), EPERM, &c, 1);
	}
	c.arg = 1;
	c.datum_a = LOW32;
	for (size_t k = 0; r == 0 && k < sizeof ioctls / sizeof *ioctls; k++) {
		c.datum_b = ioctls[k];
		r = refuse(f, SCMP_SYS(ioctl), EPERM, &c, 1);
	}
	return r;
}

static int add_sockets(scmp_filter_ctx f)
{
	struct scmp_arg_cmp c = {.arg = 0, .op = SCMP_CMP_EQ};
	const struct scmp_arg_cmp unknown = {
		.arg = 0, .op = SCMP_CMP_GE, .datum_a = FAMILIES_KNOWN};
	const struct scmp_arg_cmp netlink[] = {
		{.arg = 0, .op = SCMP_CMP_EQ, .datum_a = AF_NETLINK},
		{.arg = 2, .op = SCMP_CMP_NE, .datum_a = NETLINK_ROUTE},
	};
	int r = refuse(f, SCMP_SYS(socket), EAFNOSUPPORT, &unknown, 1);

	for (unsigned family = 0; r == 0 && family < FAMILIES_KNOWN; family++) {
		if (family == AF_UNIX || family == AF_INET || family == AF_INET6 ||
			family == AF_NETLINK)
			continue;
		c.datum_a = family;
		r = refuse(f, SCMP_SYS(socket), EAFNOSUPPORT, &c, 1);
	}
	return r ? r : refuse(f, SCMP_SYS(socket), EAFNOSUPPORT, netlink, 2);
}

static int export_sealed(scmp_filter_ctx f)
{
	int fd = memfd_create("filter", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0)
		return -1;
	int r = seccomp_export_bpf(f, fd);
	if (r < 0) {
		errno = -r;
		io_close(&fd);
	} else if (fcntl(fd, F_ADD_SEALS,
			   F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) < 0) {
		io_close(&fd);
	}
	return fd;
}

int filter_build(void)
{
	scmp_filter_ctx f = seccomp_init(SCMP_ACT_ALLOW);
	int r, fd = -1;

	if (!f) {
		errno = ENOMEM;
		return -1;
	}
	/* 32-bit and x32 calls have other numbers, which no rule below would match. */
	r = seccomp_attr_set(f, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
	if (r == 0)
		r = seccomp_attr_set(f, SCMP_FLTATR_CTL_OPTIMIZE, 2);
	if (r == 0)
		r = add_calls(f);
	if (r == 0)
		r = add_flags(f);
	if (r == 0)
		r = add_sockets(f);
	if (r == 0)
		fd = export_sealed(f);
	else
		errno = -r;
	seccomp_release(f);
	return fd;
}
