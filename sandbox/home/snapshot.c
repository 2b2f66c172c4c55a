/* snapshot: writing one commit from a list of changes. SPDX-License-Identifier: ISC */
#include "sandbox/home/snapshot.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sandbox/home/apply.h"
#include "sandbox/home/branch.h"
#include "sandbox/home/commitmsg.h"
#include "sandbox/home/meta.h"
#include "sandbox/home/names.h"

#define BLOCK       ((size_t)256 << 10) /* files up to this are read whole, larger ones in such pieces */
#define TARGET_MAX  4096
#define MESSAGE_MAX ((size_t)1 << 20)

struct home_snapshot {
	struct home *h;
	struct edits *edits;
	struct objects *objects;
	git_oid head, tree; /* of the commit that it builds on */
	bool has_head;
	struct edit **files; /* that were given, in order */
	size_t nfiles, cap;
	struct home_changed *changed; /* paths owned */
	size_t nchanged;
	struct home_skip skips[HOME_SKIPS_MAX]; /* paths owned, reasons the edits' */
	size_t nlisted, nskips;
	char *block;
};

static int out_of_memory(void)
{
	return repo_fail(HOME_BROKEN, "snapshot: out of memory");
}

int home_snapshot_begin(struct home_snapshot **out, struct home *h)
{
	struct home_snapshot *s = calloc(1, sizeof *s);
	struct repo_commit c;
	int r;

	if (!s)
		return out_of_memory();
	s->h = h;
	s->block = malloc(BLOCK);
	if (!s->block || edits_new(&s->edits) != 0) {
		r = out_of_memory();
		goto fail;
	}
	r = objects_new(&s->objects, h);
	if (r != HOME_OK)
		goto fail;
	r = repo_head(&s->head, h);
	s->has_head = r == HOME_OK;
	if (s->has_head) {
		r = repo_commit(&c, h, &s->head);
		s->tree = c.tree;
	} else if (r == HOME_NOT_FOUND) {
		/* Nothing is like an empty home: it takes a file to make the first commit. */
		r = git_odb_hash(&s->tree, "", 0, GIT_OBJECT_TREE) == 0 ? HOME_OK
									: repo_fail_git("snapshot");
	}
	if (r != HOME_OK)
		goto fail;
	*out = s;
	return HOME_OK;
fail:
	home_snapshot_free(s);
	return r;
}

void home_snapshot_free(struct home_snapshot *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->nchanged; i++)
		free((void *)(uintptr_t)s->changed[i].path);
	for (size_t i = 0; i < s->nlisted; i++)
		free((void *)(uintptr_t)s->skips[i].path);
	free(s->changed);
	free(s->files);
	objects_free(s->objects);
	edits_free(s->edits);
	free(s->block);
	free(s);
}

/* -- what is there now ------------------------------------------------------ */

static int edit_of(struct edit **out, struct home_snapshot *s, const char *path)
{
	int r = home_path_check(path, strlen(path));

	if (r != HOME_OK)
		return r;
	*out = edits_at(s->edits, path);
	return *out ? HOME_OK : out_of_memory();
}

/* Replaces whatever was at the path, and below it. */
static void become(struct edit *d, enum edit_kind kind)
{
	edits_clear(d);
	d->kind = kind;
}

int home_snapshot_remove(struct home_snapshot *s, const char *path)
{
	struct edit *d;
	bool none;
	int r = home_path_check(path, strlen(path));

	if (r != HOME_OK)
		return r;
	d = edits_gone(s->edits, path, &none);
	if (!d)
		return none ? HOME_OK : out_of_memory();
	become(d, EDIT_REMOVED);
	return HOME_OK;
}

int home_snapshot_dir(struct home_snapshot *s, const char *path, unsigned mode, bool empty)
{
	struct edit *d;
	int r = edit_of(&d, s, path);

	if (r != HOME_OK)
		return r;
	/* A folder said to be one again keeps what is in it; anything else had nothing. */
	if (empty || !edits_is_folder(d))
		edits_clear(d);
	d->kind = EDIT_DIR;
	d->mode = mode & META_BITS;
	return HOME_OK;
}

int home_snapshot_skip(struct home_snapshot *s, const char *path, const char *reason)
{
	struct edit *d;
	int r = edit_of(&d, s, path);
	char *copy;

	if (r != HOME_OK)
		return r;
	copy = strdup(reason ? reason : "not saved");
	if (!copy)
		return out_of_memory();
	free(d->reason);
	d->reason = copy;
	become(d, EDIT_SKIPPED);
	return HOME_OK;
}

int home_snapshot_link(struct home_snapshot *s, const char *path, const char *target)
{
	size_t n = strlen(target);
	struct edit *d;
	git_oid id;
	int r;

	if (n == 0 || n > TARGET_MAX)
		return repo_fail(HOME_BAD, "a link's target is empty or too long");
	r = edit_of(&d, s, path);
	if (r == HOME_OK)
		r = objects_put(&id, s->objects, GIT_OBJECT_BLOB, target, n);
	if (r != HOME_OK)
		return r;
	become(d, EDIT_LINK);
	d->id = id;
	return HOME_OK;
}

/* -- files ------------------------------------------------------------------ */

/* Reads n bytes at offset; what the file has no more is zeros. 0 or errno. */
static int read_at(char *p, size_t n, int fd, uint64_t offset)
{
	while (n > 0) {
		ssize_t got = pread(fd, p, n, (off_t)offset);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return errno;
		if (got == 0) {
			memset(p, 0, n);
			return 0;
		}
		p += got;
		n -= (size_t)got;
		offset += (uint64_t)got;
	}
	return 0;
}

/* Where data begins at or after offset; the file's size if only a hole follows. */
static uint64_t next_data(int fd, uint64_t offset, uint64_t size)
{
	off_t at = lseek(fd, (off_t)offset, SEEK_DATA);

	if (at < 0)
		return errno == ENXIO ? size : offset;
	return (uint64_t)at < size ? (uint64_t)at : size;
}

/* *why is set if the file cannot be read; that is no failure. */
static int read_large(git_oid *id, int *why, struct home_snapshot *s, int fd, uint64_t size)
{
	int r = objects_begin(s->objects, size);
	uint64_t data = 0;

	for (uint64_t at = 0; r == HOME_OK && at < size;) {
		size_t n = size - at < BLOCK ? (size_t)(size - at) : BLOCK;

		if (at >= data)
			data = next_data(fd, at, size);
		if (at < data) {
			/* A hole: zeros without reading them. */
			n = data - at < n ? (size_t)(data - at) : n;
			memset(s->block, 0, n);
		} else {
			*why = read_at(s->block, n, fd, at);
			if (*why)
				return objects_undo(s->objects);
			data = at + n;
		}
		r = objects_feed(s->objects, s->block, n);
		at += n;
	}
	return r == HOME_OK ? objects_end(id, s->objects) : r;
}

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* The file's blob, and whether git accepts it under its name. */
static int read_file(git_oid *id, bool *plain_ok, int *why, struct home_snapshot *s, int fd,
	uint64_t size, const char *name)
{
	enum names_class class = names_class(name, strlen(name));

	if (size > BLOCK) {
		*plain_ok = class == NAMES_GITIGNORE || class == NAMES_MAILMAP;
		return read_large(id, why, s, fd, size);
	}
	*why = read_at(s->block, (size_t)size, fd, 0);
	if (*why)
		return HOME_OK;
	*plain_ok = names_content_ok(class, s->block, (size_t)size);
	return objects_put(id, s->objects, GIT_OBJECT_BLOB, s->block, (size_t)size);
}

static int list_file(struct home_snapshot *s, struct edit *d)
{
	if (d->listed)
		return HOME_OK;
	if (s->nfiles == s->cap) {
		size_t cap = s->cap ? s->cap * 2 : 64;
		struct edit **files = reallocarray(s->files, cap, sizeof(struct edit *));

		if (!files)
			return out_of_memory();
		s->files = files;
		s->cap = cap;
	}
	s->files[s->nfiles++] = d;
	d->listed = true;
	return HOME_OK;
}

int home_snapshot_file(
	struct home_snapshot *s, const char *path, unsigned mode, int fd, uint64_t size)
{
	bool plain_ok = false;
	struct edit *d;
	struct stat st;
	int why = 0, r;
	git_oid id;

	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
		return repo_fail(HOME_BAD, "not a regular file");
	r = home_path_check(path, strlen(path));
	if (r != HOME_OK)
		return r;
	if ((uint64_t)st.st_size < size)
		size = (uint64_t)st.st_size;
	if (size > HOME_FILE_MAX)
		return home_snapshot_skip(s, path, "larger than 1 GiB");
	r = read_file(&id, &plain_ok, &why, s, fd, size, last_part(path));
	if (r != HOME_OK)
		return r;
	if (why) {
		char text[128], reason[160];

		snprintf(reason, sizeof reason, "cannot be read: %s",
			strerror_r(why, text, sizeof text));
		return home_snapshot_skip(s, path, reason);
	}
	r = edit_of(&d, s, path);
	if (r == HOME_OK)
		r = list_file(s, d);
	if (r != HOME_OK)
		return r;
	become(d, EDIT_FILE);
	d->mode = mode & META_BITS;
	d->id = id;
	d->size = size;
	d->plain_ok = plain_ok;
	return HOME_OK;
}

/* -- commit ----------------------------------------------------------------- */

static char *path_of(const struct edit *d)
{
	struct buf b;

	buf_init(&b, 1 << 16);
	edits_path(&b, d, false);
	if (!buf_ok(&b))
		buf_free(&b);
	return b.data;
}

static int gather(struct home_snapshot *s)
{
	s->changed = calloc(s->nfiles + 1, sizeof *s->changed);
	if (!s->changed)
		return out_of_memory();
	for (size_t i = 0; i < s->nfiles; i++) {
		struct edit *d = s->files[i];

		if (!d->live || d->kind != EDIT_FILE || !d->changed)
			continue;
		s->changed[s->nchanged].bytes = d->size;
		s->changed[s->nchanged].path = path_of(d);
		if (!s->changed[s->nchanged].path)
			return out_of_memory();
		s->nchanged++;
	}
	for (size_t i = 0; i < s->edits->n; i++) {
		struct edit *d = s->edits->order[i];

		if (!d->live || d->kind != EDIT_SKIPPED)
			continue;
		if (s->nskips++ >= HOME_SKIPS_MAX)
			continue;
		s->skips[s->nlisted].reason = d->reason;
		s->skips[s->nlisted].path = path_of(d);
		if (!s->skips[s->nlisted].path)
			return out_of_memory();
		s->nlisted++;
	}
	return HOME_OK;
}

static int put_commit(git_oid *id, struct home_snapshot *s, const struct home_commit_info *info,
	const git_oid *tree)
{
	struct buf b;
	int r;

	buf_init(&b, MESSAGE_MAX);
	commitmsg_put(
		&b, info, tree, s->has_head ? &s->head : NULL, s->skips, s->nlisted, s->nskips);
	r = buf_ok(&b) ? objects_put(id, s->objects, GIT_OBJECT_COMMIT, b.data, b.len)
		       : repo_fail(HOME_BAD, "the command is too long for a commit");
	buf_free(&b);
	return r;
}

/* The order is the promise: objects are on disk before the branch names them. */
static int publish(struct home_snapshot *s, const git_oid *id, bool durable)
{
	const git_oid *expected = s->has_head ? &s->head : NULL;
	struct branch b;
	int r = branch_lock(&b, s->h, expected);

	if (r != HOME_OK)
		return r;
	/* All files are written before the first is waited for. */
	r = branch_write(&b, id);
	if (r == HOME_OK)
		r = objects_write(s->objects, durable);
	if (r == HOME_OK && durable)
		r = branch_sync(&b);
	if (r == HOME_OK)
		r = objects_publish(s->objects, durable);
	if (r == HOME_OK)
		r = branch_move(&b, expected, durable);
	branch_unlock(&b);
	return r;
}

int home_snapshot_commit(struct home_snapshot *s, const struct home_commit_info *info, home_id id)
{
	git_oid tree, commit;
	int r;

	id[0] = '\0';
	if (s->changed)
		return repo_fail(HOME_BAD, "the snapshot was committed before");
	r = apply_edits(&tree, s->edits, s->has_head ? &s->tree : NULL, s->h, s->objects);
	if (r == HOME_OK)
		r = gather(s);
	if (r != HOME_OK || git_oid_equal(&tree, &s->tree))
		return r;
	r = put_commit(&commit, s, info, &tree);
	if (r == HOME_OK)
		r = publish(s, &commit, info->durable);
	if (r == HOME_OK)
		git_oid_tostr(id, sizeof(home_id), &commit);
	return r;
}

const struct home_changed *home_snapshot_changed(const struct home_snapshot *s, size_t *n)
{
	*n = s->nchanged;
	return s->changed;
}

const struct home_skip *home_snapshot_skips(
	const struct home_snapshot *s, size_t *listed, size_t *all)
{
	*listed = s->nlisted;
	*all = s->nskips;
	return s->skips;
}
