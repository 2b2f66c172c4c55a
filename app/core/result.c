/* result: a tool result as JSON. SPDX-License-Identifier: ISC */
#include "app/core/result.h"

#include <string.h>

#include "app/base/json.h"

#define BASH_TIMEOUT_CODE  124 /* what timeout(1) says */
#define OUT_OF_MEMORY_CODE 137 /* the kernel kills with SIGKILL, 128 + 9 */
#define OUT_OF_MEMORY_LINE "Killed: the command ran out of the container's memory.\n"
#define TIMEOUT_LINE       "Killed: the command ran into its time limit.\n"

/* Well above 100 commands' outputs of 65,536 characters at 4 bytes, two streams each. */
#define JOINED_MAX ((size_t)64 * 1024 * 1024)

static int exit_code(const struct output *o)
{
	switch (o->outcome) {
	case OUTCOME_SIGNAL:
		return 128 + o->code;
	case OUTCOME_OUT_OF_MEMORY:
		return OUT_OF_MEMORY_CODE;
	case OUTCOME_TIMEOUT:
		return BASH_TIMEOUT_CODE;
	case OUTCOME_EXIT:
		break;
	}
	return o->code;
}

/* A line of ours goes on a line of its own. */
static void put_note(struct buf *b, const char *note)
{
	if (b->len > 0 && b->data[b->len - 1] != '\n')
		buf_putc(b, '\n');
	buf_puts(b, note);
}

static void put_err(struct buf *b, const struct output *o)
{
	buf_put(b, o->err, o->err_len);
	if (o->outcome == OUTCOME_OUT_OF_MEMORY)
		put_note(b, OUT_OF_MEMORY_LINE);
}

static void add_buf(cJSON *o, const char *key, const struct buf *b)
{
	json_add_text(o, key, buf_str(b), b->len);
}

static cJSON *output_json(const struct output *o)
{
	cJSON *entry = cJSON_CreateObject();
	cJSON *outcome;
	struct buf err;

	buf_init(&err, JOINED_MAX);
	put_err(&err, o);
	json_add_text(entry, "stdout", o->out ? o->out : "", o->out_len);
	add_buf(entry, "stderr", &err);
	buf_free(&err);
	outcome = cJSON_AddObjectToObject(entry, "outcome");
	if (o->outcome == OUTCOME_TIMEOUT) {
		cJSON_AddStringToObject(outcome, "type", "timeout");
	} else {
		cJSON_AddStringToObject(outcome, "type", "exit");
		cJSON_AddNumberToObject(outcome, "exit_code", exit_code(o));
	}
	return entry;
}

cJSON *result_outputs(const struct result *r)
{
	cJSON *list = cJSON_CreateArray();

	for (const struct output *o = r->outputs; o; o = o->next)
		cJSON_AddItemToArray(list, output_json(o));
	return list;
}

cJSON *result_bash(const struct result *r)
{
	cJSON *v = cJSON_CreateObject();
	struct buf command, out, err;
	int code = 0;

	buf_init(&command, JOINED_MAX);
	buf_init(&out, JOINED_MAX);
	buf_init(&err, JOINED_MAX);
	for (size_t i = 0; i < r->ncommands; i++) {
		if (i > 0)
			buf_putc(&command, '\n');
		buf_puts(&command, r->commands[i]);
	}
	for (const struct output *o = r->outputs; o; o = o->next) {
		buf_put(&out, o->out, o->out_len);
		put_err(&err, o);
		if (o->outcome == OUTCOME_TIMEOUT)
			put_note(&err, TIMEOUT_LINE);
		code = exit_code(o);
	}
	add_buf(v, "command", &command);
	add_buf(v, "stdout", &out);
	add_buf(v, "stderr", &err);
	cJSON_AddNumberToObject(v, "exitCode", code);
	buf_free(&command);
	buf_free(&out);
	buf_free(&err);
	return v;
}

cJSON *result_citations(const struct result *r)
{
	cJSON *list = cJSON_CreateArray();

	for (const struct citation *c = r->files; c; c = c->next) {
		cJSON *v = cJSON_CreateObject();

		cJSON_AddStringToObject(v, "type", "container_file_citation");
		cJSON_AddStringToObject(v, "container_id", c->container_id);
		cJSON_AddStringToObject(v, "file_id", c->file_id);
		json_add_text(v, "filename", c->filename, strlen(c->filename));
		cJSON_AddNumberToObject(v, "start_index", 0);
		cJSON_AddNumberToObject(v, "end_index", 0);
		cJSON_AddItemToArray(list, v);
	}
	return list;
}

static void add_int_or_null(cJSON *o, const char *key, int64_t v)
{
	if (v < 0)
		cJSON_AddNullToObject(o, key);
	else
		cJSON_AddNumberToObject(o, key, (double)v);
}

cJSON *result_action(const struct result *r)
{
	cJSON *v = cJSON_CreateObject();
	cJSON *commands = cJSON_AddArrayToObject(v, "commands");

	for (size_t i = 0; i < r->ncommands; i++)
		cJSON_AddItemToArray(commands, cJSON_CreateString(r->commands[i]));
	add_int_or_null(v, "timeout_ms", r->timeout_ms);
	add_int_or_null(v, "max_output_length", r->max_output_length);
	return v;
}
