/* scan: finding what changed in the home, and telling the box. SPDX-License-Identifier: ISC */
#include "sandbox/init/scan.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "sandbox/init/beneath.h"
#include "sandbox/init/report.h"
#include "sandbox/init/tree.h"
#include "sandbox/sys/io.h"
#include "sandbox/sys/log.h"

#define ENTRIES 32768
#define FOLDER  (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK)

struct scan {
	struct tree *tree;
	int home;
	bool fine;       /* the kernel gives every change that was looked at a time of its own */
	uint32_t number; /* of this scan */
	uint32_t seen;
	int64_t started; /* by the clock that files are stamped with */
	bool all, files, silent;
	struct report report;
	char entries[ENTRIES] __attribute__((aligned(8)));
};

struct entry { /* of getdents64(2) */
	uint64_t ino;
	int64_t off;
	unsigned short len;
	unsigned char type;
	char name[];
};

static int64_t ns(struct statx_timestamp t)
{
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static int64_t stamp_clock(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_REALTIME_COARSE, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

/*
 * Newer kernels stamp a change that follows a stat with a finer clock, so that it never looks like
 * the one before. Found out by trying, several times as a tick may pass in between.
 */
static bool stamps_are_fine(int home)
{
	int fd = openat(home, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	bool fine = fd >= 0;
	struct statx a, b;

	for (int k = 0; fine && k < 4; k++) {
		fine = fchmod(fd, 0600) == 0 &&
			statx(fd, "", AT_EMPTY_PATH, STATX_CTIME, &a) == 0 &&
			fchmod(fd, 0600) == 0 &&
			statx(fd, "", AT_EMPTY_PATH, STATX_CTIME, &b) == 0 &&
			ns(a.stx_ctime) != ns(b.stx_ctime);
	}
	io_close(&fd);
	return fine;
}

struct scan *scan_new(int home)
{
	struct scan *s = calloc(1, sizeof *s);

	if (s)
		s->tree = tree_new();
	if (!s || !s->tree) {
		free(s);
		return NULL;
	}
	s->home = home;
	s->fine = stamps_are_fine(home);
	report_init(&s->report, home);
	return s;
}

static bool is_saved(uint32_t mode)
{
	return S_ISREG(mode) || S_ISDIR(mode) || S_ISLNK(mode);
}

static void gone(void *ctx, struct node *n)
{
	struct scan *s = ctx;

	/* What was never saved leaves nothing to remove. */
	if (is_saved(n->mode) && !s->silent)
		report_removed(&s->report, n);
}

/* Compares an entry with what is known of it, and notes what it is now. */
static void look(struct scan *s, struct node *n, const struct statx *x)
{
	bool file = S_ISREG(x->stx_mode), changed;

	changed = s->all || n->racy || n->mode != x->stx_mode;
	if (file || S_ISLNK(x->stx_mode))
		changed = changed || n->ino != x->stx_ino || n->size != x->stx_size ||
			n->mtime_ns != ns(x->stx_mtime) || n->ctime_ns != ns(x->stx_ctime);
	changed = changed || (file && s->files);
	if (n->mode != 0 && (n->mode & S_IFMT) != (x->stx_mode & S_IFMT)) {
		gone(s, n);
		tree_empty(s->tree, n);
		n->empty = false;
	}
	n->mode = x->stx_mode;
	n->ino = x->stx_ino;
	n->size = x->stx_size;
	n->mtime_ns = ns(x->stx_mtime);
	n->ctime_ns = ns(x->stx_ctime);
	/* A change after this scan may bear the same stamp, and the size may be the same too. */
	n->racy = file && !s->fine && n->ctime_ns >= s->started;
	if (changed && !s->silent)
		report_add(&s->report, n);
}

static void meet(struct scan *s, struct node *folder, int fd, const char *name)
{
	size_t len = strlen(name), path_len = folder->path_len + (folder->path_len ? 1u : 0) + len;
	struct node *n;
	struct statx x;

	if (path_len > BENEATH_PATH_MAX) {
		if (!folder->long_told && !s->silent)
			report_skipped(
				&s->report, folder, name, "its path is longer than 4095 bytes");
		folder->long_told = true;
		return;
	}
	if (statx(fd, name, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, STATX_BASIC_STATS, &x) < 0)
		return; /* gone already: the container is not frozen */
	n = tree_get(s->tree, folder, name, len);
	if (!n) {
		if (!s->silent)
			report_skipped(&s->report, folder, name, "too many files");
		return;
	}
	n->seen = s->number;
	s->seen++;
	look(s, n, &x);
}

/* -1 if the folder could not be read to its end: nothing then counts as removed. */
static int read_names(struct scan *s, struct node *folder, int fd)
{
	long got;

	while ((got = syscall(SYS_getdents64, fd, s->entries, sizeof s->entries)) > 0) {
		for (long at = 0; at < got;) {
			const struct entry *e = (const void *)(s->entries + at);
			at += e->len;
			if (strcmp(e->name, ".") != 0 && strcmp(e->name, "..") != 0)
				meet(s, folder, fd, e->name);
		}
	}
	return got < 0 ? -1 : 0;
}

static bool holds_nothing(const struct node *folder)
{
	for (const struct node *n = folder->child; n; n = n->next) {
		if (is_saved(n->mode))
			return false;
	}
	return true;
}

static void read_folder(struct scan *s, struct node *folder, int fd)
{
	size_t place = report_place(&s->report);
	bool empty;

	if (read_names(s, folder, fd) == 0)
		tree_drop_unseen(s->tree, folder, s->number, gone, s);
	empty = holds_nothing(folder);
	/* That it is empty now, or no longer, is told before what is in it. */
	if (empty != folder->empty && folder->parent && !s->silent)
		report_add_at(&s->report, folder, place);
	folder->empty = empty;
	folder->cursor = folder->child;
}

/* The next folder to read inside this one, or NULL. */
static struct node *next_folder(struct node *folder, uint32_t number)
{
	struct node *n = folder->cursor;

	while (n && !(S_ISDIR(n->mode) && n->seen == number))
		n = n->next;
	folder->cursor = n ? n->next : NULL;
	return n;
}

/* Goes to a folder by its name in the one that is open, or up, and checks that it is the one that is meant. */
static int go(int *fd, const char *name, const struct node *to)
{
	int next = strcmp(name, "..") == 0 ? openat(*fd, name, FOLDER | O_CLOEXEC)
					   : beneath_open(*fd, name, FOLDER, false);
	struct stat st;

	if (next >= 0 && (fstat(next, &st) < 0 || st.st_ino != to->ino)) {
		io_close(&next);
		errno = ESTALE;
	}
	if (next < 0)
		return -1;
	io_close(fd);
	*fd = next;
	return 0;
}

/* With one descriptor however deep the tree is, and without recursion. */
static void walk(struct scan *s)
{
	struct node *root = tree_root(s->tree), *at = root, *down;
	int fd = openat(s->home, ".", FOLDER | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0) {
		log_error("the home cannot be opened: %s", strerror(errno));
		io_close(&fd);
		return;
	}
	root->ino = st.st_ino;
	read_folder(s, root, fd);
	for (;;) {
		down = next_folder(at, s->number);
		if (down) {
			if (go(&fd, down->name, down) == 0) {
				at = down;
				read_folder(s, at, fd);
			}
		} else if (at == root || go(&fd, "..", at->parent) < 0) {
			break;
		} else {
			at = at->parent;
		}
	}
	io_close(&fd);
}

static void begin(struct scan *s, uint32_t flags, bool silent)
{
	s->number++;
	s->seen = 0;
	s->all = flags & WIRE_SCAN_ALL;
	s->files = flags & WIRE_SCAN_FILES;
	s->silent = silent;
	s->started = stamp_clock();
}

void scan_run(struct init *i, uint32_t flags)
{
	struct scan *s = i->scan;
	uint32_t changed;

	begin(s, flags, false);
	report_begin(&s->report, i);
	walk(s);
	changed = report_end(&s->report);
	wire_scanned(&i->out, s->seen, changed);
	init_send(i, NULL, 0);
}

void scan_accept(struct init *i)
{
	struct scan *s = i->scan;
	const struct timespec pause = {.tv_nsec = 500000};

	/* Until the clock of the stamps has moved, a command could change a file without a trace. */
	for (int64_t now = stamp_clock(); !s->fine && stamp_clock() == now;)
		(void)nanosleep(&pause, NULL);
	begin(s, 0, true);
	walk(s);
}
