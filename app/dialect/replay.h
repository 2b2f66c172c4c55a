/* replay: calls of earlier turns and their results. SPDX-License-Identifier: ISC */
#ifndef APP_DIALECT_REPLAY_H
#define APP_DIALECT_REPLAY_H

#include <cjson/cJSON.h>

#include "app/base/arena.h"
#include "app/core/turn.h"

/*
 * A conversation that a client sends back. Calls become ITEM_CALL and are never executed; models need
 * each followed by its result, so that what has none gets "(no result)" at the end.
 */
struct replay;
/* Adds to the turn's items. Both last as long as the arena. */
struct replay *replay_new(struct arena *a, struct turn *t);

/* A call; its id is minted if NULL or "", arguments NULL or "" become "{}". False: another call with this id still waits for its result. */
bool replay_call(struct replay *r, struct call call);
/* A fresh call id, in the arena. */
const char *replay_new_id(struct replay *r);
/* The result of a call; text is borrowed. It is put behind its call, wherever the client has it. False: no call with this id waits for one. */
bool replay_result(struct replay *r, const char *call_id, const char *text);
/*
 * The parts of a result as one text, for that is how models take results; pictures and files that
 * are among them follow as a message of the user once the results are over.
 */
const char *replay_text(struct replay *r, const struct part *parts);
/* To be called before an item that is neither a call nor a result, and at the end. */
void replay_shown(struct replay *r);
/* Gives the calls that wait their "(no result)". */
void replay_finish(struct replay *r);

/* The offered (or, if none is offered, the usual) name of a server tool. */
const char *replay_tool_name(const struct replay *r, enum tool_kind kind);

#endif
