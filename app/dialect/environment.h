/* environment: the parameters of a server tool, in both APIs. SPDX-License-Identifier: ISC */
#ifndef APP_DIALECT_ENVIRONMENT_H
#define APP_DIALECT_ENVIRONMENT_H

#include "app/core/turn.h"
#include "app/dialect/place.h"

/*
 * Reads "parameters" (contract openrouter.md section 4) of the tool entry at. *here says whether the
 * calls run in our sandbox; bash with another engine goes back to the client. A request has one
 * container: the first entry decides, a later one that names another container is refused.
 */
int environment_decode(struct environment *env, bool *here, const struct place *tool,
	enum tool_kind kind, struct err *e);

/* Session key: the first that is present and not empty of session_id, the header, prompt_cache_key. */
int environment_session(
	struct environment *env, const struct place *body, const char *header, struct err *e);

/* Notes the container of a replayed item; the newest wins. What cannot be an id of ours is passed over. */
void environment_replayed(struct environment *env, const char *container_id);

#endif
