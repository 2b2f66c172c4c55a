/* save: one commit of what changed in the home. SPDX-License-Identifier: ISC */
#include "sandbox/box/save.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "sandbox/box/box.h"
#include "sandbox/home/checkout.h"
#include "sandbox/sys/io.h"
#include "sandbox/sys/log.h"
#include "sandbox/wire/init.h"

#define ANSWER_MS  60000 /* for each message of init: it may have a large home to walk */
#define FREEZE_MS  10000
#define TIMES_MAX  1000000 /* files whose times are remembered for the list */
#define REASON_BAD "its path cannot be saved"

/* A file that was saved, with the time that orders the list of an answer. */
struct stamp {
	char *path;
	uint64_t mtime_ns;
};

/* One attempt. */
struct look {
	struct box *b;
	struct saved *s;
	struct home_snapshot *snapshot; /* begun at the first change */
	int failed;                     /* the first error of sandbox/home, HOME_OK if none */
	struct stamp *stamps;
	size_t nstamps, cap;
};

static void look_free(struct look *k)
{
	home_snapshot_free(k->snapshot);
	for (size_t i = 0; i < k->nstamps; i++)
		free(k->stamps[i].path);
	free(k->stamps);
	*k = (struct look){.b = k->b, .s = k->s};
}

void save_free(struct saved *s)
{
	for (size_t i = 0; i < s->nskips; i++) {
		free(s->skip_path[i]);
		free(s->skip_reason[i]);
	}
	for (size_t i = 0; i < s->nfiles; i++)
		free(s->file_path[i]);
	*s = (struct saved){0};
}

/* -- the changes, one by one --------------------------------------------------------- */

/* The first failure counts; the rest of the changes are only read past. */
static void note(struct look *k, int rc)
{
	if (rc && !k->failed) {
		k->failed = rc;
		(void)snprintf(k->s->error, sizeof(k->s->error), "files were not saved: %s",
			rc == HOME_FULL ? "no space is left" : home_error());
	}
}

/* A path for people: a longer one than the repository takes is cut. */
static char *shown(const char *path)
{
	return strndup(path, strlen(path) < 4096 ? 4095 : 255);
}

static void skip(struct look *k, const char *path, const char *reason)
{
	struct saved *s = k->s;

	s->nskipped++;
	if (s->nskips == WIRE_FILES_MAX)
		return;
	s->skip_path[s->nskips] = shown(path);
	s->skip_reason[s->nskips] = strdup(reason);
	if (s->skip_path[s->nskips] && s->skip_reason[s->nskips]) {
		s->nskips++;
		return;
	}
	free(s->skip_path[s->nskips]);
	free(s->skip_reason[s->nskips]);
}

static void stamp(struct look *k, const char *path, uint64_t mtime_ns)
{
	if (k->nstamps == TIMES_MAX)
		return;
	if (mtime_ns > INT64_MAX) /* before 1970 */
		mtime_ns = 0;
	if (k->nstamps == k->cap) {
		size_t cap = k->cap ? k->cap * 2 : 16;
		struct stamp *p = realloc(k->stamps, cap * sizeof(*p));
		if (!p)
			return;
		k->stamps = p;
		k->cap = cap;
	}
	struct stamp *t = &k->stamps[k->nstamps];
	t->path = strdup(path);
	t->mtime_ns = mtime_ns;
	if (t->path)
		k->nstamps++;
}

static void change_file(struct look *k, const struct wire_change *c, int fd)
{
	struct stat st;

	if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		note(k, home_snapshot_skip(k->snapshot, c->path, "not a regular file"));
		return;
	}
	note(k, home_snapshot_file(k->snapshot, c->path, c->mode, fd, c->size));
	stamp(k, c->path, c->mtime_ns);
}

static void change(struct look *k, const struct wire_change *c, int fd)
{
	if (home_path_check(c->path, strlen(c->path))) {
		skip(k, c->path, REASON_BAD);
		return;
	}
	switch ((enum wire_change_kind)c->kind) {
	case WIRE_REMOVED:
		note(k, home_snapshot_remove(k->snapshot, c->path));
		return;
	case WIRE_FILE:
		change_file(k, c, fd);
		return;
	case WIRE_LINK:
		note(k, home_snapshot_link(k->snapshot, c->path, c->text));
		return;
	case WIRE_DIR:
		note(k, home_snapshot_dir(k->snapshot, c->path, c->mode, c->empty));
		return;
	case WIRE_SKIPPED:
		note(k, home_snapshot_skip(k->snapshot, c->path, c->text));
		return;
	case WIRE_CHANGE__MAX:
		return;
	}
}

/* -- the snapshot ------------------------------------------------------------------------ */

/* Everything is about to be told anew: what is not told is gone. */
static int forget(void *ctx, const struct home_node *n)
{
	struct look *k = ctx;

	return strchr(n->path, '/') ? 0 : home_snapshot_remove(k->snapshot, n->path);
}

static int begin(struct look *k)
{
	struct box *b = k->b;
	int64_t when;
	int rc = HOME_OK;

	if (!b->home)
		rc = home_create(&b->home, b->repository);
	if (!rc)
		rc = home_snapshot_begin(&k->snapshot, b->home);
	/* What could not be loaded is not there, but must not be lost for that. */
	if (!rc && b->scan_all && !b->partial)
		rc = home_checkout(b->home, NULL, &when, forget, k);
	return rc;
}

/* One WIRE_CHANGES. -1 when it is malformed. */
static int changes(struct look *k, struct wire_in *in)
{
	struct wire_change c;
	uint32_t count;
	size_t nfd = 0;

	if (wire_changes_get(in, &count))
		return -1;
	if (!k->snapshot && !k->failed)
		note(k, begin(k));
	while (count--) {
		if (wire_change_get(in, &c))
			return -1;
		int fd = c.has_fd ? wire_take_fd(in, nfd++) : -1;
		if (!k->failed)
			change(k, &c, fd);
		io_close(&fd);
	}
	return wire_done(in) ? 0 : -1;
}

/* -- the conversation with init ------------------------------------------------------------ */

static int freeze(struct box *b)
{
	/* The home is shared: a frozen shell beside a running bash would be no snapshot. */
	wire_empty(&b->out, WIRE_FREEZE);
	for (int i = WIRE_ENV__MAX - 1; i >= 0; i--) {
		struct env *e = &b->env[i];
		if (e->fd < 0 || !env_send(e, &b->out, NULL, 0))
			continue;
		if (i == WIRE_ENV_SHELL)
			return -1;
		env_close(e);
	}
	for (int i = WIRE_ENV__MAX - 1; i > WIRE_ENV_SHELL; i--) {
		struct env *e = &b->env[i];
		if (e->fd >= 0 && env_expect(e, &b->in, WIRE_FROZEN, FREEZE_MS)) {
			log_error("the bash environment is lost: %s", strerror(errno));
			env_close(e);
		}
	}
	return 0;
}

static void thaw(struct box *b)
{
	wire_empty(&b->out, WIRE_THAW);
	for (int i = 0; i < WIRE_ENV__MAX; i++) {
		struct env *e = &b->env[i];
		if (e->fd >= 0 && !env_send(e, &b->out, NULL, 0))
			e->thawing++;
	}
}

/* All changes since the last scan. -1 when the shell's init is of no use any more. */
static int look(struct look *k)
{
	struct box *b = k->b;
	struct env *e = &b->env[WIRE_ENV_SHELL];
	uint32_t flags = 0, seen, changed;

	if (freeze(b))
		return -1;
	if (b->scan_all)
		flags = WIRE_SCAN_ALL;
	else if (b->scan_files)
		flags = WIRE_SCAN_FILES;
	/* Asked for in one go: init answers in order. */
	wire_number(&b->out, WIRE_SCAN, flags);
	if (env_send(e, &b->out, NULL, 0) || env_expect(e, &b->in, WIRE_FROZEN, FREEZE_MS) ||
		!wire_done(&b->in))
		return -1;
	for (;;) {
		int rc = env_recv(e, &b->in, ANSWER_MS);
		if (rc <= 0) {
			errno = rc ? errno : ETIMEDOUT;
			return -1;
		}
		if (wire_type(&b->in) != WIRE_CHANGES)
			break;
		if (changes(k, &b->in)) {
			errno = EPROTO;
			return -1;
		}
	}
	if (wire_scanned_get(&b->in, &seen, &changed)) {
		errno = EPROTO;
		return -1;
	}
	/* An empty home tells no change; it is one if all was to be told. */
	if (b->scan_all && !k->snapshot && !k->failed && b->home)
		note(k, begin(k));
	thaw(b);
	return 0;
}

/* -- the list of an answer ------------------------------------------------------------------ */

static void list_file(struct saved *s, uint64_t times[], const struct home_changed *c, uint64_t t)
{
	uint32_t at = s->nfiles;

	while (at > 0 && times[at - 1] < t)
		at--;
	if (at == WIRE_FILES_MAX)
		return;
	char *path = strdup(c->path);
	if (!path)
		return;
	if (s->nfiles == WIRE_FILES_MAX)
		free(s->file_path[--s->nfiles]);
	size_t behind = s->nfiles - at;
	memmove(&times[at + 1], &times[at], behind * sizeof(times[0]));
	memmove(&s->file_path[at + 1], &s->file_path[at], behind * sizeof(s->file_path[0]));
	memmove(&s->file_bytes[at + 1], &s->file_bytes[at], behind * sizeof(s->file_bytes[0]));
	times[at] = t;
	s->file_path[at] = path;
	s->file_bytes[at] = c->bytes;
	s->nfiles++;
}

/* Changed files come in the order in which they were told, as the stamps do. */
static void list_files(struct look *k)
{
	uint64_t times[WIRE_FILES_MAX];
	size_t n, at = 0;
	const struct home_changed *c = home_snapshot_changed(k->snapshot, &n);

	for (size_t i = 0; i < n; i++) {
		size_t found = at;
		while (found < k->nstamps && strcmp(k->stamps[found].path, c[i].path))
			found++;
		if (found < k->nstamps) {
			list_file(k->s, times, &c[i], k->stamps[found].mtime_ns);
			at = found + 1;
		} else {
			list_file(k->s, times, &c[i], 0);
		}
	}
}

/* The repository knows best what it does not hold; what has no place in it was noted before. */
static void list_skips(struct look *k)
{
	size_t listed, all;
	const struct home_skip *h = home_snapshot_skips(k->snapshot, &listed, &all);

	for (size_t i = 0; i < listed; i++)
		skip(k, h[i].path, h[i].reason);
	k->s->nskipped += (uint32_t)(all - listed);
}

static int commit(struct look *k, const struct home_commit_info *info)
{
	int rc = HOME_OK;

	if (k->snapshot && !k->failed)
		rc = home_snapshot_commit(k->snapshot, info, k->s->commit);
	if (rc == HOME_BUSY)
		return rc;
	note(k, rc);
	if (k->failed)
		k->s->commit[0] = 0;
	else if (*k->s->commit)
		list_files(k);
	if (k->snapshot && !k->failed)
		list_skips(k);
	return k->failed;
}

int save_home(struct box *b, const struct home_commit_info *info, struct saved *s)
{
	struct look k = {.b = b, .s = s};
	int rc = HOME_OK;

	if (b->lost)
		return -1;
	for (int attempt = 0; attempt < 2; attempt++) {
		save_free(s);
		if (look(&k)) {
			log_error("the shell environment is lost: %s", strerror(errno));
			(void)snprintf(s->error, sizeof(s->error),
				"files were not saved: the sandbox broke down");
			env_close(&b->env[WIRE_ENV_SHELL]);
			b->lost = true;
			look_free(&k);
			return -1;
		}
		rc = commit(&k, info);
		if (rc == HOME_BUSY && attempt)
			note(&k, rc);
		look_free(&k);
		b->scan_all = rc != HOME_OK;
		if (rc != HOME_BUSY)
			break;
	}
	if (rc)
		log_error("%s", s->error);
	return 0;
}

void save_tell(const struct saved *s, struct wire_done *d)
{
	d->commit = s->commit;
	d->error = s->error;
	d->nskipped = s->nskipped;
	d->nskips = s->nskips;
	for (uint32_t i = 0; i < s->nskips; i++) {
		d->skips[i].path = s->skip_path[i];
		d->skips[i].reason = s->skip_reason[i];
	}
	d->nfiles = s->nfiles;
	for (uint32_t i = 0; i < s->nfiles; i++) {
		d->files[i].path = s->file_path[i];
		d->files[i].bytes = s->file_bytes[i];
	}
}
