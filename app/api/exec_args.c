/* exec_args: what a person may put into the body of an exec. SPDX-License-Identifier: ISC */
#include "app/api/exec_args.h"

#include <stdint.h>
#include <string.h>

#include "app/base/json.h"
#include "app/tool/tool.h"

#define ENV_MAX       64    /* variables */
#define ENV_BYTES_MAX 32768 /* all of them; they travel in one message with the command */
#define ENV_NAME_MAX  128
#define CWD_MAX       4095
#define INTEGER_MAX   INT64_C(9007199254740991)

static int bad(struct err *e, const char *param, const char *expected)
{
	return err_set(e, ERR_INVALID_REQUEST, param, "%s: expected %s", param, expected);
}

/* Code points of valid UTF-8: every byte that does not continue one. */
static size_t characters(const char *s)
{
	size_t n = 0;

	for (; *s; s++)
		n += ((unsigned char)*s & 0xc0) != 0x80;
	return n;
}

static int check_command(const char *command, const char *param, struct err *e)
{
	if (!command)
		return bad(e, param, "a string");
	if (characters(command) > TOOL_COMMAND_CHARS)
		return err_set(e, ERR_INVALID_REQUEST, param,
			"%s: expected at most %d characters, found %zu", param, TOOL_COMMAND_CHARS,
			characters(command));
	return 0;
}

static int read_list(struct exec_args *out, struct arena *a, const cJSON *list, struct err *e)
{
	int n = cJSON_GetArraySize(list);
	const char **commands;
	const cJSON *item;
	size_t i = 0;

	if (n < 1 || n > TOOL_COMMANDS_MAX)
		return err_set(e, ERR_INVALID_REQUEST, "commands",
			"commands: expected 1 to %d strings, found %d", TOOL_COMMANDS_MAX, n);
	commands = arena_calloc(a, (size_t)n, sizeof(*commands));
	cJSON_ArrayForEach(item, list)
	{
		int rc = check_command(
			cJSON_GetStringValue(item), arena_printf(a, "commands[%zu]", i), e);

		if (rc < 0)
			return rc;
		commands[i++] = item->valuestring;
	}
	out->commands = commands;
	out->ncommands = i;
	return 0;
}

static int read_commands(struct exec_args *out, struct arena *a, const cJSON *body, struct err *e)
{
	const cJSON *list;
	const char *one, **commands;
	int rc = json_get_array(&list, body, "commands", e);

	if (rc < 0)
		return rc;
	rc = json_get_string(&one, body, "command", NULL, e);
	if (rc < 0)
		return rc;
	if ((list != NULL) == (one != NULL))
		return bad(e, "commands",
			"either commands (an array of strings) or command (one string)");
	if (list)
		return read_list(out, a, list, e);
	rc = check_command(one, "command", e);
	if (rc < 0)
		return rc;
	commands = arena_alloc(a, sizeof(*commands));
	commands[0] = one;
	out->commands = commands;
	out->ncommands = 1;
	return 0;
}

static int read_tool(struct exec_args *out, const cJSON *body, struct err *e)
{
	const char *tool;
	int rc = json_get_string(&tool, body, "tool", "shell", e);

	if (rc < 0)
		return rc;
	if (strcmp(tool, "shell") != 0 && strcmp(tool, "bash") != 0)
		return bad(e, "tool", "\"shell\" or \"bash\"");
	out->tool = strcmp(tool, "bash") == 0 ? TOOL_BASH : TOOL_SHELL;
	return 0;
}

/* A positive integer, larger ones clamped to most. */
static int read_clamped(
	int *out, const cJSON *body, const char *key, int dflt, int most, struct err *e)
{
	int64_t v;

	if (json_get_int(&v, body, key, dflt, INT64_MIN, INT64_MAX, e) < 0 || v < 1)
		return bad(e, key, "a positive integer");
	*out = v < most ? (int)v : most;
	return 0;
}

static int read_numbers(
	struct exec_args *out, const struct conf *c, const cJSON *body, struct err *e)
{
	int rc = read_clamped(&out->timeout_ms, body, "timeout_ms", c->command_timeout_ms_default,
		c->command_timeout_ms_max, e);

	if (rc == 0)
		rc = read_clamped(&out->max_output, body, "max_output_length",
			c->output_chars_default, c->output_chars_max, e);
	if (rc == 0)
		rc = read_clamped(&out->sleep_after_seconds, body, "sleep_after_seconds",
			c->sleep_after_seconds_default, c->sleep_after_seconds_max, e);
	return rc;
}

static bool env_name_ok(const char *name)
{
	size_t n = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_");

	return n >= 1 && n <= ENV_NAME_MAX && name[n] == '\0' && !(*name >= '0' && *name <= '9');
}

static int read_variable(
	const char **out, struct arena *a, const cJSON *env, const cJSON *item, struct err *e)
{
	const char *param;

	if (!env_name_ok(item->string))
		return err_set(e, ERR_INVALID_REQUEST, "env",
			"env: expected names of at most %d characters A-Z a-z 0-9 _ that begin "
			"with no digit",
			ENV_NAME_MAX);
	param = arena_printf(a, "env.%s", item->string);
	if (!cJSON_IsString(item))
		return bad(e, param, "a string");
	if (json_member(env, item->string) != item)
		return bad(e, param, "each name once");
	*out = arena_printf(a, "%s=%s", item->string, item->valuestring);
	return 0;
}

static int read_env(struct exec_args *out, struct arena *a, const cJSON *body, struct err *e)
{
	const cJSON *env, *item;
	const char **list;
	size_t n = 0, bytes = 0;
	int rc = json_get_object(&env, body, "env", e);

	if (rc < 0)
		return rc;
	if (!env)
		return 0;
	list = arena_calloc(a, ENV_MAX + 1, sizeof(*list));
	cJSON_ArrayForEach(item, env)
	{
		if (n == ENV_MAX)
			return err_set(e, ERR_INVALID_REQUEST, "env",
				"env: expected at most %d variables", ENV_MAX);
		rc = read_variable(&list[n], a, env, item, e);
		if (rc < 0)
			return rc;
		bytes += strlen(list[n++]) + 1;
		if (bytes > ENV_BYTES_MAX)
			return err_set(e, ERR_INVALID_REQUEST, "env",
				"env: expected at most %d bytes of names and values",
				ENV_BYTES_MAX);
	}
	out->env = list;
	return 0;
}

/* What follows the home in an absolute path, by either of its names; NULL if the path is elsewhere. */
static const char *beneath_home(const char *path)
{
	static const char *const homes[] = {"/home/sandbox", "/workspace/home"};

	if (*path != '/')
		return path;
	for (size_t i = 0; i < sizeof(homes) / sizeof(homes[0]); i++) {
		size_t n = strlen(homes[i]);

		if (strncmp(path, homes[i], n) == 0 && (path[n] == '/' || path[n] == '\0'))
			return path + n;
	}
	return NULL;
}

/* Without empty and "." components; ".." is refused, because what it means depends on links. */
static int read_cwd(struct exec_args *out, struct arena *a, const cJSON *body, struct err *e)
{
	static const char expected[] =
		"a folder in the home, such as src or /home/sandbox/src, without ..";
	const char *cwd, *at;
	char *plain, *put;
	int rc = json_get_string(&cwd, body, "cwd", NULL, e);

	if (rc != 0)
		return rc < 0 ? rc : 0;
	at = beneath_home(cwd);
	if (!at || strlen(at) > CWD_MAX)
		return bad(e, "cwd", expected);
	plain = put = arena_alloc(a, strlen(at) + 2);
	while (*(at += strspn(at, "/"))) {
		size_t n = strcspn(at, "/");

		if (n == 2 && memcmp(at, "..", 2) == 0)
			return bad(e, "cwd", expected);
		if (n != 1 || *at != '.') {
			if (put != plain)
				*put++ = '/';
			memcpy(put, at, n);
			put += n;
		}
		at += n;
	}
	*put = '\0';
	out->cwd = *plain ? plain : NULL;
	return 0;
}

static int read_input(struct exec_args *out, const cJSON *body, struct err *e)
{
	int rc = json_get_string(&out->input, body, "stdin", NULL, e);

	if (rc < 0)
		return rc;
	out->input_len = out->input ? strlen(out->input) : 0;
	return 0;
}

static int check_network(const cJSON *body, struct err *e)
{
	const cJSON *policy, *domains;
	const char *type;
	int rc = json_get_object(&policy, body, "network_policy", e);

	if (rc < 0 || !policy)
		return rc < 0 ? rc : 0;
	type = json_text(policy, "type");
	if (type && strcmp(type, "disabled") == 0)
		return 0;
	if (!type || strcmp(type, "allowlist") != 0)
		return bad(e, "network_policy.type", "\"disabled\" or \"allowlist\"");
	rc = json_get_array(&domains, policy, "allowed_domains", e);
	if (rc < 0)
		return rc;
	/* A list of nobody is the same as no network. */
	if (domains && cJSON_GetArraySize(domains) == 0)
		return 0;
	return bad(e, "network_policy", "{\"type\":\"disabled\"}: an allowlist is not offered yet");
}

/* Fields of the contract that this server does not serve yet are refused, not passed over. */
static int check_absent(const cJSON *body, struct err *e)
{
	const cJSON *files;
	const char *image;
	bool stream;
	int rc = json_get_array(&files, body, "file_ids", e);

	if (rc < 0)
		return rc;
	if (files && cJSON_GetArraySize(files) > 0)
		return bad(e, "file_ids", "none: attaching files is not offered yet");
	rc = json_get_string(&image, body, "image", "default", e);
	if (rc < 0)
		return rc;
	if (strcmp(image, "default") != 0)
		return bad(e, "image", "\"default\", the only image there is");
	rc = json_get_bool(&stream, body, "stream", false, e);
	if (rc < 0)
		return rc;
	return stream ? bad(e, "stream", "false: streaming is not offered here yet") : 0;
}

int exec_args_read(struct exec_args *out, struct arena *a, const struct conf *conf,
	const char *body, size_t n, struct err *e)
{
	cJSON *root;
	int rc = json_parse(&root, a, body, n, e);

	*out = (struct exec_args){0};
	if (rc < 0)
		return rc;
	if (!cJSON_IsObject(root))
		return err_set(e, ERR_INVALID_REQUEST, NULL, "expected a JSON object as body");
	rc = read_commands(out, a, root, e);
	if (rc == 0)
		rc = read_tool(out, root, e);
	if (rc == 0)
		rc = read_numbers(out, conf, root, e);
	if (rc == 0)
		rc = read_env(out, a, root, e);
	if (rc == 0)
		rc = read_cwd(out, a, root, e);
	if (rc == 0)
		rc = read_input(out, root, e);
	if (rc == 0)
		rc = check_network(root, e);
	if (rc == 0)
		rc = check_absent(root, e);
	return rc;
}
