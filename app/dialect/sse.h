/* sse: server-sent events, both ways. SPDX-License-Identifier: ISC */
#ifndef APP_DIALECT_SSE_H
#define APP_DIALECT_SSE_H

#include <stddef.h>

#include "sandbox/sys/buf.h"

/* Where encoded bytes go: 0 or an err_code. */
struct writer {
	int (*write)(void *ctx, const char *p, size_t n);
	void *ctx;
};

/* Writes what is in frames, if there is a writer, and empties it. 0 or an err_code; ERR_SERVER if frames had grown too large. */
int sse_send(const struct writer *w, struct buf *frames);
/* Appends "event: NAME\ndata: DATA\n\n" (no event line if name is NULL). DATA must be one line. */
void sse_frame(struct buf *b, const char *name, const char *data, size_t n);

/*
 * Incremental parser (WHATWG HTML section 9.2.6): LF, CR and CRLF, any split of the bytes, comments,
 * BOM, several data lines joined by LF. A frame over max bytes is an error.
 */
struct sse_parser;
typedef int sse_fn(void *ctx, const char *event, const char *data,
	size_t n); /* event "" if none; non-zero stops */
struct sse_parser *sse_parser_new(size_t max, sse_fn *fn, void *ctx);
/* 0, fn's non-zero value, or -1 if a frame is too large. */
int sse_parser_feed(struct sse_parser *p, const char *bytes, size_t n);
void sse_parser_free(struct sse_parser *p);

#endif
