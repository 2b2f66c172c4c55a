/* replay: calls of earlier turns and their results. SPDX-License-Identifier: ISC */
#include "app/dialect/replay.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "app/base/id.h"
#include "sandbox/sys/buf.h"

#define NO_RESULT "(no result)"
/* Far above any body limit; what is joined is part of the body. */
#define JOINED_MAX ((size_t)1 << 30)

/* Calls of one turn, in a row, and behind them their results. */
struct run {
	struct item *tail;
};

/* The newest call with an id; sorted in a tree, for histories are long and ids are the client's. */
struct waiting {
	const char *id;
	struct run *run; /* NULL: it has its result */
};

struct replay {
	struct arena *arena;
	struct turn *turn;
	struct run *run; /* that a call which comes now belongs to; NULL: a new one */
	void *calls;     /* tsearch tree of struct waiting */
	struct part *shown, **shown_last;
};

static int compare(const void *a, const void *b)
{
	const struct waiting *x = a, *y = b;
	return strcmp(x->id, y->id);
}

static void keep(void *node)
{
	(void)node; /* the arena's */
}

static void release(void *p)
{
	struct replay *r = p;
	tdestroy(r->calls, keep);
}

struct replay *replay_new(struct arena *a, struct turn *t)
{
	struct replay *r = arena_new_of(a, struct replay);
	r->arena = a;
	r->turn = t;
	r->shown_last = &r->shown;
	arena_defer(a, release, r);
	return r;
}

static void answer(struct replay *r, struct waiting *w, const char *text)
{
	struct item *it = arena_new_of(r->arena, struct item);
	it->kind = ITEM_RESULT;
	it->call_id = w->id;
	it->text = text;
	it->next = w->run->tail->next;
	w->run->tail->next = it;
	w->run->tail = it;
	if (!it->next)
		r->turn->items.last = &it->next;
	if (w->run == r->run)
		r->run = NULL;
	w->run = NULL;
}

const char *replay_new_id(struct replay *r)
{
	return id_new(r->arena, "call_", 24);
}

bool replay_call(struct replay *r, struct call call)
{
	if (!call.id || !*call.id)
		call.id = replay_new_id(r);
	if (!call.arguments || !*call.arguments)
		call.arguments = "{}";
	struct waiting *w = arena_new_of(r->arena, struct waiting);
	w->id = call.id;
	struct waiting **found = (struct waiting **)tsearch(w, &r->calls, compare);
	if (!found)
		abort(); /* out of memory, as for the arena */
	if ((*found)->run)
		return false;
	struct item *it = items_add(r->arena, &r->turn->items, ITEM_CALL);
	it->call = call;
	if (!r->run)
		r->run = arena_new_of(r->arena, struct run);
	r->run->tail = it;
	(*found)->run = r->run;
	return true;
}

bool replay_result(struct replay *r, const char *call_id, const char *text)
{
	const struct waiting key = {.id = call_id};
	struct waiting **found = (struct waiting **)tfind(&key, &r->calls, compare);
	if (!found || !(*found)->run)
		return false;
	answer(r, *found, text);
	return true;
}

static void show(struct replay *r, const struct part *part)
{
	struct part *p = arena_new_of(r->arena, struct part);
	*p = *part;
	p->next = NULL;
	*r->shown_last = p;
	r->shown_last = &p->next;
}

const char *replay_text(struct replay *r, const struct part *parts)
{
	struct buf text;
	if (parts && !parts->next && parts->text)
		return parts->text;
	buf_init(&text, JOINED_MAX);
	for (const struct part *p = parts; p; p = p->next) {
		if (text.len > 0)
			buf_putc(&text, '\n');
		if (p->text) {
			buf_puts(&text, p->text);
			continue;
		}
		buf_puts(&text,
			p->kind == PART_IMAGE ? "[see the image below]" : "[see the file below]");
		show(r, p);
	}
	const char *joined = arena_strndup(r->arena, buf_str(&text), text.len);
	buf_free(&text);
	return joined;
}

void replay_shown(struct replay *r)
{
	r->run = NULL;
	if (!r->shown)
		return;
	struct item *it = items_add(r->arena, &r->turn->items, ITEM_MESSAGE);
	it->role = ROLE_USER;
	it->parts = r->shown;
	r->shown = NULL;
	r->shown_last = &r->shown;
}

void replay_finish(struct replay *r)
{
	replay_shown(r);
	for (struct item *it = r->turn->items.first; it; it = it->next) {
		if (it->kind != ITEM_CALL)
			continue;
		const struct waiting key = {.id = it->call.id};
		struct waiting **found = (struct waiting **)tfind(&key, &r->calls, compare);
		if (found && (*found)->run)
			answer(r, *found, NO_RESULT);
	}
}

const char *replay_tool_name(const struct replay *r, enum tool_kind kind)
{
	for (const struct tool *t = r->turn->tools; t; t = t->next)
		if (t->kind == kind)
			return t->name;
	return kind == TOOL_BASH ? "bash" : "shell";
}
