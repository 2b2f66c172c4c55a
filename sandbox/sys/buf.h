/* buf: a growable byte buffer with a hard maximum. SPDX-License-Identifier: ISC */
#ifndef SANDBOX_SYS_BUF_H
#define SANDBOX_SYS_BUF_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * Errors are sticky: once a put would pass max (or memory is short), bad is set, that put and all
 * later ones do nothing, and what was put before stays. So a writer puts everything and asks
 * buf_ok() once. data is always NUL-terminated when not NULL; the NUL is not counted in len.
 */
struct buf {
	char *data;
	size_t len;
	size_t cap;
	size_t max;
	bool bad;
};

/* An empty buffer that will hold at most max bytes. Allocates nothing yet. */
void buf_init(struct buf *b, size_t max);
/* Frees the data; b is empty and usable again with the same max. */
void buf_free(struct buf *b);
/* Forgets the content and the error, keeps the memory. */
void buf_reset(struct buf *b);
bool buf_ok(const struct buf *b);
/* The text, "" if nothing was put; valid until the next put. */
const char *buf_str(const struct buf *b);

void buf_put(struct buf *b, const void *p, size_t n);
void buf_puts(struct buf *b, const char *s);
void buf_putc(struct buf *b, char c);
void buf_printf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void buf_vprintf(struct buf *b, const char *fmt, va_list ap) __attribute__((format(printf, 2, 0)));
/* Puts s as a JSON string with its quotes; invalid UTF-8 becomes U+FFFD, control characters are escaped. */
void buf_put_json(struct buf *b, const char *s, size_t n);
/* Removes the first n bytes (n <= len). */
void buf_consume(struct buf *b, size_t n);

#endif
