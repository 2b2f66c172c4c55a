/* spawn: one command's way from init to bash. SPDX-License-Identifier: ISC */
#include "sandbox/init/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/close_range.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox/init/beneath.h"
#include "sandbox/jail/filter.h"
#include "sandbox/jail/image.h"
#include "sandbox/jail/privs.h"
#include "sandbox/jail/rlimits.h"
#include "sandbox/jail/userns.h"
#include "sandbox/sys/io.h"

#define SHELL "/bin/bash"
#define PATHS "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin"

static const char *const standard[] = {"HOME=" IMAGE_HOME, "USER=" IMAGE_USER,
	"LOGNAME=" IMAGE_USER, "SHELL=" SHELL, "PATH=" IMAGE_HOME "/.local/bin:" PATHS,
	"LANG=C.UTF-8", "TERM=dumb"};
#define NSTANDARD (sizeof standard / sizeof *standard)

/* What the child execs with; made before it is cloned. */
struct start {
	const char *envp[NSTANDARD + sizeof(((struct wire_run *)0)->envp) / sizeof(char *) + 2];
	char pwd[sizeof "PWD=" IMAGE_HOME "/" + PATH_MAX];
	int cwd;
};

static bool same_name(const char *a, const char *b)
{
	size_t n = strcspn(a, "=");

	return strncmp(a, b, n + 1) == 0;
}

/* The given ones take the place of standard ones of the same name. */
static void make_environment(struct start *s, const struct wire_run *run)
{
	size_t n = 0;
	bool given;

	for (size_t k = 0; k < NSTANDARD; k++) {
		given = false;
		for (uint32_t j = 0; j < run->nenv; j++)
			given = given || same_name(standard[k], run->envp[j]);
		if (!given)
			s->envp[n++] = standard[k];
	}
	(void)snprintf(
		s->pwd, sizeof s->pwd, "PWD=%s%s%s", IMAGE_HOME, *run->cwd ? "/" : "", run->cwd);
	s->envp[n++] = s->pwd;
	for (uint32_t j = 0; j < run->nenv; j++)
		s->envp[n++] = run->envp[j];
	s->envp[n] = NULL;
}

/* The first that memory is taken from, when the container's runs out. */
static int prefer_as_victim(void)
{
	return io_write_file(AT_FDCWD, "/proc/self/oom_score_adj", "1000");
}

static int arrange(const int fds[3])
{
	int spare[3];

	for (int k = 0; k < 3; k++) {
		spare[k] = fcntl(fds[k], F_DUPFD_CLOEXEC, 3);
		if (spare[k] < 0)
			return -1;
	}
	for (int k = 0; k < 3; k++) {
		if (dup2(spare[k], k) < 0)
			return -1;
	}
	return close_range(3, ~0u, CLOSE_RANGE_CLOEXEC);
}

/* The steps of a command's child, in order. Returns only when one failed, with errno. */
static void become_command(
	const struct init *i, const struct start *s, const char *command, const int fds[3])
{
	char *argv[] = {(char[]){"bash"}, (char[]){"-c"}, (char *)(uintptr_t)command, NULL};

	if (sigprocmask(SIG_SETMASK, &i->no_signals, NULL) < 0 || setsid() < 0 ||
		prefer_as_victim() < 0 || unshare(CLONE_NEWCGROUP) < 0)
		return;
	if (rlimits_command() < 0 || arrange(fds) < 0)
		return;
	if (privs_drop(USERNS_TENANT, USERNS_TENANT) < 0)
		return;
	/* As the tenant: a folder that it may not enter is refused. */
	if (fchdir(s->cwd) < 0)
		return;
	if (filter_load(i->filter, i->filter_len) < 0)
		return;
	(void)execve(SHELL, argv, (char **)(uintptr_t)s->envp);
}

/* 0 when the other end closed without a word, as exec does; else the errno that came. */
static int await_exec(int fd)
{
	int error;

	return io_read_full(fd, &error, sizeof error) == 0 ? error : 0;
}

pid_t spawn(struct init *i, const struct wire_run *run, const int fds[3], int leaf)
{
	static struct start s; /* large; there is one thread, and one start at a time */
	int report[2], error;
	pid_t pid;

	s.cwd = beneath_open(i->home, *run->cwd ? run->cwd : ".", O_PATH | O_DIRECTORY, true);
	if (s.cwd < 0)
		return -1;
	make_environment(&s, run);
	if (io_pipe(report, false) < 0) {
		io_close(&s.cwd);
		return -1;
	}
	pid = userns_clone(0, leaf);
	if (pid == 0) {
		become_command(i, &s, run->command, fds);
		error = errno;
		(void)io_write_full(report[1], &error, sizeof error);
		_exit(127);
	}
	error = errno;
	io_close(&report[1]);
	if (pid > 0) {
		error = await_exec(report[0]);
		if (error) {
			(void)waitpid(pid, NULL, 0);
			pid = -1;
		}
	}
	io_close(&report[0]);
	io_close(&s.cwd);
	errno = error;
	return pid;
}
