/* capture: what is kept of an endless output. SPDX-License-Identifier: ISC */
#ifndef SANDBOX_BOX_CAPTURE_H
#define SANDBOX_BOX_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sandbox/sys/buf.h"

/*
 * Bytes go in, in pieces of any size; at most max code points of valid UTF-8 come out. Invalid
 * sequences become U+FFFD, one each. Over the maximum, the first 3/4 and the last 1/4 are kept,
 * joined by a line "[… N characters omitted …]" that is counted in the maximum; where the maximum
 * is too small for that line, only the beginning is kept. Memory is bounded by 5 * max bytes.
 */
struct capture {
	uint32_t max;   /* code points */
	uint64_t total; /* code points seen */
	char *head;     /* the first max of them, as UTF-8 */
	size_t len, cap;
	uint32_t *tail; /* the last max / 4 of them, a ring; NULL while all fit in head */
	uint32_t ring, at;
	char part[4]; /* the beginning of a sequence that the next piece may end */
	size_t npart;
	bool short_of_memory;
};

void capture_init(struct capture *c, uint32_t max);
void capture_free(struct capture *c);
void capture_put(struct capture *c, const char *p, size_t n);
/* Ends the input and appends the text to out. 0, or -1 when memory was short at any time. */
int capture_finish(struct capture *c, struct buf *out, uint64_t *omitted);

#endif
