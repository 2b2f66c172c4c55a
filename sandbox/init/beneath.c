/* beneath: opening what is in the home and nothing else. SPDX-License-Identifier: ISC */
#include "sandbox/init/beneath.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

int beneath_open(int dirfd, const char *path, int flags, bool links)
{
	struct open_how how = {
		.flags = (unsigned)(flags | O_CLOEXEC),
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV,
	};

	if (!links)
		how.resolve |= RESOLVE_NO_SYMLINKS;
	return (int)syscall(SYS_openat2, dirfd, path, &how, sizeof how);
}

bool beneath_path_ok(const char *path, size_t n)
{
	const char *end = path + n, *next;

	if (n == 0 || n > BENEATH_PATH_MAX || memchr(path, 0, n))
		return false;
	for (const char *p = path; p <= end; p = next + 1) {
		next = memchr(p, '/', (size_t)(end - p));
		if (!next)
			next = end;
		size_t len = (size_t)(next - p);
		if (len == 0 || (len == 1 && p[0] == '.') ||
			(len == 2 && p[0] == '.' && p[1] == '.'))
			return false;
	}
	return true;
}
