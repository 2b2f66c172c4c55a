/* chat_error: what a provider's errors mean to a client. SPDX-License-Identifier: ISC */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "app/base/json.h"
#include "app/dialect/chat.h"
#include "sandbox/sys/utf8.h"

#define SAID_MAX 300 /* bytes of the provider's own words that are passed on */

/* The texts of an error body; "" where it has none. */
struct said {
	const char *message;
	const char *type;
	const char *code;
	int status; /* that the body names, 0 if it names none */
};

static const char *or_empty(const char *s)
{
	return s != NULL ? s : "";
}

/* FastAPI: {"detail": "text"}, or [{"msg": …}…]. */
static const char *detail_text(const cJSON *detail)
{
	if (cJSON_IsArray(detail))
		detail = detail->child;
	if (cJSON_IsString(detail))
		return detail->valuestring;
	const char *msg = json_text(detail, "msg");
	return msg != NULL ? msg : json_text(detail, "message");
}

static void read_code(struct said *s, const cJSON *o)
{
	const cJSON *code = json_member(o, "code");
	if (!cJSON_IsNumber(code))
		code = json_member(o, "status");
	if (cJSON_IsNumber(code) && code->valueint >= 400 && code->valueint <= 599)
		s->status = code->valueint;
	s->code = or_empty(json_text(o, "code"));
	s->type = or_empty(json_text(o, "type"));
}

static void read_body(struct said *s, const cJSON *body)
{
	*s = (struct said){"", "", "", 0};
	if (cJSON_IsArray(body)) /* Gemini's compatible endpoint */
		body = body->child;
	const cJSON *error = json_member(body, "error");
	if (cJSON_IsObject(error)) {
		read_code(s, error);
		/* OpenRouter's own message is general; the provider behind it said this. */
		const char *raw = json_text(json_member(error, "metadata"), "raw");
		const char *message = json_text(error, "message");
		if (message == NULL)
			message = detail_text(json_member(error, "detail"));
		s->message = or_empty(raw != NULL && *raw != '\0' ? raw : message);
		return;
	}
	read_code(s, body);
	const char *text = cJSON_IsString(error) ? error->valuestring : json_text(body, "message");
	s->message = or_empty(text != NULL ? text : detail_text(json_member(body, "detail")));
}

/* One line, whole characters, no control characters, at most SAID_MAX bytes. */
static void tidy(char out[SAID_MAX + 1], const char *s)
{
	size_t n = 0, left = strlen(s);
	while (left > 0) {
		uint32_t cp;
		size_t used = utf8_next(&cp, s, left);
		if (n + used > SAID_MAX)
			break;
		if (cp == UTF8_INVALID || cp < 0x20 || cp == 0x7f) {
			if (n > 0 && out[n - 1] != ' ')
				out[n++] = ' ';
		} else {
			memcpy(out + n, s, used);
			n += used;
		}
		s += used;
		left -= used;
	}
	out[n] = '\0';
}

static bool speaks_of_context(const struct said *s)
{
	static const char *const words[] = {"context_length", "context length", "context window",
		"context size", "context_window", "context_size", "maximum context",
		"prompt is too long", "input is too long", "prompt too long",
		"maximum prompt length"};
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (strcasestr(s->message, words[i]) != NULL ||
			strcasestr(s->code, words[i]) != NULL ||
			strcasestr(s->type, words[i]) != NULL)
			return true;
	return false;
}

struct meaning {
	int status;
	enum err_code code;
	const char *text;
};

static struct meaning meaning_of(int status)
{
	static const struct meaning table[] = {
		{400, ERR_INVALID_REQUEST, "the model provider refused the request"},
		/* The key is the gateway's, so this is nothing that the client could mend. */
		{401, ERR_PROVIDER_UNAVAILABLE, "the model provider refused this server's key"},
		{402, ERR_PROVIDER_UNAVAILABLE,
			"this server's account with the model provider has no credit"},
		{403, ERR_PROVIDER_UNAVAILABLE, "the model provider refused this server's key"},
		{404, ERR_NOT_FOUND, "the model provider does not know the model"},
		{405, ERR_PROVIDER_UNAVAILABLE,
			"the model provider's address takes no chat requests"},
		{408, ERR_TIMEOUT, "the model provider took too long"},
		{413, ERR_PAYLOAD_TOO_LARGE, "the request is too large for the model provider"},
		{422, ERR_UNPROCESSABLE, "the model provider cannot process the request"},
		{429, ERR_RATE_LIMITED, "the model provider's rate limit was reached"},
		{503, ERR_PROVIDER_OVERLOADED, "the model provider is overloaded"},
		{504, ERR_TIMEOUT, "the model provider took too long"},
		{524, ERR_TIMEOUT, "the model provider took too long"},
		{529, ERR_PROVIDER_OVERLOADED, "the model provider is overloaded"},
	};
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++)
		if (table[i].status == status)
			return table[i];
	if (status < 400)
		return (struct meaning){status, ERR_PROVIDER_UNAVAILABLE,
			"the model provider's address does not answer chat requests"};
	if (status < 500)
		return (struct meaning){status, ERR_INVALID_REQUEST, table[0].text};
	return (struct meaning){status, ERR_PROVIDER_UNAVAILABLE, "the model provider failed"};
}

/* An error in mid-stream may have no status, only a word. */
static int status_of(const struct said *s)
{
	static const struct {
		const char *word;
		int status;
	} table[] = {{"rate_limit", 429}, {"overloaded", 529}, {"invalid_request", 400},
		{"authentication", 401}, {"permission", 403}, {"not_found", 404}, {"timeout", 504}};
	if (s->status != 0)
		return s->status;
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++)
		if (strcasestr(s->type, table[i].word) != NULL ||
			strcasestr(s->code, table[i].word) != NULL)
			return table[i].status;
	return 502;
}

static int fill(struct err *e, int status, const struct said *s)
{
	char words[SAID_MAX + 1];
	const struct meaning m = meaning_of(status);
	const bool key = status == 401 || status == 402 || status == 403;
	const char *param = m.code == ERR_NOT_FOUND ? "model" : NULL;

	/* What a provider says about a key may quote from it. */
	tidy(words, key ? "" : s->message);
	const char *colon = *words != '\0' ? ": " : "";
	if (!key && status != 429 && speaks_of_context(s))
		return err_set(e, ERR_CONTEXT_LENGTH, NULL,
			"the conversation is too long for the model%s%s", colon, words);
	return err_set(e, m.code, param, "%s (status %d)%s%s", m.text, status, colon, words);
}

int chat_error_json(struct err *e, int status, const cJSON *body)
{
	struct said s;
	read_body(&s, body);
	return fill(e, status != 0 ? status : status_of(&s), &s);
}

static bool is_markup(const char *s)
{
	while (isspace((unsigned char)*s))
		s++;
	return *s == '<';
}

int chat_error(struct err *e, int status, const char *body, size_t n)
{
	struct arena *scratch = arena_new();
	struct said s = {"", "", "", 0};
	cJSON *v;

	if (json_parse(&v, scratch, body, n, NULL) == 0) {
		read_body(&s, v);
	} else {
		/* Plain text is worth showing, a proxy's page is not. */
		s.message = arena_strndup(scratch, n > 0 ? body : "", n);
		if (is_markup(s.message))
			s.message = "";
	}
	int rc = fill(e, status, &s);
	arena_free(scratch);
	return rc;
}
