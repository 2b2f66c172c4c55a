/* request: what a web server tells us over FastCGI. SPDX-License-Identifier: ISC */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "app/base/id.h"
#include "app/http/http.h"
#include "app/http/io.h"
#include "sandbox/sys/buf.h"
#include "sandbox/sys/io.h"
#include "sandbox/sys/log.h"

enum { ABORT_REQUEST = 2, NAME_MAX_BYTES = 64, CHUNK_BYTES = 8192 };

const char *http_param(const struct req *r, const char *name)
{
	const char *v = FCGX_GetParam(name, r->io->fcgx->envp);

	return v && *v ? v : NULL;
}

const char *http_header(const struct req *r, const char *name)
{
	char param[NAME_MAX_BYTES + 8] = "HTTP_";
	size_t n = strlen("HTTP_"), i;
	char c;

	for (i = 0; name[i]; i++) {
		c = name[i];
		if (n == sizeof param - 1)
			return NULL;
		if (c >= 'a' && c <= 'z')
			c = (char)(c - 'a' + 'A');
		else if (c == '-')
			c = '_';
		param[n++] = c;
	}
	/* The two that CGI calls by their own names. */
	if (strcmp(param, "HTTP_CONTENT_TYPE") == 0 || strcmp(param, "HTTP_CONTENT_LENGTH") == 0)
		return http_param(r, param + strlen("HTTP_"));
	return http_param(r, param);
}

static int hex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

char *http_decode(struct arena *a, const char *s, size_t n, bool plus)
{
	char *out = arena_alloc(a, n + 1), *at = out;
	size_t i;

	for (i = 0; i < n; i++) {
		if (s[i] == '%') {
			if (n - i < 3 || hex(s[i + 1]) < 0 || hex(s[i + 2]) < 0)
				return NULL;
			*at = (char)(hex(s[i + 1]) << 4 | hex(s[i + 2]));
			if (*at++ == '\0')
				return NULL;
			i += 2;
		} else {
			*at++ = plus && s[i] == '+' ? ' ' : s[i];
		}
	}
	*at = '\0';
	return out;
}

const char *http_query(const struct req *r, const char *name)
{
	const char *at = r->query, *end, *equals;
	char *key;

	for (; *at; at = *end ? end + 1 : end) {
		end = at + strcspn(at, "&");
		equals = memchr(at, '=', (size_t)(end - at));
		key = http_decode(r->arena, at, (size_t)((equals ? equals : end) - at), true);
		if (!key || strcmp(key, name) != 0)
			continue;
		if (!equals)
			return "";
		return http_decode(r->arena, equals + 1, (size_t)(end - equals - 1), true);
	}
	return NULL;
}

/* A path that the web server has decoded already, with its percent signs made safe for our decoding. */
static const char *encode_percent(struct arena *a, const char *path, const char *more)
{
	size_t n = strlen(path) + strlen(more), i;
	const char *whole = arena_printf(a, "%s%s", path, more);
	char *out = arena_alloc(a, 3 * n + 1), *at = out;

	for (i = 0; i < n; i++) {
		*at++ = whole[i];
		if (whole[i] == '%') {
			*at++ = '2';
			*at++ = '5';
		}
	}
	*at = '\0';
	return out;
}

/*
 * The path is taken from REQUEST_URI, as the client sent it, so that an encoded slash stays within
 * its segment. A server that does not say it gives us the decoded path in one of two ways.
 */
static void find_path(struct req *r)
{
	const char *uri = http_param(r, "REQUEST_URI");
	const char *script = http_param(r, "SCRIPT_NAME"), *info = http_param(r, "PATH_INFO");
	const char *query = http_param(r, "QUERY_STRING");
	size_t n;

	if (uri && uri[0] == '/') {
		n = strcspn(uri, "?#");
		r->path = arena_strndup(r->arena, uri, n);
		if (uri[n] == '?')
			query = uri + n + 1;
	} else if ((uri = http_param(r, "DOCUMENT_URI")) != NULL) {
		r->path = encode_percent(r->arena, uri, "");
	} else {
		r->path = encode_percent(r->arena, script ? script : "", info ? info : "");
	}
	r->query = arena_strdup(r->arena, query ? query : "");
}

struct req *http_begin(void *fcgx_request)
{
	struct arena *a = arena_new();
	struct req *r = arena_new_of(a, struct req);
	const char *method;

	r->arena = a;
	r->io = arena_new_of(a, struct http_io);
	r->io->fcgx = fcgx_request;
	r->io->start_us = io_now_us();
	r->io->length = -1;
	r->id = id_new(a, "req_", 24);
	log_request(r->id);
	method = http_param(r, "REQUEST_METHOD");
	/* A copy: the parameters end before the request is logged. */
	r->method = arena_strdup(a, method ? method : "");
	r->io->head = strcmp(r->method, "HEAD") == 0;
	find_path(r);
	return r;
}

/* CONTENT_LENGTH: -1 if it is not said (chunked), -2 if it is no number. */
static long long content_length(const struct req *r)
{
	const char *s = http_param(r, "CONTENT_LENGTH");
	long long n = 0;

	if (!s)
		return -1;
	for (; *s; s++) {
		if (*s < '0' || *s > '9' || n > 1000000000000000LL)
			return -2;
		n = n * 10 + (*s - '0');
	}
	return n;
}

static int too_large(struct err *e, size_t max)
{
	return err_set(
		e, ERR_PAYLOAD_TOO_LARGE, NULL, "request body: expected at most %zu bytes", max);
}

static void free_body(void *p)
{
	buf_free(p);
}

/* Up to the end that the web server marks, or one byte over max. */
static int read_stream(struct req *r, struct buf *b, size_t max, struct err *e)
{
	FCGX_Stream *in = r->io->fcgx->in;
	char chunk[CHUNK_BYTES];
	int n, error;

	do {
		n = FCGX_GetStr(chunk, sizeof chunk, in);
		if (n > 0)
			buf_put(b, chunk, (size_t)n);
	} while (n == sizeof chunk && buf_ok(b));
	error = FCGX_GetError(in);
	if (error == EAGAIN)
		return err_set(
			e, ERR_INVALID_REQUEST, NULL, "request body: nothing came for too long");
	if (error != 0) {
		/* The connection ended, or an abort stands where the body should go on. */
		r->io->gone = true;
		return err_set(
			e, ERR_CLIENT_GONE, NULL, "the client left while sending its request");
	}
	if (!buf_ok(b))
		return too_large(e, max);
	r->io->drained = true;
	return 0;
}

int http_read_body(struct req *r, size_t max, struct err *e)
{
	long long said = content_length(r);
	struct buf *b = arena_new_of(r->arena, struct buf);
	int rc;

	if (said == -2)
		return err_set(e, ERR_INVALID_REQUEST, NULL, "Content-Length: expected a number");
	if (said > 0 && (unsigned long long)said > max)
		return too_large(e, max);
	/* Memory follows what has come, not what was announced. */
	buf_init(b, max);
	arena_defer(r->arena, free_body, b);
	rc = read_stream(r, b, max, e);
	if (rc < 0)
		return rc;
	if (said >= 0 && b->len != (unsigned long long)said)
		return err_set(e, ERR_INVALID_REQUEST, NULL,
			"request body: %zu bytes came, Content-Length says %lld", b->len, said);
	r->body = buf_str(b);
	r->body_len = b->len;
	return 0;
}

int http_client_fd(const struct req *r)
{
	return r->io->fcgx->ipcFd;
}

/*
 * Web servers close the connection when their client has gone; one may send an abort first. Once the
 * body is in, nothing else is due, so whatever else comes ends the request too: a descriptor that
 * stays readable would keep those who poll it awake.
 */
bool http_client_gone(struct req *r)
{
	struct pollfd p = {.fd = http_client_fd(r), .events = POLLIN | POLLRDHUP};
	unsigned char record[2];
	ssize_t n;

	if (r->io->gone)
		return true;
	if (poll(&p, 1, 0) <= 0)
		return false;
	if (p.revents & (POLLHUP | POLLERR | POLLNVAL | POLLRDHUP)) {
		r->io->gone = true;
		return true;
	}
	n = recv(p.fd, record, sizeof record, MSG_PEEK | MSG_DONTWAIT);
	if (n < 0)
		r->io->gone = errno != EAGAIN && errno != EINTR;
	else
		r->io->gone = n == 0 || r->io->drained || (n == 2 && record[1] == ABORT_REQUEST);
	return r->io->gone;
}
