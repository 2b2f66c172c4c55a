/* client: a plain HTTP/1.1 client that keeps its connection, for measuring. SPDX-License-Identifier: ISC */
#ifndef TESTS_BENCH_CLIENT_H
#define TESTS_BENCH_CLIENT_H

#include "sandbox/sys/buf.h"

struct client {
	int port, fd; /* 127.0.0.1; -1: not connected */
	const char *key;
	struct buf in; /* the last answer's body */
};

void client_init(struct client *c, int port, const char *key);
void client_free(struct client *c);
/* POST …/containers/ID/exec {"command": command, more}; more is JSON members with a leading comma, or "". The status, or -1. */
int client_exec(struct client *c, const char *id, const char *command, const char *more);

#endif
