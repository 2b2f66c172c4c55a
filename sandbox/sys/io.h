/* io: reading, writing, clocks, descriptors. SPDX-License-Identifier: ISC */
#ifndef SANDBOX_SYS_IO_H
#define SANDBOX_SYS_IO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* All of n bytes, restarting after EINTR. 0, or -1 with errno (read: EPIPE when the end came first). */
int io_read_full(int fd, void *p, size_t n);
int io_write_full(int fd, const void *p, size_t n);
/* Closes *fd if it is not -1 and makes it -1; keeps errno. */
void io_close(int *fd);
/* A pipe whose ends are close-on-exec; nonblocking asks it of the read end only. 0 or -1 with errno. */
int io_pipe(int fds[2], bool nonblocking);
int io_set_nonblocking(int fd, bool on);
/* An anonymous file (memfd) holding the n bytes at p, offset at 0. The descriptor, or -1 with errno. */
int io_memfd(const char *name, const void *p, size_t n);
/* A file below dirfd, whole, into a fresh NUL-terminated string of at most max bytes (owned by the caller, free()). NULL with errno; EFBIG over max. */
char *io_read_file(int dirfd, const char *path, size_t max, size_t *len);
/* Writes text to an existing file below dirfd in one write(2), as /proc and cgroup files want it. 0 or -1 with errno. */
int io_write_file(int dirfd, const char *path, const char *text);
/* CLOCK_MONOTONIC in milliseconds, and the same in microseconds. */
int64_t io_now_ms(void);
int64_t io_now_us(void);

#endif
