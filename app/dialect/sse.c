/* sse: server-sent events, both ways. SPDX-License-Identifier: ISC */
#include "app/dialect/sse.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "app/base/err.h"

struct sse_parser {
	sse_fn *fn;
	void *ctx;
	struct buf line;  /* the beginning of a line whose end has not come yet */
	struct buf event; /* of the frame so far */
	struct buf data;  /* each data line and a LF */
	size_t max;
	size_t bom;    /* bytes of a byte order mark matched so far; 3: past the beginning */
	bool after_cr; /* a LF that comes next belongs to the CR before it */
	bool too_large;
};

static const char bom[] = "\xef\xbb\xbf";

int sse_send(const struct writer *w, struct buf *frames)
{
	int rc;

	if (!buf_ok(frames))
		return ERR_SERVER;
	if (!w || frames->len == 0)
		return 0;
	rc = w->write(w->ctx, frames->data, frames->len);
	buf_reset(frames);
	return rc;
}

void sse_frame(struct buf *b, const char *name, const char *data, size_t n)
{
	if (name) {
		buf_puts(b, "event: ");
		buf_puts(b, name);
		buf_putc(b, '\n');
	}
	buf_puts(b, "data: ");
	buf_put(b, data, n);
	buf_puts(b, "\n\n");
}

struct sse_parser *sse_parser_new(size_t max, sse_fn *fn, void *ctx)
{
	struct sse_parser *p = calloc(1, sizeof(*p));
	if (!p)
		abort(); /* out of memory, as for the arena */
	p->fn = fn;
	p->ctx = ctx;
	p->max = max;
	/* What is limited is their sum, in feed. */
	buf_init(&p->line, max + 1);
	buf_init(&p->event, max + 1);
	buf_init(&p->data, max + 1);
	return p;
}

void sse_parser_free(struct sse_parser *p)
{
	if (!p)
		return;
	buf_free(&p->line);
	buf_free(&p->event);
	buf_free(&p->data);
	free(p);
}

/* The frame is complete; without a data line it says nothing. */
static int dispatch(struct sse_parser *p)
{
	int rc = 0;
	if (p->data.len > 0) {
		p->data.data[--p->data.len] = '\0';
		rc = p->fn(p->ctx, buf_str(&p->event), buf_str(&p->data), p->data.len);
	}
	buf_reset(&p->event);
	buf_reset(&p->data);
	return rc;
}

static int take_line(struct sse_parser *p, const char *s, size_t n)
{
	if (n == 0)
		return dispatch(p);
	const char *colon = memchr(s, ':', n);
	size_t name = colon ? (size_t)(colon - s) : n;
	const char *value = colon ? colon + 1 : s + n;
	size_t len = n - (size_t)(value - s);
	if (len > 0 && *value == ' ') {
		value++;
		len--;
	}
	if (name == 4 && memcmp(s, "data", 4) == 0) {
		buf_put(&p->data, value, len);
		buf_putc(&p->data, '\n');
	} else if (name == 5 && memcmp(s, "event", 5) == 0) {
		buf_reset(&p->event);
		buf_put(&p->event, value, len);
	}
	/* Comments (name == 0), id, retry and unknown fields mean nothing here. */
	if (!buf_ok(&p->data) || !buf_ok(&p->event)) {
		p->too_large = true;
		return -1;
	}
	return 0;
}

/* Bytes of a possible byte order mark; those that turn out to be none are put into the line. */
static size_t skip_bom(struct sse_parser *p, const char *bytes, size_t n)
{
	size_t i = 0;
	while (i < n && p->bom < 3) {
		if (bytes[i] != bom[p->bom]) {
			buf_put(&p->line, bom, p->bom);
			p->bom = 3;
			break;
		}
		p->bom++;
		i++;
	}
	return i;
}

static size_t line_length(const char *s, size_t n)
{
	const char *lf = memchr(s, '\n', n);
	size_t len = lf ? (size_t)(lf - s) : n;
	const char *cr = memchr(s, '\r', len);
	return cr ? (size_t)(cr - s) : len;
}

int sse_parser_feed(struct sse_parser *p, const char *bytes, size_t n)
{
	size_t i = skip_bom(p, bytes, n);
	while (i < n && !p->too_large) {
		if (p->after_cr) {
			p->after_cr = false;
			if (bytes[i] == '\n') {
				i++;
				continue;
			}
		}
		size_t len = line_length(bytes + i, n - i);
		if (p->line.len + p->event.len + p->data.len + len > p->max) {
			p->too_large = true;
			break;
		}
		if (i + len == n) {
			buf_put(&p->line, bytes + i, len);
			break;
		}
		p->after_cr = bytes[i + len] == '\r';
		int rc;
		if (p->line.len > 0) {
			buf_put(&p->line, bytes + i, len);
			rc = take_line(p, p->line.data, p->line.len);
			buf_reset(&p->line);
		} else {
			rc = take_line(p, bytes + i, len);
		}
		if (rc != 0)
			return rc;
		i += len + 1;
	}
	return p->too_large ? -1 : 0;
}
