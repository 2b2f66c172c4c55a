/* load: unpacking an archive into the home. SPDX-License-Identifier: ISC */
#include "sandbox/init/load.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sandbox/init/beneath.h"
#include "sandbox/jail/userns.h"
#include "sandbox/sys/io.h"
#include "sandbox/wire/init.h"

#define CHUNK 65536

/* Modes and times of folders are set when all that goes into them is there. */
struct folder {
	struct folder *next; /* made before this one */
	uint32_t mode;
	uint64_t mtime;
	char path[];
};

struct loader {
	struct load_result *result;
	int home, in;
	struct folder *folders;
	int parent; /* folder of the entry before, open, which most entries share */
	char parent_path[BENEATH_PATH_MAX + 1];
	char path[WIRE_PATH_MAX + 1];
	char chunk[CHUNK];
};

static void failed(struct loader *l, const char *what)
{
	const char *why = strerror(errno);

	if (l->result->failed++ == 0)
		(void)snprintf(l->result->text, sizeof l->result->text, "%.160s: %.80s", what, why);
}

/* Opens the folder that the entry goes into and points *name at its last component. */
static int open_parent(struct loader *l, const char **name)
{
	char *slash = strrchr(l->path, '/');
	size_t n = slash ? (size_t)(slash - l->path) : 0;

	*name = slash ? slash + 1 : l->path;
	if (l->parent >= 0 && strlen(l->parent_path) == n &&
		memcmp(l->parent_path, l->path, n) == 0)
		return 0;
	io_close(&l->parent);
	memcpy(l->parent_path, l->path, n);
	l->parent_path[n] = 0;
	l->parent = beneath_open(l->home, n ? l->parent_path : ".", O_RDONLY | O_DIRECTORY, false);
	return l->parent < 0 ? -1 : 0;
}

static int set_times(int at, const char *name, uint64_t mtime)
{
	const struct timespec t[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = (time_t)mtime}};

	return utimensat(at, name, t, AT_SYMLINK_NOFOLLOW);
}

/* What is in the way goes, unless it is a folder. */
static int make_way(const struct loader *l, const char *name)
{
	return unlinkat(l->parent, name, 0) < 0 && errno != ENOENT ? -1 : 0;
}

static int make_folder(struct loader *l, const char *name, const struct wire_archive_head *h)
{
	struct folder *f = malloc(sizeof *f + h->path_len + 1);
	struct stat st;

	if (!f)
		return -1;
	if (mkdirat(l->parent, name, 0700) < 0) {
		if (errno != EEXIST || fstatat(l->parent, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			goto fail;
		if (!S_ISDIR(st.st_mode)) {
			if (make_way(l, name) < 0 || mkdirat(l->parent, name, 0700) < 0)
				goto fail;
		} else if (fchmodat(l->parent, name, 0700, 0) < 0) {
			goto fail;
		}
	}
	f->mode = h->mode;
	f->mtime = h->mtime;
	memcpy(f->path, l->path, h->path_len + 1);
	f->next = l->folders;
	l->folders = f;
	return 0;
fail:
	free(f);
	return -1;
}

static int read_chunk(struct loader *l, uint64_t *left, size_t *n)
{
	*n = *left < CHUNK ? (size_t)*left : CHUNK;
	*left -= *n;
	return io_read_full(l->in, l->chunk, *n);
}

/* -1: the stream broke off. The data is read whether or not it can be kept. */
static int make_file(struct loader *l, const char *name, const struct wire_archive_head *h)
{
	uint64_t left = h->data_len;
	size_t n;
	int fd = -1;
	bool bad = true;

	if (name && make_way(l, name) == 0)
		fd = openat(l->parent, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			0600);
	bad = fd < 0;
	if (bad)
		failed(l, l->path);
	while (left > 0) {
		if (read_chunk(l, &left, &n) < 0) {
			io_close(&fd);
			return -1;
		}
		if (!bad && io_write_full(fd, l->chunk, n) < 0) {
			bad = true;
			failed(l, l->path);
		}
	}
	if (!bad) {
		const struct timespec t[2] = {
			{.tv_nsec = UTIME_OMIT}, {.tv_sec = (time_t)h->mtime}};
		if (futimens(fd, t) < 0 || fchmod(fd, h->mode) < 0)
			failed(l, l->path);
	}
	io_close(&fd);
	return 0;
}

static int make_link(struct loader *l, const char *name, const struct wire_archive_head *h)
{
	uint64_t left = h->data_len;
	size_t n;

	/* The unpacker refuses targets that do not fit into a path. */
	if (read_chunk(l, &left, &n) < 0)
		return -1;
	if (!name)
		return 0;
	l->chunk[n] = 0;
	errno = EINVAL;
	if (memchr(l->chunk, 0, n) || make_way(l, name) < 0 ||
		symlinkat(l->chunk, l->parent, name) < 0 ||
		set_times(l->parent, name, h->mtime) < 0)
		failed(l, l->path);
	return 0;
}

/* One entry after its path was read. -1: the stream broke off. */
static int make_entry(struct loader *l, const struct wire_archive_head *h)
{
	const char *name = NULL;

	errno = EINVAL;
	if (!beneath_path_ok(l->path, h->path_len) || open_parent(l, &name) < 0) {
		name = NULL;
		if (h->kind != 'f')
			failed(l, l->path);
	}
	switch (h->kind) {
	case 'f':
		return make_file(l, name, h);
	case 'l':
		return make_link(l, name, h);
	default:
		if (name && make_folder(l, name, h) < 0)
			failed(l, l->path);
		return 0;
	}
}

/* Newest first, so that what is inside is done before a folder is closed to us. */
static void finish_folders(struct loader *l)
{
	struct folder *f;

	while ((f = l->folders)) {
		int fd = beneath_open(l->home, f->path, O_RDONLY | O_DIRECTORY, false);
		const struct timespec t[2] = {
			{.tv_nsec = UTIME_OMIT}, {.tv_sec = (time_t)f->mtime}};
		if (fd < 0 || futimens(fd, t) < 0 || fchmod(fd, f->mode) < 0)
			failed(l, f->path);
		io_close(&fd);
		l->folders = f->next;
		free(f);
	}
}

static int read_entries(struct loader *l)
{
	uint8_t head[WIRE_ARCHIVE_HEAD];
	struct wire_archive_head h;

	for (;;) {
		if (io_read_full(l->in, head, sizeof head) < 0)
			return -1;
		errno = EBADMSG;
		if (wire_archive_unpack(head, &h) < 0)
			return -1;
		if (h.kind == 'e')
			return 0;
		if (io_read_full(l->in, l->path, h.path_len) < 0)
			return -1;
		l->path[h.path_len] = 0;
		if (make_entry(l, &h) < 0)
			return -1;
	}
}

void load(struct load_result *r, int home, int fd)
{
	struct loader *l = calloc(1, sizeof *l);
	mode_t old = umask(0);

	memset(r, 0, sizeof *r);
	if (!l) {
		r->failed = 1;
		(void)snprintf(r->text, sizeof r->text, "out of memory");
		umask(old);
		return;
	}
	l->result = r;
	l->home = home;
	l->in = fd;
	l->parent = -1;
	/* As the tenant, so that all is its own and no right of ours reaches further than it. */
	(void)setfsgid(USERNS_TENANT);
	(void)setfsuid(USERNS_TENANT);
	if (read_entries(l) < 0)
		failed(l, "archive");
	finish_folders(l);
	(void)setfsuid(0);
	(void)setfsgid(0);
	io_close(&l->parent);
	free(l);
	umask(old);
}
