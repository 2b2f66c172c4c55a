/* http_app: an application that shows what app/http gives and takes. SPDX-License-Identifier: ISC */
#include "tests/lib/http_app.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/base/json.h"
#include "app/http/route.h"
#include "sandbox/sys/log.h"

/* What came in, as JSON. */
static int echo(struct req *r, struct err *e)
{
	const char *names[] = {"x-session-id", "content-type", "content-length", "authorization"};
	cJSON *v = cJSON_CreateObject();
	const char *value;
	size_t i;
	int rc;

	(void)e;
	cJSON_AddStringToObject(v, "method", r->method);
	cJSON_AddStringToObject(v, "path", r->path);
	cJSON_AddStringToObject(v, "query", r->query);
	cJSON_AddStringToObject(v, "arg", r->args[0] ? r->args[0] : "");
	cJSON_AddStringToObject(v, "arg2", r->args[1] ? r->args[1] : "");
	for (i = 0; i < sizeof names / sizeof names[0]; i++) {
		value = http_header(r, names[i]);
		cJSON_AddItemToObject(
			v, names[i], value ? cJSON_CreateString(value) : cJSON_CreateNull());
	}
	value = http_query(r, "q");
	cJSON_AddItemToObject(v, "q", value ? cJSON_CreateString(value) : cJSON_CreateNull());
	cJSON_AddNumberToObject(v, "body_len", r->body ? (double)r->body_len : -1);
	json_add_text(v, "body", r->body ? r->body : "", r->body ? strnlen(r->body, 20) : 0);
	rc = http_send_json(r, 200, v);
	cJSON_Delete(v);
	return rc;
}

static int fail_as_asked(struct req *r, struct err *e)
{
	const char *code = http_query(r, "code"), *retry = http_query(r, "retry");

	err_set(e, (enum err_code)strtol(code, NULL, 10), http_query(r, "param"),
		"it \"failed\"\n");
	e->retry_after = retry ? (int)strtol(retry, NULL, 10) : 0;
	return e->code;
}

static int headers(struct req *r, struct err *e)
{
	(void)e;
	http_set_header(r, "X-Twice", "one");
	http_set_header(r, "x-twice", "two");
	http_set_header(r, "x-request-id", "forged");
	http_set_header(r, "x-bad", "a\r\nx-injected: 1");
	http_set_header(r, "x bad", "a");
	http_set_header(r, "", "a");
	http_set_header(r, "content-type", "text/html");
	return http_send_text(r, 200, "text/plain", "text");
}

/* Large and in pieces, of a length announced: right, too short or too long. */
static int download(struct req *r, struct err *e)
{
	long long said = strtoll(http_query(r, "said"), NULL, 10);
	long long n = strtoll(http_query(r, "n"), NULL, 10);
	char piece[1000];
	int rc;

	(void)e;
	memset(piece, 'x', sizeof piece);
	rc = http_send_head(r, 200, "application/octet-stream", said);
	for (; n > 0 && rc == 0; n -= (long long)sizeof piece)
		rc = http_write(r, piece, n > 1000 ? 1000 : (size_t)n);
	return rc;
}

static int stream(struct req *r, struct err *e)
{
	int i, rc = http_stream(r);

	(void)e;
	for (i = 0; i < 3 && rc == 0; i++) {
		rc = http_write(r, "data: x\n\n", 9);
		usleep(30000);
	}
	return rc;
}

/* Streams without end; how it noticed that its client is gone goes to the log. */
static int stream_for_ever(struct req *r, struct err *e)
{
	int rc = http_stream(r);

	(void)e;
	while (rc == 0) {
		usleep(5000);
		rc = http_write(r, "data: x\n\n", 9);
	}
	log_info("write says %d", rc);
	return rc;
}

/* Silent, watching its client as the upstream and the box client do. */
static int watch(struct req *r, struct err *e)
{
	struct pollfd p = {.fd = http_client_fd(r), .events = POLLIN | POLLRDHUP};
	int n = poll(&p, 1, 300);

	log_info("poll says %d, gone says %d", n, http_client_gone(r));
	if (n > 0)
		return err_set(e, ERR_CLIENT_GONE, NULL, "gone");
	return http_send_text(r, 200, "text/plain", "stayed");
}

static int twice(struct req *r, struct err *e)
{
	http_send_text(r, 200, "text/plain", "first");
	err_set(e, ERR_SERVER, NULL, "late");
	http_send_error(r, e);
	return http_send_text(r, 200, "text/plain", "second");
}

static int nothing(struct req *r, struct err *e)
{
	(void)r;
	(void)e;
	return 0;
}

static const struct route routes[] = {
	{"GET", "/echo", echo, 0, 0},
	{"POST", "/echo", echo, HTTP_APP_LIMIT, 0},
	{"DELETE", "/echo", echo, 0, 0},
	{"GET", "/things/all", echo, 0, 0},
	{"GET", "/things/{id}", echo, 0, 0},
	{"GET", "/things/{id}/parts/{part}", echo, 0, 0},
	{"GET", "/fail", fail_as_asked, 0, 0},
	{"GET", "/messages/fail", fail_as_asked, 0, ROUTE_ANTHROPIC},
	{"GET", "/headers", headers, 0, 0},
	{"GET", "/download", download, 0, 0},
	{"GET", "/stream", stream, 0, 0},
	{"POST", "/stream-for-ever", stream_for_ever, HTTP_APP_LIMIT, 0},
	{"POST", "/watch", watch, HTTP_APP_LIMIT, 0},
	{"GET", "/watch", watch, 0, 0},
	{"GET", "/twice", twice, 0, 0},
	{"GET", "/nothing", nothing, 0, 0},
};

void http_app_serve(struct req *r)
{
	const struct route *row;
	struct err e = {0};
	int rc = route_find(&row, routes, sizeof routes / sizeof routes[0], r, &e);

	if (rc == 0 && row->body_max > 0)
		rc = http_read_body(r, row->body_max, &e);
	if (rc == 0)
		rc = row->handler(r, &e);
	if (rc < 0 && e.code != ERR_OK)
		http_send_error(r, &e);
}
