/* io: reading, writing, clocks, descriptors. SPDX-License-Identifier: ISC */
#include "sandbox/sys/io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

int io_read_full(int fd, void *p, size_t n)
{
	char *at = p;
	ssize_t got;

	while (n > 0) {
		got = read(fd, at, n);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -1;
		if (got == 0) {
			errno = EPIPE;
			return -1;
		}
		at += got;
		n -= (size_t)got;
	}
	return 0;
}

int io_write_full(int fd, const void *p, size_t n)
{
	const char *at = p;
	ssize_t put;

	while (n > 0) {
		put = write(fd, at, n);
		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0)
			return -1;
		at += put;
		n -= (size_t)put;
	}
	return 0;
}

void io_close(int *fd)
{
	int saved = errno;

	/* Linux has let go of the descriptor even when close says EINTR. */
	if (*fd != -1)
		close(*fd);
	*fd = -1;
	errno = saved;
}

int io_pipe(int fds[2], bool nonblocking)
{
	if (pipe2(fds, O_CLOEXEC) < 0)
		return -1;
	if (nonblocking && io_set_nonblocking(fds[0], true) < 0) {
		io_close(&fds[0]);
		io_close(&fds[1]);
		return -1;
	}
	return 0;
}

int io_set_nonblocking(int fd, bool on)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0)
		return -1;
	flags = on ? flags | O_NONBLOCK : flags & ~O_NONBLOCK;
	return fcntl(fd, F_SETFL, flags) < 0 ? -1 : 0;
}

int io_memfd(const char *name, const void *p, size_t n)
{
	int fd = memfd_create(name, MFD_CLOEXEC);

	if (fd < 0)
		return -1;
	if (io_write_full(fd, p, n) < 0 || lseek(fd, 0, SEEK_SET) < 0) {
		io_close(&fd);
		return -1;
	}
	return fd;
}

/* Reads to the end; a size is not asked for first, as files of /proc have none. */
static char *read_all(int fd, size_t max, size_t *len)
{
	size_t cap = 0, n = 0;
	char *data = NULL, *more;
	ssize_t got;

	for (;;) {
		if (n == cap) {
			/* One byte over max, to see that there is more, and one for the NUL. */
			cap = cap == 0 ? 4096 : cap * 2;
			if (cap > max + 1)
				cap = max + 1;
			more = realloc(data, cap + 1);
			if (!more)
				break;
			data = more;
		}
		got = read(fd, data + n, cap - n);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			break;
		n += (size_t)got;
		if (n > max) {
			errno = EFBIG;
			break;
		}
		if (got == 0) {
			data[n] = '\0';
			*len = n;
			return data;
		}
	}
	free(data);
	return NULL;
}

char *io_read_file(int dirfd, const char *path, size_t max, size_t *len)
{
	size_t ignored;
	char *data;
	int fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return NULL;
	if (max > SIZE_MAX / 4)
		max = SIZE_MAX / 4;
	data = read_all(fd, max, len ? len : &ignored);
	io_close(&fd);
	return data;
}

int io_write_file(int dirfd, const char *path, const char *text)
{
	size_t n = strlen(text);
	ssize_t put;
	int fd = openat(dirfd, path, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return -1;
	do
		put = write(fd, text, n);
	while (put < 0 && errno == EINTR);
	if (put >= 0 && (size_t)put != n) {
		errno = EIO;
		put = -1;
	}
	io_close(&fd);
	return put < 0 ? -1 : 0;
}

int64_t io_now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}

int64_t io_now_ms(void)
{
	return io_now_us() / 1000;
}
