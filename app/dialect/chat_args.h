/* chat_args: the arguments of one call, as they trickle in. SPDX-License-Identifier: ISC */
#ifndef APP_DIALECT_CHAT_ARGS_H
#define APP_DIALECT_CHAT_ARGS_H

#include <stdbool.h>

#include "sandbox/sys/buf.h"

#define CHAT_ARGS_DEPTH 128 /* nesting that is followed; as deep as json_parse goes */

/*
 * Text up to the end of its first JSON object; what follows it is dropped. "{}" is taken back when
 * an object follows, for some providers begin every call so.
 */
struct chat_args {
	struct buf text;
	char open[CHAT_ARGS_DEPTH]; /* the closers that are due */
	size_t depth;
	bool in_string, escaped;
	bool filled;   /* something stands between the outermost braces */
	bool complete; /* text is one whole object */
	bool odd;      /* text is no object: kept as it comes, not followed */
};

void chat_args_init(struct chat_args *g, size_t max);
void chat_args_free(struct chat_args *g);
void chat_args_put(struct chat_args *g, const char *s, size_t n);
/* True if text can only grow: it may be passed on. */
bool chat_args_firm(const struct chat_args *g);
/*
 * No more will come. Empty (or null) becomes {}, an object written as a JSON string becomes that
 * object, and, if repair is asked for, what is open is closed where that gives sound JSON.
 */
void chat_args_end(struct chat_args *g, bool repair);

#endif
