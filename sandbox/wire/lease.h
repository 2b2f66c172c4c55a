/* lease: what the app asks of boxd. SPDX-License-Identifier: ISC */
#ifndef SANDBOX_WIRE_LEASE_H
#define SANDBOX_WIRE_LEASE_H

#include "sandbox/wire/frame.h"

#define WIRE_NAME_MAX 40 /* workspace slug, container id: ^[A-Za-z0-9_-]{1,40}$ */

/* WIRE_LEASE: a connection to the box of (workspace, container), which is created or woken if need be. */
struct wire_lease {
	const char *workspace, *container;
};
/* WIRE_REFUSED: why not. */
enum wire_refusal {
	WIRE_REFUSED_BAD = 1,
	WIRE_REFUSED_LIMIT,
	WIRE_REFUSED_FAILED,
	WIRE_REFUSED_STOPPING
};
struct wire_refused {
	uint32_t why; /* enum wire_refusal */
	const char *text;
};

/* True for ^[A-Za-z0-9_-]{1,40}$. */
bool wire_name_ok(const char *s);

/* Packers are named for the message; unpackers end in _get, return 0 or -1, and leave borrowed strings. */
void wire_lease(struct wire_out *o, const struct wire_lease *m);
int wire_lease_get(struct wire_in *i, struct wire_lease *m);
/* WIRE_LEASED has no body; its descriptor 0 is the connection to the box. */
void wire_leased(struct wire_out *o);
void wire_refused(struct wire_out *o, const struct wire_refused *m);
int wire_refused_get(struct wire_in *i, struct wire_refused *m);

#endif
