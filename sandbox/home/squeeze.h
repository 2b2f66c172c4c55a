/* squeeze: zlib streams written to a file. SPDX-License-Identifier: ISC */
#ifndef SANDBOX_HOME_SQUEEZE_H
#define SANDBOX_HOME_SQUEEZE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <zlib.h>

/*
 * One after another: start, add …, finish. Bytes are compressed at zlib's fastest level; content
 * that does not shrink is stored, and tried again later. Output is gathered and written in large
 * pieces: squeeze_flush writes the rest. Calls return 0, or -1 with errno.
 */
struct squeeze {
	z_stream z;
	int fd;
	bool storing;      /* what comes now is not compressed */
	uint64_t since_in; /* bytes in and out since the level was last chosen */
	uint64_t since_out;
	uint32_t crc;    /* of what came out since the last start or put */
	uint64_t offset; /* in the file, counting what is still gathered */
	size_t held;
	unsigned char out[65536];
};

int squeeze_init(struct squeeze *q);
void squeeze_end(struct squeeze *q);
/* The file that output goes to from now on, at its offset; not owned. */
void squeeze_to(struct squeeze *q, int fd, uint64_t offset);
/* Bytes that go out as they are; sets the checksum anew when first is true. */
int squeeze_put(struct squeeze *q, const void *p, size_t n, bool first);
int squeeze_start(struct squeeze *q, bool store);
int squeeze_add(struct squeeze *q, const void *p, size_t n);
int squeeze_finish(struct squeeze *q);
int squeeze_flush(struct squeeze *q);
/* Takes back all output after offset. */
int squeeze_rewind(struct squeeze *q, uint64_t offset);

#endif
