/* dialect: conversations for the encoders, and reading what they wrote. SPDX-License-Identifier: ISC */
#ifndef TESTS_LIB_DIALECT_H
#define TESTS_LIB_DIALECT_H

#include <cjson/cJSON.h>

#include "app/base/arena.h"
#include "app/core/event.h"
#include "app/core/turn.h"
#include "app/dialect/sse.h"

/* An encoder being fed. */
struct dialect_feed {
	struct arena *arena;
	struct sink to;
	struct usage usage; /* what the next turn end and the end of all say */
	int rc;             /* the first error of the sink */
};

void dialect_say(struct dialect_feed *f, enum event_type type, const char *text);
/* A call with its arguments in pieces; the pieces end with NULL. */
struct call *dialect_call(
	struct dialect_feed *f, enum tool_kind tool, const char *name, const char *const *pieces);
void dialect_call_event(
	struct dialect_feed *f, enum event_type type, const struct call *c, const char *text);
void dialect_turn_end(struct dialect_feed *f, enum finish finish);
/* One command that was run, with its result; file may be NULL. */
struct dialect_ran {
	const char *command, *out, *err, *file, *error;
	int code;
};
void dialect_result(struct dialect_feed *f, const struct call *c, const struct dialect_ran *ran);
void dialect_done(struct dialect_feed *f, enum finish finish);
void dialect_failed(struct dialect_feed *f, enum err_code code, const char *message);

/* Whole conversations, by the name of their golden file. */
struct dialect_scene {
	const char *name;
	const char *request; /* the members that the request has beside the usual */
	void (*play)(struct dialect_feed *f);
	bool tools; /* a server tool is offered */
};
const struct dialect_scene *dialect_scene(const char *name);
extern const struct dialect_scene dialect_scenes[]; /* ends with a name of NULL */

/* Frames as [{"event":…,"data":…}]; data that is no JSON is a string. The stream is fed in pieces of step bytes. */
cJSON *dialect_frames(const char *stream, size_t n, size_t step);
/* NULL if all of want is in got, or what is not, in static memory. Ids and times need to correspond only. */
const char *dialect_differ(const cJSON *want, const cJSON *got);

/*
 * The items of a turn, one a line: "system: text", "user: text, image URL", "assistant: …",
 * "reasoning: …", "call ID NAME arguments" (server tools with a "!"), "result ID: text".
 */
const char *dialect_items(struct arena *a, const struct turn *t);

/* A writer that appends to the buf ctx. */
int dialect_write(void *ctx, const char *p, size_t n);

#endif
