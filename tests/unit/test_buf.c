/* buf and utf8: growing, the maximum, JSON strings. SPDX-License-Identifier: ISC */
#include "tests/lib/test.h"

#include <string.h>

#include "sandbox/sys/buf.h"
#include "sandbox/sys/utf8.h"

static void empty_has_text(void **state)
{
	struct buf b;

	(void)state;
	buf_init(&b, 10);
	assert_string_equal(buf_str(&b), "");
	assert_true(buf_ok(&b));
	buf_free(&b);
	assert_int_equal(b.max, 10);
}

static void grows_up_to_max(void **state)
{
	struct buf b;
	int i;

	(void)state;
	buf_init(&b, 1000);
	for (i = 0; i < 1000; i++)
		buf_putc(&b, (char)('a' + i % 26));
	assert_true(buf_ok(&b));
	assert_int_equal(b.len, 1000);
	assert_int_equal(strlen(b.data), 1000);
	buf_putc(&b, 'x');
	assert_false(buf_ok(&b));
	assert_int_equal(b.len, 1000);
	buf_free(&b);
}

static void put_past_max_leaves_content(void **state)
{
	struct buf b;

	(void)state;
	buf_init(&b, 5);
	buf_puts(&b, "abc");
	buf_puts(&b, "def");
	assert_false(buf_ok(&b));
	assert_string_equal(buf_str(&b), "abc");
	buf_puts(&b, "d"); /* would fit, but the error is sticky */
	assert_string_equal(buf_str(&b), "abc");
	buf_reset(&b);
	assert_true(buf_ok(&b));
	buf_puts(&b, "fghij");
	assert_string_equal(buf_str(&b), "fghij");
	buf_free(&b);
}

static void huge_put_does_not_wrap(void **state)
{
	struct buf b;

	(void)state;
	buf_init(&b, 100);
	buf_put(&b, "a", 1);
	buf_put(&b, "b", SIZE_MAX);
	assert_false(buf_ok(&b));
	assert_int_equal(b.len, 1);
	buf_free(&b);
}

static void zero_max_takes_nothing(void **state)
{
	struct buf b;

	(void)state;
	buf_init(&b, 0);
	buf_put(&b, NULL, 0);
	assert_true(buf_ok(&b));
	buf_putc(&b, 'x');
	assert_false(buf_ok(&b));
	buf_free(&b);
}

static void prints(void **state)
{
	struct buf b;

	(void)state;
	buf_init(&b, 12);
	buf_printf(&b, "%d-%s", 42, "abc");
	assert_string_equal(buf_str(&b), "42-abc");
	buf_printf(&b, "%s", "1234567");
	assert_false(buf_ok(&b));
	assert_string_equal(buf_str(&b), "42-abc");
	buf_free(&b);
}

static void consumes_from_the_front(void **state)
{
	struct buf b;

	(void)state;
	buf_init(&b, 100);
	buf_consume(&b, 0);
	buf_puts(&b, "line\nrest");
	buf_consume(&b, 5);
	assert_string_equal(buf_str(&b), "rest");
	buf_consume(&b, 4);
	assert_int_equal(b.len, 0);
	assert_string_equal(buf_str(&b), "");
	buf_free(&b);
}

static void json_string(const char *in, size_t n, const char *expected)
{
	struct buf b;

	buf_init(&b, 1000);
	buf_put_json(&b, in, n);
	assert_string_equal(buf_str(&b), expected);
	buf_free(&b);
}

static void json_escapes(void **state)
{
	(void)state;
	json_string("", 0, "\"\"");
	json_string("plain", 5, "\"plain\"");
	json_string("a\"b\\c/", 6, "\"a\\\"b\\\\c/\"");
	json_string("\n\r\t\b\x1b\x7f", 6, "\"\\n\\r\\t\\u0008\\u001b\\u007f\"");
	json_string("a\0b", 3, "\"a\\u0000b\"");
	json_string("\xC3\xA9\xF0\x9F\x98\x80", 6, "\"\xC3\xA9\xF0\x9F\x98\x80\"");
	json_string("\xC2\x9B", 2, "\"\\u009b\""); /* CSI, as dangerous to a terminal as ESC [ */
}

static void json_replaces_invalid(void **state)
{
	(void)state;
	json_string("\xFF", 1, "\"\xEF\xBF\xBD\"");
	json_string("a\xC3", 2, "\"a\xEF\xBF\xBD\"");
	json_string("\xED\xA0\x80", 3, "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\"");
	json_string("\xF0\x9F\x98X", 4, "\"\xEF\xBF\xBDX\"");
}

static void json_is_all_or_nothing(void **state)
{
	struct buf b;

	(void)state;
	buf_init(&b, 6);
	buf_puts(&b, "ab");
	buf_put_json(&b, "1234", 4);
	assert_false(buf_ok(&b));
	assert_string_equal(buf_str(&b), "ab");
	buf_free(&b);
}

static void next_character(const char *s, size_t n, size_t used, uint32_t expected)
{
	uint32_t cp;

	assert_int_equal(utf8_next(&cp, s, n), used);
	assert_int_equal(cp, expected);
}

static void utf8_decodes_edges(void **state)
{
	(void)state;
	next_character("A", 1, 1, 'A');
	next_character("\0", 1, 1, 0);
	next_character("\x7F", 1, 1, 0x7F);
	next_character("\xC2\x80", 2, 2, 0x80);
	next_character("\xDF\xBF", 2, 2, 0x7FF);
	next_character("\xE0\xA0\x80", 3, 3, 0x800);
	next_character("\xED\x9F\xBF", 3, 3, 0xD7FF);
	next_character("\xEE\x80\x80", 3, 3, 0xE000);
	next_character("\xEF\xBF\xBF", 3, 3, 0xFFFF);
	next_character("\xF0\x90\x80\x80", 4, 4, 0x10000);
	next_character("\xF4\x8F\xBF\xBF", 4, 4, 0x10FFFF);
}

static void utf8_refuses(void **state)
{
	(void)state;
	next_character("\x80", 1, 1, UTF8_INVALID);
	next_character("\xC0\x80", 2, 1, UTF8_INVALID); /* overlong NUL */
	next_character("\xC1\xBF", 2, 1, UTF8_INVALID);
	next_character("\xE0\x9F\xBF", 3, 1, UTF8_INVALID);
	next_character("\xED\xA0\x80", 3, 1, UTF8_INVALID); /* surrogate */
	next_character("\xF0\x8F\xBF\xBF", 4, 1, UTF8_INVALID);
	next_character("\xF4\x90\x80\x80", 4, 1, UTF8_INVALID);
	next_character("\xF5\x80\x80\x80", 4, 1, UTF8_INVALID);
	next_character("\xE2\x82", 2, 2, UTF8_INVALID); /* cut */
	next_character("\xE2\x82X", 3, 2, UTF8_INVALID);
}

static void utf8_valid_looks_at_all(void **state)
{
	(void)state;
	assert_true(utf8_valid("", 0));
	assert_true(utf8_valid("a\xC3\xA9", 3));
	assert_false(utf8_valid("a\xC3\xA9\xC3", 4));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(empty_has_text),
		cmocka_unit_test(grows_up_to_max),
		cmocka_unit_test(put_past_max_leaves_content),
		cmocka_unit_test(huge_put_does_not_wrap),
		cmocka_unit_test(zero_max_takes_nothing),
		cmocka_unit_test(prints),
		cmocka_unit_test(consumes_from_the_front),
		cmocka_unit_test(json_escapes),
		cmocka_unit_test(json_replaces_invalid),
		cmocka_unit_test(json_is_all_or_nothing),
		cmocka_unit_test(utf8_decodes_edges),
		cmocka_unit_test(utf8_refuses),
		cmocka_unit_test(utf8_valid_looks_at_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
