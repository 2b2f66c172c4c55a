/* decode: a request of either API while it is read. SPDX-License-Identifier: ISC */
#ifndef APP_DIALECT_DECODE_H
#define APP_DIALECT_DECODE_H

#include "app/core/turn.h"
#include "app/dialect/place.h"
#include "app/dialect/replay.h"

struct decode {
	struct arena *arena;
	struct turn *turn;
	struct replay *replay;
	struct items system; /* they go in front of the turn's items */
};

/* Makes t a turn of which nothing is said yet. */
void decode_begin(struct decode *d, struct arena *a, struct turn *t);
/* Calls add for each entry of tools, if there are any, then gives ours a name that no other has. */
int decode_tools(struct decode *d, const struct place *body,
	int (*add)(struct decode *d, const struct place *at, struct err *e), struct err *e);
/* The items in the order that models want: system messages first, every call with its result. */
void decode_end(struct decode *d);

#endif
