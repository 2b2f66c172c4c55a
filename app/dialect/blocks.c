/* blocks: a model's events as blocks, one after the other. SPDX-License-Identifier: ISC */
#include "app/dialect/blocks.h"

#include <string.h>

/* More than anybody reads: a provider that says more is broken or hostile. */
#define BLOCK_BYTES_MAX ((size_t)16 * 1024 * 1024)
#define ALL_BYTES_MAX   ((size_t)64 * 1024 * 1024)
#define BLOCKS_MAX      10000

struct queue {
	struct block *first, **last;
};

struct blocks {
	struct arena *arena;
	const struct blocks_fn *fn;
	void *ctx;
	bool hold;
	struct queue open; /* the first one is being told */
	struct queue held;
	size_t running; /* server calls without a result */
	size_t bytes, count;
};

static void queue_init(struct queue *q)
{
	q->first = NULL;
	q->last = &q->first;
}

static void queue_put(struct queue *q, struct block *b)
{
	b->next = NULL;
	*q->last = b;
	q->last = &b->next;
}

static struct block *queue_take(struct queue *q)
{
	struct block *b = q->first;
	q->first = b->next;
	if (!q->first)
		q->last = &q->first;
	return b;
}

static void queue_drop(struct queue *q)
{
	while (q->first)
		buf_free(&queue_take(q)->text);
}

static void release_all(void *p)
{
	struct blocks *l = p;
	queue_drop(&l->open);
	queue_drop(&l->held);
}

struct blocks *blocks_new(struct arena *a, bool hold, const struct blocks_fn *fn, void *ctx)
{
	struct blocks *l = arena_new_of(a, struct blocks);
	l->arena = a;
	l->fn = fn;
	l->ctx = ctx;
	l->hold = hold;
	queue_init(&l->open);
	queue_init(&l->held);
	arena_defer(a, release_all, l);
	return l;
}

/* Tells all that can be told now. */
static int pump(struct blocks *l)
{
	int rc;
	while (l->open.first) {
		struct block *b = l->open.first;
		if (!b->begun) {
			b->begun = true;
			rc = l->fn->begin(l->ctx, b);
			if (rc < 0)
				return rc;
		}
		if (b->text.len > b->told) {
			size_t from = b->told;
			b->told = b->text.len;
			rc = l->fn->piece(l->ctx, b, b->text.data + from, b->text.len - from);
			if (rc < 0)
				return rc;
		}
		if (!b->ended)
			return 0;
		rc = l->fn->end(l->ctx, b);
		buf_free(&queue_take(&l->open)->text);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static struct block *last_of(const struct queue *q)
{
	struct block *b = q->first;
	while (b && b->next)
		b = b->next;
	return b;
}

/* Text and reasoning have no end of their own: the next block is it. */
static void end_prose(struct blocks *l)
{
	struct block *b = last_of(&l->open);
	if (b && b->kind != BLOCK_CALL && !b->ended) {
		b->ended = true;
		b->whole = true;
	}
}

static struct block *add(struct blocks *l, struct queue *q, enum block_kind kind)
{
	if (++l->count > BLOCKS_MAX)
		return NULL;
	struct block *b = arena_new_of(l->arena, struct block);
	b->kind = kind;
	buf_init(&b->text, BLOCK_BYTES_MAX);
	if (q == &l->open)
		end_prose(l);
	queue_put(q, b);
	return b;
}

static int put(struct blocks *l, struct block *b, const char *s, size_t n)
{
	buf_put(&b->text, s, n);
	l->bytes += n;
	return buf_ok(&b->text) && l->bytes <= ALL_BYTES_MAX ? 0 : ERR_PROVIDER_UNAVAILABLE;
}

static int prose(struct blocks *l, enum block_kind kind, const struct event *ev)
{
	struct block *b = last_of(&l->open);
	if (ev->len == 0)
		return 0;
	if (!b || b->kind != kind || b->ended)
		b = add(l, &l->open, kind);
	if (!b)
		return ERR_PROVIDER_UNAVAILABLE;
	int rc = put(l, b, ev->text, ev->len);
	return rc < 0 ? rc : pump(l);
}

static struct block *find_in(const struct queue *q, const struct call *call)
{
	struct block *b = q->first;
	while (b && (b->call != call || b->ended))
		b = b->next;
	return b;
}

static struct block *find(const struct blocks *l, const struct call *call)
{
	struct block *b = find_in(&l->open, call);
	return b ? b : find_in(&l->held, call);
}

static int call_start(struct blocks *l, const struct call *call)
{
	bool held = l->hold && call->tool == TOOL_CLIENT;
	struct block *b = add(l, held ? &l->held : &l->open, BLOCK_CALL);
	if (!b)
		return ERR_PROVIDER_UNAVAILABLE;
	b->call = call;
	return pump(l);
}

/* The arguments may differ from their pieces: a provider's broken JSON is mended at the end. */
static int call_end(struct blocks *l, const struct call *call)
{
	struct block *b = find(l, call);
	if (!b)
		return 0;
	size_t n = strlen(call->arguments), told = b->told;
	if (told > n || (told > 0 && memcmp(call->arguments, b->text.data, told) != 0))
		told = n;
	buf_reset(&b->text);
	int rc = put(l, b, call->arguments, n);
	if (rc < 0)
		return rc;
	b->told = told;
	b->ended = true;
	b->whole = true;
	if (call->tool != TOOL_CLIENT)
		l->running++;
	return pump(l);
}

static int call_args(struct blocks *l, const struct event *ev)
{
	struct block *b = find(l, ev->call);
	if (!b)
		return 0;
	int rc = put(l, b, ev->text, ev->len);
	return rc < 0 ? rc : pump(l);
}

/* No more of the turn will come. A call that did not end is told as cut, or not at all. */
static int close_open(struct blocks *l, bool whole)
{
	struct queue all = l->open;
	if (!all.first)
		return 0;
	queue_init(&l->open);
	while (all.first) {
		struct block *b = queue_take(&all);
		if (!b->ended) {
			b->ended = true;
			b->whole = whole && b->kind != BLOCK_CALL;
		}
		if (b->whole || b->begun || b->kind != BLOCK_CALL)
			queue_put(&l->open, b);
		else
			buf_free(&b->text);
	}
	return pump(l);
}

static int release(struct blocks *l)
{
	while (l->held.first) {
		struct block *b = queue_take(&l->held);
		if (b->whole)
			queue_put(&l->open, b);
		else
			buf_free(&b->text);
	}
	return pump(l);
}

static int turn_end(struct blocks *l, enum finish finish)
{
	int rc = close_open(l, finish != FINISH_LENGTH && finish != FINISH_CONTENT_FILTER);
	return rc < 0 || l->running > 0 ? rc : release(l);
}

int blocks_event(struct blocks *l, const struct event *ev)
{
	switch (ev->type) {
	case EVENT_TEXT:
		return prose(l, BLOCK_TEXT, ev);
	case EVENT_REFUSAL:
		return prose(l, BLOCK_REFUSAL, ev);
	case EVENT_REASONING:
		return prose(l, BLOCK_REASONING, ev);
	case EVENT_CALL_START:
		return call_start(l, ev->call);
	case EVENT_CALL_ARGS:
		return call_args(l, ev);
	case EVENT_CALL_END:
		return call_end(l, ev->call);
	case EVENT_TURN_END:
		return turn_end(l, ev->finish);
	case EVENT_RESULT:
		if (l->running > 0)
			l->running--;
		return l->running > 0 ? 0 : release(l);
	case EVENT_DONE:
		l->running = 0;
		return turn_end(l, ev->finish);
	case EVENT_FAILED:
		queue_drop(&l->held);
		return close_open(l, false);
	case EVENT_IDLE:
	case EVENT_RUNNING:
	case EVENT__MAX:
		break;
	}
	return 0;
}
