/* box: what boxd and a box say to each other. SPDX-License-Identifier: ISC */
#ifndef SANDBOX_WIRE_BOX_H
#define SANDBOX_WIRE_BOX_H

#include "sandbox/wire/frame.h"

/* WIRE_START, boxd -> box, first. Descriptor 0: the channel to the shell environment's init. */
struct wire_start {
	const char *workspace, *container;
	const char *repository; /* path of ID.git; created by box when the first commit is made */
	uint32_t sleep_after;   /* seconds, until a command says otherwise */
	uint32_t durable;       /* 1: sync before a commit is answered */
};
void wire_start(struct wire_out *o, const struct wire_start *m);
int wire_start_get(struct wire_in *i, struct wire_start *m);

/* WIRE_ATTACH: descriptor 0 is an app's connection. WIRE_ENV: descriptor 0 is the bash init's channel, none if it could not be made. WIRE_STOP, WIRE_WANT_ENV: no body. */
void wire_attach(struct wire_out *o);
void wire_env(struct wire_out *o);
void wire_stop(struct wire_out *o);
void wire_want_env(struct wire_out *o);

/* WIRE_IDLE: seen = how many WIRE_ATTACH the box has received; boxd ignores a request that crossed a newer one. */
void wire_idle(struct wire_out *o, uint32_t seen);
int wire_idle_get(struct wire_in *i, uint32_t *seen);

#endif
