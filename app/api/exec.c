/* exec: POST /api/v1/containers/{container_id}/exec. SPDX-License-Identifier: ISC */
#include <signal.h>
#include <string.h>

#include "app/api/api.h"
#include "app/api/cite.h"
#include "app/api/exec_args.h"
#include "app/base/json.h"
#include "app/box/box.h"
#include "app/core/result.h"
#include "app/tool/tool.h"
#include "sandbox/sys/io.h"

#define EXEC_CITATIONS_MAX 10

/* One run of the commands of one request. */
struct exec {
	struct req *r;
	const char *container_id;
	struct exec_args args;
	struct box *box;
	struct box_reply *replies; /* args.ncommands of them */
	struct tool_context meter; /* only what tool_cost reads */
};

/* Nothing can be sent before the end, so silence only asks whether anybody still waits. */
static int wait_for_box(void *ctx)
{
	return http_client_gone(ctx) ? ERR_CLIENT_GONE : 0;
}

static int run_one(struct exec *x, size_t i, struct err *e)
{
	const struct conf *conf = api_env()->conf;
	const struct box_command command = {
		.tool = x->args.tool,
		.author = "exec",
		.command = x->args.commands[i],
		.cwd = x->args.cwd,
		.env = x->args.env,
		.input = x->args.input,
		.input_len = x->args.input_len,
		.timeout_ms = x->args.timeout_ms,
		.max_output = x->args.max_output,
		.sleep_after_seconds = x->args.sleep_after_seconds,
	};
	int rc = box_run(x->box, &command, &x->replies[i], http_client_fd(x->r), conf->heartbeat_ms,
		wait_for_box, x->r, e);

	if (rc == 0 && x->replies[i].found != BOX_WARM)
		x->meter.cold = true;
	return rc;
}

/* All commands run, whatever becomes of the earlier ones; output i belongs to command i. */
static int run_all(struct exec *x, struct err *e)
{
	x->replies = arena_calloc(x->r->arena, x->args.ncommands, sizeof(*x->replies));
	x->meter.conf = api_env()->conf;
	x->meter.first_ms = io_now_ms();
	for (size_t i = 0; i < x->args.ncommands; i++) {
		int rc = run_one(x, i, e);

		if (rc == 0)
			continue;
		/* The clients' own retries would run the commands once more. */
		if (i > 0 || rc == ERR_SERVER)
			http_set_header(x->r, "x-should-retry", "false");
		return rc;
	}
	return 0;
}

static const char *signal_name(struct arena *a, int number)
{
	const char *name = sigabbrev_np(number);

	if (name)
		return arena_printf(a, "SIG%s", name);
	if (number >= SIGRTMIN && number <= SIGRTMAX)
		return arena_printf(a, "SIGRTMIN+%d", number - SIGRTMIN);
	return arena_printf(a, "SIG%d", number);
}

static cJSON *encode_outcome(struct arena *a, const struct output *o)
{
	cJSON *v = cJSON_CreateObject();

	switch (o->outcome) {
	case OUTCOME_EXIT:
		cJSON_AddStringToObject(v, "type", "exit");
		cJSON_AddNumberToObject(v, "exit_code", o->code);
		break;
	case OUTCOME_SIGNAL:
		cJSON_AddStringToObject(v, "type", "signal");
		cJSON_AddStringToObject(v, "signal", signal_name(a, o->code));
		break;
	case OUTCOME_TIMEOUT:
		cJSON_AddStringToObject(v, "type", "timeout");
		break;
	case OUTCOME_OUT_OF_MEMORY:
		cJSON_AddStringToObject(v, "type", "out_of_memory");
		break;
	}
	return v;
}

static cJSON *encode_output(struct arena *a, const struct output *o)
{
	cJSON *v = cJSON_CreateObject(), *omitted = cJSON_CreateObject();

	json_add_exact(v, "stdout", o->out, o->out_len);
	json_add_exact(v, "stderr", o->err, o->err_len);
	cJSON_AddItemToObject(v, "outcome", encode_outcome(a, o));
	cJSON_AddNumberToObject(v, "duration_ms", o->duration_ms);
	cJSON_AddNumberToObject(omitted, "stdout", (double)o->out_omitted);
	cJSON_AddNumberToObject(omitted, "stderr", (double)o->err_omitted);
	cJSON_AddItemToObject(v, "omitted", omitted);
	cJSON_AddBoolToObject(v, "background_output_open", o->background_output_open);
	if (o->commit && *o->commit)
		cJSON_AddStringToObject(v, "commit", o->commit);
	else
		cJSON_AddNullToObject(v, "commit");
	return v;
}

/* The files of all commands, newest first, each once. */
static cJSON *encode_files(struct exec *x)
{
	struct result all = {0};
	struct citation **last = &all.files;
	size_t n = 0;

	for (size_t i = x->args.ncommands; i-- > 0;) {
		for (const struct citation *c = x->replies[i].files; c; c = c->next) {
			const struct citation *seen = all.files;

			while (seen && strcmp(seen->file_id, c->file_id) != 0)
				seen = seen->next;
			if (seen || n == EXEC_CITATIONS_MAX)
				continue;
			*last = arena_new_of(x->r->arena, struct citation);
			**last = *c;
			(*last)->next = NULL;
			last = &(*last)->next;
			n++;
		}
	}
	/* A later command may have deleted what an earlier one wrote. */
	if (x->args.ncommands > 1)
		all.files = cite_existing(x->r, all.files);
	return result_citations(&all);
}

static cJSON *encode_skipped(const struct exec *x)
{
	cJSON *list = cJSON_CreateArray();

	for (size_t i = 0; i < x->args.ncommands; i++) {
		for (const struct skipped *s = x->replies[i].skipped; s; s = s->next) {
			cJSON *v = cJSON_CreateObject();

			json_add_text(v, "path", s->path, strlen(s->path));
			json_add_text(v, "reason", s->reason, strlen(s->reason));
			cJSON_AddItemToArray(list, v);
		}
	}
	return list;
}

static cJSON *encode_usage(const struct exec *x)
{
	cJSON *v = cJSON_CreateObject();
	double seconds, cost = tool_cost(&x->meter, &seconds);

	cJSON_AddNumberToObject(v, "sandbox_seconds", seconds);
	cJSON_AddNumberToObject(v, "cost", cost);
	return v;
}

static cJSON *encode(struct exec *x)
{
	static const char *const started[] = {
		[BOX_WARM] = "warm",
		[BOX_WOKEN] = "woken",
		[BOX_NEW] = "new",
	};
	cJSON *v = cJSON_CreateObject(), *output = cJSON_CreateArray();

	for (size_t i = 0; i < x->args.ncommands; i++)
		cJSON_AddItemToArray(output, encode_output(x->r->arena, &x->replies[i].output));
	cJSON_AddStringToObject(v, "object", "container.exec");
	cJSON_AddStringToObject(v, "container_id", x->container_id);
	cJSON_AddStringToObject(v, "started", started[x->replies[0].found]);
	cJSON_AddItemToObject(v, "output", output);
	cJSON_AddItemToObject(v, "files", encode_files(x));
	cJSON_AddItemToObject(v, "skipped", encode_skipped(x));
	cJSON_AddItemToObject(v, "usage", encode_usage(x));
	return v;
}

int api_exec(struct req *r, struct err *e)
{
	const struct api_env *env = api_env();
	const struct workspace *w = &api_principal(r)->workspace;
	struct exec x = {.r = r};
	cJSON *body;
	int rc = api_container_id(&x.container_id, r, e);

	if (rc < 0)
		return rc;
	rc = exec_args_read(&x.args, r->arena, env->conf, r->body, r->body_len, e);
	if (rc < 0)
		return rc;
	rc = box_lease(&x.box, r->arena, env->conf->boxd, w->slug, x.container_id, r->id, e);
	if (rc < 0)
		return rc;
	rc = store_container_touch(
		env->store, w->id, x.container_id, x.args.sleep_after_seconds, e);
	if (rc < 0)
		return rc;
	rc = run_all(&x, e);
	if (rc < 0)
		return rc;
	body = encode(&x);
	rc = http_send_json(r, 200, body);
	cJSON_Delete(body);
	return rc;
}
