/* dialect: conversations for the encoders, and reading what they wrote. SPDX-License-Identifier: ISC */
#include "tests/lib/dialect.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/base/id.h"
#include "sandbox/sys/buf.h"

/* -- events ------------------------------------------------------------------- */

static void emit(struct dialect_feed *f, struct event ev)
{
	int rc = sink_emit(&f->to, &ev);
	if (f->rc == 0)
		f->rc = rc;
}

void dialect_say(struct dialect_feed *f, enum event_type type, const char *text)
{
	emit(f, (struct event){.type = type, .text = text, .len = text ? strlen(text) : 0});
}

void dialect_call_event(
	struct dialect_feed *f, enum event_type type, const struct call *c, const char *text)
{
	emit(f,
		(struct event){
			.type = type, .call = c, .text = text, .len = text ? strlen(text) : 0});
}

struct call *dialect_call(
	struct dialect_feed *f, enum tool_kind tool, const char *name, const char *const *pieces)
{
	struct call *c = arena_new_of(f->arena, struct call);
	const char *whole = "";
	c->tool = tool;
	c->name = name;
	c->id = id_new(f->arena, "call_", 12);
	c->arguments = "{}";
	dialect_call_event(f, EVENT_CALL_START, c, NULL);
	for (; *pieces; pieces++) {
		dialect_call_event(f, EVENT_CALL_ARGS, c, *pieces);
		whole = arena_printf(f->arena, "%s%s", whole, *pieces);
	}
	c->arguments = whole;
	dialect_call_event(f, EVENT_CALL_END, c, NULL);
	return c;
}

void dialect_turn_end(struct dialect_feed *f, enum finish finish)
{
	emit(f, (struct event){.type = EVENT_TURN_END, .finish = finish, .usage = f->usage});
}

void dialect_result(struct dialect_feed *f, const struct call *c, const struct dialect_ran *ran)
{
	struct result *r = arena_new_of(f->arena, struct result);
	struct output *out = arena_new_of(f->arena, struct output);
	const char **commands = arena_calloc(f->arena, 2, sizeof(*commands));
	emit(f, (struct event){.type = EVENT_RUNNING, .call = c});
	commands[0] = ran->command;
	*out = (struct output){.command = ran->command,
		.out = ran->out,
		.out_len = strlen(ran->out),
		.err = ran->err,
		.err_len = strlen(ran->err),
		.code = ran->code};
	*r = (struct result){.call = c,
		.error = ran->error,
		.commands = commands,
		.ncommands = 1,
		.timeout_ms = -1,
		.max_output_length = -1,
		.outputs = ran->error ? NULL : out,
		.container_id = ran->error ? NULL : "gen_0a1b2c3d4e5f"};
	if (ran->file) {
		r->files = arena_new_of(f->arena, struct citation);
		r->files->container_id = r->container_id;
		r->files->file_id = id_file(f->arena, ran->file, strlen(ran->file));
		r->files->filename = ran->file;
	}
	f->usage.tools_used = true;
	f->usage.tool_calls_requested++;
	f->usage.tool_calls_executed += ran->error ? 0 : 1;
	f->usage.server_tool_cost = 0.003;
	emit(f, (struct event){.type = EVENT_RESULT, .call = c, .result = r});
}

void dialect_done(struct dialect_feed *f, enum finish finish)
{
	emit(f, (struct event){.type = EVENT_DONE, .finish = finish, .usage = f->usage});
}

void dialect_failed(struct dialect_feed *f, enum err_code code, const char *message)
{
	struct err e = {0};
	err_set(&e, code, NULL, "%s", message);
	emit(f, (struct event){.type = EVENT_FAILED, .err = &e, .usage = f->usage});
}

/* -- scenes ------------------------------------------------------------------- */

static void use(struct dialect_feed *f, int64_t input, int64_t output)
{
	f->usage.input = input;
	f->usage.output = output;
}

static void text(struct dialect_feed *f)
{
	use(f, 21, 9);
	dialect_say(f, EVENT_TEXT, "Four");
	dialect_say(f, EVENT_TEXT, " times nine");
	dialect_say(f, EVENT_TEXT, " is 36.");
	dialect_turn_end(f, FINISH_STOP);
	dialect_done(f, FINISH_STOP);
}

static void function_call(struct dialect_feed *f)
{
	const char *const pieces[] = {"{\"ti", "tle\":\"Disk", " full\"}", NULL};
	use(f, 88, 31);
	dialect_call(f, TOOL_CLIENT, "open_ticket", pieces);
	dialect_turn_end(f, FINISH_CALLS);
	dialect_done(f, FINISH_CALLS);
}

static void text_and_call(struct dialect_feed *f)
{
	dialect_say(f, EVENT_TEXT, "Filing it.");
	function_call(f);
}

static void reasoning(struct dialect_feed *f)
{
	use(f, 40, 61);
	f->usage.reasoning = 48;
	dialect_say(f, EVENT_REASONING, "Units are metres; ");
	dialect_say(f, EVENT_REASONING, "divide by 1000.");
	dialect_say(f, EVENT_TEXT, "It is 4 km.");
	dialect_turn_end(f, FINISH_STOP);
	dialect_done(f, FINISH_STOP);
}

static void shell(struct dialect_feed *f)
{
	const char *const pieces[] = {"{\"commands\":[\"una", "me -s\"]}", NULL};
	use(f, 80, 12);
	const struct call *c = dialect_call(f, TOOL_SHELL, "shell", pieces);
	dialect_turn_end(f, FINISH_CALLS);
	dialect_say(f, EVENT_IDLE, NULL);
	dialect_result(f, c,
		&(struct dialect_ran){
			.command = "uname -s", .out = "Linux\n", .err = "", .file = "a.txt"});
	dialect_say(f, EVENT_TEXT, "Linux.");
	use(f, 180, 22);
	f->usage.cached = 64;
	f->usage.upstream_cost = 0.5;
	dialect_turn_end(f, FINISH_STOP);
	dialect_done(f, FINISH_STOP);
}

static void bash(struct dialect_feed *f)
{
	const char *const pieces[] = {"{\"command\":", "\"echo hi > a.txt\"}", NULL};
	const struct call *c = dialect_call(f, TOOL_BASH, "bash", pieces);
	dialect_turn_end(f, FINISH_CALLS);
	dialect_say(f, EVENT_IDLE, NULL);
	dialect_result(f, c,
		&(struct dialect_ran){
			.command = "echo hi > a.txt", .out = "", .err = "", .file = "a.txt"});
	dialect_say(f, EVENT_TEXT, "Saved.");
	use(f, 180, 22);
	dialect_turn_end(f, FINISH_STOP);
	dialect_done(f, FINISH_STOP);
}

/* A client's call comes first and stays open while two server calls are made. */
static void mixed(struct dialect_feed *f)
{
	const char *const df[] = {"{\"commands\":[\"df -h /\"]}", NULL};
	const char *const ls[] = {"{\"commands\":[\"ls\"]}", NULL};
	const struct dialect_ran ran = {
		.command = "df -h /", .out = "/dev/vda1 98%\n", .err = "", .code = 0};
	struct call *ticket = arena_new_of(f->arena, struct call);
	*ticket = (struct call){TOOL_CLIENT, "call_ticket0", "open_ticket", "{}"};
	dialect_call_event(f, EVENT_CALL_START, ticket, NULL);
	const struct call *first = dialect_call(f, TOOL_SHELL, "shell", df);
	dialect_call_event(f, EVENT_CALL_ARGS, ticket, "{\"title\":\"Disk 98%\"}");
	const struct call *second = dialect_call(f, TOOL_SHELL, "shell", ls);
	ticket->arguments = "{\"title\":\"Disk 98%\"}";
	dialect_call_event(f, EVENT_CALL_END, ticket, NULL);
	dialect_turn_end(f, FINISH_CALLS);
	dialect_result(f, first, &ran);
	dialect_result(f, second,
		&(struct dialect_ran){.command = "ls",
			.out = "",
			.err = "",
			.error = "Container limit reached: 20 containers are running."});
	use(f, 150, 44);
	dialect_done(f, FINISH_CALLS);
}

static void incomplete(struct dialect_feed *f)
{
	use(f, 30, 16);
	dialect_say(f, EVENT_TEXT, "The river runs");
	dialect_turn_end(f, FINISH_LENGTH);
	dialect_done(f, FINISH_LENGTH);
}

/* A call is running and another is half written when the provider goes away. */
static void failed(struct dialect_feed *f)
{
	const char *const make[] = {"{\"commands\":[\"make\"]}", NULL};
	struct call *half = arena_new_of(f->arena, struct call);
	*half = (struct call){TOOL_CLIENT, "call_half", "open_ticket", "{}"};
	use(f, 90, 12);
	dialect_say(f, EVENT_TEXT, "Working");
	dialect_call(f, TOOL_SHELL, "shell", make);
	dialect_call_event(f, EVENT_CALL_START, half, NULL);
	dialect_call_event(f, EVENT_CALL_ARGS, half, "{\"ti");
	dialect_failed(f, ERR_PROVIDER_OVERLOADED, "Upstream is overloaded.");
}

static void refusal(struct dialect_feed *f)
{
	use(f, 10, 5);
	dialect_say(f, EVENT_REFUSAL, "I cannot ");
	dialect_say(f, EVENT_REFUSAL, "help with that.");
	dialect_turn_end(f, FINISH_STOP);
	dialect_done(f, FINISH_STOP);
}

#define SHELL_TOOL                                                                                 \
	",\"tools\":[{\"type\":\"openrouter:shell\",\"parameters\":{\"engine\":\"openrouter\","    \
	"\"environment\":{\"type\":\"container_auto\"}}}]"

const struct dialect_scene dialect_scenes[] = {
	{"text", ",\"temperature\":1,\"top_p\":1", text, false},
	{"function-call", "", function_call, false},
	{"text-and-call", "", text_and_call, false},
	{"reasoning", "", reasoning, false},
	{"shell", SHELL_TOOL, shell, true},
	{"bash", "", bash, true},
	{"mixed", SHELL_TOOL, mixed, true},
	{"incomplete", "", incomplete, false},
	{"failed", SHELL_TOOL, failed, true},
	{"refusal", "", refusal, false},
	{NULL, NULL, NULL, false},
};

const struct dialect_scene *dialect_scene(const char *name)
{
	const struct dialect_scene *s = dialect_scenes;
	while (s->name && strcmp(s->name, name) != 0)
		s++;
	return s;
}

/* -- turns --------------------------------------------------------------------- */

static const char *part_text(struct arena *a, const struct part *p)
{
	switch (p->kind) {
	case PART_TEXT:
		return p->text;
	case PART_REFUSAL:
		return arena_printf(a, "refusal %s", p->text);
	case PART_IMAGE:
		return arena_printf(a, "image %s%s%s", p->url, p->detail ? " " : "",
			p->detail ? p->detail : "");
	case PART_FILE:
		break;
	}
	return arena_printf(a, "file %s %s", p->filename ? p->filename : "-", p->url);
}

static const char *item_text(struct arena *a, const struct item *it)
{
	static const char *const roles[] = {"system", "user", "assistant"};
	const char *line;
	switch (it->kind) {
	case ITEM_REASONING:
		return arena_printf(a, "reasoning: %s", it->reasoning);
	case ITEM_CALL:
		return arena_printf(a, "call %s %s%s %s", it->call.id,
			it->call.tool == TOOL_CLIENT ? "" : "!", it->call.name, it->call.arguments);
	case ITEM_RESULT:
		return arena_printf(a, "result %s: %s", it->call_id, it->text);
	case ITEM_MESSAGE:
		break;
	}
	line = arena_printf(a, "%s: ", roles[it->role]);
	for (const struct part *p = it->parts; p; p = p->next)
		line = arena_printf(a, "%s%s%s", line, part_text(a, p), p->next ? ", " : "");
	return line;
}

const char *dialect_items(struct arena *a, const struct turn *t)
{
	const char *all = "";
	for (const struct item *it = t->items.first; it; it = it->next)
		all = arena_printf(a, "%s%s\n", all, item_text(a, it));
	/* Whoever appends to the list relies on it. */
	if (*t->items.last)
		return "the list's end is not its last item";
	return all;
}

/* -- reading ------------------------------------------------------------------ */

int dialect_write(void *ctx, const char *p, size_t n)
{
	buf_put(ctx, p, n);
	return 0;
}

static int take_frame(void *ctx, const char *event, const char *data, size_t n)
{
	cJSON *frame = cJSON_CreateObject();
	cJSON *v = cJSON_ParseWithLength(data, n);
	cJSON_AddStringToObject(frame, "event", event);
	/* "[DONE]" begins like an array. */
	cJSON_AddItemToObject(frame, "data", cJSON_IsObject(v) ? v : cJSON_CreateString(data));
	if (!cJSON_IsObject(v))
		cJSON_Delete(v);
	cJSON_AddItemToArray(ctx, frame);
	return 0;
}

cJSON *dialect_frames(const char *stream, size_t n, size_t step)
{
	cJSON *frames = cJSON_CreateArray();
	struct sse_parser *p = sse_parser_new(n + 1, take_frame, frames);
	for (size_t i = 0; i < n; i += step)
		sse_parser_feed(p, stream + i, n - i < step ? n - i : step);
	sse_parser_free(p);
	return frames;
}

/* Ids of the golden file and those that stand for them. */
struct names {
	const char *want[64], *got[64];
	size_t n;
};

static char differ_text[2000];

static const char *differ(const char *path, const char *what, const cJSON *want, const cJSON *got)
{
	char *w = cJSON_PrintUnformatted(want), *g = cJSON_PrintUnformatted(got);
	snprintf(differ_text, sizeof(differ_text), "%s: %s: want %.400s, got %.400s", path, what,
		w ? w : "nothing", g ? g : "nothing");
	free(w);
	free(g);
	return differ_text;
}

static bool is_one_of(const char *key, const char *const *keys)
{
	for (; key && *keys; keys++)
		if (strcmp(*keys, key) == 0)
			return true;
	return false;
}

static bool same_name(struct names *t, const char *want, const char *got)
{
	for (size_t i = 0; i < t->n; i++)
		if (strcmp(t->want[i], want) == 0 || strcmp(t->got[i], got) == 0)
			return strcmp(t->want[i], want) == 0 && strcmp(t->got[i], got) == 0;
	t->want[t->n] = want;
	t->got[t->n++] = got;
	return t->n < 64;
}

static const char *compare(const char *path, const cJSON *want, const cJSON *got, struct names *t)
{
	static const char *const ids[] = {"id", "item_id", "call_id", "tool_use_id", NULL};
	static const char *const times[] = {"created_at", "completed_at", "signature", NULL};
	char below[512];
	const cJSON *v, *other;
	int i = 0;
	if (!got || (want->type & 0xff) != (got->type & 0xff))
		return differ(path, "type", want, got);
	if (cJSON_IsString(want) && is_one_of(want->string, ids))
		return same_name(t, want->valuestring, got->valuestring)
			? NULL
			: differ(path, "id", want, got);
	if (is_one_of(want->string, times))
		return NULL;
	if (cJSON_IsArray(want) && cJSON_GetArraySize(want) != cJSON_GetArraySize(got))
		return differ(path, "length", want, got);
	if (!cJSON_IsArray(want) && !cJSON_IsObject(want))
		return cJSON_Compare(want, got, true) ? NULL : differ(path, "value", want, got);
	cJSON_ArrayForEach(v, want)
	{
		other = cJSON_IsArray(want) ? cJSON_GetArrayItem(got, i)
					    : cJSON_GetObjectItemCaseSensitive(got, v->string);
		snprintf(below, sizeof(below), "%s/%s%d", path, v->string ? v->string : "", i++);
		const char *wrong = compare(below, v, other, t);
		if (wrong)
			return wrong;
	}
	return NULL;
}

const char *dialect_differ(const cJSON *want, const cJSON *got)
{
	struct names t = {.n = 0};
	return compare("", want, got, &t);
}
