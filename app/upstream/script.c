/* script: the built-in deterministic model sandgate/script. SPDX-License-Identifier: ISC */
#include "app/upstream/script.h"

#include <ctype.h>
#include <string.h>

#include "app/base/id.h"
#include "app/base/json.h"
#include "app/dialect/chat_order.h"
#include "app/upstream/script_parse.h"
#include "sandbox/sys/buf.h"

#define TEXT_MAX  ((size_t)32 << 20)
#define PIECE_MIN 16 /* bytes of a text event; a short answer comes in several as well */
#define PIECE_MAX 4096
#define PIECES    8

static const char how_to[] =
	"I am the built-in model of this server: I run the commands that you write, and nothing "
	"else.\n\nPut them into a fenced block marked sh:\n\n```sh\nuname -a\n```\n\nor between "
	"backticks: `date`. Offer me a shell or bash tool, and I call it with each block, or each "
	"span, as one command, and then show what came out.";
static const char no_tool[] =
	"I found commands in your message, but I may not run them: this turn offers me no shell or "
	"bash tool.";

/* -- what was asked ---------------------------------------------------------- */

static bool is_user(const struct item *it)
{
	return it->kind == ITEM_MESSAGE && it->role == ROLE_USER;
}

static const char *message_text(struct arena *a, const struct item *it)
{
	struct buf b;
	buf_init(&b, TEXT_MAX);
	for (const struct part *p = it->parts; p != NULL; p = p->next) {
		if (p->kind != PART_TEXT || p->text == NULL)
			continue;
		if (b.len > 0)
			buf_putc(&b, '\n');
		buf_puts(&b, p->text);
	}
	const char *text = arena_strndup(a, buf_str(&b), b.len);
	buf_free(&b);
	return text;
}

/* The server tool to call, NULL if none may be called. The shell is the better one for several commands. */
static const struct tool *pick_tool(const struct turn *t)
{
	const struct tool *found = NULL;
	if (t->choice == CHOICE_NONE)
		return NULL;
	for (const struct tool *k = t->tools; k != NULL; k = k->next) {
		if (k->kind == TOOL_CLIENT)
			continue;
		if (t->choice == CHOICE_TOOL && t->choice_name != NULL &&
			strcmp(k->name, t->choice_name) != 0)
			continue;
		if (found == NULL || k->kind == TOOL_SHELL)
			found = k;
	}
	return found;
}

/* -- tokens ------------------------------------------------------------------ */

static int64_t count_words(const char *s)
{
	int64_t n = 0;
	bool inside = false;
	for (; s != NULL && *s != '\0'; s++) {
		const bool space = isspace((unsigned char)*s);
		n += !space && !inside;
		inside = !space;
	}
	return n;
}

static int64_t count_input(const struct turn *t)
{
	int64_t n = 0;
	for (const struct item *it = t->items.first; it != NULL; it = it->next) {
		n += count_words(it->reasoning) + count_words(it->text);
		if (it->kind == ITEM_CALL)
			n += count_words(it->call.arguments);
		for (const struct part *p = it->parts; p != NULL; p = p->next)
			n += count_words(p->text);
	}
	return n;
}

/* Where the n-th word ends; the end of the text if it has no more words. */
static size_t end_of_words(const char *s, int64_t n)
{
	size_t i = 0;
	for (; n > 0 && s[i] != '\0'; n--) {
		while (isspace((unsigned char)s[i]))
			i++;
		while (s[i] != '\0' && !isspace((unsigned char)s[i]))
			i++;
	}
	return i;
}

/* -- saying ------------------------------------------------------------------ */

static int end_turn(const struct turn *t, const struct sink *s, enum finish how, int64_t words)
{
	struct event ev = {.type = EVENT_TURN_END,
		.finish = how,
		.usage = {.input = count_input(t), .output = words}};
	return sink_emit(s, &ev);
}

/* A piece ends after white space where there is some, and never within a character. */
static size_t piece_length(const char *s, size_t left, size_t want)
{
	if (left <= want)
		return left;
	size_t n = want;
	while (n < left && n < 2 * want && !isspace((unsigned char)s[n - 1]))
		n++;
	while (n < left && ((unsigned char)s[n] & 0xc0) == 0x80)
		n++;
	return n;
}

/* Emits text in pieces, as events of one type. */
static int say(const struct sink *s, struct event ev, const char *text, size_t len)
{
	struct arena *scratch = arena_new();
	size_t want = len / PIECES;
	int rc = 0;

	want = want < PIECE_MIN ? PIECE_MIN : want > PIECE_MAX ? PIECE_MAX : want;
	for (size_t at = 0; rc == 0 && at < len; at += ev.len) {
		ev.len = piece_length(text + at, len - at, want);
		ev.text = arena_strndup(scratch, text + at, ev.len);
		rc = sink_emit(s, &ev);
	}
	arena_free(scratch);
	return rc;
}

static int say_text(const struct turn *t, const struct sink *s, const char *text)
{
	size_t len = strlen(text);
	enum finish how = FINISH_STOP;
	int64_t words = count_words(text);

	if (t->max_tokens > 0 && words > t->max_tokens) {
		len = end_of_words(text, t->max_tokens);
		words = t->max_tokens;
		how = FINISH_LENGTH;
	}
	int rc = say(s, (struct event){.type = EVENT_TEXT}, text, len);
	return rc != 0 ? rc : end_turn(t, s, how, words);
}

static const char *call_arguments(
	struct arena *a, enum tool_kind kind, const struct script_commands *commands)
{
	cJSON *o = cJSON_CreateObject();
	if (kind == TOOL_BASH && commands->n == 1) {
		json_add_text(o, "command", commands->list[0], strlen(commands->list[0]));
	} else {
		cJSON *list = cJSON_AddArrayToObject(o, "commands");
		for (size_t i = 0; i < commands->n; i++)
			cJSON_AddItemToArray(list, cJSON_CreateString(commands->list[i]));
	}
	const char *text = json_print(a, o);
	cJSON_Delete(o);
	return text;
}

static int say_call(const struct turn *t, const struct sink *s, const struct tool *tool,
	const struct script_commands *commands)
{
	struct call *call = arena_new_of(t->arena, struct call);
	const char *arguments = call_arguments(t->arena, tool->kind, commands);

	*call = (struct call){.tool = tool->kind,
		.id = id_new(t->arena, "call_", 24),
		.name = tool->name,
		.arguments = "{}"};
	int rc = sink_emit(s, &(struct event){.type = EVENT_CALL_START, .call = call});
	if (rc == 0)
		rc = say(s, (struct event){.type = EVENT_CALL_ARGS, .call = call}, arguments,
			strlen(arguments));
	if (rc != 0)
		return rc;
	call->arguments = arguments;
	rc = sink_emit(s, &(struct event){.type = EVENT_CALL_END, .call = call});
	return rc != 0 ? rc : end_turn(t, s, FINISH_CALLS, count_words(arguments));
}

/* -- results ----------------------------------------------------------------- */

/* The i-th command of a call, NULL if there is none. */
static const char *command_of(const cJSON *arguments, int i)
{
	const cJSON *list = json_member(arguments, "commands");
	if (cJSON_IsArray(list))
		return cJSON_GetStringValue(cJSON_GetArrayItem(list, i));
	return i == 0 ? json_text(arguments, "command") : NULL;
}

static void put_stream(struct buf *b, const char *s)
{
	if (s == NULL || *s == '\0')
		return;
	buf_puts(b, s);
	if (s[strlen(s) - 1] != '\n')
		buf_putc(b, '\n');
}

static void put_output(
	struct buf *b, const char *command, const cJSON *output, const char *how, int code)
{
	if (b->len > 0)
		buf_putc(b, '\n');
	if (command != NULL)
		buf_printf(b, "$ %s\n", command);
	put_stream(b, json_text(output, "stdout"));
	put_stream(b, json_text(output, "stderr"));
	if (how != NULL && strcmp(how, "exit") != 0)
		buf_printf(b, "[%s]\n", how);
	else if (code != 0)
		buf_printf(b, "[exit status %d]\n", code);
}

static int number_of(const cJSON *o, const char *key)
{
	const cJSON *v = json_member(o, key);
	return cJSON_IsNumber(v) ? v->valueint : 0;
}

/* A result of the shell {"output":[…]}, of bash {"command","stdout",…}, or else whatever text it is. */
static void put_result(struct buf *b, const char *text, const char *arguments)
{
	struct arena *scratch = arena_new();
	cJSON *result, *args;
	const cJSON *output;
	int i = 0;

	if (json_parse(&args, scratch, arguments, strlen(arguments), NULL) != 0)
		args = NULL;
	if (json_parse(&result, scratch, text, strlen(text), NULL) != 0)
		result = NULL;
	const cJSON *outputs = json_member(result, "output");
	if (cJSON_IsArray(outputs)) {
		cJSON_ArrayForEach(output, outputs)
		{
			const cJSON *how = json_member(output, "outcome");
			put_output(b, command_of(args, i++), output, json_text(how, "type"),
				number_of(how, "exit_code"));
		}
	} else if (json_text(result, "stdout") != NULL) {
		const char *command = json_text(result, "command");
		put_output(b, command != NULL ? command : command_of(args, 0), result, NULL,
			number_of(result, "exitCode"));
	} else {
		const char *error = json_text(result, "error");
		if (b->len > 0)
			buf_putc(b, '\n');
		put_stream(b, error != NULL ? error : text);
	}
	arena_free(scratch);
}

/* What the calls after position from gave; NULL if none of them has a result. */
static const char *results_text(struct arena *a, const struct chat_order *at, size_t n, size_t from)
{
	struct buf b;
	bool any = false;

	buf_init(&b, TEXT_MAX);
	for (size_t i = from; i < n; i++) {
		const struct item *it = at[i].item;
		if (it->kind != ITEM_RESULT || at[i].mate == CHAT_ORDER_NONE || at[i].mate < from)
			continue;
		const char *arguments = at[at[i].mate].item->call.arguments;
		any = true;
		put_result(
			&b, it->text != NULL ? it->text : "", arguments != NULL ? arguments : "");
	}
	const char *text = NULL;
	if (any)
		text = b.len > 0 ? arena_strndup(a, b.data, b.len) : "(no output)";
	buf_free(&b);
	return text;
}

int script_turn(const struct turn *t, const struct sink *s, struct err *e)
{
	struct script_commands commands;
	size_t n;
	const struct chat_order *at = chat_order(t->arena, &t->items, &n);
	size_t user = n; /* one past the user's last message */

	while (user > 0 && !is_user(at[user - 1].item))
		user--;
	if (user == 0)
		return err_set(e, ERR_INVALID_REQUEST, NULL, "expected a message of the user");
	const char *results = results_text(t->arena, at, n, user);
	if (results != NULL)
		return say_text(t, s, results);
	script_parse(&commands, t->arena, message_text(t->arena, at[user - 1].item));
	if (commands.n == 0)
		return say_text(t, s, how_to);
	const struct tool *tool = pick_tool(t);
	if (tool == NULL)
		return say_text(t, s, no_tool);
	return say_call(t, s, tool, &commands);
}
