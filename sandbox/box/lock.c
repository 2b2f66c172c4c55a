/* lock: what a box gives up before it reads anything of a tenant's. SPDX-License-Identifier: ISC */
#include "sandbox/box/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/close_range.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sandbox/jail/landlock.h"
#include "sandbox/jail/quiet.h"
#include "sandbox/sys/log.h"

#define FIRST_FOREIGN 4 /* 0 to 2 are the usual ones, 3 is the channel to boxd */

/* Connections, pipes left over, a message's descriptors, and libgit2's few. */
#define FILES_MAX 512

#ifdef __SANITIZE_ADDRESS__
/* Looking for leaks at the end takes being traced, which a box gives up. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "detect_leaks=0";
}
#endif

static void limit(int what, rlim_t most)
{
	struct rlimit now;
	struct rlimit new = {most, most};

	/* Never upwards: that would take a privilege. */
	if (!getrlimit((__rlimit_resource_t)what, &now) && now.rlim_max < most)
		new.rlim_cur = new.rlim_max = now.rlim_max;
	if (setrlimit((__rlimit_resource_t)what, &new))
		log_die("cannot limit resource %d: %s", what, strerror(errno));
}

static void open_standard(void)
{
	for (int fd = 0; fd <= 2; fd++) {
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR) != fd)
			log_die("descriptor %d cannot be opened", fd);
	}
}

void lock_process(void)
{
	if (fcntl(FIRST_FOREIGN - 1, F_GETFD) < 0)
		log_die("descriptor 3 is not open: sandgate-box is started by sandgate-boxd");
	open_standard();
	if (close_range(FIRST_FOREIGN, ~0u, 0))
		log_die("cannot close descriptors: %s", strerror(errno));
	if (fcntl(FIRST_FOREIGN - 1, F_SETFD, FD_CLOEXEC))
		log_die("descriptor 3: %s", strerror(errno));
	if (clearenv() || chdir("/"))
		log_die("cannot leave where it was started: %s", strerror(errno));
	(void)umask(077);
	limit(RLIMIT_CORE, 0);
	limit(RLIMIT_NOFILE, FILES_MAX);
	if (prctl(PR_SET_DUMPABLE, 0) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		log_die("cannot give up privileges: %s", strerror(errno));
}

/* The folder that a path lies in, in place. */
static void cut_last(char *path)
{
	char *slash = strrchr(path, '/');

	slash[slash == path ? 1 : 0] = 0;
}

void lock_files(const char *repository)
{
	char path[PATH_MAX];
	struct stat st;

	(void)snprintf(path, sizeof(path), "%s", repository);
	if (stat(path, &st)) {
		cut_last(path);
		/* The workspace's first container makes its folder. */
		if (mkdir(path, 0700) && errno != EEXIST)
			log_die("%s: %s", path, strerror(errno));
	}
	const struct landlock_path only = {.path = path, .write = true};
	if (landlock_enter(&only, 1)) {
		if (errno != ENOSYS && errno != EOPNOTSUPP)
			log_die("cannot enter Landlock: %s", strerror(errno));
		log_warn("the kernel has no Landlock: the box is not kept from other files");
	}
	if (quiet_enter())
		log_die("cannot load the seccomp filter: %s", strerror(errno));
}
