/* json_scan: is this text JSON, strictly? SPDX-License-Identifier: ISC */
#include "app/base/json_scan.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "sandbox/sys/utf8.h"

/* Iterative: the nesting of hostile text must not become our stack. */
struct scan {
	const char *text;
	size_t n, at;
	const char *wrong; /* the first thing found; sticky */
	char open[JSON_DEPTH_MAX];
	size_t depth, values;
};

static bool fail(struct scan *s, const char *wrong)
{
	if (!s->wrong)
		s->wrong = wrong;
	return false;
}

/* The byte at the cursor, or -1 at the end. */
static int peek(const struct scan *s)
{
	return s->at < s->n ? (unsigned char)s->text[s->at] : -1;
}

static void skip_space(struct scan *s)
{
	int c;

	while ((c = peek(s)) == ' ' || c == '\t' || c == '\n' || c == '\r')
		s->at++;
}

static bool is_digit(int c)
{
	return c >= '0' && c <= '9';
}

static bool scan_word(struct scan *s, const char *word)
{
	size_t len = strlen(word);

	if (s->n - s->at < len || memcmp(s->text + s->at, word, len) != 0)
		return fail(s, "expected a value");
	s->at += len;
	return true;
}

static bool scan_digits(struct scan *s)
{
	if (!is_digit(peek(s)))
		return fail(s, "expected a digit");
	while (is_digit(peek(s)))
		s->at++;
	return true;
}

static bool scan_number_text(struct scan *s)
{
	if (peek(s) == '-')
		s->at++;
	if (peek(s) == '0') {
		s->at++;
		if (is_digit(peek(s)))
			return fail(s, "a number must not begin with 0");
	} else if (!scan_digits(s)) {
		return false;
	}
	if (peek(s) == '.') {
		s->at++;
		if (!scan_digits(s))
			return false;
	}
	if (peek(s) == 'e' || peek(s) == 'E') {
		s->at++;
		if (peek(s) == '+' || peek(s) == '-')
			s->at++;
		return scan_digits(s);
	}
	return true;
}

static bool scan_number(struct scan *s)
{
	size_t start = s->at;

	if (!scan_number_text(s))
		return false;
	if (s->at - start <= JSON_NUMBER_MAX)
		return true;
	s->at = start;
	return fail(s, "a number is too long");
}

/* The four digits after \u. */
static bool scan_hex(struct scan *s, uint32_t *value)
{
	int i, c;

	*value = 0;
	for (i = 0; i < 4; i++, s->at++) {
		c = peek(s);
		if (is_digit(c))
			c -= '0';
		else if (c >= 'a' && c <= 'f')
			c -= 'a' - 10;
		else if (c >= 'A' && c <= 'F')
			c -= 'A' - 10;
		else
			return fail(s, "expected four hexadecimal digits after \\u");
		*value = *value << 4 | (uint32_t)c;
	}
	return true;
}

static bool scan_escape(struct scan *s)
{
	size_t start = s->at++;
	uint32_t value;
	int c = peek(s);

	if (c >= 0 && c != '\0' && strchr("\"\\/bfnrt", c)) {
		s->at++;
		return true;
	}
	if (c != 'u')
		return fail(s, "unknown escape in a string");
	s->at++;
	if (!scan_hex(s, &value))
		return false;
	if (value >= 0xD800 && value <= 0xDBFF) {
		if (s->n - s->at >= 2 && s->text[s->at] == '\\' && s->text[s->at + 1] == 'u') {
			s->at += 2;
			if (!scan_hex(s, &value))
				return false;
			if (value >= 0xDC00 && value <= 0xDFFF)
				return true;
		}
		value = 0xDC00;
	}
	if (value >= 0xDC00 && value <= 0xDFFF) {
		s->at = start;
		return fail(s, "a lone surrogate in a string");
	}
	if (value == 0) {
		s->at = start;
		return fail(s, "\\u0000 is not accepted");
	}
	return true;
}

static bool scan_string(struct scan *s)
{
	uint32_t cp;
	size_t used;
	int c;

	s->at++;
	for (;;) {
		c = peek(s);
		if (c < 0)
			return fail(s, "the text ends inside a string");
		if (c == '"') {
			s->at++;
			return true;
		}
		if (c < 0x20)
			return fail(s, "a control character in a string must be escaped");
		if (c == '\\') {
			if (!scan_escape(s))
				return false;
		} else if (c < 0x80) {
			s->at++;
		} else {
			used = utf8_next(&cp, s->text + s->at, s->n - s->at);
			if (cp == UTF8_INVALID)
				return fail(s, "invalid UTF-8");
			s->at += used;
		}
	}
}

/* `"key" :` */
static bool scan_key(struct scan *s)
{
	skip_space(s);
	if (peek(s) != '"')
		return fail(s, "expected a member name in double quotes");
	if (!scan_string(s))
		return false;
	skip_space(s);
	if (peek(s) != ':')
		return fail(s, "expected ':'");
	s->at++;
	return true;
}

/* A scalar whole, or the beginning of an array or object up to where a value is due; *closed: a value is complete. */
static bool scan_value(struct scan *s, bool *closed)
{
	int c;

	*closed = true;
	if (s->values++ == JSON_VALUES_MAX)
		return fail(s, "too many values");
	skip_space(s);
	c = peek(s);
	if (c == '"')
		return scan_string(s);
	if (c == '-' || is_digit(c))
		return scan_number(s);
	if (c == 't')
		return scan_word(s, "true");
	if (c == 'f')
		return scan_word(s, "false");
	if (c == 'n')
		return scan_word(s, "null");
	if (c < 0)
		return fail(s, "the text ends where a value is expected");
	if (c != '[' && c != '{')
		return fail(s, "expected a value");
	if (s->depth == JSON_DEPTH_MAX)
		return fail(s, "nested too deeply");
	s->open[s->depth++] = (char)c;
	s->at++;
	skip_space(s);
	if (peek(s) == (c == '[' ? ']' : '}')) {
		s->at++;
		s->depth--;
		return true;
	}
	*closed = false;
	return c == '[' || scan_key(s);
}

/* After a complete value: a comma leads to the next one (true), closing brackets are taken until none is open. */
static bool scan_after(struct scan *s)
{
	bool object;
	int c;

	while (s->depth > 0) {
		object = s->open[s->depth - 1] == '{';
		skip_space(s);
		c = peek(s);
		if (c == ',') {
			s->at++;
			return !object || scan_key(s);
		}
		if (c < 0)
			return fail(s,
				object ? "the text ends inside an object"
				       : "the text ends inside an array");
		if (c != (object ? '}' : ']'))
			return fail(s, object ? "expected ',' or '}'" : "expected ',' or ']'");
		s->at++;
		s->depth--;
	}
	return false;
}

const char *json_scan(const char *text, size_t n, size_t *at)
{
	struct scan s = {.text = text, .n = n};
	bool closed, more = true;

	while (more && scan_value(&s, &closed))
		more = !closed || scan_after(&s);
	if (!s.wrong) {
		skip_space(&s);
		if (s.at < n)
			fail(&s, "expected the end of the text");
	}
	*at = s.at;
	return s.wrong;
}
