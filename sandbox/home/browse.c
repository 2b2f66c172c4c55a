/* browse: reading files of a home at a commit. SPDX-License-Identifier: ISC */
#include "sandbox/home/browse.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "sandbox/home/gittree.h"
#include "sandbox/home/history.h"
#include "sandbox/sys/io.h"
#include "sandbox/sys/log.h"

/*
 * The cache file: a head, as many records as it says, then as many NUL-terminated paths, both in
 * bytewise order of the paths. Numbers are the machine's own: a cache from another one fails the
 * check of the magic number. The sum is a CRC-32 of all that follows it. A file that is not
 * wholly right is as good as none.
 */
#define MAGIC     0x31676e6c67646e73ull /* sndglng1 */
#define CACHE_MAX ((size_t)1 << 30)

struct head {
	uint64_t magic;
	uint32_t sum, count;
	uint64_t text_len;
	unsigned char commit[GIT_OID_RAWSZ];
	uint32_t zero;
};
struct record {
	uint64_t bytes;
	int64_t time;
	uint32_t mode, path_len;
	unsigned char commit[GIT_OID_RAWSZ], blob[GIT_OID_RAWSZ];
};
_Static_assert(sizeof(struct head) == 48 && sizeof(struct record) == 64, "no padding");
#define SUMMED offsetof(struct head, count)

struct home_listing {
	git_oid head;
	struct home_entry *entries;
	size_t n;
	char *text; /* what the paths point into */
	size_t text_len;
};

struct home_blob {
	git_odb_object *object;
};

static int out_of_memory(void)
{
	return repo_fail(HOME_BROKEN, "listing: out of memory");
}

/* -- the listing ------------------------------------------------------------ */

void home_listing_free(struct home_listing *l)
{
	if (!l)
		return;
	free(l->entries);
	free(l->text);
	free(l);
}

size_t home_listing_count(const struct home_listing *l)
{
	return l->n;
}

const struct home_entry *home_listing_at(const struct home_listing *l, size_t i)
{
	return i < l->n ? &l->entries[i] : NULL;
}

static int order(const char *a, size_t na, const char *b, size_t nb)
{
	int c = memcmp(a, b, na < nb ? na : nb);

	return c ? c : na < nb ? -1 : na > nb;
}

size_t home_listing_after(const struct home_listing *l, const char *path, size_t n)
{
	size_t lo = 0, hi = l->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (order(l->entries[mid].path, l->entries[mid].path_len, path, n) <= 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

const struct home_entry *home_listing_find(const struct home_listing *l, const char *path, size_t n)
{
	size_t i = home_listing_after(l, path, n);
	const struct home_entry *e = i > 0 ? &l->entries[i - 1] : NULL;

	return e && order(e->path, e->path_len, path, n) == 0 ? e : NULL;
}

static struct home_listing *listing_new(size_t n, size_t text_len)
{
	struct home_listing *l = calloc(1, sizeof *l);

	if (!l)
		return NULL;
	l->entries = calloc(n + 1, sizeof *l->entries);
	l->text = malloc(text_len + 1);
	l->text_len = text_len;
	if (l->entries && l->text)
		return l;
	home_listing_free(l);
	return NULL;
}

/* -- the cache -------------------------------------------------------------- */

static bool mode_ok(uint32_t mode)
{
	return mode == GITTREE_FILE || mode == GITTREE_EXEC || mode == GITTREE_LINK;
}

static void hex(home_id out, const unsigned char *raw)
{
	git_oid id;

	git_oid_fromraw(&id, raw);
	git_oid_tostr(out, sizeof(home_id), &id);
}

static bool unpack(struct home_listing *l, const char *records, size_t count)
{
	const struct home_entry *last = NULL;
	char *p = l->text, *end = p + l->text_len;

	for (size_t i = 0; i < count; i++) {
		struct home_entry *e = &l->entries[i];
		struct record rec;

		memcpy(&rec, records + i * sizeof rec, sizeof rec);
		if (!mode_ok(rec.mode) || rec.path_len >= (size_t)(end - p) ||
			p[rec.path_len] != '\0' || home_path_check(p, rec.path_len) != HOME_OK ||
			(last && order(last->path, last->path_len, p, rec.path_len) >= 0))
			return false;
		*e = (struct home_entry){.path = p,
			.path_len = rec.path_len,
			.mode = rec.mode,
			.bytes = rec.bytes,
			.time = rec.time};
		hex(e->commit, rec.commit);
		hex(e->blob, rec.blob);
		p += rec.path_len + 1;
		last = e;
	}
	l->n = count;
	return p == end;
}

static struct home_listing *cache_parse(const char *data, size_t size)
{
	struct home_listing *l;
	struct head head;

	if (size < sizeof head)
		return NULL;
	memcpy(&head, data, sizeof head);
	if (head.magic != MAGIC || head.zero != 0 || head.text_len > size ||
		(uint64_t)head.count * sizeof(struct record) + head.text_len !=
			size - sizeof head ||
		head.sum != (uint32_t)crc32(0, (const Bytef *)data + SUMMED, (uInt)(size - SUMMED)))
		return NULL;
	l = listing_new(head.count, head.text_len);
	if (!l)
		return NULL;
	git_oid_fromraw(&l->head, head.commit);
	memcpy(l->text, data + size - head.text_len, head.text_len);
	if (unpack(l, data + sizeof head, head.count))
		return l;
	home_listing_free(l);
	return NULL;
}

static struct home_listing *cache_load(const char *path)
{
	struct home_listing *l = NULL;
	size_t size;
	char *data = io_read_file(AT_FDCWD, path, CACHE_MAX, &size);

	if (data) {
		l = cache_parse(data, size);
		if (!l)
			log_warn("listing cache %s is damaged and made anew", path);
	}
	free(data);
	return l;
}

static void pack(struct buf *b, const struct home_listing *l)
{
	struct head head = {.magic = MAGIC, .count = (uint32_t)l->n, .text_len = l->text_len};

	memcpy(head.commit, l->head.id, sizeof head.commit);
	buf_put(b, &head, sizeof head);
	for (size_t i = 0; i < l->n; i++) {
		const struct home_entry *e = &l->entries[i];
		struct record rec = {.bytes = e->bytes,
			.time = e->time,
			.mode = e->mode,
			.path_len = (uint32_t)e->path_len};
		git_oid id;

		git_oid_fromstr(&id, e->commit);
		memcpy(rec.commit, id.id, sizeof rec.commit);
		git_oid_fromstr(&id, e->blob);
		memcpy(rec.blob, id.id, sizeof rec.blob);
		buf_put(b, &rec, sizeof rec);
	}
	buf_put(b, l->text, l->text_len);
	if (buf_ok(b)) {
		head.sum = (uint32_t)crc32(
			0, (const Bytef *)b->data + SUMMED, (uInt)(b->len - SUMMED));
		memcpy(b->data, &head, sizeof head);
	}
}

/* A listing that cannot be kept is only slower the next time. */
static void cache_save(const struct home_listing *l, const char *path)
{
	char temp[4096];
	struct buf b;
	int fd = -1, r = -1, n = snprintf(temp, sizeof temp, "%s.XXXXXX", path);

	buf_init(&b, CACHE_MAX);
	pack(&b, l);
	if (n > 0 && (size_t)n < sizeof temp && buf_ok(&b))
		fd = mkostemp(temp, O_CLOEXEC);
	if (fd >= 0) {
		r = io_write_full(fd, b.data, b.len);
		if (r == 0)
			r = rename(temp, path);
		if (r != 0)
			unlink(temp);
		io_close(&fd);
	}
	if (r != 0)
		log_warn("listing cache %s cannot be written: %s", path, strerror(errno));
	buf_free(&b);
}

/* -- bringing it up to date ------------------------------------------------- */

static int fill(struct home_entry *e, struct home *h, const struct history_change *c)
{
	git_object_t type;
	size_t size;

	if (git_odb_read_header(&size, &type, h->odb, &c->blob) != 0)
		return repo_fail_git("read file");
	e->mode = c->mode;
	e->bytes = size;
	e->time = c->time;
	git_oid_tostr(e->commit, sizeof(home_id), &c->commit);
	git_oid_tostr(e->blob, sizeof(home_id), &c->blob);
	return HOME_OK;
}

/* Merges what is known with what changed; both are sorted. */
static int merge(struct home_listing **out, struct home *h, const struct home_listing *old,
	const struct history *y)
{
	size_t text_len = old ? old->text_len : 0, n = old ? old->n : 0, i = 0, k = 0;
	struct home_listing *l;
	char *p;
	int r = HOME_OK;

	for (size_t j = 0; j < y->n; j++)
		text_len += y->changes[j].len + 1;
	l = listing_new(n + y->n, text_len);
	if (!l)
		return out_of_memory();
	p = l->text;
	while (r == HOME_OK && (i < n || k < y->n)) {
		const struct history_change *c = k < y->n ? &y->changes[k] : NULL;
		const struct home_entry *was = i < n ? &old->entries[i] : NULL;
		int which = !c ? -1 : !was ? 1 : order(was->path, was->path_len, c->path, c->len);
		struct home_entry *e = &l->entries[l->n];

		i += which <= 0;
		k += which >= 0;
		if (which >= 0 && c->mode == 0)
			continue;
		if (which < 0)
			*e = *was;
		else
			r = fill(e, h, c);
		e->path_len = which < 0 ? was->path_len : c->len;
		memcpy(p, which < 0 ? was->path : c->path, e->path_len + 1);
		e->path = p;
		p += e->path_len + 1;
		l->n++;
	}
	l->text_len = (size_t)(p - l->text);
	if (r == HOME_OK)
		*out = l;
	else
		home_listing_free(l);
	return r;
}

static int renew(struct home_listing **out, struct home *h, const git_oid *head,
	const struct home_listing *old)
{
	struct history y;
	int r = history_walk(&y, h, head, old ? &old->head : NULL);

	if (r == HOME_NOT_FOUND && old) {
		/* The branch was set back, or the cache is another repository's. */
		history_free(&y);
		old = NULL;
		r = history_walk(&y, h, head, NULL);
	}
	if (r == HOME_OK)
		r = merge(out, h, old, &y);
	if (r == HOME_OK)
		git_oid_cpy(&(*out)->head, head);
	history_free(&y);
	return r;
}

int home_listing_open(struct home_listing **out, struct home *h, const char *cache_path)
{
	struct home_listing *old;
	git_oid head;
	int r = repo_head(&head, h);

	if (r == HOME_NOT_FOUND) {
		*out = listing_new(0, 0);
		return *out ? HOME_OK : out_of_memory();
	}
	if (r != HOME_OK)
		return r;
	old = cache_load(cache_path);
	if (old && git_oid_equal(&old->head, &head)) {
		*out = old;
		return HOME_OK;
	}
	r = renew(out, h, &head, old);
	if (r == HOME_OK)
		cache_save(*out, cache_path);
	home_listing_free(old);
	return r;
}

/* -- content ---------------------------------------------------------------- */

int home_blob_open(struct home_blob **out, struct home *h, const char *blob_id)
{
	struct home_blob *b;
	git_oid id;
	int r;

	if (strlen(blob_id) != HOME_ID_LEN || git_oid_fromstr(&id, blob_id) != 0)
		return repo_fail(HOME_BAD, "malformed blob id");
	b = calloc(1, sizeof *b);
	if (!b)
		return out_of_memory();
	r = repo_read(&b->object, h, &id, GIT_OBJECT_BLOB);
	if (r == HOME_OK)
		*out = b;
	else
		free(b);
	return r;
}

const void *home_blob_data(const struct home_blob *b, uint64_t *len)
{
	*len = git_odb_object_size(b->object);
	return git_odb_object_data(b->object);
}

void home_blob_free(struct home_blob *b)
{
	if (!b)
		return;
	git_odb_object_free(b->object);
	free(b);
}
