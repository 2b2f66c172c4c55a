/* responses_in: what the files of the Responses decoder share. SPDX-License-Identifier: ISC */
#ifndef APP_DIALECT_RESPONSES_IN_H
#define APP_DIALECT_RESPONSES_IN_H

#include "app/dialect/decode.h"
#include "app/dialect/responses.h"

/* responses_tools.c: "tools" and "tool_choice". */
int responses_in_tools(struct decode *d, const struct place *body, struct err *e);
/* responses_items.c: "input". */
int responses_in_input(struct decode *d, const struct place *body, struct err *e);

/* responses_replay.c: calls and results of earlier turns, by the item's type; 1: it is none of these. */
int responses_in_replay(
	struct decode *d, const struct place *item, const char *type, struct err *e);

/* responses_parts.c: the member key, a string or an array of parts, as a list of parts. */
int responses_in_parts(struct part **out, struct decode *d, const struct place *item,
	const char *key, struct err *e);
/* The member key as the text of a tool's result; see replay_text(). */
int responses_in_output(const char **out, struct decode *d, const struct place *item,
	const char *key, struct err *e);

#endif
