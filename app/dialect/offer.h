/* offer: the tools of a request, in both APIs. SPDX-License-Identifier: ISC */
#ifndef APP_DIALECT_OFFER_H
#define APP_DIALECT_OFFER_H

#include "app/base/arena.h"
#include "app/core/turn.h"
#include "app/dialect/place.h"

/*
 * Adds a tool at the end of the turn's; at names it in errors. A client's name must be 1 to 128 of
 * A-Z a-z 0-9 _ - and unused; a server tool that is there already is not added again.
 */
int offer_add(
	struct arena *a, struct turn *t, struct tool tool, const struct place *at, struct err *e);

/*
 * After the last one: server tools get a name that no tool of the client's has ("shell", else
 * "sandbox_shell"), so that a name means one tool everywhere.
 */
void offer_name(struct turn *t);

/* The tool of that kind; of TOOL_CLIENT, with that name. NULL if it is not offered. */
struct tool *offer_find(const struct turn *t, enum tool_kind kind, const char *name);
/* Makes the turn call that tool; an error at key of place if it is not offered. */
int offer_force(struct turn *t, const struct tool *tool, const struct place *at, const char *key,
	struct err *e);

#endif
