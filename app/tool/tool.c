/* tool: running a server call. SPDX-License-Identifier: ISC */
#include "app/tool/tool.h"

#include <string.h>

#include "app/base/json.h"
#include "app/box/box.h"
#include "app/core/result.h"
#include "app/tool/args.h"
#include "app/tool/container.h"
#include "sandbox/sys/io.h"

#define CITATIONS_MAX 10
#define RESTARTED     "The shell goes on in a new container.\n"

int tool_sleep_after(const struct conf *conf, const struct environment *env)
{
	int64_t s = env->sleep_after_seconds;

	if (s < 1)
		s = conf->sleep_after_seconds_default;
	return (int)(s < conf->sleep_after_seconds_max ? s : conf->sleep_after_seconds_max);
}

double tool_cost(const struct tool_context *tc, double *seconds)
{
	int64_t s = 0;

	if (tc->first_ms != 0) {
		s = (io_now_ms() - tc->first_ms + 999) / 1000;
		if (s < 1)
			s = 1;
		if (tc->cold && s < tc->conf->sandbox_minimum_seconds)
			s = tc->conf->sandbox_minimum_seconds;
	}
	if (seconds)
		*seconds = (double)s;
	return (double)s * tc->conf->sandbox_price_per_second;
}

static int lease(struct tool_context *tc, struct err *e)
{
	int rc;

	if (tc->box)
		return 0;
	rc = box_lease(&tc->box, tc->arena, tc->conf->boxd, tc->workspace, tc->container_id,
		tc->request_id, e);
	if (rc < 0) {
		tc->box = NULL;
		return rc;
	}
	/* Book-keeping that fails is logged by whoever does it; the command runs all the same. */
	if (tc->used)
		(void)tc->used(tc->used_ctx, tc->container_id);
	return 0;
}

/* Puts the files of the newest command before those of earlier ones; a path is listed once. */
static void cite(struct arena *a, struct result *r, const struct citation *newest)
{
	const struct citation *old = r->files;
	struct citation **last = &r->files;
	size_t n = 0;

	r->files = NULL;
	for (int pass = 0; pass < 2; pass++, newest = old) {
		for (const struct citation *c = newest; c && n < CITATIONS_MAX; c = c->next) {
			const struct citation *seen = r->files;

			while (seen && strcmp(seen->file_id, c->file_id) != 0)
				seen = seen->next;
			if (seen)
				continue;
			*last = arena_new_of(a, struct citation);
			**last = *c;
			(*last)->next = NULL;
			last = &(*last)->next;
			n++;
		}
	}
}

static void keep(struct tool_context *tc, struct result *r, const struct box_reply *reply,
	const char *command)
{
	struct output *o = arena_new_of(tc->arena, struct output);
	struct output **last = &r->outputs;
	struct skipped **skips = &r->skipped;

	*o = reply->output;
	o->command = command;
	o->next = NULL;
	while (*last)
		last = &(*last)->next;
	*last = o;
	while (*skips)
		skips = &(*skips)->next;
	*skips = reply->skipped;
	cite(tc->arena, r, reply->files);
	if (reply->found != BOX_WARM) {
		r->cold = true;
		tc->cold = true;
	}
}

static bool succeeded(const struct output *o)
{
	return o->outcome == OUTCOME_EXIT && o->code == 0;
}

/* Shell: each command has the whole time. Bash: the batch has it, and the first failure ends the batch. */
static int run_commands(
	struct tool_context *tc, struct result *r, const struct args *args, struct err *e)
{
	const bool batch = r->call->tool == TOOL_BASH;
	const int64_t deadline = io_now_ms() + args->timeout_ms;

	for (size_t i = 0; i < args->ncommands; i++) {
		struct box_reply reply = {0};
		struct box_command c = {
			.tool = r->call->tool,
			.author = batch ? "bash" : "shell",
			.command = args->commands[i],
			.timeout_ms = args->timeout_ms,
			.max_output = args->max_output,
			.sleep_after_seconds = tc->sleep_after_seconds,
		};
		int rc;

		if (batch && i > 0) {
			int64_t left = deadline - io_now_ms();

			c.timeout_ms = left > 1 ? (int)left : 1;
		}
		if (tc->first_ms == 0)
			tc->first_ms = io_now_ms();
		rc = box_run(tc->box, &c, &reply, tc->client_fd, tc->conf->heartbeat_ms, tc->wait,
			tc->wait_ctx, e);
		if (rc < 0) {
			/* The next call leases anew. */
			tc->box = NULL;
			return rc;
		}
		keep(tc, r, &reply, args->commands[i]);
		if (batch && !succeeded(&reply.output))
			break;
	}
	return 0;
}

/* A restart alone has no command whose output it could be. */
static struct output *restart_output(struct arena *a)
{
	struct output *o = arena_new_of(a, struct output);

	o->command = "";
	o->out = RESTARTED;
	o->out_len = strlen(RESTARTED);
	o->err = "";
	return o;
}

static void restart(struct tool_context *tc, struct result *r)
{
	tc->container_id = container_restart_id(tc->arena, tc->container_id);
	tc->box = NULL;
	r->container_id = tc->container_id;
	if (r->ncommands == 0)
		r->outputs = restart_output(tc->arena);
}

static int execute(struct tool_context *tc, struct result *r, struct err *e)
{
	struct args args;
	int rc = args_parse(&args, tc->arena, tc->conf, r->call, e);

	r->commands = args.commands;
	r->ncommands = args.ncommands;
	r->timeout_ms = args.timeout_asked;
	r->max_output_length = args.output_asked;
	if (rc < 0)
		return rc;
	if (args.restart)
		restart(tc, r);
	if (args.ncommands == 0)
		return 0;
	rc = lease(tc, e);
	if (rc < 0)
		return rc;
	r->container_id = tc->container_id;
	return run_commands(tc, r, &args, e);
}

static void fail(struct tool_context *tc, struct result *r, const struct err *e)
{
	size_t done = 0;

	for (const struct output *o = r->outputs; o; o = o->next)
		done++;
	if (done > 0 && r->ncommands > 1)
		r->error = arena_printf(tc->arena, "%s (%zu of %zu commands had finished)",
			e->message, done, r->ncommands);
	else
		r->error = arena_strdup(tc->arena, e->message);
	r->outputs = NULL;
}

static const char *text_for_model(struct arena *a, const struct result *r)
{
	cJSON *v;
	const char *text;

	if (r->error) {
		v = cJSON_CreateObject();
		json_add_text(v, "error", r->error, strlen(r->error));
	} else if (r->call->tool == TOOL_BASH) {
		v = result_bash(r);
	} else {
		v = cJSON_CreateObject();
		cJSON_AddItemToObject(v, "output", result_outputs(r));
	}
	text = json_print(a, v);
	cJSON_Delete(v);
	return text;
}

int tool_run(struct tool_context *tc, const struct call *call, struct result **out, struct err *e)
{
	struct result *r = arena_new_of(tc->arena, struct result);
	struct err why = {0};
	int rc;

	r->call = call;
	rc = execute(tc, r, &why);
	if (rc == ERR_CLIENT_GONE) {
		if (e)
			*e = why;
		return rc;
	}
	if (rc < 0)
		fail(tc, r, &why);
	r->text = text_for_model(tc->arena, r);
	*out = r;
	return 0;
}
