/* http: one request and its answer over FastCGI. SPDX-License-Identifier: ISC */
#ifndef APP_HTTP_HTTP_H
#define APP_HTTP_HTTP_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>

#include "app/base/arena.h"
#include "app/base/err.h"

enum http_api { HTTP_OPENAI, HTTP_ANTHROPIC }; /* whose envelope errors wear */

/* The request; made by http_begin, gone after http_end. Strings live in the arena. */
struct req {
	struct arena *arena;
	const char *id; /* req_… */
	const char *method;
	const char *path;  /* as the client sent it: not decoded, without the query */
	const char *query; /* without the question mark, "" if there is none */
	enum http_api api;
	const char *args[4]; /* the route's {placeholders}, in order, decoded */
	const char *body;    /* n bytes, NUL-terminated; NULL before http_read_body */
	size_t body_len;
	void *principal;    /* set by api/auth */
	struct http_io *io; /* the FastCGI side, private to http/ */
};

struct FCGX_Request;
/* Takes over an accepted FastCGI request. */
struct req *http_begin(void *fcgx_request);
/* Ends the answer (an empty 500 if nothing was answered), logs one line, frees everything. */
void http_end(struct req *r);

/* A request header by its usual name ("x-session-id"), NULL if absent. */
const char *http_header(const struct req *r, const char *name);
/* A query parameter, decoded; NULL if absent. */
const char *http_query(const struct req *r, const char *name);
/* Reads the whole body, at most max bytes: ERR_PAYLOAD_TOO_LARGE names the limit. */
int http_read_body(struct req *r, size_t max, struct err *e);
/* The descriptor that becomes readable (or hung up) when the client goes away; for poll. */
int http_client_fd(const struct req *r);
/* True once the client has gone. Cheap. */
bool http_client_gone(struct req *r);

/* Adds a header to the answer, before it begins. */
void http_set_header(struct req *r, const char *name, const char *value);
/* True once status and headers were sent. */
bool http_begun(const struct req *r);

/* Whole answers. Each is the last thing of a request, sends status, headers (x-request-id and request-id always) and body. */
int http_send_json(struct req *r, int status, const cJSON *body);
int http_send_text(struct req *r, int status, const char *type, const char *text);
int http_send_error(struct req *r, const struct err *e);
/* An answer of known length, written in pieces with http_write. */
int http_send_head(struct req *r, int status, const char *type, long long length);

/* A stream: head (text/event-stream, no-cache, no buffering), then writes, each flushed at once. ERR_CLIENT_GONE when nobody reads. */
int http_stream(struct req *r);
int http_write(struct req *r, const void *p, size_t n);
int http_flush(struct req *r);

#endif
