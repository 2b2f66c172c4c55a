/* collect: one model turn, passed on and kept. SPDX-License-Identifier: ISC */
#include "app/agent/collect.h"

#include <string.h>

#include "app/base/id.h"
#include "sandbox/sys/buf.h"

/* More than any model writes in a turn; a provider that goes on is broken or hostile. */
#define TEXT_MAX ((size_t)32 << 20)

struct collect {
	struct arena *arena;
	const struct sink *out;
	const struct turn *turn;
	int broken;
	bool emitted;
	struct buf text, refusal, reasoning;
	const char *raw;
	struct collected *calls, **last;
	size_t ncalls;
	struct collected *earlier; /* calls of earlier turns, through earlier_next */
	enum finish finish;
	const char *stop_sequence;
	struct usage usage;
};

static void release(void *p)
{
	struct collect *c = p;

	buf_free(&c->text);
	buf_free(&c->refusal);
	buf_free(&c->reasoning);
}

struct collect *collect_new(struct arena *a, const struct sink *s)
{
	struct collect *c = arena_new_of(a, struct collect);

	c->arena = a;
	c->out = s;
	c->last = &c->calls;
	buf_init(&c->text, TEXT_MAX);
	buf_init(&c->refusal, TEXT_MAX);
	buf_init(&c->reasoning, TEXT_MAX);
	arena_defer(a, release, c);
	return c;
}

void collect_begin(struct collect *c, const struct turn *t)
{
	if (c->calls) {
		*c->last = c->earlier;
		c->earlier = c->calls;
	}
	c->calls = NULL;
	c->last = &c->calls;
	c->ncalls = 0;
	c->turn = t;
	c->raw = NULL;
	c->stop_sequence = NULL;
	c->finish = FINISH_STOP;
	c->usage = (struct usage){0};
	buf_reset(&c->text);
	buf_reset(&c->refusal);
	buf_reset(&c->reasoning);
}

static int pass(struct collect *c, const struct event *ev)
{
	int rc;

	if (c->broken)
		return c->broken;
	c->emitted = true;
	rc = sink_emit(c->out, ev);
	if (rc < 0)
		c->broken = rc;
	return rc;
}

static bool among(const struct collected *list, const char *id)
{
	for (; list; list = list->next)
		if (strcmp(list->call.id, id) == 0)
			return true;
	return false;
}

/* Local models call every call of every turn call_0. */
static const char *unique_id(struct collect *c, const char *id)
{
	if (id && *id && !among(c->calls, id) && !among(c->earlier, id))
		return arena_strdup(c->arena, id);
	return id_new(c->arena, "call_", 24);
}

static enum tool_kind kind_of(const struct turn *t, const char *name)
{
	for (const struct tool *tool = t->tools; tool; tool = tool->next)
		if (strcmp(tool->name, name) == 0)
			return tool->kind;
	return TOOL_CLIENT;
}

static bool allowed(const struct collect *c)
{
	if (c->turn->choice == CHOICE_NONE)
		return false;
	if (c->turn->parallel_tool_calls == 0 && c->ncalls > 0)
		return false;
	return c->ncalls < COLLECT_CALLS_MAX;
}

static struct collected *find(const struct collect *c, const struct call *upstream)
{
	struct collected *k = c->calls;

	while (k && k->upstream != upstream)
		k = k->next;
	return k;
}

static void start_call(struct collect *c, const struct call *upstream)
{
	struct collected *k = arena_new_of(c->arena, struct collected);

	k->upstream = upstream;
	k->call.id = unique_id(c, upstream->id);
	k->call.name = arena_strdup(c->arena, upstream->name ? upstream->name : "");
	k->call.tool = kind_of(c->turn, k->call.name);
	k->call.arguments = "{}";
	*c->last = k;
	c->last = &k->next;
	c->ncalls++;
}

static int call_event(struct collect *c, const struct event *ev)
{
	struct event mine = *ev;
	struct collected *k;

	if (ev->type == EVENT_CALL_START && allowed(c))
		start_call(c, ev->call);
	k = find(c, ev->call);
	if (!k)
		return 0;
	if (ev->type == EVENT_CALL_END) {
		if (ev->call->arguments && *ev->call->arguments)
			k->call.arguments = arena_strdup(c->arena, ev->call->arguments);
		k->ended = true;
	}
	mine.call = &k->call;
	return pass(c, &mine);
}

static bool has_whole_call(const struct collect *c)
{
	for (const struct collected *k = c->calls; k; k = k->next)
		if (k->ended)
			return true;
	return false;
}

/* Providers say stop beside calls, and tool_calls without any. */
static enum finish settle(const struct collect *c, enum finish said)
{
	bool calls = has_whole_call(c);

	if (calls && (said == FINISH_STOP || said == FINISH_STOP_SEQUENCE))
		return FINISH_CALLS;
	if (!calls && said == FINISH_CALLS)
		return FINISH_STOP;
	return said;
}

static int turn_end(struct collect *c, const struct event *ev)
{
	struct event mine = *ev;

	c->finish = settle(c, ev->finish);
	c->usage = ev->usage;
	c->raw = ev->text ? arena_strndup(c->arena, ev->text, ev->len) : NULL;
	c->stop_sequence = arena_strdup(c->arena, ev->stop_sequence);
	mine.finish = c->finish;
	return pass(c, &mine);
}

static int text_event(struct collect *c, struct buf *b, const struct event *ev)
{
	buf_put(b, ev->text, ev->len);
	return buf_ok(b) ? pass(c, ev) : ERR_PROVIDER_UNAVAILABLE;
}

int collect_emit(void *ctx, const struct event *ev)
{
	struct collect *c = ctx;

	switch (ev->type) {
	case EVENT_TEXT:
		return text_event(c, &c->text, ev);
	case EVENT_REFUSAL:
		return text_event(c, &c->refusal, ev);
	case EVENT_REASONING:
		return text_event(c, &c->reasoning, ev);
	case EVENT_CALL_START:
	case EVENT_CALL_ARGS:
	case EVENT_CALL_END:
		return call_event(c, ev);
	case EVENT_TURN_END:
		return turn_end(c, ev);
	case EVENT_IDLE:
		return pass(c, ev);
	case EVENT_RUNNING:
	case EVENT_RESULT:
	case EVENT_DONE:
	case EVENT_FAILED:
	case EVENT__MAX:
		break;
	}
	/* Not an upstream's to say. */
	return ERR_SERVER;
}

int collect_broken(const struct collect *c)
{
	return c->broken;
}

bool collect_emitted(const struct collect *c)
{
	return c->emitted;
}

enum finish collect_finish(const struct collect *c)
{
	return c->finish;
}

const struct usage *collect_usage(const struct collect *c)
{
	return &c->usage;
}

const char *collect_stop_sequence(const struct collect *c)
{
	return c->stop_sequence;
}

const struct collected *collect_calls(const struct collect *c)
{
	return c->calls;
}

void collect_append(const struct collect *c, struct items *items)
{
	struct item *it;

	if (c->reasoning.len > 0 || c->raw) {
		it = items_add(c->arena, items, ITEM_REASONING);
		it->reasoning = arena_strdup(c->arena, buf_str(&c->reasoning));
		it->raw = c->raw;
	}
	if (c->text.len > 0 || c->refusal.len > 0) {
		it = items_add(c->arena, items, ITEM_MESSAGE);
		it->role = ROLE_ASSISTANT;
		if (c->text.len > 0)
			item_add_part(c->arena, it, PART_TEXT)->text =
				arena_strdup(c->arena, buf_str(&c->text));
		if (c->refusal.len > 0)
			item_add_part(c->arena, it, PART_REFUSAL)->text =
				arena_strdup(c->arena, buf_str(&c->refusal));
	}
	for (const struct collected *k = c->calls; k; k = k->next) {
		if (!k->ended)
			continue;
		it = items_add(c->arena, items, ITEM_CALL);
		it->call = k->call;
	}
}
