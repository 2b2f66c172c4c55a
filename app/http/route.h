/* route: method and path to handler. SPDX-License-Identifier: ISC */
#ifndef APP_HTTP_ROUTE_H
#define APP_HTTP_ROUTE_H

#include "app/http/http.h"

enum route_flag {
	ROUTE_OPEN = 1,      /* no key needed */
	ROUTE_ANTHROPIC = 2, /* errors in Anthropic's envelope */
};

struct route {
	const char *method;
	const char *pattern; /* "/api/v1/containers/{id}/files" */
	/* Answers, or returns an error that the caller sends. */
	int (*handler)(struct req *r, struct err *e);
	size_t body_max; /* bytes; 0: no body is read */
	unsigned flags;
};

/*
 * The row for the request, args filled. ERR_NOT_FOUND; or ERR_METHOD_NOT_ALLOWED with the Allow
 * header set. HEAD is served by GET rows. Rows are tried in order; literal rows stand first.
 */
int route_find(const struct route **out, const struct route *table, size_t n, struct req *r,
	struct err *e);

#endif
