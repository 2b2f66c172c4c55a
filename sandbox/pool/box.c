/* box: starting sandgate-box. SPDX-License-Identifier: ISC */
#include "sandbox/pool/box.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sandbox/jail/privs.h"
#include "sandbox/jail/rlimits.h"
#include "sandbox/jail/userns.h"
#include "sandbox/sys/log.h"

enum { CONTROL = 3, PROGRAM = 4, SPARE = 16 };

/* Only between fork and exec. */
static void must(bool ok, const char *step)
{
	if (!ok)
		log_die("box: %s: %s", step, strerror(errno));
}

static _Noreturn void become_box(const struct box_spec *s)
{
	char *argv[] = {(char[]){"sandgate-box"}, NULL};
	char *envp[] = {
		(char[]){"PATH=/usr/bin:/bin"}, (char[]){"LANG=C.UTF-8"}, (char[]){"HOME=/"}, NULL};
	const struct rlimit no_core = {0, 0};
	int null = open("/dev/null", O_RDWR | O_CLOEXEC), control, program;
	sigset_t none;

	must(setsid() >= 0 && chdir("/") == 0, "session");
	control = fcntl(s->control, F_DUPFD_CLOEXEC, SPARE);
	program = fcntl(s->program, F_DUPFD_CLOEXEC, SPARE);
	must(null >= 0 && control >= 0 && program >= 0, "descriptors");
	must(dup2(null, 0) >= 0 && dup2(null, 1) >= 0 && dup2(control, CONTROL) >= 0 &&
			dup2(program, PROGRAM) >= 0,
		"descriptors");
	must(close_range(PROGRAM, ~0u, CLOSE_RANGE_CLOEXEC) == 0, "descriptors");
	rlimits_files();
	must(setrlimit(RLIMIT_CORE, &no_core) == 0, "limits");
	(void)umask(077);
	(void)signal(SIGPIPE, SIG_DFL);
	(void)sigemptyset(&none);
	must(sigprocmask(SIG_SETMASK, &none, NULL) == 0, "signals");
	must(privs_drop(s->uid, s->gid) == 0, "privileges");
	/* By descriptor: the service user may be unable to reach the folder that the program is in. */
	(void)execveat(PROGRAM, "", argv, envp, AT_EMPTY_PATH);
	must(false, "exec");
	_exit(1);
}

pid_t box_start(const struct box_spec *s)
{
	pid_t pid = userns_clone(0, s->cgroup);

	if (pid == 0)
		become_box(s);
	return pid;
}
