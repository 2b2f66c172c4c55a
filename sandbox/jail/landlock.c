/* landlock: which files a process can reach. SPDX-License-Identifier: ISC */
#include "sandbox/jail/landlock.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sandbox/sys/io.h"

/* The system's headers may be older than its kernel: bits by number, as the kernel numbers them. */
#define FS_EXECUTE    (1ull << 0)
#define FS_WRITE_FILE (1ull << 1)
#define FS_READ_FILE  (1ull << 2)
#define FS_READ_DIR   (1ull << 3)
#define FS_ABI1       ((1ull << 13) - 1)
#define FS_REFER      (1ull << 13) /* 2 */
#define FS_TRUNCATE   (1ull << 14) /* 3 */
#define FS_IOCTL_DEV  (1ull << 15) /* 5 */
#define NET_ALL       3ull         /* 4: bind, connect */
#define SCOPE_ALL     3ull         /* 6: abstract sockets, signals */

/* Of a file that is no folder, only these can be granted. */
#define FS_OF_FILE (FS_EXECUTE | FS_WRITE_FILE | FS_READ_FILE | FS_TRUNCATE | FS_IOCTL_DEV)

struct ruleset {
	uint64_t fs, net, scoped;
};

/* Fills in what this kernel's version knows; returns the size of struct that it takes, 0 with errno if none. */
static size_t known(struct ruleset *r)
{
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);

	*r = (struct ruleset){.fs = FS_ABI1};
	if (abi < 1)
		return 0;
	if (abi >= 2)
		r->fs |= FS_REFER;
	if (abi >= 3)
		r->fs |= FS_TRUNCATE;
	if (abi >= 5)
		r->fs |= FS_IOCTL_DEV;
	if (abi >= 4)
		r->net = NET_ALL;
	if (abi >= 6)
		r->scoped = SCOPE_ALL;
	return abi >= 6 ? 24 : abi >= 4 ? 16 : 8;
}

static int allow(int ruleset, const struct landlock_path *p, uint64_t handled)
{
	struct landlock_path_beneath_attr a = {
		.allowed_access = FS_READ_FILE | FS_READ_DIR, .parent_fd = -1};
	struct stat st;
	int fd = open(p->path, O_PATH | O_CLOEXEC), rc = -1;

	if (p->write)
		a.allowed_access = handled & ~(FS_EXECUTE | FS_IOCTL_DEV);
	if (fd < 0 || fstat(fd, &st))
		goto out;
	if (!S_ISDIR(st.st_mode))
		a.allowed_access &= FS_OF_FILE;
	a.parent_fd = fd;
	rc = (int)syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &a, 0);
out:
	io_close(&fd);
	return rc;
}

int landlock_enter(const struct landlock_path *paths, size_t n)
{
	struct ruleset r;
	size_t size = known(&r);
	int fd, rc = -1;

	if (!size)
		return -1;
	fd = (int)syscall(SYS_landlock_create_ruleset, &r, size, 0);
	if (fd < 0)
		return -1;
	for (size_t k = 0; k < n; k++) {
		if (allow(fd, &paths[k], r.fs))
			goto out;
	}
	rc = (int)syscall(SYS_landlock_restrict_self, fd, 0);
out:
	io_close(&fd);
	return rc;
}
