/* squeeze: zlib streams written to a file. SPDX-License-Identifier: ISC */
#include "sandbox/home/squeeze.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "sandbox/sys/io.h"

/* How much is looked at before compression is given up, and how much is then stored before it is tried again. */
#define TRIED  (64u << 10)
#define STORED (8u << 20)

int squeeze_init(struct squeeze *q)
{
	memset(&q->z, 0, sizeof q->z);
	q->fd = -1;
	q->held = 0;
	q->offset = 0;
	if (deflateInit(&q->z, Z_BEST_SPEED) == Z_OK)
		return 0;
	errno = ENOMEM;
	return -1;
}

void squeeze_end(struct squeeze *q)
{
	deflateEnd(&q->z);
}

void squeeze_to(struct squeeze *q, int fd, uint64_t offset)
{
	q->fd = fd;
	q->offset = offset;
	q->held = 0;
}

int squeeze_flush(struct squeeze *q)
{
	int r = io_write_full(q->fd, q->out, q->held);

	q->held = 0;
	return r;
}

/* Counts n bytes that were put behind what is held. */
static void took(struct squeeze *q, size_t n)
{
	q->crc = (uint32_t)crc32(q->crc, q->out + q->held, (uInt)n);
	q->held += n;
	q->offset += n;
	q->since_out += n;
}

int squeeze_put(struct squeeze *q, const void *p, size_t n, bool first)
{
	if (first)
		q->crc = 0;
	while (n > 0) {
		size_t room = sizeof q->out - q->held, part = n < room ? n : room;

		memcpy(q->out + q->held, p, part);
		took(q, part);
		p = (const char *)p + part;
		n -= part;
		if (q->held == sizeof q->out && squeeze_flush(q) != 0)
			return -1;
	}
	return 0;
}

static int step(struct squeeze *q, int flush)
{
	int r;

	do {
		size_t room = sizeof q->out - q->held;

		q->z.next_out = q->out + q->held;
		q->z.avail_out = (uInt)room;
		r = deflate(&q->z, flush);
		took(q, room - q->z.avail_out);
		if (q->z.avail_out == 0 && squeeze_flush(q) != 0)
			return -1;
		if (r == Z_STREAM_ERROR) {
			errno = EIO;
			return -1;
		}
	} while (q->z.avail_out == 0 || (flush == Z_FINISH && r != Z_STREAM_END));
	return 0;
}

static int choose(struct squeeze *q, bool store)
{
	/* deflateParams wants room for what is held at the old level, so let that out first. */
	if (q->z.total_in > 0 && step(q, Z_BLOCK) != 0)
		return -1;
	q->z.next_out = q->out + q->held;
	q->z.avail_out = (uInt)(sizeof q->out - q->held);
	if (deflateParams(&q->z, store ? Z_NO_COMPRESSION : Z_BEST_SPEED, Z_DEFAULT_STRATEGY) ==
		Z_STREAM_ERROR) {
		errno = EIO;
		return -1;
	}
	took(q, sizeof q->out - q->held - q->z.avail_out);
	q->storing = store;
	q->since_in = q->since_out = 0;
	return 0;
}

int squeeze_start(struct squeeze *q, bool store)
{
	deflateReset(&q->z);
	q->z.avail_in = 0;
	q->since_in = q->since_out = 0;
	return q->storing == store ? 0 : choose(q, store);
}

int squeeze_add(struct squeeze *q, const void *p, size_t n)
{
	while (n > 0) {
		size_t part = n < TRIED ? n : TRIED;
		unsigned char *in;

		/* zlib promises not to write there, but its type does not say so. */
		memcpy(&in, &p, sizeof in);
		q->z.next_in = in;
		q->z.avail_in = (uInt)part;
		if (step(q, Z_NO_FLUSH) != 0)
			return -1;
		p = (const char *)p + part;
		n -= part;
		q->since_in += part;
		if (!q->storing && q->since_in >= TRIED && q->since_out * 100 >= q->since_in * 97) {
			if (choose(q, true) != 0)
				return -1;
		} else if (q->storing ? q->since_in >= STORED : q->since_in >= STORED / 8) {
			if (choose(q, false) != 0)
				return -1;
		}
	}
	return 0;
}

int squeeze_finish(struct squeeze *q)
{
	q->z.avail_in = 0;
	return step(q, Z_FINISH);
}

int squeeze_rewind(struct squeeze *q, uint64_t offset)
{
	if (squeeze_flush(q) != 0 || ftruncate(q->fd, (off_t)offset) != 0 ||
		lseek(q->fd, (off_t)offset, SEEK_SET) < 0)
		return -1;
	q->offset = offset;
	return 0;
}
