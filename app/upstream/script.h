/* script: the built-in deterministic model sandgate/script. SPDX-License-Identifier: ISC */
#ifndef APP_UPSTREAM_SCRIPT_H
#define APP_UPSTREAM_SCRIPT_H

#include "app/core/event.h"
#include "app/core/turn.h"

/* One turn (contract sandgate.md section 7). */
int script_turn(const struct turn *t, const struct sink *s, struct err *e);

#endif
