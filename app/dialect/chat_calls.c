/* chat_calls: the tool calls of one streamed answer. SPDX-License-Identifier: ISC */
#include "app/dialect/chat_calls.h"

#include <string.h>

#include "app/base/id.h"
#include "app/base/json.h"
#include "app/dialect/chat.h"
#include "app/dialect/chat_args.h"
#include "app/dialect/chat_halves.h"
#include "app/dialect/chat_tool.h"
#include "sandbox/sys/log.h"

#define NAME_MAX_BYTES 256
#define ID_MAX_BYTES   256
#define NO_KEY         INT64_MIN

struct slot {
	int64_t key;     /* the provider's index; NO_KEY if it gives none */
	const char *id;  /* the provider's, NULL until it says one */
	struct buf name; /* may come in fragments */
	struct chat_args args;
	struct chat_halves halves;
	size_t sent;       /* bytes of args that were emitted */
	struct call *call; /* NULL before CALL_START; in the turn's arena */
};

struct chat_calls {
	struct arena *arena;
	const struct turn *turn;
	const struct sink *sink;
	struct chat_tool_names names;
	struct slot *slots[CHAT_CALLS_MAX];
	size_t n;
	size_t head; /* the first that has not ended: only it is being emitted */
};

static void release(void *p)
{
	struct chat_calls *cs = p;
	for (size_t i = 0; i < cs->n; i++) {
		buf_free(&cs->slots[i]->name);
		chat_args_free(&cs->slots[i]->args);
	}
}

struct chat_calls *chat_calls_new(struct arena *a, const struct turn *t, const struct sink *s)
{
	struct chat_calls *cs = arena_new_of(a, struct chat_calls);
	cs->arena = a;
	cs->turn = t;
	cs->sink = s;
	chat_tool_names(&cs->names, a, t);
	arena_defer(a, release, cs);
	return cs;
}

bool chat_calls_any(const struct chat_calls *cs)
{
	return cs->n > 0;
}

/* -- which call a piece belongs to ------------------------------------------- */

/* A piece, read. */
struct piece {
	int64_t key;
	const char *id, *name, *args; /* NULL or not empty */
	const cJSON *object;          /* arguments that came as an object */
};

static const char *filled(const cJSON *o, const char *key)
{
	const char *s = json_text(o, key);
	return s != NULL && *s != '\0' ? s : NULL;
}

static void read_piece(struct piece *p, const cJSON *o, int position)
{
	const cJSON *f = json_member(o, "function");
	const cJSON *index = json_member(o, "index");
	if (!cJSON_IsObject(f))
		f = o; /* some proxies leave the wrapping out */
	p->key = position >= 0 ? position : NO_KEY;
	if (cJSON_IsNumber(index))
		p->key = index->valueint;
	p->id = filled(o, "id");
	p->name = filled(f, "name");
	p->args = filled(f, "arguments");
	p->object = json_member(f, "arguments");
	if (!cJSON_IsObject(p->object))
		p->object = NULL;
}

/* The newest slot of the piece's index; without one, that of its id, else the newest of all. */
static struct slot *candidate(const struct chat_calls *cs, const struct piece *p)
{
	for (size_t i = cs->n; i > 0; i--) {
		struct slot *s = cs->slots[i - 1];
		if (p->key != NO_KEY ? s->key == p->key
				     : p->id != NULL && s->id != NULL && strcmp(s->id, p->id) == 0)
			return s;
	}
	return p->key == NO_KEY && cs->n > 0 ? cs->slots[cs->n - 1] : NULL;
}

static bool offered(const struct chat_calls *cs, const char *name)
{
	return chat_tool_find(&cs->names, cs->turn, name) != NULL;
}

/* "get_" and "weather" are fragments of one name, "ls" and "cat" are two calls. */
static bool continues_name(const struct chat_calls *cs, struct slot *s, const char *more)
{
	const char *have = buf_str(&s->name);
	if (*have == '\0' || strcmp(have, more) == 0)
		return true;
	if (s->call != NULL || s->args.text.len > 0)
		return false;
	if (!offered(cs, have))
		return true;
	struct buf both;
	buf_init(&both, NAME_MAX_BYTES);
	buf_puts(&both, have);
	buf_puts(&both, more);
	bool fits = buf_ok(&both) && offered(cs, buf_str(&both));
	buf_free(&both);
	return fits;
}

/* Does the piece begin another call, though its index be one that was seen (Ollama, lmdeploy: always 0)? */
static bool begins(const struct chat_calls *cs, struct slot *s, const struct piece *p)
{
	if (p->id != NULL && s->id != NULL)
		return strcmp(p->id, s->id) != 0;
	if (p->name == NULL)
		return false;
	if (s->args.complete)
		return p->id != NULL || p->args != NULL || p->object != NULL ||
			strcmp(buf_str(&s->name), p->name) != 0;
	return !continues_name(cs, s, p->name);
}

static struct slot *open_slot(struct chat_calls *cs, int64_t key)
{
	struct slot *s = arena_new_of(cs->arena, struct slot);
	s->key = key;
	buf_init(&s->name, NAME_MAX_BYTES);
	chat_args_init(&s->args, CHAT_ANSWER_MAX);
	cs->slots[cs->n++] = s;
	return s;
}

/* -- emitting ---------------------------------------------------------------- */

static int start(struct chat_calls *cs, struct slot *s)
{
	struct arena *a = cs->turn->arena;
	const char *wire = buf_str(&s->name);
	const struct tool *k = chat_tool_find(&cs->names, cs->turn, wire);

	s->call = arena_new_of(a, struct call);
	*s->call = (struct call){
		.tool = k != NULL ? k->kind : TOOL_CLIENT,
		.id = id_new(a, "call_", 24),
		.name = k != NULL ? k->name : arena_strdup(a, wire),
		.arguments = "{}",
	};
	return sink_emit(cs->sink, &(struct event){.type = EVENT_CALL_START, .call = s->call});
}

/* Text is NUL-terminated where it ends now, which is where the piece ends. */
static int send_args(struct chat_calls *cs, struct slot *s)
{
	const size_t n = s->args.text.len - s->sent;
	if (n == 0)
		return 0;
	struct event ev = {.type = EVENT_CALL_ARGS,
		.call = s->call,
		.text = s->args.text.data + s->sent,
		.len = n};
	s->sent = s->args.text.len;
	return sink_emit(cs->sink, &ev);
}

static int end_call(struct chat_calls *cs, struct slot *s)
{
	int rc = s->call == NULL ? start(cs, s) : 0;
	if (rc == 0)
		rc = send_args(cs, s);
	if (rc != 0)
		return rc;
	s->call->arguments =
		arena_strndup(cs->turn->arena, buf_str(&s->args.text), s->args.text.len);
	return sink_emit(cs->sink, &(struct event){.type = EVENT_CALL_END, .call = s->call});
}

/* Emits what is certain: the head's pieces, and its end once the next call has begun. */
static int advance(struct chat_calls *cs)
{
	int rc = 0;
	while (rc == 0 && cs->head < cs->n) {
		struct slot *s = cs->slots[cs->head];
		if (s->name.len == 0 || !chat_args_firm(&s->args))
			break;
		if (s->call == NULL)
			rc = start(cs, s);
		if (rc == 0)
			rc = send_args(cs, s);
		if (!s->args.complete || cs->head + 1 == cs->n)
			break;
		if (rc == 0)
			rc = end_call(cs, s);
		cs->head++;
	}
	return rc;
}

/* -- what chat_in calls ------------------------------------------------------ */

static void fill(struct chat_calls *cs, struct slot *s, const struct piece *p)
{
	if (p->id != NULL && s->id == NULL && strlen(p->id) <= ID_MAX_BYTES)
		s->id = arena_strdup(cs->arena, p->id);
	if (p->name != NULL && s->call == NULL && strcmp(buf_str(&s->name), p->name) != 0)
		buf_puts(&s->name, p->name);
	if (p->args != NULL) {
		const char *args = chat_halves_join(&s->halves, cs->arena, p->args);
		chat_args_put(&s->args, args, strlen(args));
	} else if (p->object != NULL && !s->args.filled) {
		char *text = cJSON_PrintUnformatted(p->object);
		if (text != NULL)
			chat_args_put(&s->args, text, strlen(text));
		cJSON_free(text);
	}
}

int chat_calls_add(
	struct chat_calls *cs, const cJSON *piece, int position, size_t *bytes, struct err *e)
{
	struct piece p;
	if (!cJSON_IsObject(piece))
		return 0;
	read_piece(&p, piece, position);
	struct slot *s = candidate(cs, &p);
	if (s == NULL || begins(cs, s, &p)) {
		if (cs->n == CHAT_CALLS_MAX)
			return err_set(e, ERR_PROVIDER_UNAVAILABLE, NULL,
				"the model made more than %d tool calls in one turn",
				CHAT_CALLS_MAX);
		s = open_slot(cs, p.key);
	}
	const size_t before = s->args.text.len;
	fill(cs, s, &p);
	if (!buf_ok(&s->name) || !buf_ok(&s->args.text))
		return err_set(e, ERR_PROVIDER_UNAVAILABLE, NULL,
			"the model's tool call has a name or arguments of unreasonable length");
	if (s->args.text.len > before)
		*bytes += s->args.text.len - before;
	return advance(cs);
}

int chat_calls_end(struct chat_calls *cs, bool whole, size_t *ended)
{
	int rc = 0;
	*ended = cs->head;
	for (; rc == 0 && cs->head < cs->n; cs->head++) {
		struct slot *s = cs->slots[cs->head];
		if (s->name.len == 0) {
			log_warn("the model's tool call without a name is left out");
			continue;
		}
		/* Cut short: what follows a call that began to be emitted would overlap it. */
		if (!whole && !s->args.complete) {
			if (s->call != NULL)
				break;
			continue;
		}
		chat_args_end(&s->args, whole);
		rc = end_call(cs, s);
		*ended += rc == 0;
	}
	return rc;
}
