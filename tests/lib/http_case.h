/* http_case: one server that runs http_app, and one request at a time to it. SPDX-License-Identifier: ISC */
#ifndef TESTS_LIB_HTTP_CASE_H
#define TESTS_LIB_HTTP_CASE_H

#include <cjson/cJSON.h>

#include "tests/lib/fcgi_client.h"
#include "tests/lib/fcgi_server.h"

extern struct fcgi_server http_case_server;
extern struct fcgi_client http_case;

/* Set-up and tear-down of a group of tests. */
int http_case_start(void **state);
int http_case_stop(void **state);

/* A whole GET. */
void http_case_get(const char *uri);
/* A member of the JSON answer; gone with http_case_done. */
const cJSON *http_case_member(const char *name);
/* Its text, "(none)" if it is no string. */
const char *http_case_text(const char *name);
/* The end of a request. */
void http_case_done(void);

#endif
