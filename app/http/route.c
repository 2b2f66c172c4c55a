/* route: method and path to handler. SPDX-License-Identifier: ISC */
#include "app/http/route.h"

#include <stdbool.h>
#include <string.h>

#include "app/http/io.h"
#include "sandbox/sys/buf.h"

enum { ARGS_MAX = 4 };

/* Walks both side by side, a segment at a time. An empty or malformed segment is never an argument. */
static bool match(const char *pattern, struct req *r, const char *args[ARGS_MAX])
{
	const char *path = r->path;
	size_t n, m, count = 0;

	memset(args, 0, ARGS_MAX * sizeof *args);
	while (*pattern == '/' && *path == '/') {
		pattern++;
		path++;
		n = strcspn(pattern, "/");
		m = strcspn(path, "/");
		if (n > 0 && pattern[0] == '{') {
			if (m == 0 || count == ARGS_MAX)
				return false;
			args[count] = http_decode(r->arena, path, m, false);
			if (!args[count++])
				return false;
		} else if (n != m || memcmp(pattern, path, n) != 0) {
			return false;
		}
		pattern += n;
		path += m;
	}
	return *pattern == '\0' && *path == '\0';
}

static bool serves(const struct route *row, const char *method)
{
	return strcmp(row->method, method) == 0 ||
		(strcmp(method, "HEAD") == 0 && strcmp(row->method, "GET") == 0);
}

static void allow(struct buf *b, const char *method)
{
	if (strstr(buf_str(b), method))
		return;
	if (b->len > 0)
		buf_puts(b, ", ");
	buf_puts(b, method);
	if (strcmp(method, "GET") == 0)
		buf_puts(b, ", HEAD");
}

int route_find(
	const struct route **out, const struct route *table, size_t n, struct req *r, struct err *e)
{
	const char *args[ARGS_MAX];
	struct buf allowed;
	size_t i;
	int rc;

	*out = NULL;
	buf_init(&allowed, 256);
	for (i = 0; i < n; i++) {
		if (!match(table[i].pattern, r, args))
			continue;
		if (table[i].flags & ROUTE_ANTHROPIC)
			r->api = HTTP_ANTHROPIC;
		if (serves(&table[i], r->method)) {
			memcpy(r->args, args, sizeof r->args);
			*out = &table[i];
			buf_free(&allowed);
			return 0;
		}
		allow(&allowed, table[i].method);
	}
	if (allowed.len > 0) {
		http_set_header(r, "allow", buf_str(&allowed));
		rc = err_set(e, ERR_METHOD_NOT_ALLOWED, NULL, "%.16s is not allowed here, only %s",
			r->method, buf_str(&allowed));
	} else {
		rc = err_set(e, ERR_NOT_FOUND, NULL, "no such path: %.200s", r->path);
	}
	buf_free(&allowed);
	return rc;
}
