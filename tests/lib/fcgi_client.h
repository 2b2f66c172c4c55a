/* fcgi_client: asks a FastCGI application, as a web server does. SPDX-License-Identifier: ISC */
#ifndef TESTS_LIB_FCGI_CLIENT_H
#define TESTS_LIB_FCGI_CLIENT_H

#include <stdbool.h>
#include <stddef.h>

#include "sandbox/sys/buf.h"

/* One connection, one request. Everything read so far is in out. */
struct fcgi_client {
	int fd;
	struct buf raw; /* bytes of records that are not whole yet */
	struct buf out; /* STDOUT: header block and body */
	bool ended;     /* END_REQUEST came */
	bool closed;    /* the application closed the connection */
};

/* "unix:PATH" or "HOST:PORT" (numeric). Fails the test if nobody listens within two seconds. */
void fcgi_connect(struct fcgi_client *c, const char *where);
void fcgi_close(struct fcgi_client *c);

/* BEGIN_REQUEST and PARAMS: NULL-terminated list of "NAME=value". */
void fcgi_send_params(struct fcgi_client *c, const char *const *params);
/* One piece of the body (STDIN); n = 0 ends it. 0, or -1 if the application has closed. */
int fcgi_send_body(struct fcgi_client *c, const void *p, size_t n);
/* A record of any type, as it is. */
void fcgi_send_record(struct fcgi_client *c, int type, const void *p, size_t n);

/* Reads until the end, or until text stands in out, or timeout_ms passed. True unless it timed out. text may be NULL. */
bool fcgi_read(struct fcgi_client *c, const char *text, int timeout_ms);

/* Of what was read: Status (0 if there is none yet), a header (in static memory; NULL if absent), the body. */
int fcgi_status(const struct fcgi_client *c);
const char *fcgi_header(const struct fcgi_client *c, const char *name);
/* How many times a header stands there. */
int fcgi_header_count(const struct fcgi_client *c, const char *name);
const char *fcgi_body(const struct fcgi_client *c);
size_t fcgi_body_len(const struct fcgi_client *c);

/*
 * The whole thing: method and uri ("/path?query"), headers as a NULL-terminated list of CGI parameters ("HTTP_X_Y=z")
 * or NULL, body of n bytes or NULL. Reads to the end (10 s at most).
 */
void fcgi_request(struct fcgi_client *c, const char *where, const char *method, const char *uri,
	const char *const *headers);
void fcgi_post(
	struct fcgi_client *c, const char *where, const char *uri, const void *body, size_t n);

#endif
