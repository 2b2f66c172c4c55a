/* io: whole reads and writes, files, descriptors. SPDX-License-Identifier: ISC */
#include "tests/lib/test.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sandbox/sys/io.h"

static void *trickle(void *p)
{
	const int *fd = p;
	int i;

	for (i = 0; i < 10; i++) {
		usleep(2000);
		io_write_full(*fd, "x", 1);
	}
	return NULL;
}

static void read_waits_for_all(void **state)
{
	char text[10];
	pthread_t t;
	int fds[2];

	(void)state;
	assert_int_equal(io_pipe(fds, false), 0);
	pthread_create(&t, NULL, trickle, &fds[1]);
	assert_int_equal(io_read_full(fds[0], text, 10), 0);
	pthread_join(t, NULL);
	assert_memory_equal(text, "xxxxxxxxxx", 10);
	io_close(&fds[1]);
	assert_int_equal(io_read_full(fds[0], text, 0), 0);
	assert_int_equal(io_read_full(fds[0], text, 1), -1);
	assert_int_equal(errno, EPIPE);
	io_close(&fds[0]);
	assert_int_equal(fds[0], -1);
}

static void *swallow(void *p)
{
	const int *fd = p;
	static char buffer[5000];
	size_t total = 0;
	ssize_t n;

	while ((n = read(*fd, buffer, sizeof buffer)) > 0)
		total += (size_t)n;
	return (void *)total;
}

static void write_goes_on_until_all_is_out(void **state)
{
	enum { N = 1 << 20 };
	char *data = calloc(1, N);
	void *total;
	pthread_t t;
	int fds[2];

	(void)state;
	assert_int_equal(io_pipe(fds, false), 0);
	pthread_create(&t, NULL, swallow, &fds[0]);
	assert_int_equal(io_write_full(fds[1], data, N), 0);
	io_close(&fds[1]);
	pthread_join(t, &total);
	assert_int_equal((size_t)total, N);
	io_close(&fds[0]);
	free(data);
}

static void write_to_nobody_fails(void **state)
{
	int fds[2];

	(void)state;
	signal(SIGPIPE, SIG_IGN);
	assert_int_equal(io_pipe(fds, false), 0);
	io_close(&fds[0]);
	assert_int_equal(io_write_full(fds[1], "x", 1), -1);
	assert_int_equal(errno, EPIPE);
	io_close(&fds[1]);
}

static void close_keeps_errno(void **state)
{
	int fd = -1;

	(void)state;
	errno = ENOENT;
	io_close(&fd);
	assert_int_equal(errno, ENOENT);
	fd = 9999; /* not open: close would say EBADF */
	io_close(&fd);
	assert_int_equal(errno, ENOENT);
	assert_int_equal(fd, -1);
}

static void pipe_ends_are_as_asked(void **state)
{
	int fds[2];

	(void)state;
	assert_int_equal(io_pipe(fds, true), 0);
	assert_true(fcntl(fds[0], F_GETFD) & FD_CLOEXEC);
	assert_true(fcntl(fds[1], F_GETFD) & FD_CLOEXEC);
	assert_true(fcntl(fds[0], F_GETFL) & O_NONBLOCK);
	assert_false(fcntl(fds[1], F_GETFL) & O_NONBLOCK);
	assert_int_equal(io_set_nonblocking(fds[0], false), 0);
	assert_false(fcntl(fds[0], F_GETFL) & O_NONBLOCK);
	io_close(&fds[0]);
	io_close(&fds[1]);
	assert_int_equal(io_set_nonblocking(-1, true), -1);
}

static void memfd_holds_the_bytes(void **state)
{
	char text[4];
	int fd = io_memfd("test", "abcd", 4);

	(void)state;
	assert_int_equal(io_read_full(fd, text, 4), 0);
	assert_memory_equal(text, "abcd", 4);
	io_close(&fd);
}

static void file_is_read_up_to_max(void **state)
{
	static char text[10000];
	char *got;
	size_t n;
	const char *path;

	(void)state;
	memset(text, 't', sizeof text);
	path = test_tmp_file("f", text, sizeof text);
	got = io_read_file(AT_FDCWD, path, sizeof text, &n);
	assert_non_null(got);
	assert_int_equal(n, sizeof text);
	assert_int_equal(got[n], '\0');
	assert_memory_equal(got, text, n);
	free(got);
	assert_null(io_read_file(AT_FDCWD, path, sizeof text - 1, &n));
	assert_int_equal(errno, EFBIG);
	got = io_read_file(AT_FDCWD, path, SIZE_MAX, NULL);
	assert_non_null(got);
	free(got);
	got = io_read_file(AT_FDCWD, test_tmp_file("empty", "", 0), 0, &n);
	assert_string_equal(got, "");
	assert_int_equal(n, 0);
	free(got);
}

static void file_of_proc_has_no_size_but_text(void **state)
{
	size_t n;
	char *got = io_read_file(AT_FDCWD, "/proc/self/status", 1 << 20, &n);

	(void)state;
	assert_non_null(got);
	assert_non_null(strstr(got, "Pid:"));
	free(got);
}

static void file_errors(void **state)
{
	size_t n;

	(void)state;
	assert_null(io_read_file(AT_FDCWD, "/nonexistent", 10, &n));
	assert_int_equal(errno, ENOENT);
	assert_null(io_read_file(AT_FDCWD, "/tmp", 10, &n));
	assert_int_equal(errno, EISDIR);
	assert_int_equal(io_write_file(AT_FDCWD, "/nonexistent", "x"), -1);
}

static void file_is_written_below_a_folder(void **state)
{
	int dir;
	size_t n;
	char *got;

	(void)state;
	test_tmp_file("w", "12345", 5);
	dir = open(test_tmp(), O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(io_write_file(dir, "w", "ab"), 0);
	got = io_read_file(dir, "w", 100, &n);
	assert_string_equal(got, "ab345"); /* one write, no truncation */
	free(got);
	io_close(&dir);
}

static void clocks_go_forward(void **state)
{
	int64_t ms = io_now_ms(), us = io_now_us();

	(void)state;
	usleep(3000);
	assert_in_range(io_now_ms() - ms, 2, 2000);
	assert_in_range(io_now_us() - us, 2500, 2000000);
}

static int clean(void **state)
{
	(void)state;
	test_tmp_remove();
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(read_waits_for_all),
		cmocka_unit_test(write_goes_on_until_all_is_out),
		cmocka_unit_test(write_to_nobody_fails),
		cmocka_unit_test(close_keeps_errno),
		cmocka_unit_test(pipe_ends_are_as_asked),
		cmocka_unit_test(memfd_holds_the_bytes),
		cmocka_unit_test(file_is_read_up_to_max),
		cmocka_unit_test(file_of_proc_has_no_size_but_text),
		cmocka_unit_test(file_errors),
		cmocka_unit_test(file_is_written_below_a_folder),
		cmocka_unit_test(clocks_go_forward),
	};

	return cmocka_run_group_tests(tests, NULL, clean);
}
