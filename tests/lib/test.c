/* test: what every unit test includes. SPDX-License-Identifier: ISC */
#include "tests/lib/test.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sandbox/sys/io.h"

static char tmp[64];

const char *test_tmp(void)
{
	if (tmp[0] == '\0') {
		snprintf(tmp, sizeof tmp, "/tmp/sandgate-test-XXXXXX");
		if (!mkdtemp(tmp))
			fail_msg("mkdtemp: %s", strerror(errno));
	}
	return tmp;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

void test_tmp_remove(void)
{
	if (tmp[0] != '\0')
		nftw(tmp, remove_one, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
	tmp[0] = '\0';
}

const char *test_tmp_file(const char *name, const void *p, size_t n)
{
	static char path[512];
	char *slash;
	int fd;

	snprintf(path, sizeof path, "%s/%s", test_tmp(), name);
	for (slash = path + strlen(tmp) + 1; (slash = strchr(slash, '/')) != NULL; slash++) {
		*slash = '\0';
		mkdir(path, 0755);
		*slash = '/';
	}
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0 || io_write_full(fd, p, n) < 0)
		fail_msg("%s: %s", path, strerror(errno));
	io_close(&fd);
	return path;
}

char *test_read(const char *path, size_t *n)
{
	char *text = io_read_file(AT_FDCWD, path, 64u << 20, n);

	if (!text)
		fail_msg("%s: %s", path, strerror(errno));
	return text;
}

char *test_stderr_of(void (*fn)(void *), void *p)
{
	int kept = dup(STDERR_FILENO), fd = io_memfd("stderr", "", 0);
	off_t n;
	char *text;

	dup2(fd, STDERR_FILENO);
	fn(p);
	dup2(kept, STDERR_FILENO);
	close(kept);
	n = lseek(fd, 0, SEEK_END);
	text = calloc(1, (size_t)n + 1);
	if (!text || pread(fd, text, (size_t)n, 0) != n)
		fail_msg("the file that stood for stderr cannot be read");
	close(fd);
	return text;
}
