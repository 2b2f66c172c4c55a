/* responses_out: events as a Responses stream and object. SPDX-License-Identifier: ISC */
#include <string.h>

#include "app/base/id.h"
#include "app/base/json.h"
#include "app/dialect/blocks.h"
#include "app/dialect/responses_object.h"

/* One event's frames; the last one repeats all output. */
#define FRAMES_MAX   ((size_t)1 << 30)
#define ID_RANDOM    24
#define IDLE_COMMENT ": keepalive\n\n"

/* An output item that is not done. */
struct open_item {
	cJSON *item; /* in the response's output */
	size_t index;
	const char *id;
	const struct call *call; /* of a server call that has no result yet */
	struct open_item *next;
};

struct responses_out {
	struct arena *arena;
	const struct writer *w; /* NULL: only the object is wanted */
	cJSON *response;
	cJSON *output; /* its member */
	struct blocks *blocks;
	struct open_item *running; /* server calls, oldest first */
	struct buf frames;         /* of the event that is being encoded */
	size_t sequence, items;
	bool created;
};

static void release(void *p)
{
	struct responses_out *o = p;
	buf_free(&o->frames);
}

/* -- frames ------------------------------------------------------------------ */

/* An event with its first members; to be sent before the next one is made. */
static cJSON *event_new(struct responses_out *o, const char *type)
{
	cJSON *ev = cJSON_CreateObject();
	cJSON_AddStringToObject(ev, "type", type);
	cJSON_AddNumberToObject(ev, "sequence_number", (double)o->sequence++);
	return ev;
}

static void event_send(struct responses_out *o, cJSON *ev)
{
	if (o->w) {
		char *text = cJSON_PrintUnformatted(ev);
		sse_frame(&o->frames, json_text(ev, "type"), text ? text : "",
			text ? strlen(text) : 0);
		o->frames.bad |= !text;
		cJSON_free(text);
	}
	cJSON_Delete(ev);
}

static void send_response(struct responses_out *o, const char *type)
{
	cJSON *ev = event_new(o, type);
	cJSON_AddItemReferenceToObject(ev, "response", o->response);
	event_send(o, ev);
}

static void send_item(struct responses_out *o, const char *type, const struct open_item *it)
{
	cJSON *ev = event_new(o, type);
	cJSON_AddNumberToObject(ev, "output_index", (double)it->index);
	cJSON_AddItemReferenceToObject(ev, "item", it->item);
	event_send(o, ev);
}

/* An event about an item; within: its content_index, which is always 0, belongs into it. */
static cJSON *item_event(
	struct responses_out *o, const char *type, const struct open_item *it, bool within)
{
	cJSON *ev = event_new(o, type);
	cJSON_AddStringToObject(ev, "item_id", it->id);
	cJSON_AddNumberToObject(ev, "output_index", (double)it->index);
	if (within)
		cJSON_AddNumberToObject(ev, "content_index", 0);
	return ev;
}

static void created(struct responses_out *o)
{
	if (o->created)
		return;
	o->created = true;
	send_response(o, "response.created");
	send_response(o, "response.in_progress");
}

/* -- items -------------------------------------------------------------------- */

/* Puts the item at the end of the output. item is taken; id is its own. */
static struct open_item *add_item(struct responses_out *o, cJSON *item, const char *id)
{
	struct open_item *it = arena_new_of(o->arena, struct open_item);
	it->item = item;
	it->id = id;
	it->index = o->items++;
	cJSON_AddItemToArray(o->output, item);
	send_item(o, "response.output_item.added", it);
	return it;
}

static void item_done(struct responses_out *o, const struct open_item *it, const char *status)
{
	responses_object_set(it->item, "status", cJSON_CreateString(status));
	send_item(o, "response.output_item.done", it);
}

/* How one kind of block with a single content part speaks. */
struct prose {
	const char *prefix;       /* of the item's id */
	const char *part;         /* type of the part */
	const char *text;         /* its member */
	const char *delta, *done; /* events */
	bool output_text;         /* with annotations and logprobs */
};

static const struct prose *prose_of(enum block_kind kind)
{
	static const struct prose rows[] = {
		[BLOCK_TEXT] = {"msg_", "output_text", "text", "response.output_text.delta",
			"response.output_text.done", true},
		[BLOCK_REFUSAL] = {"msg_", "refusal", "refusal", "response.refusal.delta",
			"response.refusal.done", false},
		[BLOCK_REASONING] = {"rs_", "reasoning_text", "text",
			"response.reasoning_text.delta", "response.reasoning_text.done", false},
	};
	return &rows[kind];
}

static cJSON *part_new(const struct prose *p, const char *text, size_t n)
{
	cJSON *part = cJSON_CreateObject();
	cJSON_AddStringToObject(part, "type", p->part);
	json_add_text(part, p->text, text, n);
	if (p->output_text) {
		cJSON_AddArrayToObject(part, "annotations");
		cJSON_AddArrayToObject(part, "logprobs");
	}
	return part;
}

static void begin_prose(struct responses_out *o, struct block *b)
{
	const struct prose *p = prose_of(b->kind);
	const char *id = id_new(o->arena, p->prefix, ID_RANDOM);
	cJSON *item = cJSON_CreateObject();
	cJSON_AddStringToObject(item, "id", id);
	cJSON_AddStringToObject(item, "type", b->kind == BLOCK_REASONING ? "reasoning" : "message");
	cJSON_AddStringToObject(item, "status", "in_progress");
	if (b->kind == BLOCK_REASONING)
		cJSON_AddArrayToObject(item, "summary");
	else
		cJSON_AddStringToObject(item, "role", "assistant");
	cJSON_AddArrayToObject(item, "content");
	struct open_item *it = add_item(o, item, id);
	cJSON *ev = item_event(o, "response.content_part.added", it, true);
	cJSON_AddItemToObject(ev, "part", part_new(p, "", 0));
	event_send(o, ev);
	b->own = it;
}

static void end_prose(struct responses_out *o, struct block *b)
{
	const struct prose *p = prose_of(b->kind);
	const struct open_item *it = b->own;
	cJSON *part = part_new(p, buf_str(&b->text), b->text.len);
	cJSON *ev = item_event(o, p->done, it, true);
	cJSON_AddItemReferenceToObject(
		ev, p->text, cJSON_GetObjectItemCaseSensitive(part, p->text));
	if (p->output_text)
		cJSON_AddArrayToObject(ev, "logprobs");
	event_send(o, ev);
	ev = item_event(o, "response.content_part.done", it, true);
	cJSON_AddItemReferenceToObject(ev, "part", part);
	event_send(o, ev);
	cJSON_AddItemToArray(cJSON_GetObjectItemCaseSensitive(it->item, "content"), part);
	item_done(o, it, b->whole ? "completed" : "incomplete");
}

static void begin_function(struct responses_out *o, struct block *b)
{
	const char *id = id_new(o->arena, "fc_", ID_RANDOM);
	cJSON *item = cJSON_CreateObject();
	cJSON_AddStringToObject(item, "id", id);
	cJSON_AddStringToObject(item, "type", "function_call");
	cJSON_AddStringToObject(item, "status", "in_progress");
	cJSON_AddStringToObject(item, "call_id", b->call->id);
	json_add_text(item, "name", b->call->name, strlen(b->call->name));
	cJSON_AddStringToObject(item, "arguments", "");
	b->own = add_item(o, item, id);
}

static void end_function(struct responses_out *o, struct block *b)
{
	const struct open_item *it = b->own;
	cJSON *ev = item_event(o, "response.function_call_arguments.done", it, false);
	json_add_text(ev, "name", b->call->name, strlen(b->call->name));
	json_add_text(ev, "arguments", buf_str(&b->text), b->text.len);
	responses_object_set(it->item, "arguments",
		cJSON_Duplicate(cJSON_GetObjectItemCaseSensitive(ev, "arguments"), false));
	event_send(o, ev);
	item_done(o, it, b->whole ? "completed" : "incomplete");
}

/* A server call is an item from the end of its arguments to its result, which the loop says. */
static void end_server_call(struct responses_out *o, const struct block *b)
{
	struct open_item **last = &o->running;
	if (!b->whole)
		return;
	const char *id = id_new(o->arena, "st_", ID_RANDOM);
	while (*last)
		last = &(*last)->next;
	*last = add_item(o, responses_object_shell(b->call, id), id);
	(*last)->call = b->call;
}

static void ran(struct responses_out *o, const struct result *r)
{
	struct open_item **at = &o->running;
	while (*at && (*at)->call != r->call)
		at = &(*at)->next;
	if (!*at)
		return;
	const struct open_item *it = *at;
	*at = it->next;
	responses_object_ran(it->item, r);
	item_done(o, it, r->error ? "failed" : "completed");
}

static void end_running(struct responses_out *o)
{
	for (; o->running; o->running = o->running->next)
		item_done(o, o->running, "incomplete");
}

/* -- blocks ------------------------------------------------------------------- */

static int on_begin(void *ctx, struct block *b)
{
	if (b->kind != BLOCK_CALL)
		begin_prose(ctx, b);
	else if (b->call->tool == TOOL_CLIENT)
		begin_function(ctx, b);
	return 0;
}

static int on_piece(void *ctx, struct block *b, const char *s, size_t n)
{
	const struct prose *p = b->kind == BLOCK_CALL ? NULL : prose_of(b->kind);
	const char *type = p ? p->delta : "response.function_call_arguments.delta";
	if (!b->own)
		return 0;
	cJSON *ev = item_event(ctx, type, b->own, p != NULL);
	json_add_text(ev, "delta", s, n);
	if (p && p->output_text)
		cJSON_AddArrayToObject(ev, "logprobs");
	event_send(ctx, ev);
	return 0;
}

static int on_end(void *ctx, struct block *b)
{
	if (b->kind != BLOCK_CALL)
		end_prose(ctx, b);
	else if (b->call->tool == TOOL_CLIENT)
		end_function(ctx, b);
	else
		end_server_call(ctx, b);
	return 0;
}

/* -- the response -------------------------------------------------------------- */

struct responses_out *responses_out_new(
	struct arena *a, const struct responses_request *rq, const struct writer *w)
{
	static const struct blocks_fn fn = {on_begin, on_piece, on_end};
	struct responses_out *o = arena_new_of(a, struct responses_out);
	o->arena = a;
	o->w = w;
	o->response = responses_object_new(a, rq, id_new(a, "resp_", ID_RANDOM));
	o->output = cJSON_GetObjectItemCaseSensitive(o->response, "output");
	o->blocks = blocks_new(a, rq->turn.environment.present, &fn, o);
	buf_init(&o->frames, FRAMES_MAX);
	arena_defer(a, release, o);
	return o;
}

/* Comments keep connections open; clients that wait for events need one of those. */
static void idle(struct responses_out *o)
{
	if (!o->w)
		return;
	buf_puts(&o->frames, IDLE_COMMENT);
	event_send(o, event_new(o, "keepalive"));
}

static void terminal(struct responses_out *o, const struct event *ev)
{
	const char *status = "failed";
	end_running(o);
	if (ev->type == EVENT_FAILED)
		responses_object_fail(o->response, ev->err, &ev->usage);
	else
		status = responses_object_finish(o->response, ev->finish, &ev->usage);
	send_response(o, arena_printf(o->arena, "response.%s", status));
	if (o->w)
		sse_frame(&o->frames, NULL, "[DONE]", 6);
}

int responses_out_emit(void *ro, const struct event *ev)
{
	struct responses_out *o = ro;
	created(o);
	if (ev->type == EVENT_RESULT)
		ran(o, ev->result);
	int rc = blocks_event(o->blocks, ev);
	if (ev->type == EVENT_IDLE)
		idle(o);
	if (ev->type == EVENT_DONE || ev->type == EVENT_FAILED)
		terminal(o, ev);
	return rc < 0 ? rc : sse_send(o->w, &o->frames);
}

const cJSON *responses_out_object(const struct responses_out *ro)
{
	return ro->response;
}
