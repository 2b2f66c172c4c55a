/* test_range: byte ranges and entity tags. SPDX-License-Identifier: ISC */
#include "tests/lib/test.h"

#include "app/api/range.h"

static void assert_range(
	const char *header, uint64_t size, enum range_kind kind, uint64_t first, uint64_t length)
{
	struct range r;

	assert_int_equal(range_read(&r, header, size), kind);
	if (kind == RANGE_NONE)
		return;
	assert_int_equal(r.first, first);
	assert_int_equal(r.length, length);
}

static void no_header_is_the_whole(void **unused)
{
	(void)unused;
	assert_range(NULL, 10, RANGE_WHOLE, 0, 10);
	assert_range(NULL, 0, RANGE_WHOLE, 0, 0);
}

static void both_ends_are_included(void **unused)
{
	(void)unused;
	assert_range("bytes=0-0", 10, RANGE_PART, 0, 1);
	assert_range("bytes=2-5", 10, RANGE_PART, 2, 4);
	assert_range("bytes=0-9", 10, RANGE_PART, 0, 10);
}

static void an_open_end_goes_to_the_end(void **unused)
{
	(void)unused;
	assert_range("bytes=0-", 10, RANGE_PART, 0, 10);
	assert_range("bytes=9-", 10, RANGE_PART, 9, 1);
}

static void an_end_past_the_end_is_cut(void **unused)
{
	(void)unused;
	assert_range("bytes=5-100", 10, RANGE_PART, 5, 5);
	assert_range("bytes=5-99999999999999999999999999", 10, RANGE_PART, 5, 5);
}

static void a_suffix_is_the_last_bytes(void **unused)
{
	(void)unused;
	assert_range("bytes=-3", 10, RANGE_PART, 7, 3);
	assert_range("bytes=-100", 10, RANGE_PART, 0, 10);
	assert_range("bytes=-99999999999999999999999999", 10, RANGE_PART, 0, 10);
}

static void what_lies_past_the_end_is_none(void **unused)
{
	(void)unused;
	assert_range("bytes=10-", 10, RANGE_NONE, 0, 0);
	assert_range("bytes=10-20", 10, RANGE_NONE, 0, 0);
	assert_range("bytes=99999999999999999999999999-", 10, RANGE_NONE, 0, 0);
	assert_range("bytes=-0", 10, RANGE_NONE, 0, 0);
	assert_range("bytes=0-", 0, RANGE_NONE, 0, 0);
	assert_range("bytes=-5", 0, RANGE_NONE, 0, 0);
}

static void what_is_not_understood_is_the_whole(void **unused)
{
	static const char *const odd[] = {"", "bytes", "bytes=", "bytes=-", "bytes=a-b", "bytes=1",
		"bytes=5-2", "bytes=1-2,4-5", "bytes=1-2x", "bytes=-2x", "bytes= 1-2", "items=1-2",
		"bytes=--1", "bytes=1--2"};

	(void)unused;
	for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++)
		assert_range(odd[i], 10, RANGE_WHOLE, 0, 10);
}

static void a_tag_is_found_in_a_list(void **unused)
{
	(void)unused;
	assert_true(range_tag_listed("\"a\"", "\"a\"", false));
	assert_true(range_tag_listed("\"b\", \"a\"", "\"a\"", false));
	assert_true(range_tag_listed("\"b\",W/\"a\"", "\"a\"", false));
	assert_true(range_tag_listed("*", "\"a\"", false));
	assert_false(range_tag_listed("\"b\"", "\"a\"", false));
	assert_false(range_tag_listed("\"aa\"", "\"a\"", false));
	assert_false(range_tag_listed("a", "\"a\"", false));
	assert_false(range_tag_listed("", "\"a\"", false));
	assert_false(range_tag_listed(NULL, "\"a\"", false));
}

static void a_weak_tag_is_no_strong_one(void **unused)
{
	(void)unused;
	assert_false(range_tag_listed("W/\"a\"", "\"a\"", true));
	assert_true(range_tag_listed("\"a\"", "\"a\"", true));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_header_is_the_whole),
		cmocka_unit_test(both_ends_are_included),
		cmocka_unit_test(an_open_end_goes_to_the_end),
		cmocka_unit_test(an_end_past_the_end_is_cut),
		cmocka_unit_test(a_suffix_is_the_last_bytes),
		cmocka_unit_test(what_lies_past_the_end_is_none),
		cmocka_unit_test(what_is_not_understood_is_the_whole),
		cmocka_unit_test(a_tag_is_found_in_a_list),
		cmocka_unit_test(a_weak_tag_is_no_strong_one),
	};

	return cmocka_run_group_tests_name("range", tests, NULL, NULL);
}
