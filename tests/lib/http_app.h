/* http_app: an application that shows what app/http gives and takes. SPDX-License-Identifier: ISC */
#ifndef TESTS_LIB_HTTP_APP_H
#define TESTS_LIB_HTTP_APP_H

#include "app/http/http.h"

#define HTTP_APP_LIMIT 100000 /* of a request's body */

/*
 * /echo and /things/… answer what came in as JSON; /fail?code=&param=&retry= the error; /headers with odd headers;
 * /download?said=&n= n bytes of said; /stream three events; POST /stream-for-ever; /watch looks for 300 ms whether
 * the client is gone; /twice answers twice, /nothing not at all. What they notice goes to the log.
 */
void http_app_serve(struct req *r);

#endif
