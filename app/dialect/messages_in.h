/* messages_in: what the files of the Messages decoder share. SPDX-License-Identifier: ISC */
#ifndef APP_DIALECT_MESSAGES_IN_H
#define APP_DIALECT_MESSAGES_IN_H

#include "app/dialect/decode.h"
#include "app/dialect/messages.h"

/* messages_tools.c: "tools" and "tool_choice". */
int messages_in_tools(struct decode *d, const struct place *body, struct err *e);

/* messages_blocks.c: one entry of "messages". */
int messages_in_message(struct decode *d, const struct place *message, struct err *e);

/*
 * messages_parts.c: a block that is content in itself (text, image, document, search_result) as a
 * part; 1 if it is of another type.
 */
int messages_in_part(struct part **out, struct arena *a, const struct place *block, struct err *e);
/* The member key, a string or an array of such blocks, as a list; an empty one if it is absent. */
int messages_in_parts(
	struct part **out, struct arena *a, const struct place *at, const char *key, struct err *e);

#endif
