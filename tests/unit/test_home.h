/* test_home: what the tests of the homes share. SPDX-License-Identifier: ISC */
#ifndef TESTS_UNIT_TEST_HOME_H
#define TESTS_UNIT_TEST_HOME_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox/home/browse.h"
#include "sandbox/home/checkout.h"
#include "sandbox/home/home.h"
#include "sandbox/home/snapshot.h"
#include "sandbox/sys/buf.h"
#include "sandbox/sys/io.h"

/* A folder of its own for each test, with one repository in it. */
struct fixture {
	char dir[64];
	char repo[128];
	char cache[128];
	struct home *h;
	int64_t clock; /* of the commits */
};

#define UNUSED __attribute__((unused))

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	(void)at;
	return remove(path);
}

static UNUSED int teardown(void **state)
{
	struct fixture *f = *state;

	home_close(f->h);
	nftw(f->dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	free(f);
	return 0;
}

static UNUSED int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof *f);

	assert_non_null(f);
	assert_int_equal(home_global_init(), HOME_OK);
	snprintf(f->dir, sizeof f->dir, "/tmp/test-home-XXXXXX");
	assert_non_null(mkdtemp(f->dir));
	snprintf(f->repo, sizeof f->repo, "%s/ws/c1.git", f->dir);
	snprintf(f->cache, sizeof f->cache, "%s/listing", f->dir);
	f->clock = 1700000000;
	assert_int_equal(home_create(&f->h, f->repo), HOME_OK);
	*state = f;
	return 0;
}

/* Runs git with arguments up to NULL in the fixture's folder; standard output and error go to out. */
static UNUSED int git(struct buf *out, struct fixture *f, ...)
{
	char *const env[] = {(char[]){"PATH=/usr/bin:/bin"}, (char[]){"HOME=/nonexistent"},
		(char[]){"GIT_CONFIG_NOSYSTEM=1"}, (char[]){"LC_ALL=C"}, NULL};
	char *argv[24] = {(char[]){"git"}, (char[]){"-C"}, f->dir};
	posix_spawn_file_actions_t actions;
	int pipes[2], status, n = 3;
	char block[4096];
	ssize_t got;
	pid_t pid;
	va_list ap;

	va_start(ap, f);
	while ((argv[n] = va_arg(ap, char *)) != NULL)
		n++;
	va_end(ap);
	assert_int_equal(io_pipe(pipes, false), 0);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, pipes[1], 1);
	posix_spawn_file_actions_adddup2(&actions, pipes[1], 2);
	assert_int_equal(posix_spawnp(&pid, "git", &actions, NULL, argv, env), 0);
	posix_spawn_file_actions_destroy(&actions);
	close(pipes[1]);
	buf_reset(out);
	while ((got = read(pipes[0], block, sizeof block)) > 0)
		buf_put(out, block, (size_t)got);
	close(pipes[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

#define assert_git(out, f, ...)                                                                    \
	do {                                                                                       \
		if (git(out, f, "--git-dir", (f)->repo, __VA_ARGS__, NULL) != 0)                   \
			fail_msg("git: %s", buf_str(out));                                         \
	} while (0)

/* git fsck --strict has nothing to say. */
static UNUSED void assert_sound(struct fixture *f)
{
	struct buf out;
	int r;

	buf_init(&out, 1 << 20);
	r = git(&out, f, "--git-dir", f->repo, "fsck", "--strict", "--full", NULL);
	if (r != 0 || out.len > 0)
		fail_msg("git fsck: %d: %s", r, buf_str(&out));
	buf_free(&out);
}

static UNUSED struct home_snapshot *begin(struct fixture *f)
{
	struct home_snapshot *s;

	assert_int_equal(home_snapshot_begin(&s, f->h), HOME_OK);
	return s;
}

static UNUSED void put_bytes(
	struct home_snapshot *s, const char *path, unsigned mode, const void *p, size_t n)
{
	int fd = io_memfd("file", p, n);

	assert_true(fd >= 0);
	assert_int_equal(home_snapshot_file(s, path, mode, fd, n), HOME_OK);
	close(fd);
}

static UNUSED void put(struct home_snapshot *s, const char *path, unsigned mode, const char *text)
{
	put_bytes(s, path, mode, text, strlen(text));
}

static UNUSED int commit_as(
	struct fixture *f, struct home_snapshot *s, const char *command, home_id id)
{
	struct home_commit_info info = {.tool = "shell",
		.email = "c1@ws",
		.command = command,
		.outcome = "exit 0",
		.request_id = "req_1",
		.duration_ms = 12,
		.time = f->clock++};

	return home_snapshot_commit(s, &info, id);
}

/* Commits and frees; true if there was something to commit. */
static UNUSED bool commit(struct fixture *f, struct home_snapshot *s)
{
	home_id id;
	int r = commit_as(f, s, "make", id);

	if (r != HOME_OK)
		fail_msg("commit: %d: %s", r, home_error());
	home_snapshot_free(s);
	return id[0] != '\0';
}

static int node_line(void *ctx, const struct home_node *n)
{
	struct buf *out = ctx;

	buf_printf(out, "%c %o %s", n->kind, n->kind == 'l' ? 0u : n->mode, n->path);
	if (n->kind != 'd') {
		buf_putc(out, '=');
		buf_put(out, n->data, n->len < 40 ? n->len : 40);
	}
	buf_putc(out, '\n');
	return 0;
}

/* The whole home, one entry a line: kind, mode, path, =content. In the order of the checkout. */
static UNUSED void assert_home(struct fixture *f, const char *expected)
{
	struct buf out;
	int64_t when;

	buf_init(&out, 1 << 24);
	assert_int_equal(home_checkout(f->h, NULL, &when, node_line, &out), HOME_OK);
	assert_string_equal(buf_str(&out), expected);
	buf_free(&out);
}

#endif
