/* report: the list of changes of one scan, on its way to the box. SPDX-License-Identifier: ISC */
#include "sandbox/init/report.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sandbox/init/beneath.h"
#include "sandbox/sys/io.h"
#include "sandbox/sys/log.h"

#define LIST_KEPT 4096 /* places of the list that stay allocated between scans */

struct report_skip {
	struct report_skip *next;
	const char *reason;
	char path[];
};

void report_init(struct report *r, int home)
{
	memset(r, 0, sizeof *r);
	r->home = home;
}

void report_begin(struct report *r, struct init *i)
{
	r->init = i;
	r->n = 0;
	r->changed = 0;
	r->nfds = 0;
	r->open = false;
}

static void flush(struct report *r)
{
	if (!r->open)
		return;
	init_send(r->init, r->fds, r->nfds);
	while (r->nfds > 0)
		io_close(&r->fds[--r->nfds]);
	r->open = false;
}

/* Puts a change into the frame and takes its descriptor, if it has one. */
static void put(struct report *r, const struct wire_change *c, int fd)
{
	struct wire_out *out = &r->init->out;

	r->changed++;
	for (int tries = 0; tries < 2; tries++) {
		if (!r->open)
			wire_changes_begin(out);
		r->open = true;
		if (wire_changes_add(out, c)) {
			if (fd >= 0)
				r->fds[r->nfds++] = fd;
			return;
		}
		flush(r);
	}
	log_error("a change does not fit into a message");
	io_close(&fd);
}

void report_removed(struct report *r, const struct node *n)
{
	char path[BENEATH_PATH_MAX + 1];
	const struct wire_change c = {.kind = WIRE_REMOVED, .path = path, .text = ""};

	tree_path(n, path);
	put(r, &c, -1);
}

/* Out of memory the list ends; what is left out differs still at the next scan only if it is not noted as known. */
static bool append(struct report *r, struct node *n)
{
	size_t cap = r->cap ? r->cap * 2 : 64;
	struct node **nodes;

	if (r->n == r->cap) {
		nodes = reallocarray(r->nodes, cap, sizeof *nodes);
		if (!nodes)
			return false;
		r->nodes = nodes;
		r->cap = cap;
	}
	r->nodes[r->n++] = n;
	return true;
}

void report_add(struct report *r, struct node *n)
{
	if (n->pending)
		return;
	if (append(r, n))
		n->pending = true;
	else
		n->mode = 0; /* unknown again, so that the next scan tells it */
}

size_t report_place(struct report *r)
{
	return append(r, NULL) ? r->n - 1 : SIZE_MAX;
}

void report_add_at(struct report *r, struct node *n, size_t place)
{
	if (n->pending)
		return;
	if (place == SIZE_MAX) {
		report_add(r, n);
		return;
	}
	r->nodes[place] = n;
	n->pending = true;
}

void report_skipped(
	struct report *r, const struct node *folder, const char *name, const char *reason)
{
	size_t n = folder->path_len, len = strlen(name);
	struct report_skip *s = malloc(sizeof *s + n + 1 + len + 1);

	if (!s)
		return;
	tree_path(folder, s->path);
	if (n > 0)
		s->path[n++] = '/';
	memcpy(s->path + n, name, len + 1);
	/* Cut to what can be said of a path; nothing else has that name. */
	if (n + len > BENEATH_PATH_MAX)
		s->path[BENEATH_PATH_MAX] = 0;
	s->reason = reason;
	s->next = r->skips;
	r->skips = s;
}

static void skip(struct report *r, const char *path, const char *reason)
{
	const struct wire_change c = {.kind = WIRE_SKIPPED, .path = path, .text = reason};

	put(r, &c, -1);
}

static void tell_file(struct report *r, const char *path)
{
	struct wire_change c = {.kind = WIRE_FILE, .has_fd = 1, .path = path, .text = ""};
	int fd = beneath_open(r->home, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, false);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0) {
		skip(r, path, strerror(errno));
	} else if (!S_ISREG(st.st_mode)) {
		skip(r, path, "no longer a regular file");
	} else {
		c.mode = st.st_mode & 07777;
		c.size = (uint64_t)st.st_size;
		c.mtime_ns =
			(uint64_t)st.st_mtim.tv_sec * 1000000000u + (uint64_t)st.st_mtim.tv_nsec;
		put(r, &c, fd);
		return;
	}
	io_close(&fd);
}

static void tell_link(struct report *r, const char *path, const struct node *n)
{
	char target[PATH_MAX];
	const struct wire_change c = {.kind = WIRE_LINK,
		.mode = 0777,
		.path = path,
		.text = target,
		.mtime_ns = (uint64_t)n->mtime_ns};
	int fd = beneath_open(r->home, path, O_PATH | O_NOFOLLOW, false);
	ssize_t len = fd < 0 ? -1 : readlinkat(fd, "", target, sizeof target - 1);

	io_close(&fd);
	if (len <= 0) {
		skip(r, path, len < 0 ? strerror(errno) : "empty link");
		return;
	}
	target[len] = 0;
	put(r, &c, -1);
}

static void tell(struct report *r, const struct node *n)
{
	char path[BENEATH_PATH_MAX + 1];
	const struct wire_change folder = {.kind = WIRE_DIR,
		.mode = n->mode & 07777,
		.empty = n->empty,
		.path = path,
		.text = "",
		.mtime_ns = (uint64_t)n->mtime_ns};

	tree_path(n, path);
	switch (n->mode & S_IFMT) {
	case S_IFREG:
		tell_file(r, path);
		break;
	case S_IFLNK:
		tell_link(r, path, n);
		break;
	case S_IFDIR:
		put(r, &folder, -1);
		break;
	case S_IFIFO:
		skip(r, path, "fifo");
		break;
	case S_IFSOCK:
		skip(r, path, "socket");
		break;
	default:
		skip(r, path, "device");
		break;
	}
}

uint32_t report_end(struct report *r)
{
	struct report_skip *s;

	for (size_t k = 0; k < r->n; k++) {
		if (!r->nodes[k])
			continue;
		r->nodes[k]->pending = false;
		tell(r, r->nodes[k]);
	}
	while ((s = r->skips)) {
		r->skips = s->next;
		skip(r, s->path, s->reason);
		free(s);
	}
	flush(r);
	if (r->cap > LIST_KEPT) {
		free(r->nodes);
		r->nodes = NULL;
		r->cap = 0;
	}
	return r->changed;
}
