/* json: strict parsing, getters, printing. SPDX-License-Identifier: ISC */
#include "tests/lib/test.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/base/json.h"
#include "app/base/json_scan.h"

static struct arena *a;
static struct err e;

static int start(void **state)
{
	(void)state;
	a = arena_new();
	return 0;
}

static int stop(void **state)
{
	(void)state;
	arena_free(a);
	return 0;
}

static cJSON *parse(const char *text)
{
	cJSON *v = NULL;

	memset(&e, 0, sizeof e);
	if (json_parse(&v, a, text, strlen(text), &e) < 0)
		fail_msg("%s: %s", text, e.message);
	assert_non_null(v);
	return v;
}

static void refused_bytes(const char *text, size_t n, const char *expected)
{
	cJSON *v = NULL;

	assert_int_equal(json_parse(&v, a, text, n, &e), ERR_INVALID_REQUEST);
	assert_null(v);
	assert_int_equal(e.code, ERR_INVALID_REQUEST);
	if (!strstr(e.message, expected))
		fail_msg("%s: \"%s\", expected \"%s\"", text, e.message, expected);
}

static void refused(const char *text, const char *expected)
{
	refused_bytes(text, strlen(text), expected);
}

static void good_texts(void **state)
{
	static const char *const good[] = {"0", "-0", "1.5e+10", "1E-2", "\"\"", "true", "false",
		"null", "[]", "{}", " [ ] ", "\r\n\t{\"a\":[1,{\"b\":null}],\"c\":\"d\"}\n",
		"[[],{},[{}]]", "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\uD83D\\uDE00\"",
		"\"\xF0\x9F\x98\x80\"", "\"\x7F\"", "{\"\":1}", "1e400"};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof good / sizeof good[0]; i++)
		parse(good[i]);
	assert_string_equal(cJSON_GetStringValue(parse("\"\\uD83D\\uDE00\\u00e9\"")),
		"\xF0\x9F\x98\x80\xC3\xA9");
}

static void position_is_told(void **state)
{
	(void)state;
	refused("{\"a\":1,\n \"b\":x}",
		"invalid JSON at byte 13 (line 2, column 6): expected a value");
	refused("", "at byte 0 (line 1, column 1): the text ends where a value is expected");
}

static void bad_syntax(void **state)
{
	(void)state;
	refused("   ", "the text ends where a value is expected");
	refused("{", "expected a member name");
	refused("[", "the text ends where a value is expected");
	refused("[1", "the text ends inside an array");
	refused("{\"a\":1", "the text ends inside an object");
	refused("[1,]", "at byte 3 (line 1, column 4): expected a value");
	refused("{\"a\":1,}", "expected a member name in double quotes");
	refused("{a:1}", "expected a member name in double quotes");
	refused("{'a':1}", "expected a member name in double quotes");
	refused("{\"a\" 1}", "expected ':'");
	refused("{\"a\":}", "expected a value");
	refused("[1 2]", "expected ',' or ']'");
	refused("[1}", "expected ',' or ']'");
	refused("{\"a\":1]", "expected ',' or '}'");
	refused("1 2", "expected the end of the text");
	refused("{}x", "expected the end of the text");
	refused("]", "expected a value");
	refused("tru", "expected a value");
	refused("True", "expected a value");
	refused("nul", "expected a value");
	refused("truex", "expected the end of the text");
	refused("// c\n1", "expected a value");
	refused("\xEF\xBB\xBF{}", "at byte 0 (line 1, column 1): expected a value");
}

static void bad_numbers(void **state)
{
	(void)state;
	refused("01", "a number must not begin with 0");
	refused("-01", "a number must not begin with 0");
	refused("+1", "expected a value");
	refused(".5", "expected a value");
	refused("1.", "expected a digit");
	refused("1e", "expected a digit");
	refused("1e+", "expected a digit");
	refused("-", "expected a digit");
	refused("0x10", "expected the end of the text");
	refused("NaN", "expected a value");
	refused("-Infinity", "expected a digit");
	refused("1111111111111111111111111111111111111111111111111111111111111111",
		"a number is too long");
	parse("111111111111111111111111111111111111111111111111111111111111111");
}

static void bad_strings(void **state)
{
	(void)state;
	refused("\"abc", "the text ends inside a string");
	refused("\"abc\\", "unknown escape");
	refused("\"\\x41\"", "unknown escape");
	refused("\"\\u12g4\"", "expected four hexadecimal digits");
	refused("\"\\u12", "expected four hexadecimal digits");
	refused("\"a\nb\"", "at byte 2 (line 1, column 3): a control character");
	refused("\"\x1F\"", "a control character");
	refused_bytes("\"a\0b\"", 5, "a control character");
	refused_bytes("\"\\\0\"", 4, "unknown escape");
	refused_bytes("{}\0", 3, "expected the end of the text");
	refused("\"\\u0000\"", "at byte 1 (line 1, column 2): \\u0000 is not accepted");
}

static void bad_unicode(void **state)
{
	(void)state;
	refused("\"\xFF\"", "invalid UTF-8");
	refused("\"\xC3\"", "invalid UTF-8");
	refused("\"\xC0\x80\"", "invalid UTF-8");
	refused("\"\xED\xA0\x80\"", "invalid UTF-8");
	refused("{\"\xFF\":1}", "invalid UTF-8");
	refused("\"\\uD83D\"", "a lone surrogate");
	refused("\"\\uDE00\"", "a lone surrogate");
	refused("\"\\uD83D\\uD83D\"", "a lone surrogate");
	refused("\"\\uD83Dx\"", "a lone surrogate");
	refused("\"\\uD83D\\n\"", "a lone surrogate");
	refused("\"x\\uDE00\\uD83D\"", "at byte 2 (line 1, column 3): a lone surrogate");
}

static void depth(size_t n, const char *open, const char *close, const char *expected)
{
	struct buf b;
	size_t i;

	buf_init(&b, 100000);
	for (i = 0; i < n; i++)
		buf_puts(&b, open);
	buf_puts(&b, "1");
	for (i = 0; i < n; i++)
		buf_puts(&b, close);
	if (expected)
		refused(buf_str(&b), expected);
	else
		parse(buf_str(&b));
	buf_free(&b);
}

static void nesting_has_a_limit(void **state)
{
	(void)state;
	depth(128, "[", "]", NULL);
	depth(129, "[", "]", "nested too deeply");
	depth(128, "{\"a\":", "}", NULL);
	depth(129, "{\"a\":", "}", "nested too deeply");
	depth(20000, "[", "]", "nested too deeply");
}

static void number_of_values_has_a_limit(void **state)
{
	struct buf b;
	size_t i, at;

	(void)state;
	buf_init(&b, 4u << 20);
	buf_puts(&b, "[");
	for (i = 0; i < JSON_VALUES_MAX - 1; i++)
		buf_puts(&b, i ? ",1" : "1");
	buf_puts(&b, "]");
	assert_null(json_scan(b.data, b.len, &at));
	b.data[b.len - 1] = ',';
	buf_puts(&b, "1]");
	refused(buf_str(&b), "too many values");
	buf_free(&b);
}

/* What the scanner takes, cJSON takes; and no mutation makes either read where it may not. */
static void mutations_are_safe(void **state)
{
	static const char seed[] =
		"{\"model\":\"a/b\",\"input\":[{\"role\":\"user\",\"content\":\"h\\u00e9\\n\"},"
		"-1.5e3,true,null,[]],\"x\":{\"y\":\"\\uD83D\\uDE00\xC3\xA9\"}}";
	static const char bits[] = "{}[]\",:\\u0123dDeE+-.tfn \n\xC3\xA9\xED\xA0\xFF";
	unsigned random = 12345;
	size_t n, i, at, taken = 0;
	char *text;
	cJSON *v;
	int round, changes;

	(void)state;
	for (round = 0; round < 20000; round++) {
		n = sizeof seed - 1;
		/* In memory of its own, so that ASan sees a step too far. */
		text = malloc(n);
		memcpy(text, seed, n);
		for (changes = 1 + round % 3; changes > 0; changes--) {
			random = random * 1103515245u + 12345u;
			i = random >> 8;
			text[i % n] = bits[(random >> 20) % (sizeof bits - 1)];
			if (round % 5 == 0 && n > 2)
				n = 1 + i % (n - 1);
		}
		if (!json_scan(text, n, &at)) {
			v = cJSON_ParseWithLength(text, n);
			if (!v)
				fail_msg("%.*s", (int)n, text);
			cJSON_Delete(v);
			taken++;
		}
		assert_true(at <= n);
		free(text);
	}
	assert_in_range(taken, 100, 15000);
}

static void get_strings(void **state)
{
	const cJSON *o = parse("{\"s\":\"x\",\"n\":null,\"i\":1,\"S\":\"other\"}");
	const char *s;

	(void)state;
	assert_int_equal(json_get_string(&s, o, "s", "d", &e), 0);
	assert_string_equal(s, "x");
	assert_int_equal(json_get_string(&s, o, "n", "d", &e), 1);
	assert_string_equal(s, "d");
	assert_int_equal(json_get_string(&s, o, "none", NULL, &e), 1);
	assert_null(s);
	assert_int_equal(json_get_string(&s, o, "i", "d", &e), ERR_INVALID_REQUEST);
	assert_string_equal(e.param, "i");
	assert_string_equal(e.message, "i: expected a string");
	assert_string_equal(json_text(o, "S"), "other");
	assert_null(json_text(o, "i"));
	assert_null(json_member(o, "X"));
}

static void get_integers(void **state)
{
	const cJSON *o = parse(
		"{\"i\":5,\"n\":-7,\"f\":1.5,\"big\":9007199254740993,\"max\":9007199254740992,"
		"\"inf\":1e400,\"s\":\"5\",\"e\":1e3,\"null\":null}");
	int64_t i;

	(void)state;
	assert_int_equal(json_get_int(&i, o, "i", 0, 1, 5, &e), 0);
	assert_int_equal(i, 5);
	assert_int_equal(json_get_int(&i, o, "n", 0, -7, 7, &e), 0);
	assert_int_equal(i, -7);
	assert_int_equal(json_get_int(&i, o, "e", 0, 0, 2000, &e), 0);
	assert_int_equal(i, 1000);
	assert_int_equal(json_get_int(&i, o, "null", 9, 0, 2000, &e), 1);
	assert_int_equal(i, 9);
	assert_int_equal(json_get_int(&i, o, "i", 0, 6, 9, &e), ERR_INVALID_REQUEST);
	assert_string_equal(e.message, "i: expected an integer from 6 to 9");
	assert_int_equal(json_get_int(&i, o, "f", 0, 0, 9, &e), ERR_INVALID_REQUEST);
	assert_string_equal(e.message, "f: expected an integer");
	assert_int_equal(json_get_int(&i, o, "s", 0, 0, 9, &e), ERR_INVALID_REQUEST);
	assert_int_equal(
		json_get_int(&i, o, "inf", 0, INT64_MIN, INT64_MAX, &e), ERR_INVALID_REQUEST);
	assert_int_equal(json_get_int(&i, o, "max", 0, INT64_MIN, INT64_MAX, &e), 0);
}

static void get_numbers(void **state)
{
	const cJSON *o = parse("{\"f\":0.25,\"inf\":1e400,\"b\":true}");
	double d;

	(void)state;
	assert_int_equal(json_get_number(&d, o, "f", 1, 0, 2, &e), 0);
	assert_true(d > 0.24 && d < 0.26);
	assert_int_equal(json_get_number(&d, o, "none", (double)NAN, 0, 2, &e), 1);
	assert_true(isnan(d));
	assert_int_equal(json_get_number(&d, o, "f", 1, 1, 2, &e), ERR_INVALID_REQUEST);
	assert_string_equal(e.message, "f: expected a number from 1 to 2");
	assert_int_equal(json_get_number(&d, o, "inf", 1, 0, DBL_MAX, &e), ERR_INVALID_REQUEST);
	assert_int_equal(json_get_number(&d, o, "b", 1, 0, 2, &e), ERR_INVALID_REQUEST);
}

static void get_booleans(void **state)
{
	const cJSON *o = parse("{\"t\":true,\"f\":false,\"one\":1}");
	bool b;

	(void)state;
	assert_int_equal(json_get_bool(&b, o, "t", false, &e), 0);
	assert_true(b);
	assert_int_equal(json_get_bool(&b, o, "f", true, &e), 0);
	assert_false(b);
	assert_int_equal(json_get_bool(&b, o, "none", true, &e), 1);
	assert_true(b);
	assert_int_equal(json_get_bool(&b, o, "one", true, &e), ERR_INVALID_REQUEST);
	assert_string_equal(e.message, "one: expected true or false");
}

static void get_containers(void **state)
{
	const cJSON *o = parse("{\"o\":{},\"a\":[],\"n\":null}"), *v;

	(void)state;
	assert_int_equal(json_get_object(&v, o, "o", &e), 0);
	assert_true(cJSON_IsObject(v));
	assert_int_equal(json_get_array(&v, o, "a", &e), 0);
	assert_true(cJSON_IsArray(v));
	assert_int_equal(json_get_array(&v, o, "n", &e), 1);
	assert_null(v);
	assert_int_equal(json_get_object(&v, o, "a", &e), ERR_INVALID_REQUEST);
	assert_null(v);
	assert_int_equal(json_get_array(&v, o, "o", &e), ERR_INVALID_REQUEST);
	assert_string_equal(e.message, "o: expected an array");
}

static void prints_compactly(void **state)
{
	(void)state;
	assert_string_equal(json_print(a, parse("{ \"a\" : [ 1 , 2.5 ] }")), "{\"a\":[1,2.5]}");
}

static void added_text_is_valid(void **state)
{
	cJSON *o = cJSON_CreateObject();

	(void)state;
	json_add_text(o, "k", "a\xFF\xC3\xA9\0z", 6);
	json_add_text(o, "empty", "", 0);
	assert_string_equal(json_text(o, "k"), "a\xEF\xBF\xBD\xC3\xA9\xEF\xBF\xBDz");
	assert_string_equal(json_text(o, "empty"), "");
	cJSON_Delete(o);
}

static void exact_text_keeps_nul_and_escapes(void **state)
{
	cJSON *o = cJSON_CreateObject();
	char *text;

	(void)state;
	json_add_exact(o, "a", "x\0\"\n\xff", 5);
	json_add_exact(o, "b", "", 0);
	text = cJSON_PrintUnformatted(o);
	assert_string_equal(text, "{\"a\":\"x\\u0000\\\"\\n\xEF\xBF\xBD\",\"b\":\"\"}");
	free(text);
	cJSON_Delete(o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exact_text_keeps_nul_and_escapes),
		cmocka_unit_test(good_texts),
		cmocka_unit_test(position_is_told),
		cmocka_unit_test(bad_syntax),
		cmocka_unit_test(bad_numbers),
		cmocka_unit_test(bad_strings),
		cmocka_unit_test(bad_unicode),
		cmocka_unit_test(nesting_has_a_limit),
		cmocka_unit_test(number_of_values_has_a_limit),
		cmocka_unit_test(mutations_are_safe),
		cmocka_unit_test(get_strings),
		cmocka_unit_test(get_integers),
		cmocka_unit_test(get_numbers),
		cmocka_unit_test(get_booleans),
		cmocka_unit_test(get_containers),
		cmocka_unit_test(prints_compactly),
		cmocka_unit_test(added_text_is_valid),
	};

	return cmocka_run_group_tests(tests, start, stop);
}
