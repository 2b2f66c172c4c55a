/* messages_tools: tools and tool_choice of a Messages request. SPDX-License-Identifier: ISC */
#include <string.h>

#include "app/base/json.h"
#include "app/dialect/environment.h"
#include "app/dialect/messages_in.h"
#include "app/dialect/offer.h"

/* The client runs it, in its own way; providers must be told what its arguments are. */
static const struct tool client_bash = {
	.kind = TOOL_CLIENT,
	.name = "bash",
	.description = "Runs a command in a bash session on the user's machine and returns its "
		       "output. The session stays open between calls; restart opens a new one.",
	.parameters = "{\"type\":\"object\",\"properties\":{"
		      "\"command\":{\"type\":\"string\",\"description\":\"The command to run; "
		      "required unless restart is true.\"},"
		      "\"restart\":{\"type\":\"boolean\",\"description\":\"true to restart the "
		      "session instead.\"}}}",
	.strict = -1,
};

static int add_custom(struct decode *d, const struct place *at, struct err *e)
{
	struct tool tool = {.kind = TOOL_CLIENT, .strict = -1};
	struct place schema;
	bool strict = false;
	int rc = place_need_string(&tool.name, at, "name", e);
	if (rc >= 0)
		rc = place_string(&tool.description, at, "description", e);
	if (rc >= 0)
		rc = place_need_object(&schema, at, "input_schema", e);
	if (rc < 0)
		return rc;
	tool.parameters = json_print(d->arena, schema.v);
	rc = place_bool(&strict, at, "strict", e);
	if (rc < 0)
		return rc;
	if (rc == 0)
		tool.strict = strict;
	return offer_add(d->arena, d->turn, tool, at, e);
}

static int add_ours(struct decode *d, enum tool_kind kind, const struct place *at, struct err *e)
{
	struct tool tool = {.kind = kind, .strict = -1};
	bool here = true;
	int rc = environment_decode(&d->turn->environment, &here, at, kind, e);
	if (rc < 0)
		return rc;
	return offer_add(d->arena, d->turn, here ? tool : client_bash, at, e);
}

/* bash_20250124 and its like. */
static bool is_native_bash(const char *type)
{
	return strncmp(type, "bash_", 5) == 0 && type[5] != '\0' &&
		type[5 + strspn(type + 5, "0123456789")] == '\0';
}

static int add_tool(struct decode *d, const struct place *at, struct err *e)
{
	const char *type = "custom", *name = "bash";
	if (!cJSON_IsObject(at->v))
		return place_fail(at, NULL, e, "expected an object");
	int rc = place_string(&type, at, "type", e);
	if (rc < 0)
		return rc;
	if (strcmp(type, "custom") == 0)
		return add_custom(d, at, e);
	if (strcmp(type, "openrouter:shell") == 0)
		return add_ours(d, TOOL_SHELL, at, e);
	if (strcmp(type, "openrouter:bash") == 0)
		return add_ours(d, TOOL_BASH, at, e);
	if (!is_native_bash(type))
		return place_fail(at, "type", e,
			"expected \"custom\", \"openrouter:shell\", \"openrouter:bash\" or "
			"\"bash_20250124\"");
	rc = place_string(&name, at, "name", e);
	if (rc >= 0 && strcmp(name, "bash") != 0)
		rc = place_fail(at, "name", e, "expected \"bash\"");
	return rc < 0 ? rc : offer_add(d->arena, d->turn, client_bash, at, e);
}

static const struct tool *find_named(const struct turn *t, const char *name)
{
	const struct tool *tool = offer_find(t, TOOL_CLIENT, name);
	if (tool)
		return tool;
	if (strcmp(name, "openrouter:shell") == 0 || strcmp(name, "shell") == 0)
		return offer_find(t, TOOL_SHELL, NULL);
	if (strcmp(name, "openrouter:bash") == 0 || strcmp(name, "bash") == 0)
		return offer_find(t, TOOL_BASH, NULL);
	return NULL;
}

static int read_choice(struct decode *d, const struct place *body, struct err *e)
{
	static const char *const types[] = {"auto", "any", "none", "tool", NULL};
	static const enum choice choices[] = {
		CHOICE_AUTO, CHOICE_REQUIRED, CHOICE_NONE, CHOICE_TOOL};
	struct place choice;
	const char *name = NULL;
	size_t type = 0;
	bool alone = false;
	int rc = place_object(&choice, body, "tool_choice", e);
	if (rc != 0)
		return rc < 0 ? rc : 0;
	rc = place_word(&type, &choice, "type", types, e);
	if (rc != 0)
		return rc < 0 ? rc : place_fail(&choice, "type", e, "required");
	rc = place_bool(&alone, &choice, "disable_parallel_tool_use", e);
	if (rc < 0)
		return rc;
	if (rc == 0)
		d->turn->parallel_tool_calls = !alone;
	if (choices[type] == CHOICE_REQUIRED && !d->turn->tools)
		return place_fail(&choice, "type", e, "\"any\" needs at least one tool");
	d->turn->choice = choices[type];
	if (choices[type] != CHOICE_TOOL)
		return 0;
	rc = place_need_string(&name, &choice, "name", e);
	return rc < 0 ? rc : offer_force(d->turn, find_named(d->turn, name), &choice, "name", e);
}

int messages_in_tools(struct decode *d, const struct place *body, struct err *e)
{
	int rc = decode_tools(d, body, add_tool, e);
	return rc < 0 ? rc : read_choice(d, body, e);
}
