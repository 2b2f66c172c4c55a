/* prepare: all that boxd does before it serves. SPDX-License-Identifier: ISC */
#ifndef SANDBOX_POOL_PREPARE_H
#define SANDBOX_POOL_PREPARE_H

#include "sandbox/pool/pool.h"

/*
 * Checks the host, takes the state folder for this boxd, removes what an earlier one left, and makes
 * the parts that containers are put together from. Exits with a line that says what is missing and
 * how to enable it. Settings must have been loaded.
 */
void prepare(struct pool *p);
/* Makes run/boxd.sock; the last step. Exits like prepare. */
void prepare_listen(struct pool *p);
/* Undoes both, when no slot is left. */
void prepare_undo(struct pool *p);

#endif
