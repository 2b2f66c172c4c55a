/* io: the FastCGI side of a request, private to app/http. SPDX-License-Identifier: ISC */
#ifndef APP_HTTP_IO_H
#define APP_HTTP_IO_H

#include <fcgiapp.h>
#include <stdbool.h>
#include <stdint.h>

#include "app/http/http.h"

struct http_field {
	const char *name; /* lower-case */
	const char *value;
	struct http_field *next;
};

struct http_io {
	FCGX_Request *fcgx;
	int64_t start_us;
	struct http_field *fields; /* of the answer, in the order of setting */
	int status;                /* 0 until the answer began */
	bool head;                 /* the method is HEAD: no body goes out */
	bool streaming;            /* every write is flushed */
	bool drained;              /* the request's body was read to its end */
	bool gone;                 /* nobody reads any more; sticky */
	long long length;          /* of the body as announced, -1 if it was not */
	long long written;         /* of the body, so far */
};

/* A FastCGI parameter, NULL if absent or empty. */
const char *http_param(const struct req *r, const char *name);
/* The n bytes at s with %XX decoded (and + if plus), in the arena; NULL if a %XX is malformed or gives NUL. */
char *http_decode(struct arena *a, const char *s, size_t n, bool plus);

#endif
