/* content: GET /api/v1/containers/{container_id}/files/{file_id}/content. SPDX-License-Identifier: ISC */
#include <string.h>

#include "app/api/api.h"
#include "app/api/files.h"
#include "app/api/range.h"
#include "sandbox/sys/buf.h"
#include "sandbox/sys/utf8.h"

#define CONTENT_PIECE (256 * 1024)

static void free_blob(void *p)
{
	home_blob_free(p);
}

/* The last component, at most 255 bytes, as RFC 8187 has it: UTF-8, and all but the plainest characters escaped. */
static const char *disposition(struct arena *a, const char *path, size_t n)
{
	static const char plain[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
	const char *slash = memrchr(path, '/', n), *name = slash ? slash + 1 : path;
	size_t left = n - (size_t)(name - path), used;
	struct buf b;
	char *text;

	buf_init(&b, 8192);
	buf_puts(&b, "attachment; filename*=UTF-8''");
	for (; left; name += used, left -= used) {
		uint32_t c;

		used = utf8_next(&c, name, left);
		if (c == UTF8_INVALID)
			buf_puts(&b, "%EF%BF%BD");
		else if (used == 1 && *name && strchr(plain, *name))
			buf_putc(&b, *name);
		else
			for (size_t i = 0; i < used; i++)
				buf_printf(&b, "%%%02X", (unsigned char)name[i]);
	}
	text = arena_strdup(a, buf_str(&b));
	buf_free(&b);
	return text;
}

static int send_bytes(struct req *r, const char *data, uint64_t n)
{
	int rc = 0;

	for (uint64_t at = 0; rc == 0 && at < n; at += CONTENT_PIECE)
		rc = http_write(
			r, data + at, n - at < CONTENT_PIECE ? (size_t)(n - at) : CONTENT_PIECE);
	return rc;
}

/* The part that is asked for, unless its owner has another version in mind (If-Range). */
static int send_blob(struct req *r, const char *data, uint64_t size, const char *tag)
{
	const char *if_range = http_header(r, "if-range"), *header = http_header(r, "range");
	struct range part;
	enum range_kind kind = range_read(&part, header, size);
	int rc;

	if (if_range && !range_tag_listed(if_range, tag, true)) {
		kind = RANGE_WHOLE;
		part = (struct range){0, size};
	}
	if (kind == RANGE_NONE) {
		http_set_header(r, "Content-Range",
			arena_printf(r->arena, "bytes */%llu", (unsigned long long)size));
		return http_send_head(r, 416, "application/octet-stream", 0);
	}
	if (kind == RANGE_PART)
		http_set_header(r, "Content-Range",
			arena_printf(r->arena, "bytes %llu-%llu/%llu",
				(unsigned long long)part.first,
				(unsigned long long)(part.first + part.length - 1),
				(unsigned long long)size));
	rc = http_send_head(r, kind == RANGE_PART ? 206 : 200, "application/octet-stream",
		(long long)part.length);
	return rc < 0 ? rc : send_bytes(r, data + part.first, part.length);
}

int api_files_content(struct req *r, struct err *e)
{
	struct home *home;
	const struct home_entry *f;
	struct home_blob *blob;
	const char *tag, *data;
	uint64_t size;
	int rc = files_find(&home, &f, r, e);

	if (rc < 0)
		return rc;
	/* The id names a path whose file may be written anew: ask each time, and have a tag to ask with. */
	tag = arena_printf(r->arena, "\"%s\"", f->blob);
	http_set_header(r, "ETag", tag);
	http_set_header(r, "Cache-Control", "private, no-cache");
	http_set_header(r, "Accept-Ranges", "bytes");
	if (range_tag_listed(http_header(r, "if-none-match"), tag, false))
		return http_send_head(r, 304, NULL, -1);

	rc = home_blob_open(&blob, home, f->blob);
	if (rc < 0)
		return err_set(e, ERR_SERVER, NULL, "blob %s: %s", f->blob, home_error());
	arena_defer(r->arena, free_blob, blob);
	data = home_blob_data(blob, &size);
	http_set_header(r, "Content-Disposition", disposition(r->arena, f->path, f->path_len));
	http_set_header(r, "X-Content-Type-Options", "nosniff");
	return send_blob(r, data, size, tag);
}
