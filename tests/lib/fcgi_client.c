/* fcgi_client: asks a FastCGI application, as a web server does. SPDX-License-Identifier: ISC */
#include "tests/lib/fcgi_client.h"

#include <errno.h>
#include <netinet/in.h>
#include <arpa/inet.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "sandbox/sys/io.h"
#include "tests/lib/test.h"

enum { BEGIN = 1, END = 3, PARAMS = 4, STDIN = 5, STDOUT = 6, HEADER = 8, RECORD_MAX = 65535 };
enum { OUT_MAX = 256 << 20, CONNECT_MS = 2000, REQUEST_MS = 10000, PARAMS_MAX = 1 << 20 };

static int try_connect(const char *where)
{
	struct sockaddr_un un = {.sun_family = AF_UNIX};
	struct sockaddr_in in = {.sin_family = AF_INET};
	const char *colon = strrchr(where, ':');
	char host[64];
	int fd, rc;

	if (strncmp(where, "unix:", 5) == 0) {
		snprintf(un.sun_path, sizeof un.sun_path, "%s", where + 5);
		fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
		rc = connect(fd, (const struct sockaddr *)&un, sizeof un);
	} else {
		snprintf(host, sizeof host, "%.*s", (int)(colon - where), where);
		in.sin_port = htons((uint16_t)strtol(colon + 1, NULL, 10));
		inet_pton(AF_INET, host, &in.sin_addr);
		fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		rc = connect(fd, (const struct sockaddr *)&in, sizeof in);
	}
	if (rc < 0)
		io_close(&fd);
	return fd;
}

void fcgi_connect(struct fcgi_client *c, const char *where)
{
	int64_t until = io_now_ms() + CONNECT_MS;

	signal(SIGPIPE, SIG_IGN);
	memset(c, 0, sizeof *c);
	buf_init(&c->raw, 2 * RECORD_MAX);
	buf_init(&c->out, OUT_MAX);
	while ((c->fd = try_connect(where)) < 0) {
		if (io_now_ms() > until)
			fail_msg("%s: %s", where, strerror(errno));
		usleep(5000);
	}
}

void fcgi_close(struct fcgi_client *c)
{
	io_close(&c->fd);
	buf_free(&c->raw);
	buf_free(&c->out);
}

static int send_record(struct fcgi_client *c, int type, const void *p, size_t n)
{
	const unsigned char header[HEADER] = {
		1, (unsigned char)type, 0, 1, (unsigned char)(n >> 8), (unsigned char)n, 0, 0};

	if (io_write_full(c->fd, header, sizeof header) < 0)
		return -1;
	return io_write_full(c->fd, p, n);
}

void fcgi_send_record(struct fcgi_client *c, int type, const void *p, size_t n)
{
	assert_int_equal(send_record(c, type, p, n), 0);
}

static void put_length(struct buf *b, size_t n)
{
	int shift;

	if (n < 128) {
		buf_putc(b, (char)n);
		return;
	}
	for (shift = 24; shift >= 0; shift -= 8)
		buf_putc(b, (char)((n >> shift & 0xFF) | (shift == 24 ? 0x80 : 0)));
}

void fcgi_send_params(struct fcgi_client *c, const char *const *params)
{
	const unsigned char responder[8] = {0, 1};
	struct buf b;
	const char *equals;
	size_t at, n;

	buf_init(&b, PARAMS_MAX);
	for (; *params; params++) {
		equals = strchr(*params, '=');
		assert_non_null(equals);
		put_length(&b, (size_t)(equals - *params));
		put_length(&b, strlen(equals + 1));
		buf_put(&b, *params, (size_t)(equals - *params));
		buf_puts(&b, equals + 1);
	}
	fcgi_send_record(c, BEGIN, responder, sizeof responder);
	for (at = 0; at < b.len; at += n) {
		n = b.len - at < RECORD_MAX ? b.len - at : RECORD_MAX;
		fcgi_send_record(c, PARAMS, b.data + at, n);
	}
	fcgi_send_record(c, PARAMS, "", 0);
	buf_free(&b);
}

int fcgi_send_body(struct fcgi_client *c, const void *p, size_t n)
{
	const char *at = p;
	size_t piece;

	do {
		piece = n < RECORD_MAX ? n : RECORD_MAX;
		if (send_record(c, STDIN, at, piece) < 0)
			return -1;
		at += piece;
		n -= piece;
	} while (n > 0);
	return 0;
}

static void take_records(struct fcgi_client *c)
{
	const unsigned char *h;
	size_t n, whole;

	while (c->raw.len >= HEADER) {
		h = (const unsigned char *)c->raw.data;
		n = (size_t)h[4] << 8 | h[5];
		whole = HEADER + n + h[6];
		if (c->raw.len < whole)
			return;
		if (h[1] == STDOUT)
			buf_put(&c->out, c->raw.data + HEADER, n);
		if (h[1] == END)
			c->ended = true;
		buf_consume(&c->raw, whole);
	}
}

bool fcgi_read(struct fcgi_client *c, const char *text, int timeout_ms)
{
	int64_t until = io_now_ms() + timeout_ms, left;
	struct pollfd p = {.fd = c->fd, .events = POLLIN};
	char chunk[8192];
	ssize_t n;

	while (!c->closed && !c->ended && !(text && strstr(buf_str(&c->out), text))) {
		left = until - io_now_ms();
		if (left <= 0 || poll(&p, 1, (int)left) == 0)
			return false;
		n = read(c->fd, chunk, sizeof chunk);
		if (n <= 0)
			c->closed = true;
		else
			buf_put(&c->raw, chunk, (size_t)n);
		take_records(c);
	}
	return !text || strstr(buf_str(&c->out), text) != NULL;
}

static size_t head_len(const struct fcgi_client *c)
{
	const char *end = strstr(buf_str(&c->out), "\r\n\r\n");

	return end ? (size_t)(end - c->out.data) + 4 : 0;
}

/* The value of the nth header of that name, up to the line's end; NULL if there are fewer. */
static const char *find_header(const struct fcgi_client *c, const char *name, int nth)
{
	const char *line = buf_str(&c->out), *end = line + head_len(c);
	size_t n = strlen(name);

	while (line < end) {
		if (strncasecmp(line, name, n) == 0 && line[n] == ':' && nth-- == 0)
			return line + n + 1 + strspn(line + n + 1, " ");
		line = strstr(line, "\r\n") + 2;
	}
	return NULL;
}

const char *fcgi_header(const struct fcgi_client *c, const char *name)
{
	static char value[4096];
	const char *at = find_header(c, name, 0);

	if (!at)
		return NULL;
	snprintf(value, sizeof value, "%.*s", (int)strcspn(at, "\r\n"), at);
	return value;
}

int fcgi_header_count(const struct fcgi_client *c, const char *name)
{
	int n = 0;

	while (find_header(c, name, n))
		n++;
	return n;
}

int fcgi_status(const struct fcgi_client *c)
{
	const char *v = find_header(c, "Status", 0);

	return v ? (int)strtol(v, NULL, 10) : 0;
}

const char *fcgi_body(const struct fcgi_client *c)
{
	return buf_str(&c->out) + head_len(c);
}

size_t fcgi_body_len(const struct fcgi_client *c)
{
	return c->out.len - head_len(c);
}

static void begin(struct fcgi_client *c, const char *where, const char *method, const char *uri,
	const char *const *headers, long long length)
{
	enum { MOST = 32 };
	char m[64], u[4096], q[4096], l[64];
	const char *params[MOST + 8] = {m, u, q, "SERVER_PROTOCOL=HTTP/1.1"};
	const char *question = strchr(uri, '?');
	int n = 4, i;

	snprintf(m, sizeof m, "REQUEST_METHOD=%s", method);
	snprintf(u, sizeof u, "REQUEST_URI=%s", uri);
	snprintf(q, sizeof q, "QUERY_STRING=%s", question ? question + 1 : "");
	snprintf(l, sizeof l, "CONTENT_LENGTH=%lld", length);
	if (length >= 0)
		params[n++] = l;
	for (i = 0; headers && headers[i] && i < MOST; i++)
		params[n++] = headers[i];
	fcgi_connect(c, where);
	fcgi_send_params(c, params);
}

void fcgi_request(struct fcgi_client *c, const char *where, const char *method, const char *uri,
	const char *const *headers)
{
	begin(c, where, method, uri, headers, -1);
	fcgi_send_body(c, "", 0);
	if (!fcgi_read(c, NULL, REQUEST_MS))
		fail_msg("%s %s: no answer", method, uri);
}

void fcgi_post(
	struct fcgi_client *c, const char *where, const char *uri, const void *body, size_t n)
{
	begin(c, where, "POST", uri, NULL, (long long)n);
	/* The application may refuse it in between. */
	if (n == 0 || fcgi_send_body(c, body, n) == 0)
		fcgi_send_body(c, "", 0);
	if (!fcgi_read(c, NULL, REQUEST_MS))
		fail_msg("POST %s: no answer", uri);
}
