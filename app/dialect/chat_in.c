/* chat_in: a provider's streamed answer as events. SPDX-License-Identifier: ISC */
#include <math.h>
#include <string.h>
#include <strings.h>

#include "app/base/json.h"
#include "app/dialect/chat.h"
#include "app/dialect/chat_calls.h"
#include "app/dialect/chat_details.h"
#include "app/dialect/chat_halves.h"
#include "app/dialect/chat_think.h"
#include "app/dialect/sse.h"

enum form { FORM_UNKNOWN, FORM_STREAM, FORM_WHOLE };

struct chat_in {
	struct arena *arena;
	const struct turn *turn;
	const struct sink *sink;
	struct err *err; /* of the call that is running */
	int code;        /* not 0: failed, nothing more is taken */
	enum form form;
	size_t total;   /* bytes fed */
	size_t content; /* bytes of texts, arguments and details that were kept or emitted */
	struct sse_parser *sse;
	struct buf whole;
	struct arena *frame; /* of the frame that is being taken */
	struct chat_halves text_halves, reasoning_halves;
	struct chat_think think;
	struct chat_details details;
	struct chat_calls *calls;
	bool no_calls; /* none was asked for: they are dropped */
	struct buf late_reasoning, late_refusal, late_text; /* what came after the first call */
	const char *field; /* in which reasoning came, NULL if it did not */
	bool flushing;     /* the end was reached: half a frame is no error */
	bool done;         /* the end was announced */
	bool finished;     /* a finish reason was given */
	enum finish finish;
	const char *stop_sequence;
	struct usage usage;
};

static int fail(struct chat_in *c, const char *what)
{
	return err_set(c->err, ERR_PROVIDER_UNAVAILABLE, NULL, "the model provider %s", what);
}

/* -- texts ------------------------------------------------------------------- */

static int count(struct chat_in *c, size_t n)
{
	c->content += n;
	return c->content > CHAT_ANSWER_MAX ? fail(c, "sent an answer of unreasonable length") : 0;
}

static int emit_text(struct chat_in *c, enum event_type type, const char *s, size_t n)
{
	return sink_emit(c->sink, &(struct event){.type = type, .text = s, .len = n});
}

/* Text between calls would tear them apart: it waits for their end. */
static int say(struct chat_in *c, enum event_type type, const char *s, size_t n)
{
	struct buf *late = type == EVENT_TEXT ? &c->late_text
		: type == EVENT_REASONING     ? &c->late_reasoning
					      : &c->late_refusal;
	if (n == 0)
		return 0;
	int rc = count(c, n);
	if (rc != 0)
		return rc;
	if (!chat_calls_any(c->calls))
		return emit_text(c, type, s, n);
	buf_put(late, s, n);
	return 0;
}

static int say_string(struct chat_in *c, enum event_type type, const char *s)
{
	return s != NULL ? say(c, type, s, strlen(s)) : 0;
}

static int say_thought(void *ctx, bool reasoning, const char *s, size_t n)
{
	return say(ctx, reasoning ? EVENT_REASONING : EVENT_TEXT, s, n);
}

static bool is_blank(const char *s)
{
	return s[strspn(s, " \t\r\n")] == '\0';
}

static int say_late(struct chat_in *c)
{
	const struct {
		enum event_type type;
		const struct buf *b;
	} late[] = {{EVENT_REASONING, &c->late_reasoning}, {EVENT_TEXT, &c->late_text},
		{EVENT_REFUSAL, &c->late_refusal}};
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < sizeof(late) / sizeof(*late); i++)
		if (!is_blank(buf_str(late[i].b)))
			rc = emit_text(c, late[i].type, late[i].b->data, late[i].b->len);
	return rc;
}

/* -- one delta --------------------------------------------------------------- */

/* Mistral: [{"type":"thinking","thinking":[{"type":"text",…}]},{"type":"text","text":…}]. */
static int take_parts(struct chat_in *c, const cJSON *parts, bool thinking)
{
	const cJSON *part;
	int rc = 0;
	cJSON_ArrayForEach(part, parts)
	{
		const cJSON *inner = json_member(part, "thinking");
		const char *text = json_text(part, "text");
		if (cJSON_IsArray(inner) && !thinking)
			rc = take_parts(c, inner, true);
		else if (cJSON_IsString(inner))
			rc = say_string(c, EVENT_REASONING, inner->valuestring);
		else if (text != NULL)
			rc = say_string(c, thinking ? EVENT_REASONING : EVENT_TEXT, text);
		if (rc != 0)
			break;
	}
	return rc;
}

static int take_content(struct chat_in *c, const cJSON *content)
{
	if (cJSON_IsArray(content))
		return take_parts(c, content, false);
	if (!cJSON_IsString(content))
		return 0;
	const char *s = chat_halves_join(&c->text_halves, c->frame, content->valuestring);
	return chat_think_put(&c->think, s, strlen(s));
}

/* The same reasoning may come under several names in one delta: it is said once. */
static int take_reasoning(struct chat_in *c, const cJSON *delta, size_t frame)
{
	static const char *const fields[] = {"reasoning_content", "reasoning"};
	const cJSON *details = json_member(delta, "reasoning_details");
	const cJSON *entry;
	int rc = 0;

	if (chat_details_add(&c->details, details) > 0)
		rc = count(c, frame);
	for (size_t i = 0; rc == 0 && i < sizeof(fields) / sizeof(*fields); i++) {
		const char *s = json_text(delta, fields[i]);
		if (s == NULL || *s == '\0')
			continue;
		c->field = fields[i];
		s = chat_halves_join(&c->reasoning_halves, c->frame, s);
		return say_string(c, EVENT_REASONING, s);
	}
	if (!cJSON_IsArray(details))
		return rc;
	cJSON_ArrayForEach(entry, details)
	{
		if (rc == 0 && cJSON_IsObject(entry))
			rc = say_string(c, EVENT_REASONING, chat_details_text(entry));
	}
	return rc;
}

static int take_calls(struct chat_in *c, const cJSON *delta)
{
	const cJSON *list = json_member(delta, "tool_calls");
	const cJSON *old = json_member(delta, "function_call");
	const cJSON *piece;
	size_t kept = 0;
	int rc = 0, position = 0;

	if (c->no_calls)
		return 0;
	if (cJSON_IsArray(list)) {
		const bool several = list->child != NULL && list->child->next != NULL;
		cJSON_ArrayForEach(piece, list)
		{
			rc = chat_calls_add(
				c->calls, piece, several ? position++ : -1, &kept, c->err);
			if (rc != 0)
				return rc;
		}
	} else if (cJSON_IsObject(list) || cJSON_IsObject(old)) {
		rc = chat_calls_add(c->calls, cJSON_IsObject(list) ? list : old, -1, &kept, c->err);
	}
	return rc != 0 ? rc : count(c, kept);
}

static int take_delta(struct chat_in *c, const cJSON *delta, size_t frame)
{
	int rc = take_reasoning(c, delta, frame);
	if (rc == 0)
		rc = take_content(c, json_member(delta, "content"));
	if (rc == 0)
		rc = say_string(c, EVENT_REFUSAL, json_text(delta, "refusal"));
	if (rc == 0)
		rc = take_calls(c, delta);
	return rc;
}

/* -- one chunk --------------------------------------------------------------- */

static void take_finish(struct chat_in *c, const cJSON *choice)
{
	static const struct {
		const char *word;
		enum finish finish;
	} table[] = {{"length", FINISH_LENGTH}, {"max_tokens", FINISH_LENGTH},
		{"model_length", FINISH_LENGTH}, {"content_filter", FINISH_CONTENT_FILTER},
		{"safety", FINISH_CONTENT_FILTER}, {"tool_calls", FINISH_CALLS},
		{"function_call", FINISH_CALLS}};
	const char *reason = json_text(choice, "finish_reason");
	const char *matched = json_text(choice, "stop_reason");

	if (reason == NULL || *reason == '\0')
		return;
	c->finished = true;
	c->finish = FINISH_STOP;
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++)
		if (strcasecmp(reason, table[i].word) == 0)
			c->finish = table[i].finish;
	/* vLLM says which stop string it was. */
	for (size_t i = 0; c->finish == FINISH_STOP && matched != NULL && c->turn->stop != NULL &&
		c->turn->stop[i] != NULL;
		i++) {
		if (strcmp(c->turn->stop[i], matched) == 0) {
			c->finish = FINISH_STOP_SEQUENCE;
			c->stop_sequence = c->turn->stop[i];
		}
	}
}

static int64_t tokens(const cJSON *o, const char *key)
{
	const cJSON *v = json_member(o, key);
	if (!cJSON_IsNumber(v) || !(v->valuedouble > 0))
		return 0;
	return v->valuedouble < 1e12 ? (int64_t)v->valuedouble : (int64_t)1e12;
}

/* Cumulative where it comes in every chunk, so the last one stands. */
static void take_usage(struct chat_in *c, const cJSON *u)
{
	if (!cJSON_IsObject(u))
		return;
	const cJSON *prompt = json_member(u, "prompt_tokens_details");
	const cJSON *completion = json_member(u, "completion_tokens_details");
	const cJSON *cost = json_member(u, "cost");
	c->usage = (struct usage){
		.input = tokens(u, "prompt_tokens"),
		.cached = tokens(prompt, "cached_tokens"),
		.cache_write = tokens(prompt, "cache_write_tokens"),
		.output = tokens(u, "completion_tokens"),
		.reasoning = tokens(completion, "reasoning_tokens"),
	};
	if (c->usage.cached == 0)
		c->usage.cached = tokens(u, "prompt_cache_hit_tokens");
	if (cJSON_IsNumber(cost) && cost->valuedouble > 0 && isfinite(cost->valuedouble))
		c->usage.upstream_cost = cost->valuedouble;
}

/* Only the first answer is ours: n is never sent, but some gateways have a default. */
static const cJSON *first_choice(const cJSON *choices)
{
	const cJSON *choice;
	if (!cJSON_IsArray(choices))
		return NULL;
	cJSON_ArrayForEach(choice, choices)
	{
		const cJSON *index = json_member(choice, "index");
		if (cJSON_IsObject(choice) && (!cJSON_IsNumber(index) || index->valueint == 0))
			return choice;
	}
	return NULL;
}

static bool is_error(const cJSON *o)
{
	const cJSON *error = json_member(o, "error");
	const char *object = json_text(o, "object");
	return cJSON_IsObject(error) || (cJSON_IsString(error) && *error->valuestring != '\0') ||
		(object != NULL && strcmp(object, "error") == 0);
}

static int take_chunk(struct chat_in *c, const cJSON *o, size_t frame)
{
	int rc = 0;
	if (is_error(o))
		return chat_error_json(c->err, 0, o);
	take_usage(c, json_member(o, "usage"));
	const cJSON *choice = first_choice(json_member(o, "choices"));
	if (choice == NULL)
		return 0;
	const cJSON *delta = json_member(choice, "delta");
	if (!cJSON_IsObject(delta))
		delta = json_member(choice, "message");
	if (cJSON_IsObject(delta))
		rc = take_delta(c, delta, frame);
	if (rc != 0)
		return rc;
	const char *reason = json_text(choice, "finish_reason");
	if (is_error(choice) || (reason != NULL && strcmp(reason, "error") == 0))
		return chat_error_json(c->err, 0, choice);
	if (cJSON_IsObject(json_member(choice, "message")))
		c->done = c->form == FORM_WHOLE;
	take_finish(c, choice);
	return 0;
}

/* The strict parser first; what it refuses may be a character cut in two. */
static int parse_frame(cJSON **o, struct arena *a, const char *data, size_t n)
{
	if (json_parse(o, a, data, n, NULL) == 0)
		return 0;
	size_t len;
	const char *marked = chat_halves_mark(a, data, n, &len);
	return json_parse(o, a, marked, len, NULL);
}

static int take_frame(void *ctx, const char *event, const char *data, size_t n)
{
	struct chat_in *c = ctx;
	cJSON *o;

	while (n > 0 && (data[n - 1] == ' ' || data[n - 1] == '\t'))
		n--;
	if (c->done || n == 0)
		return 0;
	if (n == 6 && memcmp(data, "[DONE]", 6) == 0) {
		c->done = true;
		return 0;
	}
	/* An arena of its own, for a stream is thousands of these. */
	c->frame = arena_new();
	if (parse_frame(&o, c->frame, data, n) != 0)
		c->code = c->flushing ? 0 : fail(c, "sent a frame that is no JSON");
	else if (strcmp(event, "error") == 0)
		c->code = chat_error_json(c->err, 0, o);
	else if (cJSON_IsObject(o))
		c->code = take_chunk(c, o, n);
	arena_free(c->frame);
	return c->code;
}

/* -- the answer as a whole --------------------------------------------------- */

static void release(void *p)
{
	struct chat_in *c = p;
	sse_parser_free(c->sse);
	buf_free(&c->whole);
	buf_free(&c->late_reasoning);
	buf_free(&c->late_refusal);
	buf_free(&c->late_text);
	chat_think_free(&c->think);
	chat_details_free(&c->details);
}

struct chat_in *chat_in_new(struct arena *a, const struct turn *t, const struct sink *s)
{
	struct chat_in *c = arena_new_of(a, struct chat_in);
	c->arena = a;
	c->turn = t;
	c->sink = s;
	c->sse = sse_parser_new(CHAT_FRAME_MAX, take_frame, c);
	buf_init(&c->whole, CHAT_ANSWER_MAX);
	buf_init(&c->late_reasoning, CHAT_ANSWER_MAX);
	buf_init(&c->late_refusal, CHAT_ANSWER_MAX);
	buf_init(&c->late_text, CHAT_ANSWER_MAX);
	chat_think_init(&c->think, CHAT_ANSWER_MAX, say_thought, c);
	chat_details_init(&c->details, CHAT_ANSWER_MAX);
	c->calls = chat_calls_new(a, t, s);
	c->no_calls = t->choice == CHOICE_NONE || t->tools == NULL;
	arena_defer(a, release, c);
	return c;
}

static int feed_sse(struct chat_in *c, const char *bytes, size_t n)
{
	if (sse_parser_feed(c->sse, bytes, n) != 0 && c->code == 0)
		c->code = fail(c, "sent a frame that is too large");
	return c->code;
}

int chat_in_feed(struct chat_in *c, const char *bytes, size_t n, struct err *e)
{
	if (c->code != 0)
		return c->code;
	c->err = e;
	c->total += n;
	if (c->total > CHAT_STREAM_MAX)
		return c->code = fail(c, "sent an answer of unreasonable length");
	if (c->form == FORM_UNKNOWN) {
		while (n > 0 &&
			(*bytes == '\n' || *bytes == '\r' || *bytes == ' ' || *bytes == '\t')) {
			bytes++;
			n--;
		}
		if (n > 0)
			c->form = *bytes == '{' ? FORM_WHOLE : FORM_STREAM;
	}
	if (n == 0)
		return 0;
	if (c->form == FORM_STREAM)
		return feed_sse(c, bytes, n);
	buf_put(&c->whole, bytes, n);
	if (!buf_ok(&c->whole))
		c->code = fail(c, "sent an answer of unreasonable length");
	return c->code;
}

bool chat_in_done(const struct chat_in *c)
{
	return c->done;
}

static int end_bytes(struct chat_in *c)
{
	c->flushing = true;
	if (c->form == FORM_WHOLE) {
		c->flushing = false;
		return take_frame(c, "", buf_str(&c->whole), c->whole.len);
	}
	/* Some leave out the empty line after the last frame. */
	return feed_sse(c, "\n\n", 2);
}

static enum finish settle(const struct chat_in *c, size_t calls)
{
	if (calls > 0 && (c->finish == FINISH_STOP || c->finish == FINISH_STOP_SEQUENCE))
		return FINISH_CALLS;
	return calls == 0 && c->finish == FINISH_CALLS ? FINISH_STOP : c->finish;
}

static const char *raw_reasoning(struct chat_in *c)
{
	const char *details = chat_details_end(&c->details, c->turn->arena);
	if (details != NULL || c->field == NULL)
		return details;
	return arena_printf(c->turn->arena, "{\"field\":\"%s\"}", c->field);
}

static int end_turn(struct chat_in *c)
{
	const bool whole = c->finish != FINISH_LENGTH && c->finish != FINISH_CONTENT_FILTER;
	size_t calls = 0;
	int rc = chat_think_end(&c->think);
	if (rc == 0)
		rc = chat_calls_end(c->calls, whole, &calls);
	if (rc == 0)
		rc = say_late(c);
	if (rc != 0)
		return rc;
	struct event ev = {
		.type = EVENT_TURN_END,
		.finish = settle(c, calls),
		.stop_sequence = c->stop_sequence,
		.usage = c->usage,
		.text = raw_reasoning(c),
	};
	ev.len = ev.text != NULL ? strlen(ev.text) : 0;
	return sink_emit(c->sink, &ev);
}

int chat_in_end(struct chat_in *c, struct err *e)
{
	if (c->code != 0)
		return c->code;
	c->err = e;
	c->code = end_bytes(c);
	if (c->code == 0 && !c->finished && !c->done)
		c->code = fail(c,
			c->form == FORM_UNKNOWN ? "sent an empty answer"
						: "ended its answer before it was finished");
	if (c->code == 0)
		c->code = end_turn(c);
	return c->code;
}
