/* branch: moving main from one commit to the next. SPDX-License-Identifier: ISC */
#include "sandbox/home/branch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "sandbox/sys/io.h"

/*
 * Git holds refs/heads/main.lock while it changes the branch, and refuses for ever if somebody
 * died holding it. A killed box must not end its container, so: writers of ours exclude each other
 * by flock on LOCK, the new value is written to NEXT, and main.lock is NEXT's hard link, made just
 * before it is renamed over main. A main.lock that is the same file as NEXT was left by a dead
 * writer of ours and is removed at once; another's is waited for, and removed when it is old.
 */
#define LOCK     "sandgate.lock"
#define NEXT     "sandgate.next"
#define REF_LOCK REPO_BRANCH ".lock"

#define LOCK_WAIT_MS 3000
#define LOCK_OLD_S   30

/* HOME_OK if the branch is where it is expected to be. */
static int check(struct home *h, const git_oid *expected)
{
	git_oid now;
	int r = repo_head(&now, h);

	if (r != HOME_OK && r != HOME_NOT_FOUND)
		return r;
	if (expected ? r == HOME_OK && git_oid_equal(&now, expected) : r == HOME_NOT_FOUND)
		return HOME_OK;
	return repo_fail(HOME_BUSY, "the branch has moved");
}

static void drop_leftovers(int dir)
{
	struct stat next, lock;

	if (fstatat(dir, NEXT, &next, AT_SYMLINK_NOFOLLOW) != 0)
		return;
	if (fstatat(dir, REF_LOCK, &lock, AT_SYMLINK_NOFOLLOW) == 0 && lock.st_ino == next.st_ino &&
		lock.st_dev == next.st_dev)
		unlinkat(dir, REF_LOCK, 0);
	/* Never written to: it may be main's other name. */
	unlinkat(dir, NEXT, 0);
}

int branch_lock(struct branch *b, struct home *h, const git_oid *expected)
{
	int r;

	b->h = h;
	b->next = -1;
	b->lock = openat(h->dir, LOCK, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (b->lock < 0)
		return repo_fail_errno("lock repository");
	while (flock(b->lock, LOCK_EX) != 0)
		if (errno != EINTR) {
			r = repo_fail_errno("lock repository");
			io_close(&b->lock);
			return r;
		}
	drop_leftovers(h->dir);
	r = check(h, expected);
	if (r != HOME_OK)
		io_close(&b->lock);
	return r;
}

int branch_write(struct branch *b, const git_oid *id)
{
	char line[GIT_OID_HEXSZ + 2];

	b->next =
		openat(b->h->dir, NEXT, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	git_oid_tostr(line, sizeof line, id);
	line[GIT_OID_HEXSZ] = '\n';
	if (b->next < 0 || io_write_full(b->next, line, GIT_OID_HEXSZ + 1) != 0)
		return repo_fail_errno("write branch");
	return HOME_OK;
}

int branch_sync(struct branch *b)
{
	return fsync(b->next) == 0 ? HOME_OK : repo_fail_errno("sync branch");
}

static int take_ref_lock(int dir)
{
	const struct timespec pause = {.tv_nsec = 5000000};
	int64_t end = io_now_ms() + LOCK_WAIT_MS;

	while (linkat(dir, NEXT, dir, REF_LOCK, 0) != 0) {
		struct stat st;

		if (errno == ENOENT && mkdirat(dir, "refs/heads", 0755) == 0)
			continue;
		if (errno != EEXIST)
			return repo_fail_errno("lock branch");
		if (fstatat(dir, REF_LOCK, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
			time(NULL) - st.st_mtime > LOCK_OLD_S)
			unlinkat(dir, REF_LOCK, 0);
		else if (io_now_ms() > end)
			return repo_fail(HOME_BUSY, "the branch is locked by another program");
		else
			nanosleep(&pause, NULL);
	}
	return HOME_OK;
}

/* A repository is made without waiting for the disk; its first durable commit does that. */
static int sync_birth(struct home *h)
{
	static const char *const files[] = {"HEAD", "config"};
	static const char *const folders[] = {"objects", "refs", "."};
	int r = 0;

	for (size_t i = 0; r == 0 && i < sizeof files / sizeof files[0]; i++) {
		int fd = openat(h->dir, files[i], O_RDONLY | O_CLOEXEC);

		r = fd < 0 ? -1 : fsync(fd);
		io_close(&fd);
	}
	for (size_t i = 0; r == 0 && i < sizeof folders / sizeof folders[0]; i++)
		r = repo_sync_folder(h, folders[i]);
	/* A confined writer may not open what its repository lies in; journals carry the name anyway. */
	if (repo_sync_folder(h, "..") != 0 && errno != EACCES && errno != EPERM)
		r = -1;
	return r;
}

int branch_move(struct branch *b, const git_oid *expected, bool durable)
{
	int dir = b->h->dir, r;

	if (durable && !expected && sync_birth(b->h) != 0)
		return repo_fail_errno("sync repository");
	r = take_ref_lock(dir);
	if (r != HOME_OK)
		return r;
	r = check(b->h, expected);
	if (r == HOME_OK && renameat(dir, REF_LOCK, dir, REPO_BRANCH) != 0)
		r = repo_fail_errno("move branch");
	if (r != HOME_OK) {
		unlinkat(dir, REF_LOCK, 0);
		return r;
	}
	if (durable && repo_sync_folder(b->h, "refs/heads") != 0)
		return repo_fail_errno("sync branch");
	return HOME_OK;
}

void branch_unlock(struct branch *b)
{
	if (b->lock < 0)
		return;
	io_close(&b->next);
	unlinkat(b->h->dir, NEXT, 0);
	io_close(&b->lock);
}
