/* messages_object: the message object and what it is made of. SPDX-License-Identifier: ISC */
#ifndef APP_DIALECT_MESSAGES_OBJECT_H
#define APP_DIALECT_MESSAGES_OBJECT_H

#include <cjson/cJSON.h>

#include "app/base/arena.h"
#include "app/core/event.h"

/* A message that has just begun. Owned by the arena. */
cJSON *messages_object_new(struct arena *a, const char *id, const char *model);
/* What message_delta says of the end: "delta" and "usage". Both owned by the caller. */
cJSON *messages_object_delta(const char *stop_reason, const char *stop_sequence);
cJSON *messages_object_usage(const struct usage *u);
/* Puts both into the message. They are duplicated. */
void messages_object_end(cJSON *message, const cJSON *delta, const cJSON *usage);

/* The id of a call's block: toolu_ or srvtoolu_ in place of call_. In the arena. */
const char *messages_object_call_id(struct arena *a, const struct call *call);
/* The block of a call, input still empty. Owned by the caller. */
cJSON *messages_object_call(struct arena *a, const struct call *call);
/* Its arguments as the text of a JSON object: as the model wrote them, or {"raw_arguments":"…"}. */
const char *messages_object_input(struct arena *a, const char *arguments);
/* The block of a result; error instead of r: the call did not run. Owned by the caller. */
cJSON *messages_object_result(
	struct arena *a, const struct call *call, const struct result *r, const char *error);

#endif
