/* responses_replay: calls and results of earlier turns. SPDX-License-Identifier: ISC */
#include <string.h>

#include "app/base/json.h"
#include "app/dialect/environment.h"
#include "app/dialect/responses_in.h"

static int add_call(struct decode *d, struct call call, const struct place *at, struct err *e)
{
	if (replay_call(d->replay, call))
		return 0;
	return place_fail(at, "call_id", e, "another call with this id has no result yet");
}

static int add_result(
	struct decode *d, const char *id, const char *text, const struct place *at, struct err *e)
{
	if (replay_result(d->replay, id, text))
		return 0;
	return place_fail(at, "call_id", e, "no call with this id waits for a result");
}

/* A value of ours as text in the arena; v is freed. */
static const char *printed(struct decode *d, cJSON *v)
{
	const char *text = json_print(d->arena, v);
	cJSON_Delete(v);
	return text;
}

/* {KEY: the member's value}. */
static const char *wrapped(struct decode *d, const char *key, const cJSON *v)
{
	cJSON *o = cJSON_CreateObject();
	cJSON_AddItemToObject(o, key, cJSON_Duplicate(v, true));
	return printed(d, o);
}

static int function_call(struct decode *d, const struct place *at, struct err *e)
{
	struct call call = {.tool = TOOL_CLIENT};
	int rc = place_need_string(&call.id, at, "call_id", e);
	if (rc >= 0)
		rc = place_need_string(&call.name, at, "name", e);
	if (rc >= 0)
		rc = place_need_string(&call.arguments, at, "arguments", e);
	return rc < 0 ? rc : add_call(d, call, at, e);
}

/* What the model wrote was plain text, which has no place in a function's arguments but as a member. */
static int custom_tool_call(struct decode *d, const struct place *at, struct err *e)
{
	struct call call = {.tool = TOOL_CLIENT};
	const char *input;
	int rc = place_need_string(&call.id, at, "call_id", e);
	if (rc >= 0)
		rc = place_need_string(&call.name, at, "name", e);
	if (rc >= 0)
		rc = place_need_string(&input, at, "input", e);
	if (rc < 0)
		return rc;
	call.arguments = wrapped(d, "input", place_member(at, "input"));
	return add_call(d, call, at, e);
}

static int call_output(struct decode *d, const struct place *at, struct err *e)
{
	const char *id = NULL, *text = NULL;
	int rc = place_need_string(&id, at, "call_id", e);
	if (rc >= 0)
		rc = responses_in_output(&text, d, at, "output", e);
	return rc < 0 ? rc : add_result(d, id, text, at, e);
}

/* The arguments as the model wrote them if the item has them, else made of what else there is. */
static int read_arguments(const char **out, const struct place *at, const char *made, struct err *e)
{
	int rc = place_string(out, at, "arguments", e);
	if (rc == 1)
		*out = made;
	return rc < 0 ? rc : 0;
}

static int read_action(const char **out, struct decode *d, const struct place *at, struct err *e)
{
	struct place action;
	int rc = place_object(&action, at, "action", e);
	if (rc != 0)
		return rc;
	cJSON *copy = cJSON_Duplicate(action.v, true);
	for (cJSON *v = copy->child, *next; v; v = next) {
		next = v->next;
		if (cJSON_IsNull(v))
			cJSON_Delete(cJSON_DetachItemViaPointer(copy, v));
	}
	*out = printed(d, copy);
	return 0;
}

static int shell_call(struct decode *d, const struct place *at, struct err *e)
{
	struct call call = {.tool = TOOL_SHELL, .name = replay_tool_name(d->replay, TOOL_SHELL)};
	const char *action = NULL;
	struct place env;
	int rc = place_need_string(&call.id, at, "call_id", e);
	if (rc >= 0)
		rc = read_action(&action, d, at, e);
	if (rc >= 0)
		rc = read_arguments(&call.arguments, at, action, e);
	if (rc >= 0 && !call.arguments)
		rc = place_fail(at, "action", e, "required");
	if (rc >= 0)
		rc = place_object(&env, at, "environment", e);
	if (rc < 0)
		return rc;
	if (rc == 0)
		environment_replayed(&d->turn->environment, json_text(env.v, "container_id"));
	return add_call(d, call, at, e);
}

static int shell_call_output(struct decode *d, const struct place *at, struct err *e)
{
	const char *id = NULL, *error = NULL, *container = NULL;
	struct place output;
	int rc = place_need_string(&id, at, "call_id", e);
	if (rc >= 0)
		rc = place_need_array(&output, at, "output", e);
	if (rc >= 0)
		rc = place_string(&container, at, "container_id", e);
	if (rc >= 0)
		rc = place_string(&error, at, "error", e);
	if (rc < 0)
		return rc;
	environment_replayed(&d->turn->environment, container);
	const char *text = error ? wrapped(d, "error", place_member(at, "error"))
				 : wrapped(d, "output", output.v);
	return add_result(d, id, text, at, e);
}

/* Its command is one argument vector, and its output's "id" is the call's. */
static int local_shell_call(struct decode *d, const struct place *at, struct err *e)
{
	struct call call = {.tool = TOOL_SHELL, .name = replay_tool_name(d->replay, TOOL_SHELL)};
	struct place action, command;
	int rc = place_need_string(&call.id, at, "call_id", e);
	if (rc >= 0)
		rc = place_need_object(&action, at, "action", e);
	if (rc >= 0)
		rc = place_need_array(&command, &action, "command", e);
	if (rc < 0)
		return rc;
	call.arguments = wrapped(d, "command", command.v);
	return add_call(d, call, at, e);
}

static int local_shell_call_output(struct decode *d, const struct place *at, struct err *e)
{
	const char *id = NULL, *output = NULL;
	int rc = place_string(&id, at, "call_id", e);
	if (rc == 1)
		rc = place_need_string(&id, at, "id", e);
	if (rc >= 0)
		rc = place_need_string(&output, at, "output", e);
	return rc < 0 ? rc : add_result(d, id, output, at, e);
}

/* One item of ours is a call with its result; call_id and id may both be missing. */
static int add_pair(
	struct decode *d, struct call call, const char *text, const struct place *at, struct err *e)
{
	const char *container = NULL;
	int rc = place_string(&call.id, at, "call_id", e);
	if (rc == 1)
		rc = place_string(&call.id, at, "id", e);
	if (rc >= 0)
		rc = place_string(&container, at, "container_id", e);
	if (rc < 0)
		return rc;
	environment_replayed(&d->turn->environment, container);
	if (!call.id || !*call.id)
		call.id = replay_new_id(d->replay);
	rc = add_call(d, call, at, e);
	return rc < 0 || !text ? rc : add_result(d, call.id, text, at, e);
}

static int our_shell(struct decode *d, const struct place *at, struct err *e)
{
	struct call call = {.tool = TOOL_SHELL, .name = replay_tool_name(d->replay, TOOL_SHELL)};
	const char *action = NULL, *error = NULL, *text = NULL;
	struct place output;
	int rc = read_action(&action, d, at, e);
	if (rc >= 0)
		rc = read_arguments(&call.arguments, at, action, e);
	if (rc >= 0)
		rc = place_string(&error, at, "error", e);
	if (rc < 0)
		return rc;
	if (rc == 0)
		text = wrapped(d, "error", place_member(at, "error"));
	rc = place_array(&output, at, "output", e);
	if (rc == 0 && !text)
		text = wrapped(d, "output", output.v);
	return rc < 0 ? rc : add_pair(d, call, text, at, e);
}

static int our_bash(struct decode *d, const struct place *at, struct err *e)
{
	static const char *const keys[] = {"command", "stdout", "stderr", "exitCode"};
	struct call call = {.tool = TOOL_BASH, .name = replay_tool_name(d->replay, TOOL_BASH)};
	const char *error = NULL, *command = NULL, *made = NULL;
	int rc = place_string(&command, at, "command", e);
	if (rc == 0)
		made = wrapped(d, "command", place_member(at, "command"));
	if (rc >= 0)
		rc = read_arguments(&call.arguments, at, made, e);
	if (rc >= 0)
		rc = place_string(&error, at, "error", e);
	if (rc < 0)
		return rc;
	cJSON *o = cJSON_CreateObject();
	if (error)
		cJSON_AddStringToObject(o, "error", error);
	for (size_t i = 0; !error && i < sizeof(keys) / sizeof(*keys); i++) {
		const cJSON *v = place_member(at, keys[i]);
		if (cJSON_IsString(v) || cJSON_IsNumber(v))
			cJSON_AddItemToObject(o, keys[i], cJSON_Duplicate(v, false));
	}
	return add_pair(d, call, printed(d, o), at, e);
}

int responses_in_replay(struct decode *d, const struct place *item, const char *type, struct err *e)
{
	static const struct {
		const char *type;
		int (*add)(struct decode *d, const struct place *at, struct err *e);
	} rows[] = {
		{"function_call", function_call},
		{"function_call_output", call_output},
		{"openrouter:shell", our_shell},
		{"openrouter:bash", our_bash},
		{"shell_call", shell_call},
		{"shell_call_output", shell_call_output},
		{"local_shell_call", local_shell_call},
		{"local_shell_call_output", local_shell_call_output},
		{"custom_tool_call", custom_tool_call},
		{"custom_tool_call_output", call_output},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (strcmp(rows[i].type, type) == 0)
			return rows[i].add(d, item, e);
	return 1;
}
