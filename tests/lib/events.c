/* events: what an upstream emits, written down for comparison. SPDX-License-Identifier: ISC */
#include "tests/lib/events.h"

#include <math.h>
#include <string.h>

#include "app/base/arena.h"

static size_t number_of(const struct events *v, const struct call *call)
{
	for (size_t i = 0; i < v->ncalls; i++)
		if (v->calls[i] == call)
			return i + 1;
	return 0;
}

static void put_text(struct events *v, const char *word, const struct event *ev)
{
	buf_puts(&v->seen, word);
	buf_putc(&v->seen, ' ');
	buf_put_json(&v->seen, ev->text, ev->len);
	buf_putc(&v->seen, '\n');
	v->overlap |= ev->text[ev->len] != '\0';
}

static void put_call(struct events *v, const struct event *ev)
{
	static const char *const kinds[] = {"client", "shell", "bash"};
	const struct call *c = ev->call;

	if (ev->type == EVENT_CALL_START) {
		v->calls[v->ncalls++] = c;
		buf_printf(&v->seen, "start %zu %s %s\n", v->ncalls, kinds[c->tool], c->name);
		v->overlap |=
			c->id == NULL || strlen(c->id) != 29 || strncmp(c->id, "call_", 5) != 0;
		return;
	}
	const size_t n = number_of(v, c);
	v->overlap |= n == 0 || n != v->ncalls;
	if (ev->type == EVENT_CALL_ARGS) {
		buf_printf(&v->seen, "args %zu ", n);
		buf_put_json(&v->seen, ev->text, ev->len);
	} else {
		buf_printf(&v->seen, "end %zu ", n);
		buf_put_json(&v->seen, c->arguments, strlen(c->arguments));
	}
	buf_putc(&v->seen, '\n');
}

static void put_end(struct events *v, const struct event *ev)
{
	static const char *const words[] = {
		"stop", "calls", "length", "content_filter", "stop_sequence"};
	const struct usage *u = &ev->usage;

	buf_printf(&v->seen, "turn %s %lld/%lld/%lld %lld/%lld", words[ev->finish],
		(long long)u->input, (long long)u->cached, (long long)u->cache_write,
		(long long)u->output, (long long)u->reasoning);
	if (u->upstream_cost > 0)
		buf_printf(&v->seen, " cost %g", u->upstream_cost);
	if (ev->stop_sequence != NULL)
		buf_printf(&v->seen, " stop \"%s\"", ev->stop_sequence);
	if (ev->text != NULL)
		buf_printf(&v->seen, " raw %s", ev->text);
	buf_putc(&v->seen, '\n');
}

static int emit(void *ctx, const struct event *ev)
{
	struct events *v = ctx;

	if (++v->n == v->fail_at)
		return ERR_CLIENT_GONE;
	switch (ev->type) {
	case EVENT_IDLE:
		v->idles++;
		buf_puts(&v->seen, "idle\n");
		break;
	case EVENT_TEXT:
		put_text(v, "text", ev);
		break;
	case EVENT_REFUSAL:
		put_text(v, "refusal", ev);
		break;
	case EVENT_REASONING:
		put_text(v, "reasoning", ev);
		break;
	case EVENT_CALL_START:
	case EVENT_CALL_ARGS:
	case EVENT_CALL_END:
		put_call(v, ev);
		break;
	case EVENT_TURN_END:
		put_end(v, ev);
		break;
	case EVENT_RUNNING:
	case EVENT_RESULT:
	case EVENT_DONE:
	case EVENT_FAILED:
	case EVENT__MAX:
		buf_puts(&v->seen, "not an upstream's event\n");
		break;
	}
	return 0;
}

void events_init(struct events *v)
{
	*v = (struct events){0};
	v->sink = (struct sink){emit, v};
	buf_init(&v->seen, (size_t)64 << 20);
}

void events_free(struct events *v)
{
	buf_free(&v->seen);
}

void events_reset(struct events *v)
{
	struct buf b = v->seen;
	buf_reset(&b);
	*v = (struct events){.sink = v->sink, .seen = b};
}

void events_turn(struct turn *t, struct arena *a)
{
	*t = (struct turn){.arena = a,
		.model = "lumen-9b",
		.parallel_tool_calls = -1,
		.max_tokens = -1,
		.temperature = NAN,
		.top_p = NAN,
		.top_k = -1,
		.presence_penalty = NAN,
		.frequency_penalty = NAN,
		.max_tool_calls = -1};
	items_init(&t->items);
}

void events_offer(struct turn *t, enum tool_kind kind, const char *name)
{
	struct tool **last = &t->tools;
	while (*last != NULL)
		last = &(*last)->next;
	*last = arena_new_of(t->arena, struct tool);
	(*last)->kind = kind;
	(*last)->name = name;
	(*last)->strict = -1;
}
