/* capture: output is kept exactly up to the cap, and cut as documented over it. SPDX-License-Identifier: ISC */
#include "tests/lib/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sandbox/box/capture.h"
#include "sandbox/sys/io.h"
#include "sandbox/sys/utf8.h"

static struct buf got;
static uint64_t omitted;

/* The text that n bytes at p give, put in pieces of step bytes. Static. */
static const char *run(const char *p, size_t n, size_t step, uint32_t max)
{
	struct capture c;

	capture_init(&c, max);
	for (size_t k = 0; k < n; k += step)
		capture_put(&c, p + k, n - k < step ? n - k : step);
	buf_free(&got);
	buf_init(&got, (size_t)max * 4);
	assert_int_equal(capture_finish(&c, &got, &omitted), 0);
	capture_free(&c);
	assert_true(utf8_valid(buf_str(&got), got.len));
	return buf_str(&got);
}

static size_t characters(const char *s, size_t n)
{
	size_t count = 0;

	for (size_t k = 0; k < n; k++)
		count += ((unsigned char)s[k] & 0xC0) != 0x80;
	return count;
}

static void what_fits_is_exact(void **state)
{
	(void)state;
	assert_string_equal(run("", 0, 1, 1), "");
	assert_string_equal(run("a", 1, 1, 1), "a");
	assert_string_equal(run("abc\n", 4, 4, 4), "abc\n");
	assert_string_equal(run("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\n", 10, 1, 4),
		"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\n");
	assert_true(omitted == 0);
}

static void nul_is_kept(void **state)
{
	(void)state;
	(void)run("a\0b", 3, 2, 10);
	assert_int_equal(got.len, 3);
	assert_memory_equal(got.data, "a\0b", 3);
}

static void a_cap_too_small_for_the_line_keeps_the_beginning(void **state)
{
	(void)state;
	assert_string_equal(run("ab", 2, 1, 1), "a");
	assert_true(omitted == 1);
	assert_string_equal(run("abcdefgh", 8, 3, 4), "abcd");
	assert_true(omitted == 4);
	assert_string_equal(run("\xc3\xa9\xc3\xa9\xc3\xa9", 6, 1, 2), "\xc3\xa9\xc3\xa9");
	assert_true(omitted == 1);
}

static void one_over_the_cap_is_cut(void **state)
{
	char text[102];
	(void)state;
	for (size_t k = 0; k < 101; k++)
		text[k] = (char)('a' + k % 26);
	text[101] = 0;
	assert_int_equal(strlen(run(text, 100, 7, 100)), 100);
	assert_true(omitted == 0);
	/* "\n[… 101 characters omitted …]\n" is 30 characters: 70 are left, 53 and 17 of them. */
	const char *s = run(text, 101, 7, 100);
	assert_int_equal(characters(s, got.len), 99);
	assert_memory_equal(s, text, 53);
	assert_string_equal(s + 53, "\n[… 31 characters omitted …]\nghijklmnopqrstuvw");
	assert_string_equal(s + got.len - 17, text + 101 - 17);
	assert_true(omitted == 31);
}

static void the_line_stands_alone(void **state)
{
	char text[200];
	(void)state;
	memset(text, '\n', sizeof(text));
	const char *s = run(text, sizeof(text), 50, 100);
	assert_int_equal(s[52], '\n');
	assert_int_equal(s[53], '[');
}

static void invalid_bytes_become_replacement_characters(void **state)
{
#define R "\xef\xbf\xbd"
	static const struct {
		const char *in, *out;
	} t[] = {{"\xff", R}, {"a\x80z", "a" R "z"}, {"\xc3", R}, {"\xc3(", R "("}, {"\xe2\x82", R},
		{"\xe2\x82z", R "z"}, {"\xf0\x9f\x98", R}, {"\xf0\x9f\xff", R R}, {"\xc0\xaf", R R},
		{"\xed\xa0\x80", R R R}, {"\xf4\x90\x80\x80", R R R R},
		{"\xe2\xe2\x82\xac", R "\xe2\x82\xac"}, {"\xf0\xc3\xa9", R "\xc3\xa9"},
		{"\xe2\x82\xf0\x9f\x98\x80", R "\xf0\x9f\x98\x80"}};
	(void)state;
	for (size_t k = 0; k < sizeof(t) / sizeof(t[0]); k++) {
		for (size_t step = 1; step <= 6; step++)
			assert_string_equal(run(t[k].in, strlen(t[k].in), step, 100), t[k].out);
	}
}

/* However it is split, the result is that of one piece. */
static void splitting_changes_nothing(void **state)
{
	static const char alphabet[] = "ab\n\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\xff";
	char text[3000];
	(void)state;
	srandom(7);
	for (int round = 0; round < 200; round++) {
		size_t n = (size_t)random() % sizeof(text);
		uint32_t max = 1 + (uint32_t)random() % 400;
		for (size_t k = 0; k < n; k++)
			text[k] = alphabet[(size_t)random() % (sizeof(alphabet) - 1)];
		char *whole = strdup(run(text, n, sizeof(text), max));
		uint64_t whole_omitted = omitted;
		assert_string_equal(run(text, n, 1 + (size_t)random() % 9, max), whole);
		assert_true(omitted == whole_omitted);
		assert_true(characters(whole, strlen(whole)) <= max);
		free(whole);
	}
}

static void what_is_kept_and_omitted_add_up(void **state)
{
	static char text[5000];
	(void)state;
	memset(text, 'x', sizeof(text));
	for (uint32_t max = 1; max < 400; max++) {
		for (size_t n = max + 1; n < sizeof(text); n += 977) {
			const char *s = run(text, n, 1000, max);
			size_t kept = 0;
			for (const char *p = s; *p; p++)
				kept += *p == 'x';
			assert_true(kept + omitted == n);
			assert_true(characters(s, got.len) <= max);
		}
	}
}

static void multibyte_characters_survive_the_cut(void **state)
{
	static char text[4 * 1000];
	(void)state;
	for (size_t k = 0; k < 1000; k++)
		memcpy(text + 4 * k, "\xf0\x9f\x98\x80", 4);
	const char *s = run(text, sizeof(text), 13, 100);
	/* The line's number has a digit more than above: 69 are left, 52 and 17 of them. */
	assert_memory_equal(s, text, 4 * 52);
	assert_memory_equal(s + got.len - 4 * 17, text, 4 * 17);
	assert_true(omitted == 1000 - 69);
}

static void a_flood_is_bounded_and_quick(void **state)
{
	static char text[65536];
	struct capture c;
	(void)state;
	for (size_t k = 0; k < sizeof(text); k += 2)
		memcpy(text + k, "y\n", 2);
	capture_init(&c, 65536);
	int64_t t0 = io_now_us();
	for (int k = 0; k < 160; k++)
		capture_put(&c, text, sizeof(text));
	int64_t us = io_now_us() - t0;
	assert_true(c.cap <= 4 * 65536);
	assert_true(c.total == 160 * sizeof(text));
	print_message("10 MB of y: %lld us\n", (long long)us);
	assert_true(us < 2000000);
	buf_free(&got);
	buf_init(&got, 4 * 65536);
	assert_int_equal(capture_finish(&c, &got, &omitted), 0);
	assert_true(characters(got.data, got.len) <= 65536);
	assert_true(got.len > 65536 && strstr(got.data, " characters omitted …]\n"));
	capture_free(&c);
	buf_free(&got);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_fits_is_exact),
		cmocka_unit_test(nul_is_kept),
		cmocka_unit_test(a_cap_too_small_for_the_line_keeps_the_beginning),
		cmocka_unit_test(one_over_the_cap_is_cut),
		cmocka_unit_test(the_line_stands_alone),
		cmocka_unit_test(invalid_bytes_become_replacement_characters),
		cmocka_unit_test(splitting_changes_nothing),
		cmocka_unit_test(what_is_kept_and_omitted_add_up),
		cmocka_unit_test(multibyte_characters_survive_the_cut),
		cmocka_unit_test(a_flood_is_bounded_and_quick),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
