/* chatin: what the tests of chat_in share. SPDX-License-Identifier: ISC */
#ifndef TESTS_LIB_CHATIN_H
#define TESTS_LIB_CHATIN_H

#include "app/dialect/chat.h"
#include "tests/lib/events.h"

/* A turn that offers our shell and two functions of the client's, open_ticket and now. */
struct chatin {
	struct arena *arena;
	struct turn turn;
	struct events seen;
	struct err err;
};
int chatin_setup(void **state);
int chatin_teardown(void **state);

/* Assembles text, fed in two pieces that meet at cut, or whole; events are recorded in seen. */
int chatin_feed_cut(struct chatin *f, const char *text, size_t n, size_t cut);
int chatin_feed(struct chatin *f, const char *text);
/* text gives these events wherever it is cut. */
void chatin_gives(struct chatin *f, const char *text, const char *expected);
/* The same for a file below tests/unit/golden. */
void chatin_sample(struct chatin *f, const char *name, const char *expected);

#define DELTA(members) "data: {\"choices\":[{\"index\":0,\"delta\":{" members "}}]}\n\n"
#define CONTENT(text)  DELTA("\"content\":\"" text "\"")
#define CALLS(list)    DELTA("\"tool_calls\":[" list "]")
#define FINISH(reason)                                                                             \
	"data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"" reason "\"}]}\n\n"
#define DONE            "data: [DONE]\n\n"
#define USAGE           "412/300/0 64/0"
#define SHELL(commands) "{\\\"commands\\\":[" commands "]}"
#define ONE_CALL(i, id, args)                                                                      \
	"{\"index\":" i ",\"id\":\"" id                                                            \
	"\",\"function\":{\"name\":\"shell\",\"arguments\":\"" args "\"}}"

#endif
