/* env: the channel to the init of a compute environment. SPDX-License-Identifier: ISC */
#ifndef SANDBOX_BOX_ENV_H
#define SANDBOX_BOX_ENV_H

#include <stdbool.h>
#include <stddef.h>

#include "sandbox/wire/frame.h"

/* What a tenant could do to its init, init can do to this channel: every answer is checked. */
struct env {
	int fd;           /* -1: there is none */
	bool ready;       /* WIRE_READY came */
	unsigned thawing; /* WIRE_THAWED that are still to come */
};

/* Takes the channel over. */
void env_open(struct env *e, int fd);
void env_close(struct env *e);
/* Sends, waiting at most a few seconds for room. 0, or -1 with errno. */
int env_send(struct env *e, const struct wire_out *o, const int *fds, size_t nfds);
/*
 * The next message within timeout_ms (0: only what is there). READY and THAWED, which ask for
 * nothing, are taken in silently. 1 a message; 0 none; -1 the channel is of no use any more (errno).
 */
int env_recv(struct env *e, struct wire_in *in, int timeout_ms);
/* The same, but only this type will do, and it must come: 0, or -1 with errno (ETIMEDOUT, EPROTO). */
int env_expect(struct env *e, struct wire_in *in, enum wire_type type, int timeout_ms);

#endif
