/* responses_tools: tools and tool_choice of a Responses request. SPDX-License-Identifier: ISC */
#include <string.h>

#include "app/base/json.h"
#include "app/dialect/environment.h"
#include "app/dialect/offer.h"
#include "app/dialect/responses_in.h"

static int add_function(struct decode *d, const struct place *at, struct err *e)
{
	struct tool tool = {.kind = TOOL_CLIENT, .strict = -1};
	struct place parameters;
	bool strict = false;
	int rc = place_need_string(&tool.name, at, "name", e);
	if (rc >= 0)
		rc = place_string(&tool.description, at, "description", e);
	if (rc < 0)
		return rc;
	rc = place_object(&parameters, at, "parameters", e);
	if (rc < 0)
		return rc;
	if (rc == 0)
		tool.parameters = json_print(d->arena, parameters.v);
	rc = place_bool(&strict, at, "strict", e);
	if (rc < 0)
		return rc;
	if (rc == 0)
		tool.strict = strict;
	return offer_add(d->arena, d->turn, tool, at, e);
}

static int add_tool(struct decode *d, const struct place *at, struct err *e)
{
	const char *type = NULL;
	bool here = true;
	if (!cJSON_IsObject(at->v))
		return place_fail(at, NULL, e, "expected an object");
	int rc = place_need_string(&type, at, "type", e);
	if (rc < 0)
		return rc;
	if (strcmp(type, "function") == 0)
		return add_function(d, at, e);
	if (strcmp(type, "openrouter:shell") == 0) {
		struct tool tool = {.kind = TOOL_SHELL, .strict = -1};
		rc = environment_decode(&d->turn->environment, &here, at, TOOL_SHELL, e);
		return rc < 0 ? rc : offer_add(d->arena, d->turn, tool, at, e);
	}
	if (strcmp(type, "openrouter:bash") == 0)
		return place_fail(at, "type", e,
			"\"openrouter:bash\" is offered on the Messages API only; use "
			"\"openrouter:shell\" here");
	if (strcmp(type, "shell") == 0 || strcmp(type, "local_shell") == 0)
		return place_fail(
			at, "type", e, "\"%s\" is not offered yet; use \"openrouter:shell\"", type);
	return place_fail(at, "type", e, "expected \"function\" or \"openrouter:shell\"");
}

/* The offered tool that a choice names; *out is NULL if it is not offered. */
static int find_named(
	struct tool **out, const struct turn *t, const struct place *at, struct err *e)
{
	const char *type = NULL, *name = NULL;
	if (!cJSON_IsObject(at->v))
		return place_fail(at, NULL, e, "expected an object");
	int rc = place_need_string(&type, at, "type", e);
	if (rc < 0)
		return rc;
	if (strcmp(type, "openrouter:shell") == 0 || strcmp(type, "shell") == 0) {
		*out = offer_find(t, TOOL_SHELL, NULL);
		return 0;
	}
	if (strcmp(type, "function") != 0)
		return place_fail(at, "type", e,
			"expected \"function\", \"openrouter:shell\" or \"allowed_tools\"");
	rc = place_need_string(&name, at, "name", e);
	if (rc == 0)
		*out = offer_find(t, TOOL_CLIENT, name);
	return rc;
}

static void keep_chosen(struct turn *t, const struct tool *const *chosen, size_t n)
{
	struct tool **at = &t->tools;
	while (*at) {
		size_t i = 0;
		while (i < n && chosen[i] != *at)
			i++;
		if (i < n)
			at = &(*at)->next;
		else
			*at = (*at)->next;
	}
}

static int allow_some(struct decode *d, const struct place *choice, struct err *e)
{
	static const char *const modes[] = {"auto", "required", NULL};
	const struct tool **chosen;
	struct place tools;
	const cJSON *v;
	size_t mode = 0, n = 0;
	int rc = place_word(&mode, choice, "mode", modes, e);
	if (rc >= 0)
		rc = place_need_array(&tools, choice, "tools", e);
	if (rc < 0)
		return rc;
	size_t most = (size_t)cJSON_GetArraySize(tools.v);
	size_t offered = 0;
	for (const struct tool *t = d->turn->tools; t; t = t->next)
		offered++;
	if (most == 0 || most > offered)
		return place_fail(&tools, NULL, e, "expected some of the tools that are offered");
	chosen = arena_calloc(d->arena, most, sizeof(struct tool *));
	cJSON_ArrayForEach(v, tools.v)
	{
		struct place at = place_item(&tools, n, v);
		struct tool *tool = NULL;
		rc = find_named(&tool, d->turn, &at, e);
		if (rc < 0)
			return rc;
		if (!tool)
			return place_fail(&at, NULL, e, "no such tool is offered in tools");
		chosen[n++] = tool;
	}
	keep_chosen(d->turn, chosen, n);
	d->turn->choice = mode == 1 ? CHOICE_REQUIRED : CHOICE_AUTO;
	return 0;
}

static int read_choice(struct decode *d, const struct place *body, struct err *e)
{
	static const char *const words[] = {"auto", "none", "required", NULL};
	static const enum choice choices[] = {CHOICE_AUTO, CHOICE_NONE, CHOICE_REQUIRED};
	const cJSON *v = place_member(body, "tool_choice");
	struct tool *tool = NULL;
	struct place choice;
	size_t word = 0;
	if (!v || !cJSON_IsObject(v)) {
		int rc = place_word(&word, body, "tool_choice", words, e);
		if (rc == 0)
			d->turn->choice = choices[word];
		if (rc == 0 && choices[word] == CHOICE_REQUIRED && !d->turn->tools)
			return place_fail(
				body, "tool_choice", e, "\"required\" needs at least one tool");
		return rc < 0 ? rc : 0;
	}
	place_object(&choice, body, "tool_choice", e);
	const char *type = json_text(v, "type");
	if (type && strcmp(type, "allowed_tools") == 0)
		return allow_some(d, &choice, e);
	int rc = find_named(&tool, d->turn, &choice, e);
	return rc < 0 ? rc : offer_force(d->turn, tool, body, "tool_choice", e);
}

int responses_in_tools(struct decode *d, const struct place *body, struct err *e)
{
	int rc = decode_tools(d, body, add_tool, e);
	return rc < 0 ? rc : read_choice(d, body, e);
}
