/* env: starting the compute environment of a container. SPDX-License-Identifier: ISC */
#include "sandbox/jail/env.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/close_range.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox/jail/image.h"
#include "sandbox/jail/loopback.h"
#include "sandbox/jail/privs.h"
#include "sandbox/jail/rlimits.h"
#include "sandbox/jail/userns.h"
#include "sandbox/sys/io.h"
#include "sandbox/sys/log.h"

/*
 * Commands get a cgroup namespace of their own from init, below their leaf. Init stays in the host's:
 * there it owns no namespace in which it could mount cgroups, and may still clone into its leaves.
 */
#define FRESH (CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS)

/* What PID 1 needs: reading and making any file of the home, becoming the tenant, its namespaces. */
#define INIT_CAPS                                                                                  \
	(PRIVS_CAP(CAP_CHOWN) | PRIVS_CAP(CAP_DAC_OVERRIDE) | PRIVS_CAP(CAP_DAC_READ_SEARCH) |     \
		PRIVS_CAP(CAP_FOWNER) | PRIVS_CAP(CAP_KILL) | PRIVS_CAP(CAP_SETUID) |              \
		PRIVS_CAP(CAP_SETGID) | PRIVS_CAP(CAP_SETPCAP) | PRIVS_CAP(CAP_SYS_ADMIN))

#define SPARE_FD 64 /* above all descriptors that are given fixed numbers */

/* Only between fork and exec: the box sees its channel close, and the operator this line. */
static void must(bool ok, const char *step)
{
	if (!ok)
		log_die("environment: %s: %s", step, strerror(errno));
}

static void join_cgroups(const struct cgroup_at *at)
{
	for (int k = 0; k < 2; k++)
		must(at->join[k] < 0 || write(at->join[k], "0", 1) == 1, "cgroup");
}

/* Gives the descriptors that init keeps their numbers; the rest closes at exec. */
static void arrange(const struct env_spec *s)
{
	const int wanted[] = {s->channel, s->at->cmds, s->filter, s->at->events, s->program};
	int spare[sizeof wanted / sizeof *wanted], null = open("/dev/null", O_RDWR | O_CLOEXEC);

	must(null >= 0 && dup2(null, 0) >= 0 && dup2(null, 1) >= 0, "/dev/null");
	for (size_t k = 0; k < sizeof wanted / sizeof *wanted; k++) {
		spare[k] = fcntl(wanted[k], F_DUPFD_CLOEXEC, SPARE_FD);
		must(spare[k] >= 0, "descriptors");
	}
	for (size_t k = 0; k < sizeof wanted / sizeof *wanted; k++)
		must(dup2(spare[k], ENV_FD_CHANNEL + (int)k) >= 0, "descriptors");
	must(close_range(ENV_FD__END, ~0u, CLOSE_RANGE_CLOEXEC) == 0, "descriptors");
}

static void exec_init(const struct env_spec *s)
{
	char name[16] = "";
	char *argv[] = {(char[]){"sandgate-init"}, name, NULL}, *envp[] = {NULL};
	sigset_t none;

	(void)strncat(name, s->name, sizeof name - 1);
	arrange(s);
	(void)sigemptyset(&none);
	must(sigprocmask(SIG_SETMASK, &none, NULL) == 0, "signals");
	must(privs_keep(INIT_CAPS) == 0, "capabilities");
	/* The program's number is the first that was not given away; it closes itself. */
	(void)execveat(ENV_FD__END, "", argv, envp, AT_EMPTY_PATH);
	must(false, "exec of init");
}

/* The steps of a container, in order. With first false the mount namespace is a copy of a ready one. */
static _Noreturn void become_init(const struct env_spec *s, bool first)
{
	int proc;

	join_cgroups(s->at);
	must(userns_become_root() == 0, "ids");
	(void)umask(022);
	must(setsid() >= 0, "session");
	proc = mounts_proc();
	must(proc >= 0, "mount of /proc (it must not be masked on the host)");
	if (first)
		must(userns_forbid_nested(proc) == 0, "max_user_namespaces");
	if (first)
		must(mounts_enter(s->image, s->home, proc, &s->sizes) == 0, "mounts");
	else
		must(mounts_again(proc, &s->sizes) == 0, "mounts");
	must(loopback_up() == 0, "loopback");
	must(sethostname(IMAGE_USER, strlen(IMAGE_USER)) == 0, "host name");
	rlimits_files();
	exec_init(s);
	_exit(1);
}

/* The child waits until its ids are mapped; a parent that failed has closed the pipe. */
static void await_go(int fd)
{
	char c;

	if (io_read_full(fd, &c, 1) < 0)
		_exit(1);
}

pid_t env_start(const struct env_spec *s)
{
	int go[2], saved;
	pid_t pid;

	if (io_pipe(go, false) < 0)
		return -1;
	pid = userns_clone(CLONE_NEWUSER | FRESH, s->at->init);
	if (pid == 0) {
		io_close(&go[1]);
		await_go(go[0]);
		become_init(s, true);
	}
	if (pid > 0 && (userns_map(pid, s->base) < 0 || io_write_full(go[1], "", 1) < 0)) {
		saved = errno;
		(void)kill(pid, SIGKILL);
		(void)waitpid(pid, NULL, 0);
		errno = saved;
		pid = -1;
	}
	io_close(&go[0]);
	io_close(&go[1]);
	return pid;
}

/* Enters the first environment and leaves a sibling there; its pid, as the host sees it, goes into the pipe. */
static _Noreturn void plant(const struct env_spec *s, pid_t first, int answer)
{
	pid_t pid;

	must(userns_join(first) == 0, "entering the first one");
	pid = userns_clone(FRESH | CLONE_PARENT, -1);
	if (pid == 0)
		become_init(s, false);
	must(pid > 0, "clone of the second one");
	must(io_write_full(answer, &pid, sizeof pid) == 0, "answer");
	_exit(0);
}

pid_t env_join(const struct env_spec *s, pid_t first)
{
	pid_t helper, pid = -1;
	int answer[2];

	if (io_pipe(answer, false) < 0)
		return -1;
	helper = userns_clone(0, s->at->init);
	if (helper == 0) {
		io_close(&answer[0]);
		plant(s, first, answer[1]);
	}
	io_close(&answer[1]);
	if (helper > 0) {
		if (io_read_full(answer[0], &pid, sizeof pid) < 0)
			pid = -1;
		(void)waitpid(helper, NULL, 0);
		errno = ECHILD;
	}
	io_close(&answer[0]);
	return pid;
}
