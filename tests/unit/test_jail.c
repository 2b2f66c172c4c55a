/* test_jail: what a command can see and do, found out by trying. SPDX-License-Identifier: ISC */
#include "tests/lib/test.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/keyctl.h>
#include <linux/netlink.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox/sys/io.h"
#include "tests/lib/jail.h"

/* -- inside: this same program, as the tenant ------------------------------------------- */

struct attempt {
	const char *name;
	long number; /* of the system call, its arguments follow */
	long args[5];
	int error; /* what it must fail with */
};
static char zeros[256];
#define P(p) ((long)(uintptr_t)(p))

static const struct attempt attempts[] = {
	{"mount", SYS_mount, {P("x"), P("/tmp"), P("tmpfs"), 0, 0}, EPERM},
	{"umount", SYS_umount2, {P("/proc/kcore"), MNT_DETACH}, EPERM},
	{"pivot_root", SYS_pivot_root, {P("/tmp"), P("/tmp")}, EPERM},
	{"chroot", SYS_chroot, {P("/tmp")}, EPERM},
	{"fsopen", SYS_fsopen, {P("tmpfs"), 0}, EPERM},
	{"fsconfig", SYS_fsconfig, {-1, 0, 0, 0, 0}, EPERM},
	{"fsmount", SYS_fsmount, {-1, 0, 0}, EPERM},
	{"fspick", SYS_fspick, {AT_FDCWD, P("/tmp"), 0}, EPERM},
	{"open_tree", SYS_open_tree, {AT_FDCWD, P("/"), 1}, EPERM},
	{"move_mount", SYS_move_mount, {-1, P("/"), -1, P("/"), 0}, EPERM},
	{"mount_setattr", SYS_mount_setattr, {AT_FDCWD, P("/"), 0, 0, 0}, EPERM},
	{"swapon", SYS_swapon, {P("/tmp/x"), 0}, EPERM},
	{"quotactl", SYS_quotactl, {0, 0, 0, 0}, EPERM},
	{"unshare user", SYS_unshare, {CLONE_NEWUSER}, EPERM},
	{"unshare nothing", SYS_unshare, {0}, EPERM},
	{"setns", SYS_setns, {-1, 0}, EPERM},
	{"clone user", SYS_clone, {CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0}, EPERM},
	{"clone net", SYS_clone, {CLONE_NEWNET | SIGCHLD, 0, 0, 0, 0}, EPERM},
	{"clone3", SYS_clone3, {P(zeros), 64}, ENOSYS},
	{"io_uring_setup", SYS_io_uring_setup, {1, P(zeros)}, ENOSYS},
	{"bpf", SYS_bpf, {0, P(zeros), 64}, EPERM},
	{"perf_event_open", SYS_perf_event_open, {P(zeros), 0, -1, -1, 0}, EPERM},
	{"userfaultfd", SYS_userfaultfd, {0}, EPERM},
	{"keyctl", SYS_keyctl, {KEYCTL_GET_KEYRING_ID, KEY_SPEC_USER_KEYRING, 1}, ENOSYS},
	{"add_key", SYS_add_key, {P("user"), P("a"), P("b"), 1, KEY_SPEC_PROCESS_KEYRING}, ENOSYS},
	{"request_key", SYS_request_key, {P("user"), P("a"), 0, 0}, ENOSYS},
	{"fanotify_init", SYS_fanotify_init, {0, 0}, EPERM},
	{"ptrace", SYS_ptrace, {PTRACE_TRACEME, 0, 0, 0}, EPERM},
	{"process_vm_readv", SYS_process_vm_readv, {1, 0, 0, 0, 0}, EPERM},
	{"process_vm_writev", SYS_process_vm_writev, {1, 0, 0, 0, 0}, EPERM},
	{"pidfd_getfd", SYS_pidfd_getfd, {-1, 0, 0}, EPERM},
	{"kcmp", SYS_kcmp, {1, 1, 0, 0, 0}, EPERM},
	{"name_to_handle_at", SYS_name_to_handle_at, {AT_FDCWD, P("/"), P(zeros), P(zeros), 0},
		EPERM},
	{"open_by_handle_at", SYS_open_by_handle_at, {-1, P(zeros), 0}, EPERM},
	{"kexec_load", SYS_kexec_load, {0, 0, 0, 0}, EPERM},
	{"init_module", SYS_init_module, {0, 0, P("")}, EPERM},
	{"finit_module", SYS_finit_module, {-1, P(""), 0}, EPERM},
	{"delete_module", SYS_delete_module, {P("x"), 0}, EPERM},
	{"reboot", SYS_reboot, {0, 0, 0, 0}, EPERM},
	{"acct", SYS_acct, {P("/tmp/x")}, EPERM},
	{"syslog", SYS_syslog, {10, 0, 0}, EPERM},
	{"clock_settime", SYS_clock_settime, {0, P(zeros)}, EPERM},
	{"adjtimex", SYS_adjtimex, {P(zeros)}, EPERM},
	{"sethostname", SYS_sethostname, {P("x"), 1}, EPERM},
	{"setdomainname", SYS_setdomainname, {P("x"), 1}, EPERM},
	{"setuid", SYS_setresuid, {0, 0, 0}, EPERM},
	{"setgroups", SYS_setgroups, {0, 0}, EPERM},
	{"socket packet", SYS_socket, {AF_PACKET, SOCK_RAW, 0}, EAFNOSUPPORT},
	{"socket alg", SYS_socket, {AF_ALG, SOCK_SEQPACKET, 0}, EAFNOSUPPORT},
	{"socket vsock", SYS_socket, {AF_VSOCK, SOCK_STREAM, 0}, EAFNOSUPPORT},
	{"socket key", SYS_socket, {AF_KEY, SOCK_RAW, 2}, EAFNOSUPPORT},
	{"socket rxrpc", SYS_socket, {AF_RXRPC, SOCK_DGRAM, AF_INET}, EAFNOSUPPORT},
	{"socket unknown", SYS_socket, {77, SOCK_RAW, 0}, EAFNOSUPPORT},
	{"socket netfilter", SYS_socket, {AF_NETLINK, SOCK_RAW, NETLINK_NETFILTER}, EAFNOSUPPORT},
	{"socket xfrm", SYS_socket, {AF_NETLINK, SOCK_RAW, NETLINK_XFRM}, EAFNOSUPPORT},
	{"socket raw", SYS_socket, {AF_INET, SOCK_RAW, 1}, EPERM},
	{"TIOCSTI", SYS_ioctl, {0, TIOCSTI, P("x")}, EPERM},
	{"TIOCSTI with high bits", SYS_ioctl, {0, TIOCSTI | 1L << 32, P("x")}, EPERM},
	{"TIOCLINUX", SYS_ioctl, {0, TIOCLINUX, P("x")}, EPERM},
	{"TIOCSETD", SYS_ioctl, {0, TIOCSETD, P("x")}, EPERM},
#ifdef SYS_modify_ldt
	{"modify_ldt", SYS_modify_ldt, {0, P(zeros), sizeof zeros}, ENOSYS},
	{"iopl", SYS_iopl, {3}, EPERM},
#endif
	{"kill init", SYS_kill, {1, SIGKILL}, EPERM},
	{"open init's memory", SYS_openat, {AT_FDCWD, P("/proc/1/mem"), O_RDONLY}, ENOENT},
	{"open init's root", SYS_openat, {AT_FDCWD, P("/proc/1/root/etc"), O_RDONLY}, ENOENT},
	{"core_pattern", SYS_openat, {AT_FDCWD, P("/proc/sys/kernel/core_pattern"), O_WRONLY},
		EACCES},
	{"write to /usr", SYS_openat, {AT_FDCWD, P("/usr/x"), O_WRONLY | O_CREAT, 0600}, EROFS},
	{"write to /etc", SYS_openat, {AT_FDCWD, P("/etc/x"), O_WRONLY | O_CREAT, 0600}, EROFS},
	{"write to /", SYS_openat, {AT_FDCWD, P("/x"), O_WRONLY | O_CREAT, 0600}, EROFS},
	{"chmod of a device", SYS_fchmodat, {AT_FDCWD, P("/dev/null"), 0600}, EROFS},
	{"make a device", SYS_mknodat, {AT_FDCWD, P("/tmp/d"), S_IFCHR | 0600, 0x103}, EPERM},
};

static int probe_calls(void)
{
	int bad = 0;

	for (size_t k = 0; k < sizeof attempts / sizeof *attempts; k++) {
		const struct attempt *a = &attempts[k];
		errno = 0;
		long r = syscall(
			a->number, a->args[0], a->args[1], a->args[2], a->args[3], a->args[4]);
		if (r >= 0 || errno != a->error) {
			(void)printf("%s: %s\n", a->name, r >= 0 ? "allowed" : strerror(errno));
			bad++;
		}
	}
	return bad != 0;
}

/* 32-bit numbers through the old gate, and x32 ones, end the process. */
static int probe_foreign(const char *which)
{
#ifdef __x86_64__
	long r = 20; /* getpid in 32-bit numbers */

	(void)signal(SIGSEGV, SIG_DFL);
	if (strcmp(which, "i386") == 0)
		__asm__ volatile("int $0x80" : "+a"(r) : : "memory");
	else
		r = syscall(0x40000000 | SYS_getpid);
	(void)printf("%s answered %ld\n", which, r);
#else
	(void)which;
	(void)raise(SIGSYS);
#endif
	return 1;
}

/* Forks n processes that each daemonise themselves and stay. */
static int probe_daemons(int n)
{
	for (int k = 0; k < n; k++) {
		pid_t pid = fork();
		if (pid == 0) {
			(void)setsid();
			(void)signal(SIGTERM, SIG_IGN);
			if (fork() != 0)
				_exit(0);
			(void)setsid();
			for (;;)
				(void)pause();
		}
		(void)waitpid(pid, NULL, 0);
	}
	(void)puts("spawned");
	(void)fflush(stdout);
	(void)pause();
	return 0;
}

/* Leaves as many processes behind as can be made. */
static int probe_fill(void)
{
	pid_t pid;

	while ((pid = fork()) > 0)
		;
	if (pid == 0) {
		for (;;)
			(void)pause();
	}
	return 0;
}

static int probe_memory(size_t mib)
{
	for (size_t k = 0; k < mib; k++) {
		char *p = mmap(
			NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (p == MAP_FAILED)
			return 2;
		memset(p, 1, 1 << 20);
	}
	return 0;
}

static int probe(char **argv)
{
	if (strcmp(argv[1], "calls") == 0)
		return probe_calls();
	if (strcmp(argv[1], "foreign") == 0)
		return probe_foreign(argv[2]);
	if (strcmp(argv[1], "daemons") == 0)
		return probe_daemons(64);
	if (strcmp(argv[1], "fill") == 0)
		return probe_fill();
	if (strcmp(argv[1], "memory") == 0)
		return probe_memory(1024);
	return 64;
}

/* -- outside ---------------------------------------------------------------------------- */

static void prints(struct jail *e, const char *command, const char *text)
{
	const struct jail_result *r = jail_run(e, command);

	assert_string_equal(r->out, text);
	assert_int_equal(r->exited.how, WIRE_HOW_EXIT);
}

static void is_an_unprivileged_user(void **state)
{
	struct jail e;

	(void)state;
	jail_open(&e);
	prints(&e, "id", "uid=1000(sandbox) gid=1000(sandbox) groups=1000(sandbox)\n");
	prints(&e, "grep -E '^(Cap|NoNewPrivs|Seccomp:|Groups)' /proc/self/status | tr -d '\\t '",
		"Groups:\nCapInh:0000000000000000\nCapPrm:0000000000000000\nCapEff:"
		"0000000000000000\n"
		"CapBnd:0000000000000000\nCapAmb:0000000000000000\nNoNewPrivs:1\nSeccomp:2\n");
	jail_close(&e);
}

static void has_ids_that_no_other_container_has(void **state)
{
	struct jail a, b;
	char map[64], *text;

	(void)state;
	jail_open(&a);
	jail_open(&b);
	assert_int_not_equal(a.base, b.base);
	(void)snprintf(map, sizeof map, "/proc/%d/uid_map", (int)a.pid);
	text = io_read_file(AT_FDCWD, map, 256, NULL);
	assert_non_null(text);
	assert_int_equal(strtoul(text + 10, NULL, 10), a.base);
	free(text);
	jail_close(&a);
	jail_close(&b);
}

static void sees_loopback_only(void **state)
{
	struct jail e;

	(void)state;
	jail_open(&e);
	prints(&e, "tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' '", "lo\n");
	prints(&e, "cat /proc/net/route | tail -n +2; cat /etc/resolv.conf", "");
	/* Refused at once, as there is no route; and what listens here can be reached. */
	prints(&e, "exec 3<>/dev/tcp/1.1.1.1/80 || echo no",
		"bash: connect: Network is unreachable\nbash: line 1: /dev/tcp/1.1.1.1/80: Network "
		"is unreachable\nno\n");
	jail_close(&e);
}

static void sees_its_own_processes_only(void **state)
{
	struct jail e;

	(void)state;
	jail_open(&e);
	prints(&e, "cd /proc && set -- [0-9]* && echo $#", "1\n");
	prints(&e, "cat /proc/self/cgroup | grep ^0:", "0::/\n");
	prints(&e, "hostname", "sandbox\n");
	jail_close(&e);
}

static void has_three_descriptors(void **state)
{
	struct jail e;

	(void)state;
	jail_open(&e);
	/* The fourth is ls's own, on the folder. */
	prints(&e, "ls /proc/self/fd | tr '\\n' ' '", "0 1 2 3 ");
	prints(&e, "for f in /proc/self/fd/*; do :; done; exec 3</dev/null; echo ok", "ok\n");
	jail_close(&e);
}

static void has_a_read_only_system(void **state)
{
	struct jail e;

	(void)state;
	jail_open(&e);
	prints(&e,
		"awk '$2 == \"/usr\" || $2 == \"/\" || $2 == \"/home/sandbox\" {o = \",\" $4 "
		"\",\"; "
		"print $2, o ~ /,ro,/, o ~ /,nosuid,/, o ~ /,nodev,/}' /proc/mounts",
		"/ 1 1 1\n/usr 1 1 1\n/home/sandbox 0 1 1\n");
	/* Everything that is not read-only is a file system of the container's own. */
	prints(&e, "awk '$4 ~ /^rw/ {print $2}' /proc/mounts | sort | tr '\\n' ' '",
		"/dev/pts /dev/shm /home/sandbox /proc /run /tmp ");
	prints(&e, "ls /sys /host 2>&1 | grep -c 'No such'", "2\n");
	prints(&e, "readlink -f /workspace/home", "/home/sandbox\n");
	jail_close(&e);
}

static void has_six_devices(void **state)
{
	struct jail e;

	(void)state;
	jail_open(&e);
	prints(&e,
		"find /dev -maxdepth 1 -type c -printf '%f ' | tr ' ' '\\n' | sort | tr '\\n' ' '",
		"full null random tty urandom zero ");
	prints(&e,
		"echo x >/dev/null && head -c 3 /dev/zero | wc -c && head -c 5 /dev/urandom | wc "
		"-c",
		"3\n5\n");
	prints(&e,
		"find /dev -type b; test -c /dev/ptmx && script -qc 'tty' /dev/null | tr -d '\\r'",
		"/dev/pts/0\n");
	jail_close(&e);
}

static void cannot_use_what_is_denied(void **state)
{
	struct jail e;

	(void)state;
	jail_open(&e);
	jail_load_probe(&e);
	prints(&e, "./probe calls", "");
	jail_close(&e);
}

static void is_killed_for_a_foreign_call(void **state)
{
	static const char *const which[] = {"i386", "x32"};
	const struct jail_result *r;
	char command[64];
	struct jail e;

	(void)state;
	jail_open(&e);
	jail_load_probe(&e);
	for (size_t k = 0; k < 2; k++) {
		(void)snprintf(command, sizeof command, "exec ./probe foreign %s", which[k]);
		r = jail_run_ms(&e, command, 5000);
		assert_int_equal(r->exited.how, WIRE_HOW_SIGNAL);
		/* A kernel without 32-bit programs does not even get to the filter. */
		if (k != 0 || r->exited.code != SIGSEGV)
			assert_int_equal(r->exited.code, SIGSYS);
	}
	jail_close(&e);
}

static void cannot_see_another_container(void **state)
{
	struct jail a, b;

	(void)state;
	jail_open(&a);
	jail_open(&b);
	prints(&a, "echo secret >f; echo secret >/tmp/f; echo secret >/dev/shm/f; chmod 777 . f",
		"");
	prints(&b, "cat f /tmp/f /dev/shm/f 2>&1 | grep -c 'No such'", "3\n");
	prints(&b, "ls -A /home /tmp /dev/shm /run",
		"/dev/shm:\n\n/home:\nsandbox\n\n/run:\n\n/tmp:\n");
	jail_close(&a);
	jail_close(&b);
}

static void second_environment_shares_the_home_alone(void **state)
{
	struct jail a, b;

	(void)state;
	jail_open(&a);
	jail_open_beside(&b, &a);
	prints(&a, "echo one >f; echo tmp >/tmp/f; sleep 60 & disown", "");
	prints(&b, "cat f; echo two >>f; stat -c %U f; id -u", "one\nsandbox\n1000\n");
	prints(&a, "cat f", "one\ntwo\n");
	prints(&b, "ls /tmp /dev/shm /run; cd /proc && set -- [0-9]* && echo $#",
		"/dev/shm:\n\n/run:\n\n/tmp:\n1\n");
	prints(&b,
		"grep -c '^Seccomp:.2' /proc/self/status; awk '$2 == \"/proc/sys\"' /proc/mounts | "
		"wc -l",
		"1\n1\n");
	jail_load_probe(&a);
	prints(&b, "./probe calls", "");
	assert_string_equal(jail_scan_text(&a), "");
	prints(&b, "echo three >>f", "");
	assert_string_equal(jail_scan_text(&a), "file 644 14 f = one\ntwo\nthree\n");
	jail_close(&b);
	jail_close(&a);
}

static void contains_a_fork_bomb(void **state)
{
	const struct jail_result *r;
	struct jail e;

	(void)state;
	jail_open(&e);
	r = jail_run_ms(&e, "bomb() { bomb | bomb & }; bomb; sleep 60", 1500);
	assert_int_equal(r->exited.how, WIRE_HOW_SIGNAL);
	assert_int_equal(r->exited.code, SIGKILL);
	assert_int_equal(jail_processes(&e), 1);
	prints(&e, "echo alive", "alive\n");
	jail_close(&e);
}

/* The bomb's command has ended by itself, so nobody kills it; the next command makes room for itself. */
static void runs_after_a_bomb_that_was_left_behind(void **state)
{
	struct jail e;

	(void)state;
	jail_open(&e);
	jail_load_probe(&e);
	prints(&e, "./probe fill", "");
	assert_true(jail_processes(&e) >= 100);
	prints(&e, "echo alive", "alive\n");
	jail_close(&e);
}

static void kills_daemons_with_their_command(void **state)
{
	struct wire_exited x;
	struct jail e;
	int64_t start;
	uint32_t id;
	int fds[2];
	char c;

	(void)state;
	jail_open(&e);
	jail_load_probe(&e);
	assert_int_equal(io_pipe(fds, false), 0);
	id = jail_start_command(&e, "./probe daemons", fds[1]);
	io_close(&fds[1]);
	assert_int_equal(io_read_full(fds[0], &c, 1), 0);
	assert_true(jail_processes(&e) >= 65);
	start = io_now_ms();
	jail_kill(&e, id);
	assert_true(io_now_ms() - start < 1000);
	assert_int_equal(jail_processes(&e), 1);
	assert_true(jail_wait(&e, id, &x, 5000));
	assert_int_equal(x.how, WIRE_HOW_SIGNAL);
	assert_int_equal(x.code, SIGKILL);
	/* Nobody holds the output any more. */
	while (read(fds[0], &c, 1) == 1)
		;
	io_close(&fds[0]);
	jail_close(&e);
}

static void reports_out_of_memory_and_lives(void **state)
{
	const struct jail_result *r;
	struct jail e;

	(void)state;
	jail_open(&e);
	jail_load_probe(&e);
	r = jail_run_ms(&e, "exec ./probe memory", 20000);
	assert_int_equal(r->exited.how, WIRE_HOW_SIGNAL);
	assert_int_equal(r->exited.code, SIGKILL);
	assert_int_equal(r->exited.out_of_memory, 1);
	/* Of a child: bash says 137, and the flag is what tells the reason. */
	r = jail_run_ms(&e, "./probe memory; exit 7", 20000);
	assert_int_equal(r->exited.out_of_memory, 1);
	r = jail_run(&e, "echo alive; exit 0");
	assert_string_equal(r->out, "alive\n");
	assert_int_equal(r->exited.out_of_memory, 0);
	jail_close(&e);
}

static void bounds_files_in_memory(void **state)
{
	struct jail e;

	(void)state;
	jail_open(&e);
	prints(&e, "head -c 80M /dev/zero >f 2>/dev/null || echo full; stat -c %s f; rm f",
		"full\n67108864\n");
	prints(&e,
		"head -c 80M /dev/zero >/tmp/f 2>/dev/null || echo full; stat -c %s /tmp/f; rm "
		"/tmp/f",
		"full\n33554432\n");
	prints(&e, "head -c 80M /dev/zero >/dev/shm/f 2>/dev/null || echo full; rm /dev/shm/f",
		"full\n");
	prints(&e,
		"for k in {1..30000}; do : >$k || break; done 2>/dev/null; ls | wc -l | head -c 2",
		"19");
	prints(&e, "rm -f *; ulimit -c; ulimit -Hn", "0\n4096\n");
	jail_close(&e);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(is_an_unprivileged_user),
		cmocka_unit_test(has_ids_that_no_other_container_has),
		cmocka_unit_test(sees_loopback_only),
		cmocka_unit_test(sees_its_own_processes_only),
		cmocka_unit_test(has_three_descriptors),
		cmocka_unit_test(has_a_read_only_system),
		cmocka_unit_test(has_six_devices),
		cmocka_unit_test(cannot_use_what_is_denied),
		cmocka_unit_test(is_killed_for_a_foreign_call),
		cmocka_unit_test(cannot_see_another_container),
		cmocka_unit_test(second_environment_shares_the_home_alone),
		cmocka_unit_test(contains_a_fork_bomb),
		cmocka_unit_test(runs_after_a_bomb_that_was_left_behind),
		cmocka_unit_test(kills_daemons_with_their_command),
		cmocka_unit_test(reports_out_of_memory_and_lives),
		cmocka_unit_test(bounds_files_in_memory),
	};

	if (argc > 1) {
		int r = probe(argv);
		(void)fflush(stdout);
		/* A leak checker could not do its work in there. */
		_exit(r);
	}
	return cmocka_run_group_tests(tests, jail_set_up, jail_tear_down);
}
