/* peer: an app that asks for a lease. SPDX-License-Identifier: ISC */
#ifndef SANDBOX_POOL_PEER_H
#define SANDBOX_POOL_PEER_H

#include "sandbox/pool/pool.h"

/* A connection lives from accept to its answer. */
struct peer {
	struct peer *next;
	int fd;
	bool waits;       /* for a container that is being put to sleep */
	int64_t deadline; /* ms */
	char workspace[WIRE_NAME_MAX + 1], container[WIRE_NAME_MAX + 1];
};

/* Whether another one may be accepted. */
bool peer_room(const struct pool *p);
void peer_accept(struct pool *p);
/* Something came from it, or it went away. The peer may be gone afterwards. */
void peer_on_input(struct pool *p, struct peer *c);
/* Serves those whose container is over now, and ends those that waited too long. The next deadline in ms, or -1. */
int peer_tick(struct pool *p);
/* Refuses all, as boxd stops. */
void peer_refuse_all(struct pool *p);

#endif
