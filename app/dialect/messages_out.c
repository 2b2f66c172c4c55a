/* messages_out: events as a Messages stream and object. SPDX-License-Identifier: ISC */
#include <string.h>

#include "app/base/id.h"
#include "app/base/json.h"
#include "app/dialect/blocks.h"
#include "app/dialect/messages.h"
#include "app/dialect/messages_object.h"

#define FRAMES_MAX ((size_t)1 << 30)
#define ID_RANDOM  24
/* Clients send it back and nothing more; the digest lets people tell one from another. */
#define SIGNATURE_PREFIX "sg1."
#define SIGNATURE_HEX    32
#define NOT_RUN          "The call was not run: the answer had reached its limit."

/* A server call that has no result yet. */
struct running {
	const struct call *call;
	struct running *next;
};

struct messages_out {
	struct arena *arena;
	const struct messages_request *rq;
	const struct writer *w; /* NULL: only the object is wanted */
	cJSON *message;
	cJSON *content; /* its member */
	struct blocks *blocks;
	struct running *running; /* oldest first */
	struct buf frames;       /* of the event that is being encoded */
	size_t index;            /* of the next block */
	bool started, client_call, refused;
};

static void release(void *p)
{
	struct messages_out *o = p;
	buf_free(&o->frames);
}

/* -- frames ------------------------------------------------------------------ */

static cJSON *event_new(const char *type)
{
	cJSON *ev = cJSON_CreateObject();
	cJSON_AddStringToObject(ev, "type", type);
	return ev;
}

static cJSON *block_event(const char *type, size_t index)
{
	cJSON *ev = event_new(type);
	cJSON_AddNumberToObject(ev, "index", (double)index);
	return ev;
}

static void event_send(struct messages_out *o, cJSON *ev)
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

static void ping(struct messages_out *o)
{
	event_send(o, event_new("ping"));
}

static void start(struct messages_out *o)
{
	if (o->started)
		return;
	o->started = true;
	cJSON *ev = event_new("message_start");
	cJSON_AddItemReferenceToObject(ev, "message", o->message);
	event_send(o, ev);
	ping(o);
}

/* -- blocks ------------------------------------------------------------------- */

/* Begins the block as it is now; it becomes part of the content and may be completed there. */
static void block_start(struct messages_out *o, cJSON *block)
{
	cJSON *ev = block_event("content_block_start", o->index);
	cJSON_AddItemReferenceToObject(ev, "content_block", block);
	event_send(o, ev);
	cJSON_AddItemToArray(o->content, block);
}

static void block_stop(struct messages_out *o)
{
	event_send(o, block_event("content_block_stop", o->index++));
}

static void send_delta(
	struct messages_out *o, const char *type, const char *key, const char *s, size_t n)
{
	cJSON *ev = block_event("content_block_delta", o->index);
	cJSON *delta = cJSON_AddObjectToObject(ev, "delta");
	cJSON_AddStringToObject(delta, "type", type);
	json_add_text(delta, key, s, n);
	event_send(o, ev);
}

static void set_text(cJSON *block, const char *key, const char *s, size_t n)
{
	cJSON *holder = cJSON_CreateObject();
	json_add_text(holder, key, s, n);
	cJSON_ReplaceItemInObjectCaseSensitive(
		block, key, cJSON_DetachItemFromObjectCaseSensitive(holder, key));
	cJSON_Delete(holder);
}

static bool is_hidden(const struct messages_out *o, const struct block *b)
{
	return b->kind == BLOCK_REASONING && o->rq->thinking == MESSAGES_THINKING_NONE;
}

static int on_begin(void *ctx, struct block *b)
{
	struct messages_out *o = ctx;
	/* A call is told whole at its end: its input must be an object of valid JSON. */
	if (b->kind == BLOCK_CALL || is_hidden(o, b))
		return 0;
	cJSON *block = cJSON_CreateObject();
	if (b->kind == BLOCK_REASONING) {
		cJSON_AddStringToObject(block, "type", "thinking");
		cJSON_AddStringToObject(block, "thinking", "");
		cJSON_AddStringToObject(block, "signature", "");
	} else {
		cJSON_AddStringToObject(block, "type", "text");
		cJSON_AddStringToObject(block, "text", "");
		cJSON_AddNullToObject(block, "citations");
	}
	block_start(o, block);
	b->own = block;
	return 0;
}

static int on_piece(void *ctx, struct block *b, const char *s, size_t n)
{
	struct messages_out *o = ctx;
	if (!b->own)
		return 0;
	if (b->kind != BLOCK_REASONING)
		send_delta(o, "text_delta", "text", s, n);
	else if (o->rq->thinking == MESSAGES_THINKING_SHOWN)
		send_delta(o, "thinking_delta", "thinking", s, n);
	return 0;
}

static void end_thinking(struct messages_out *o, struct block *b)
{
	char digest[65];
	id_sha256(digest, buf_str(&b->text), b->text.len);
	const char *signature =
		arena_printf(o->arena, "%s%.*s", SIGNATURE_PREFIX, SIGNATURE_HEX, digest);
	send_delta(o, "signature_delta", "signature", signature, strlen(signature));
	set_text(b->own, "signature", signature, strlen(signature));
	if (o->rq->thinking == MESSAGES_THINKING_SHOWN)
		set_text(b->own, "thinking", buf_str(&b->text), b->text.len);
	block_stop(o);
}

static void wait_for_result(struct messages_out *o, const struct call *call)
{
	struct running **last = &o->running;
	while (*last)
		last = &(*last)->next;
	*last = arena_new_of(o->arena, struct running);
	(*last)->call = call;
}

static void tell_call(struct messages_out *o, struct block *b)
{
	const char *input = messages_object_input(o->arena, buf_str(&b->text));
	cJSON *block = messages_object_call(o->arena, b->call);
	block_start(o, block);
	send_delta(o, "input_json_delta", "partial_json", input, strlen(input));
	cJSON_ReplaceItemInObjectCaseSensitive(block, "input", cJSON_Parse(input));
	block_stop(o);
	if (b->call->tool == TOOL_CLIENT)
		o->client_call = true;
	else
		wait_for_result(o, b->call);
}

static int on_end(void *ctx, struct block *b)
{
	struct messages_out *o = ctx;
	if (b->kind == BLOCK_CALL) {
		if (b->whole)
			tell_call(o, b);
	} else if (b->kind == BLOCK_REASONING) {
		if (b->own)
			end_thinking(o, b);
	} else {
		if (b->kind == BLOCK_REFUSAL)
			o->refused = true;
		set_text(b->own, "text", buf_str(&b->text), b->text.len);
		block_stop(o);
	}
	return 0;
}

static void tell_result(struct messages_out *o, const struct call *call, const struct result *r)
{
	block_start(o, messages_object_result(o->arena, call, r, NOT_RUN));
	block_stop(o);
}

static void ran(struct messages_out *o, const struct result *r)
{
	struct running **at = &o->running;
	while (*at && (*at)->call != r->call)
		at = &(*at)->next;
	if (!*at)
		return;
	*at = (*at)->next;
	tell_result(o, r->call, r);
}

/* -- the message ---------------------------------------------------------------- */

struct messages_out *messages_out_new(
	struct arena *a, const struct messages_request *rq, const struct writer *w)
{
	static const struct blocks_fn fn = {on_begin, on_piece, on_end};
	struct messages_out *o = arena_new_of(a, struct messages_out);
	o->arena = a;
	o->rq = rq;
	o->w = w;
	o->message = messages_object_new(a, id_new(a, "msg_", ID_RANDOM), rq->turn.model);
	o->content = cJSON_GetObjectItemCaseSensitive(o->message, "content");
	o->blocks = blocks_new(a, rq->turn.environment.present, &fn, o);
	buf_init(&o->frames, FRAMES_MAX);
	arena_defer(a, release, o);
	return o;
}

static const char *stop_reason(const struct messages_out *o, enum finish finish)
{
	if (finish == FINISH_LENGTH)
		return "max_tokens";
	if (finish == FINISH_CONTENT_FILTER || o->refused)
		return "refusal";
	if (o->client_call)
		return "tool_use";
	return finish == FINISH_STOP_SEQUENCE ? "stop_sequence" : "end_turn";
}

static void done(struct messages_out *o, const struct event *ev)
{
	/* Clients want every server call with its result. */
	for (; o->running; o->running = o->running->next)
		tell_result(o, o->running->call, NULL);
	const char *reason = stop_reason(o, ev->finish);
	bool sequence = strcmp(reason, "stop_sequence") == 0;
	cJSON *delta = messages_object_delta(reason, sequence ? ev->stop_sequence : NULL);
	cJSON *usage = messages_object_usage(&ev->usage);
	messages_object_end(o->message, delta, usage);
	cJSON *out = event_new("message_delta");
	cJSON_AddItemToObject(out, "delta", delta);
	cJSON_AddItemToObject(out, "usage", usage);
	event_send(o, out);
	event_send(o, event_new("message_stop"));
	/* Without a name: the SDKs would take a named frame's [DONE] for JSON. */
	if (o->w)
		sse_frame(&o->frames, NULL, "[DONE]", 6);
}

static void failed(struct messages_out *o, const struct err *e)
{
	const struct err_info *info = err_info(e->code);
	cJSON *ev = event_new("error");
	cJSON *error = cJSON_AddObjectToObject(ev, "error");
	cJSON_AddStringToObject(error, "type", info->anthropic);
	/* What failed inside is for the log, which has it. */
	const char *message = e->code == ERR_SERVER ? "Internal error" : e->message;
	json_add_text(error, "message", message, strlen(message));
	cJSON_AddStringToObject(error, "error_type", info->canonical);
	if (o->rq->request_id)
		cJSON_AddStringToObject(ev, "request_id", o->rq->request_id);
	else
		cJSON_AddNullToObject(ev, "request_id");
	event_send(o, ev);
}

int messages_out_emit(void *mo, const struct event *ev)
{
	struct messages_out *o = mo;
	bool just_started = !o->started;
	start(o);
	if (ev->type == EVENT_RESULT)
		ran(o, ev->result);
	int rc = blocks_event(o->blocks, ev);
	if (ev->type == EVENT_IDLE && !just_started)
		ping(o);
	if (ev->type == EVENT_DONE)
		done(o, ev);
	if (ev->type == EVENT_FAILED)
		failed(o, ev->err);
	return rc < 0 ? rc : sse_send(o->w, &o->frames);
}

const cJSON *messages_out_object(const struct messages_out *mo)
{
	return mo->message;
}
