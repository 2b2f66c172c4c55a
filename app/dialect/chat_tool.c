/* chat_tool: the function names that a provider sees. SPDX-License-Identifier: ISC */
#include "app/dialect/chat_tool.h"

#include <string.h>

static bool taken(const struct turn *t, const char *name)
{
	for (const struct tool *k = t->tools; k != NULL; k = k->next)
		if (k->kind == TOOL_CLIENT && strcmp(k->name, name) == 0)
			return true;
	return false;
}

static const char *free_name(struct arena *a, const struct turn *t, const char *name)
{
	if (!taken(t, name))
		return name;
	const char *other = arena_printf(a, "sandbox_%s", name);
	for (int i = 2; taken(t, other); i++)
		other = arena_printf(a, "sandbox_%s_%d", name, i);
	return other;
}

void chat_tool_names(struct chat_tool_names *out, struct arena *a, const struct turn *t)
{
	out->shell = free_name(a, t, "shell");
	out->bash = free_name(a, t, "bash");
}

const char *chat_tool_wire(
	const struct chat_tool_names *names, enum tool_kind kind, const char *name)
{
	switch (kind) {
	case TOOL_SHELL:
		return names->shell;
	case TOOL_BASH:
		return names->bash;
	case TOOL_CLIENT:
		break;
	}
	return name;
}

static const struct tool *find(
	const struct chat_tool_names *names, const struct turn *t, const char *wire)
{
	for (const struct tool *k = t->tools; k != NULL; k = k->next)
		if (strcmp(chat_tool_wire(names, k->kind, k->name), wire) == 0)
			return k;
	return NULL;
}

const struct tool *chat_tool_find(
	const struct chat_tool_names *names, const struct turn *t, const char *wire)
{
	const struct tool *k = find(names, t, wire);
	if (k != NULL)
		return k;
	/* Models add the namespace that they saw in training: functions.x, openrouter:x. */
	const char *bare = wire + strlen(wire);
	while (bare > wire && bare[-1] != '.' && bare[-1] != ':')
		bare--;
	return bare == wire || *bare == '\0' ? NULL : find(names, t, bare);
}
