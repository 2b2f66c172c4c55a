/* quiet: no new programs, no sockets, no way into other processes. SPDX-License-Identifier: ISC */
#include "sandbox/jail/quiet.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#if defined(__x86_64__)
#define ARCH AUDIT_ARCH_X86_64
#define X32  0x40000000u
#elif defined(__aarch64__)
#define ARCH AUDIT_ARCH_AARCH64
#define X32  0xffffffffu
#endif /* another architecture has to be added here */

static const unsigned denied[] = {
	SYS_execve,
	SYS_execveat,
	SYS_socket,
	SYS_socketpair,
	SYS_connect,
	SYS_bind,
	SYS_listen,
	SYS_accept4,
	SYS_ptrace,
	SYS_process_vm_readv,
	SYS_process_vm_writev,
	SYS_pidfd_getfd,
	SYS_kcmp,
	SYS_unshare,
	SYS_setns,
	SYS_mount,
	SYS_umount2,
	SYS_pivot_root,
	SYS_chroot,
	SYS_open_tree,
	SYS_move_mount,
	SYS_fsopen,
	SYS_fsmount,
	SYS_mount_setattr,
	SYS_open_by_handle_at,
	SYS_bpf,
	SYS_perf_event_open,
	SYS_userfaultfd,
	SYS_io_uring_setup,
	SYS_keyctl,
	SYS_add_key,
	SYS_request_key,
	SYS_init_module,
	SYS_finit_module,
	SYS_kexec_load,
	SYS_kexec_file_load,
};
#define N (sizeof(denied) / sizeof(denied[0]))

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define GIVE(what)  BPF_STMT(BPF_RET | BPF_K, (what))

int quiet_enter(void)
{
	struct sock_filter f[6 + 2 * N + 1] = {
		LOAD(arch),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCH, 1, 0),
		GIVE(SECCOMP_RET_KILL_PROCESS),
		LOAD(nr),
		BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, X32, 0, 1),
		GIVE(SECCOMP_RET_KILL_PROCESS),
	};
	struct sock_fprog program = {.filter = f};
	unsigned short n = 6;

	for (size_t k = 0; k < N; k++) {
		f[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, denied[k], 0, 1);
		f[n++] = (struct sock_filter)GIVE(SECCOMP_RET_ERRNO | EPERM);
	}
	f[n++] = (struct sock_filter)GIVE(SECCOMP_RET_ALLOW);
	program.len = n;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}
