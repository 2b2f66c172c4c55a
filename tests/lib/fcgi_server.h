/* fcgi_server: a small application for the tests of app/http and app/worker. SPDX-License-Identifier: ISC */
#ifndef TESTS_LIB_FCGI_SERVER_H
#define TESTS_LIB_FCGI_SERVER_H

#include <stdbool.h>
#include <sys/types.h>

#include "app/worker.h"

/* Runs worker_supervise in a child on a unix socket in the test's folder; w->listener is filled in. */
struct fcgi_server {
	pid_t pid;
	char where[128]; /* for fcgi_connect */
	char log[128];   /* file with its log lines */
};
void fcgi_server_start(struct fcgi_server *s, struct worker *w);
/* Sends SIGTERM and waits; the exit status (128 + signal if killed). */
int fcgi_server_stop(struct fcgi_server *s);
/* Waits up to timeout_ms until text stands in the log. */
bool fcgi_server_logged(const struct fcgi_server *s, const char *text, int timeout_ms);

#endif
