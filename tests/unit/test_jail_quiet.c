/* jail_quiet: what a box can no longer do. SPDX-License-Identifier: ISC */
#include "tests/lib/test.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox/jail/landlock.h"
#include "sandbox/jail/quiet.h"

/* Number of the first check that fails in a locked child, 0 if none. */
static int in_child(int (*checks)(const char *folder))
{
	const char *folder = test_tmp();
	int status;
	pid_t pid = fork();

	if (pid == 0)
		_exit(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ? 255 : checks(folder));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static int quiet_checks(const char *folder)
{
	char *const argv[] = {(char[]){"true"}, NULL};
	int fds[2];
	(void)folder;

	if (quiet_enter())
		return 1;
	if (execve("/bin/true", argv, NULL) != -1 || errno != EPERM)
		return 2;
	if (socket(AF_INET, SOCK_STREAM, 0) != -1 || errno != EPERM)
		return 3;
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds) != -1 || errno != EPERM)
		return 4;
	if (unshare(CLONE_NEWUSER) != -1 || errno != EPERM)
		return 5;
	if (mount("none", "/mnt", "tmpfs", 0, "") != -1 || errno != EPERM)
		return 6;
	if (pipe(fds) || write(fds[1], "x", 1) != 1)
		return 7;
	return 0;
}

static void quiet_takes_programs_sockets_and_mounts(void **state)
{
	(void)state;
	assert_int_equal(in_child(quiet_checks), 0);
	test_tmp_remove();
}

static int landlock_checks(const char *folder)
{
	char inside[256], outside[256], below[256];
	int fd;

	(void)snprintf(inside, sizeof(inside), "%s/in", folder);
	(void)snprintf(below, sizeof(below), "%s/in/file", folder);
	(void)snprintf(outside, sizeof(outside), "%s/out", folder);
	if (mkdir(inside, 0700))
		return 1;
	fd = open(outside, O_CREAT | O_RDWR, 0600);
	const struct landlock_path only = {.path = inside, .write = true};
	if (landlock_enter(&only, 1))
		return errno == ENOSYS || errno == EOPNOTSUPP ? 0 : 2;
	if (open(below, O_CREAT | O_RDWR, 0600) < 0)
		return 3;
	if (rename(below, inside) != -1 || unlink(below))
		return 4;
	if (open(outside, O_RDONLY) != -1 || errno != EACCES)
		return 5;
	if (unlink(outside) != -1 || errno != EACCES)
		return 6;
	if (open("/etc/passwd", O_RDONLY) != -1 || errno != EACCES)
		return 7;
	if (write(fd, "x", 1) != 1) /* what is open stays open */
		return 8;
	return 0;
}

static void landlock_leaves_one_folder(void **state)
{
	(void)state;
	assert_int_equal(in_child(landlock_checks), 0);
	test_tmp_remove();
}

static int read_only_checks(const char *folder)
{
	char file[256];

	(void)snprintf(file, sizeof(file), "%s/file", folder);
	int fd = open(file, O_CREAT | O_RDWR, 0600);
	const struct landlock_path only = {.path = file};
	if (fd < 0)
		return 1;
	if (landlock_enter(&only, 1))
		return errno == ENOSYS || errno == EOPNOTSUPP ? 0 : 2;
	if (open(file, O_RDONLY) < 0)
		return 3;
	if (open(file, O_WRONLY) != -1 || errno != EACCES)
		return 4;
	return 0;
}

static void landlock_can_leave_reading_only(void **state)
{
	(void)state;
	assert_int_equal(in_child(read_only_checks), 0);
	test_tmp_remove();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(quiet_takes_programs_sockets_and_mounts),
		cmocka_unit_test(landlock_leaves_one_folder),
		cmocka_unit_test(landlock_can_leave_reading_only),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
