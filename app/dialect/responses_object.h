/* responses_object: the response object and what it is made of. SPDX-License-Identifier: ISC */
#ifndef APP_DIALECT_RESPONSES_OBJECT_H
#define APP_DIALECT_RESPONSES_OBJECT_H

#include "app/base/arena.h"
#include "app/core/event.h"
#include "app/dialect/responses.h"

/* A response in progress: all keys, with the request's values echoed. Owned by the arena. */
cJSON *responses_object_new(struct arena *a, const struct responses_request *rq, const char *id);
/* Sets a member that is there, in its place. v is taken. */
void responses_object_set(cJSON *o, const char *key, cJSON *v);
/* Ends it: status, completed_at, incomplete_details, usage. The status. */
const char *responses_object_finish(cJSON *response, enum finish finish, const struct usage *u);
/* Ends it as failed: status, error, error_type, usage. */
void responses_object_fail(cJSON *response, const struct err *e, const struct usage *u);

/* A server call's item before it ran; id is the item's. Owned by the caller. */
cJSON *responses_object_shell(const struct call *call, const char *id);
/* Completes it with what came of it. */
void responses_object_ran(cJSON *item, const struct result *r);

#endif
