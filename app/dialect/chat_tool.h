/* chat_tool: the function names that a provider sees. SPDX-License-Identifier: ISC */
#ifndef APP_DIALECT_CHAT_TOOL_H
#define APP_DIALECT_CHAT_TOOL_H

#include "app/base/arena.h"
#include "app/core/turn.h"

/* Our own tools' names for one turn: "shell" and "bash", unless the client has functions so named. */
struct chat_tool_names {
	const char *shell, *bash;
};
void chat_tool_names(struct chat_tool_names *out, struct arena *a, const struct turn *t);
/* The provider's name of a tool; name is the client's, for TOOL_CLIENT. Borrowed. */
const char *chat_tool_wire(
	const struct chat_tool_names *names, enum tool_kind kind, const char *name);
/* The tool that is offered under a provider's name, also when decorated ("functions.x"); NULL if none is. */
const struct tool *chat_tool_find(
	const struct chat_tool_names *names, const struct turn *t, const char *wire);

#endif
