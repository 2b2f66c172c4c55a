/* args: what a model put into a call of ours. SPDX-License-Identifier: ISC */
#include "app/tool/args.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "app/base/json.h"
#include "app/tool/tool.h"

/* Doubles count exactly up to here; nobody means more. */
#define ECHO_MAX 9007199254740991.0

static size_t code_points(const char *s)
{
	size_t n = 0;

	for (; *s; s++)
		n += ((unsigned char)*s & 0xc0) != 0x80;
	return n;
}

static int64_t number_asked(const cJSON *v)
{
	double d;

	if (cJSON_IsString(v)) {
		char *end;

		d = strtod(v->valuestring, &end);
		if (end == v->valuestring || *end != '\0')
			return -1;
	} else if (cJSON_IsNumber(v)) {
		d = v->valuedouble;
	} else {
		return -1;
	}
	if (isnan(d) || d < 0)
		return -1;
	return (int64_t)fmin(d, ECHO_MAX);
}

static int in_force(int64_t asked, int dflt, int max)
{
	if (asked < 1)
		return dflt < max ? dflt : max;
	return asked < max ? (int)asked : max;
}

static const cJSON *find_commands(const cJSON *root)
{
	static const char *const keys[] = {"commands", "command", "cmd"};

	if (cJSON_IsString(root) || cJSON_IsArray(root))
		return root;
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		const cJSON *v = json_member(root, keys[i]);

		if (v && !cJSON_IsNull(v))
			return v;
	}
	return NULL;
}

static bool asks_restart(const cJSON *root)
{
	const cJSON *v = json_member(root, "restart");

	return cJSON_IsTrue(v) || (cJSON_IsString(v) && strcmp(v->valuestring, "true") == 0);
}

static int read_commands(struct args *out, struct arena *a, const cJSON *v, struct err *e)
{
	size_t n = cJSON_IsArray(v) ? (size_t)cJSON_GetArraySize(v) : 1;
	const char **list = arena_calloc(a, n + 1, sizeof(*list));
	const cJSON *entry = cJSON_IsArray(v) ? v->child : v;

	out->commands = list;
	for (size_t i = 0; i < n; i++, entry = entry->next) {
		if (!cJSON_IsString(entry))
			return err_set(e, ERR_INVALID_REQUEST, NULL,
				"commands: expected an array of strings, entry %zu is none", i);
		list[out->ncommands++] = entry->valuestring;
	}
	return 0;
}

static int check_limits(const struct args *args, struct err *e)
{
	if (args->ncommands > TOOL_COMMANDS_MAX)
		return err_set(e, ERR_INVALID_REQUEST, NULL,
			"commands: %zu commands, at most %d are allowed in a call", args->ncommands,
			TOOL_COMMANDS_MAX);
	for (size_t i = 0; i < args->ncommands; i++) {
		size_t n = code_points(args->commands[i]);

		if (n > TOOL_COMMAND_CHARS)
			return err_set(e, ERR_INVALID_REQUEST, NULL,
				"commands: entry %zu has %zu characters, at most %d are allowed in "
				"a "
				"command; write long texts to a file in several commands",
				i, n, TOOL_COMMAND_CHARS);
	}
	return 0;
}

int args_parse(struct args *out, struct arena *a, const struct conf *conf, const struct call *call,
	struct err *e)
{
	const cJSON *v;
	struct err why;
	cJSON *root;
	int rc;

	*out = (struct args){.timeout_asked = -1, .output_asked = -1};
	if (json_parse(&root, a, call->arguments, strlen(call->arguments), &why) < 0)
		return err_set(e, ERR_INVALID_REQUEST, NULL, "the arguments are not valid JSON: %s",
			why.message);
	out->timeout_asked = number_asked(json_member(root, "timeout_ms"));
	out->output_asked = number_asked(json_member(root, "max_output_length"));
	out->timeout_ms = in_force(
		out->timeout_asked, conf->command_timeout_ms_default, conf->command_timeout_ms_max);
	out->max_output =
		in_force(out->output_asked, conf->output_chars_default, conf->output_chars_max);
	out->restart = call->tool == TOOL_BASH && asks_restart(root);
	v = find_commands(root);
	if (v && (rc = read_commands(out, a, v, e)) < 0)
		return rc;
	if (out->ncommands == 0 && !out->restart)
		return err_set(e, ERR_INVALID_REQUEST, NULL, "%s: at least one command is needed",
			call->tool == TOOL_BASH ? "command" : "commands");
	return check_limits(out, e);
}
