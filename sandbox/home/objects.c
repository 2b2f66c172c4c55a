/* objects: the new objects of one commit on their way into the repository. SPDX-License-Identifier: ISC */
#include "sandbox/home/objects.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sandbox/home/packfile.h"
#include "sandbox/sys/io.h"

/*
 * libgit2's own backend syncs object by object, and two syncs each are most of a commit's time.
 * Here all files are written first, sent to the disk together, and only then waited for and named.
 * Temporary names are those that git's clean-up of aborted writes removes.
 */

/* Beyond this a pack is cheaper, now and for every later look-up. */
#define LOOSE_MAX 100
/* Large trees are mostly ids, which do not shrink. */
#define TREE_STORED (64u << 10)

struct pending {
	git_oid id;
	git_object_t type;
	size_t n;
	void *data;
};
struct loose {
	git_oid id;
	char temp[48];
};

struct objects {
	struct home *h;
	struct squeeze q;
	struct packfile *pack;
	struct pending pending[LOOSE_MAX];
	size_t npending;
	struct loose loose[LOOSE_MAX];
	size_t nloose;
	unsigned serial;
	git_oid *set; /* open addressing; the zero id is a free slot */
	size_t nset, set_cap;
	/* The blob being fed: */
	EVP_MD_CTX *md;
	int fd; /* its file, -1 in a pack */
};

int objects_new(struct objects **out, struct home *h)
{
	struct objects *o = calloc(1, sizeof *o);

	if (!o)
		return repo_fail_errno("write objects");
	if (squeeze_init(&o->q) != 0) {
		free(o);
		return repo_fail_errno("write objects");
	}
	o->h = h;
	o->fd = -1;
	*out = o;
	return HOME_OK;
}

/* -- what is there already -------------------------------------------------- */

static git_oid *slot(git_oid *set, size_t cap, const git_oid *id)
{
	size_t i;

	memcpy(&i, id->id, sizeof i);
	for (i &= cap - 1; !git_oid_is_zero(&set[i]) && !git_oid_equal(&set[i], id);)
		i = (i + 1) & (cap - 1);
	return &set[i];
}

static int remember(struct objects *o, const git_oid *id)
{
	if (o->nset * 2 >= o->set_cap) {
		size_t cap = o->set_cap ? o->set_cap * 2 : 256;
		git_oid *set = calloc(cap, sizeof *set);

		if (!set)
			return repo_fail_errno("write objects");
		for (size_t i = 0; i < o->set_cap; i++)
			if (!git_oid_is_zero(&o->set[i]))
				git_oid_cpy(slot(set, cap, &o->set[i]), &o->set[i]);
		free(o->set);
		o->set = set;
		o->set_cap = cap;
	}
	git_oid_cpy(slot(o->set, o->set_cap, id), id);
	o->nset++;
	return HOME_OK;
}

static void loose_name(char name[64], const git_oid *id)
{
	char hex[GIT_OID_HEXSZ + 1];

	git_oid_tostr(hex, sizeof hex, id);
	snprintf(name, 64, "objects/%.2s/%s", hex, hex + 2);
}

static bool exists(struct objects *o, const git_oid *id)
{
	char name[64];
	struct stat st;

	if (o->set_cap && git_oid_equal(slot(o->set, o->set_cap, id), id))
		return true;
	loose_name(name, id);
	if (fstatat(o->h->dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0) {
		/* Empty: lost its content when the power went; anew. */
		if (st.st_size == 0)
			return false;
		/* It may be unreachable so far, and maintenance drops what is old and unreachable. */
		utimensat(o->h->dir, name, NULL, AT_SYMLINK_NOFOLLOW);
		return true;
	}
	return git_odb_exists_ext(o->h->odb, id, GIT_ODB_LOOKUP_NO_REFRESH) == 1;
}

/* -- sinks ------------------------------------------------------------------ */

static int temp_open(char temp[48], struct objects *o)
{
	int fd = -1;

	do {
		snprintf(temp, 48, "objects/tmp_obj_%d_%llx_%u", (int)gettid(),
			(unsigned long long)io_now_us(), o->serial++ % 100000);
		fd = openat(o->h->dir, temp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			0444);
	} while (fd < 0 && errno == EEXIST);
	if (fd < 0)
		temp[0] = '\0';
	return fd;
}

static size_t head_of(char head[40], git_object_t type, uint64_t size)
{
	int n = snprintf(
		head, 40, "%s %llu", git_object_type2string(type), (unsigned long long)size);

	return (size_t)n + 1;
}

static bool stored(const struct pending *p)
{
	return p->type == GIT_OBJECT_TREE && p->n > TREE_STORED;
}

static int into_pack(struct objects *o, const struct pending *p)
{
	if (packfile_begin(o->pack, p->type, p->n) != 0 || squeeze_start(&o->q, stored(p)) != 0 ||
		squeeze_add(&o->q, p->data, p->n) != 0 || squeeze_finish(&o->q) != 0 ||
		packfile_end(o->pack, &p->id) != 0)
		return repo_fail_errno("write pack");
	return HOME_OK;
}

static int into_loose(struct objects *o, const struct pending *p)
{
	struct loose *l = &o->loose[o->nloose];
	char head[40];
	size_t n = head_of(head, p->type, p->n);
	int fd = temp_open(l->temp, o), r = -1;

	if (fd >= 0) {
		o->nloose++;
		git_oid_cpy(&l->id, &p->id);
		squeeze_to(&o->q, fd, 0);
		if (squeeze_start(&o->q, stored(p)) == 0 && squeeze_add(&o->q, head, n) == 0 &&
			squeeze_add(&o->q, p->data, p->n) == 0 && squeeze_finish(&o->q) == 0)
			r = squeeze_flush(&o->q);
		io_close(&fd);
	}
	return r == 0 ? HOME_OK : repo_fail_errno("write object");
}

static int flush_pending(struct objects *o, int (*sink)(struct objects *, const struct pending *))
{
	int r = HOME_OK;

	for (size_t i = 0; i < o->npending; i++) {
		if (r == HOME_OK)
			r = sink(o, &o->pending[i]);
		free(o->pending[i].data);
	}
	o->npending = 0;
	return r;
}

/* Makes room for one more: from now on in a pack, if they have become many. */
static int make_room(struct objects *o)
{
	if (o->pack || o->npending + o->nloose < LOOSE_MAX)
		return HOME_OK;
	if (packfile_open(&o->pack, o->h->dir, &o->q) != 0)
		return repo_fail_errno("write pack");
	return flush_pending(o, into_pack);
}

/* -- putting ---------------------------------------------------------------- */

int objects_put(git_oid *id, struct objects *o, git_object_t type, const void *p, size_t n)
{
	struct pending one = {.type = type, .n = n};
	int r;

	if (git_odb_hash(id, p, n, type) != 0)
		return repo_fail_git("hash object");
	if (exists(o, id))
		return HOME_OK;
	git_oid_cpy(&one.id, id);
	r = make_room(o);
	if (r == HOME_OK)
		r = remember(o, id);
	if (r != HOME_OK)
		return r;
	/* Copied even for the pack: casting const away is no better, and objects here are small. */
	one.data = malloc(n + 1);
	if (!one.data)
		return repo_fail_errno("write object");
	if (n > 0)
		memcpy(one.data, p, n);
	if (!o->pack) {
		o->pending[o->npending++] = one;
		return HOME_OK;
	}
	r = into_pack(o, &one);
	free(one.data);
	return r;
}

int objects_begin(struct objects *o, uint64_t size)
{
	char head[40];
	size_t n = head_of(head, GIT_OBJECT_BLOB, size);
	int r = make_room(o);

	if (r != HOME_OK)
		return r;
	o->md = EVP_MD_CTX_new();
	if (!o->md || !EVP_DigestInit_ex(o->md, EVP_sha1(), NULL) ||
		!EVP_DigestUpdate(o->md, head, n))
		return repo_fail(HOME_BROKEN, "write object: out of memory");
	if (o->pack) {
		r = packfile_begin(o->pack, GIT_OBJECT_BLOB, size);
		if (r == 0)
			r = squeeze_start(&o->q, false);
	} else {
		o->fd = temp_open(o->loose[o->nloose].temp, o);
		squeeze_to(&o->q, o->fd, 0);
		r = o->fd < 0 || squeeze_start(&o->q, false) != 0 ? -1
								  : squeeze_add(&o->q, head, n);
	}
	return r == 0 ? HOME_OK : repo_fail_errno("write object");
}

int objects_feed(struct objects *o, const void *p, size_t n)
{
	if (!EVP_DigestUpdate(o->md, p, n))
		return repo_fail(HOME_BROKEN, "write object: hashing failed");
	return squeeze_add(&o->q, p, n) == 0 ? HOME_OK : repo_fail_errno("write object");
}

int objects_undo(struct objects *o)
{
	int r = 0;

	EVP_MD_CTX_free(o->md);
	o->md = NULL;
	if (o->fd >= 0) {
		unlinkat(o->h->dir, o->loose[o->nloose].temp, 0);
		io_close(&o->fd);
	} else if (o->pack) {
		r = packfile_undo(o->pack);
	}
	return r == 0 ? HOME_OK : repo_fail_errno("write object");
}

int objects_end(git_oid *id, struct objects *o)
{
	unsigned char sum[GIT_OID_RAWSZ];
	int r;

	if (!EVP_DigestFinal_ex(o->md, sum, NULL))
		return repo_fail(HOME_BROKEN, "write object: hashing failed");
	git_oid_fromraw(id, sum);
	if (exists(o, id))
		return objects_undo(o);
	EVP_MD_CTX_free(o->md);
	o->md = NULL;
	r = squeeze_finish(&o->q);
	if (o->fd < 0) {
		if (r == 0)
			r = packfile_end(o->pack, id);
	} else {
		if (r == 0)
			r = squeeze_flush(&o->q);
		git_oid_cpy(&o->loose[o->nloose++].id, id);
		io_close(&o->fd);
	}
	return r == 0 ? remember(o, id) : repo_fail_errno("write object");
}

/* -- into the repository ---------------------------------------------------- */

/* Sends all files on their way before waiting for the first. */
static int sync_loose(struct objects *o)
{
	int fds[LOOSE_MAX], r = 0, n = 0;

	for (size_t i = 0; r == 0 && i < o->nloose; i++) {
		fds[n] = openat(o->h->dir, o->loose[i].temp, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
		if (fds[n] < 0)
			r = -1;
		else
			sync_file_range(fds[n++], 0, 0, SYNC_FILE_RANGE_WRITE);
	}
	for (int i = 0; i < n; i++) {
		if (r == 0)
			r = fsync(fds[i]);
		io_close(&fds[i]);
	}
	return r;
}

int objects_write(struct objects *o, bool durable)
{
	int r = o->pack ? packfile_finish(o->pack, durable) : 0;

	if (r != 0)
		return repo_fail_errno("write pack");
	r = flush_pending(o, into_loose);
	if (r == HOME_OK && durable && sync_loose(o) != 0)
		r = repo_fail_errno("sync objects");
	return r;
}

static int place(struct objects *o, struct loose *l, bool *made)
{
	char name[64], folder[16];

	loose_name(name, &l->id);
	if (renameat(o->h->dir, l->temp, o->h->dir, name) != 0) {
		if (errno != ENOENT)
			return -1;
		snprintf(folder, sizeof folder, "%.10s", name);
		if (mkdirat(o->h->dir, folder, 0755) != 0 && errno != EEXIST)
			return -1;
		*made = true;
		if (renameat(o->h->dir, l->temp, o->h->dir, name) != 0)
			return -1;
	}
	l->temp[0] = '\0';
	return 0;
}

static int sync_folders(struct objects *o, const bool touched[256], bool made)
{
	int r = o->pack ? repo_sync_folder(o->h, "objects/pack") : 0;

	if (r == 0 && made)
		r = repo_sync_folder(o->h, "objects");
	for (unsigned i = 0; r == 0 && i < 256; i++) {
		char name[16];

		snprintf(name, sizeof name, "objects/%02x", i);
		if (touched[i])
			r = repo_sync_folder(o->h, name);
	}
	return r;
}

int objects_publish(struct objects *o, bool durable)
{
	bool touched[256] = {false}, made = false;
	int r = o->pack ? packfile_publish(o->pack) : 0;

	for (size_t i = 0; r == 0 && i < o->nloose; i++) {
		r = place(o, &o->loose[i], &made);
		touched[o->loose[i].id.id[0]] = true;
	}
	if (r == 0 && durable && !repo_keeps_order(o->h))
		r = sync_folders(o, touched, made);
	return r == 0 ? HOME_OK : repo_fail_errno("write objects");
}

void objects_free(struct objects *o)
{
	if (!o)
		return;
	if (o->md)
		objects_undo(o);
	for (size_t i = 0; i < o->npending; i++)
		free(o->pending[i].data);
	for (size_t i = 0; i < o->nloose; i++)
		if (o->loose[i].temp[0])
			unlinkat(o->h->dir, o->loose[i].temp, 0);
	packfile_free(o->pack);
	squeeze_end(&o->q);
	free(o->set);
	free(o);
}
