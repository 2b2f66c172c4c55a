/* offer: the tools of a request. SPDX-License-Identifier: ISC */
#include "app/dialect/offer.h"

#include <string.h>

#define NAME_MAX_CHARS 128
/* Names are compared with each other; no provider takes as many. */
#define TOOLS_MAX 512

static bool is_name(const char *s)
{
	size_t n = strspn(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-");
	return n > 0 && n <= NAME_MAX_CHARS && s[n] == '\0';
}

int offer_add(
	struct arena *a, struct turn *t, struct tool tool, const struct place *at, struct err *e)
{
	struct tool **last = &t->tools;
	size_t n = 0;
	if (tool.kind == TOOL_CLIENT && !is_name(tool.name))
		return place_fail(at, "name", e,
			"expected 1 to %d characters of A-Z, a-z, 0-9, \"_\" and \"-\"",
			NAME_MAX_CHARS);
	if (offer_find(t, tool.kind, tool.name)) {
		if (tool.kind != TOOL_CLIENT)
			return 0;
		return place_fail(at, "name", e, "another tool has this name");
	}
	for (; *last; last = &(*last)->next)
		n++;
	if (n >= TOOLS_MAX)
		return place_fail(at, NULL, e, "expected at most %d tools", TOOLS_MAX);
	*last = arena_new_of(a, struct tool);
	**last = tool;
	return 0;
}

void offer_name(struct turn *t)
{
	for (struct tool *tool = t->tools; tool; tool = tool->next) {
		if (tool->kind == TOOL_CLIENT)
			continue;
		bool shell = tool->kind == TOOL_SHELL;
		tool->name = shell ? "shell" : "bash";
		if (offer_find(t, TOOL_CLIENT, tool->name))
			tool->name = shell ? "sandbox_shell" : "sandbox_bash";
	}
}

struct tool *offer_find(const struct turn *t, enum tool_kind kind, const char *name)
{
	struct tool *tool = t->tools;
	while (tool &&
		(tool->kind != kind || (kind == TOOL_CLIENT && strcmp(tool->name, name) != 0)))
		tool = tool->next;
	return tool;
}

int offer_force(struct turn *t, const struct tool *tool, const struct place *at, const char *key,
	struct err *e)
{
	if (!tool)
		return place_fail(at, key, e, "no such tool is offered in tools");
	t->choice = CHOICE_TOOL;
	t->choice_name = tool->name;
	return 0;
}
