/* packfile: writing a pack and its index. SPDX-License-Identifier: ISC */
#include "sandbox/home/packfile.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sandbox/sys/buf.h"
#include "sandbox/sys/io.h"

/*
 * A command that writes 40,000 files would make as many loose objects, a third of a millisecond
 * each. libgit2's pack builder wants all of them in memory and looks for deltas; here every object
 * is compressed into the pack as it comes, and maintenance finds the deltas later. Pack version 2,
 * index version 2, as in git's gitformat-pack(5).
 */
#define PACK "objects/pack/"

struct entry {
	git_oid id;
	uint32_t crc;
	uint64_t offset;
};

struct packfile {
	int dir, fd, index;
	struct squeeze *q;
	char temp[64], temp_index[64];
	unsigned char sum[GIT_OID_RAWSZ];
	uint64_t start; /* of the object being written */
	struct entry *entries;
	size_t n, cap;
};

static void put32(unsigned char *p, uint64_t v)
{
	for (int i = 0; i < 4; i++)
		p[i] = (unsigned char)(v >> (24 - 8 * i));
}

static int temp_file(char name[64], int dir, const char *prefix)
{
	int fd = -1;

	for (int i = 0; fd < 0 && i < 100; i++) {
		snprintf(name, 64, PACK "%s_%d_%llx", prefix, (int)gettid(),
			(unsigned long long)io_now_us() + (unsigned)i);
		fd = openat(dir, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0444);
		if (fd < 0 && errno != EEXIST)
			break;
	}
	if (fd < 0)
		name[0] = '\0';
	return fd;
}

int packfile_open(struct packfile **out, int dir, struct squeeze *q)
{
	static const unsigned char head[12] = {'P', 'A', 'C', 'K', 0, 0, 0, 2};
	struct packfile *p = calloc(1, sizeof *p);

	if (!p)
		return -1;
	p->dir = dir;
	p->q = q;
	p->index = -1;
	p->fd = temp_file(p->temp, dir, "tmp_pack");
	if (p->fd >= 0) {
		squeeze_to(q, p->fd, 0);
		if (squeeze_put(q, head, sizeof head, true) == 0) {
			*out = p;
			return 0;
		}
	}
	packfile_free(p);
	return -1;
}

int packfile_begin(struct packfile *p, git_object_t type, uint64_t size)
{
	unsigned char head[10];
	size_t n = 1;

	/* Four bits of the size beside the type, then seven at a time. */
	head[0] = (unsigned char)((unsigned)type << 4 | (size & 15));
	for (size >>= 4; size; size >>= 7) {
		head[n - 1] |= 0x80;
		head[n++] = size & 0x7f;
	}
	p->start = p->q->offset;
	return squeeze_put(p->q, head, n, true);
}

int packfile_end(struct packfile *p, const git_oid *id)
{
	if (p->n == p->cap) {
		size_t cap = p->cap ? p->cap * 2 : 256;
		struct entry *e = reallocarray(p->entries, cap, sizeof *e);

		if (!e)
			return -1;
		p->entries = e;
		p->cap = cap;
	}
	p->entries[p->n].crc = p->q->crc;
	p->entries[p->n].offset = p->start;
	git_oid_cpy(&p->entries[p->n++].id, id);
	return 0;
}

int packfile_undo(struct packfile *p)
{
	return squeeze_rewind(p->q, p->start);
}

/* -- the end ---------------------------------------------------------------- */

/* The count stands in the header and the checksum covers it, so the file is read once more. */
static int seal_pack(struct packfile *p)
{
	EVP_MD_CTX *md = EVP_MD_CTX_new();
	unsigned char count[4], *block = malloc(65536);
	off_t at = 0;
	ssize_t n = 0;
	int r = -1;

	put32(count, p->n);
	if (!md || !block || !EVP_DigestInit_ex(md, EVP_sha1(), NULL) || squeeze_flush(p->q) != 0 ||
		pwrite(p->fd, count, sizeof count, 8) != sizeof count)
		goto out;
	while ((n = pread(p->fd, block, 65536, at)) > 0) {
		EVP_DigestUpdate(md, block, (size_t)n);
		at += n;
	}
	if (n == 0 && EVP_DigestFinal_ex(md, p->sum, NULL))
		r = io_write_full(p->fd, p->sum, sizeof p->sum);
out:
	free(block);
	EVP_MD_CTX_free(md);
	return r;
}

static int by_id(const void *a, const void *b)
{
	return git_oid_cmp(&((const struct entry *)a)->id, &((const struct entry *)b)->id);
}

static void put_number(struct buf *b, uint64_t v)
{
	unsigned char raw[4];

	put32(raw, v);
	buf_put(b, raw, sizeof raw);
}

static int write_index(struct packfile *p)
{
	static const unsigned char head[8] = {0xff, 't', 'O', 'c', 0, 0, 0, 2};
	unsigned char sum[GIT_OID_RAWSZ];
	uint64_t large = 0;
	struct buf b;
	int r = -1;

	buf_init(&b, (size_t)1 << 31);
	qsort(p->entries, p->n, sizeof *p->entries, by_id);
	buf_put(&b, head, sizeof head);
	for (size_t first = 0, i = 0; first < 256; first++) {
		while (i < p->n && p->entries[i].id.id[0] <= first)
			i++;
		put_number(&b, i);
	}
	for (size_t i = 0; i < p->n; i++)
		buf_put(&b, p->entries[i].id.id, GIT_OID_RAWSZ);
	for (size_t i = 0; i < p->n; i++)
		put_number(&b, p->entries[i].crc);
	for (size_t i = 0; i < p->n; i++)
		put_number(&b,
			p->entries[i].offset >> 31 ? UINT32_C(1) << 31 | large++
						   : p->entries[i].offset);
	for (size_t i = 0; i < p->n; i++)
		if (p->entries[i].offset >> 31) {
			put_number(&b, p->entries[i].offset >> 32);
			put_number(&b, p->entries[i].offset & UINT32_MAX);
		}
	buf_put(&b, p->sum, sizeof p->sum);
	if (!buf_ok(&b))
		errno = ENOMEM;
	else if (EVP_Digest(b.data, b.len, sum, NULL, EVP_sha1(), NULL)) {
		r = io_write_full(p->index, b.data, b.len);
		if (r == 0)
			r = io_write_full(p->index, sum, sizeof sum);
	}
	buf_free(&b);
	return r;
}

int packfile_finish(struct packfile *p, bool durable)
{
	int r = seal_pack(p);

	/* Sent on its way to the disk while the index is made. */
	if (r == 0 && durable)
		sync_file_range(p->fd, 0, 0, SYNC_FILE_RANGE_WRITE);
	if (r == 0)
		r = p->index = temp_file(p->temp_index, p->dir, "tmp_idx");
	if (r >= 0)
		r = write_index(p);
	if (r == 0 && durable)
		r = fsync(p->fd) != 0 || fsync(p->index) != 0 ? -1 : 0;
	return r;
}

int packfile_publish(struct packfile *p)
{
	char hex[GIT_OID_HEXSZ + 1], name[96], index[96];
	git_oid sum;

	git_oid_fromraw(&sum, p->sum);
	git_oid_tostr(hex, sizeof hex, &sum);
	snprintf(name, sizeof name, PACK "pack-%s.pack", hex);
	snprintf(index, sizeof index, PACK "pack-%s.idx", hex);
	if (renameat(p->dir, p->temp, p->dir, name) != 0)
		return -1;
	p->temp[0] = '\0';
	if (renameat(p->dir, p->temp_index, p->dir, index) != 0)
		return -1;
	p->temp_index[0] = '\0';
	return 0;
}

void packfile_free(struct packfile *p)
{
	int saved = errno;

	if (!p)
		return;
	if (p->temp[0])
		unlinkat(p->dir, p->temp, 0);
	if (p->temp_index[0])
		unlinkat(p->dir, p->temp_index, 0);
	io_close(&p->fd);
	io_close(&p->index);
	free(p->entries);
	free(p);
	errno = saved;
}
