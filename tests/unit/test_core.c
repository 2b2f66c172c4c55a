/* Tests of app/core: lists and usage sums. SPDX-License-Identifier: ISC */
#include "tests/lib/test.h"

#include <string.h>

#include "app/base/arena.h"
#include "app/core/event.h"
#include "app/core/item.h"

static int setup(void **state)
{
	*state = arena_new();
	return 0;
}

static int teardown(void **state)
{
	arena_free(*state);
	return 0;
}

static void items_keep_their_order(void **state)
{
	struct items l;

	items_init(&l);
	items_add_text(*state, &l, ROLE_SYSTEM, "one");
	items_add(*state, &l, ITEM_CALL)->call.id = "two";
	items_add_text(*state, &l, ROLE_USER, "three");
	assert_string_equal(l.first->parts->text, "one");
	assert_int_equal(l.first->role, ROLE_SYSTEM);
	assert_int_equal(l.first->next->kind, ITEM_CALL);
	assert_string_equal(l.first->next->call.id, "two");
	assert_string_equal(l.first->next->next->parts->text, "three");
	assert_null(l.first->next->next->next);
}

static void a_zeroed_list_is_empty_and_usable(void **state)
{
	struct items l = {0};
	struct item *it = items_add(*state, &l, ITEM_RESULT);

	struct item *second = items_add(*state, &l, ITEM_RESULT);

	assert_ptr_equal(l.first, it);
	assert_ptr_equal(it->next, second);
}

static void parts_are_appended(void **state)
{
	struct items l = {0};
	struct item *it = items_add_text(*state, &l, ROLE_USER, "text");

	item_add_part(*state, it, PART_IMAGE)->url = "https://example.com/a.png";
	assert_int_equal(it->parts->kind, PART_TEXT);
	assert_int_equal(it->parts->next->kind, PART_IMAGE);
	assert_null(it->parts->next->next);
}

static void usage_is_summed_field_by_field(void **state)
{
	struct usage a = {1, 2, 3, 4, 5, 0.5, 0.25, 6, 7, false};
	const struct usage b = {10, 20, 30, 40, 50, 1.5, 0.75, 60, 70, true};

	(void)state;
	usage_add(&a, &b);
	assert_int_equal(a.input, 11);
	assert_int_equal(a.cached, 22);
	assert_int_equal(a.cache_write, 33);
	assert_int_equal(a.output, 44);
	assert_int_equal(a.reasoning, 55);
	assert_float_equal(a.upstream_cost, 2.0, 1e-9);
	assert_float_equal(a.server_tool_cost, 1.0, 1e-9);
	assert_int_equal(a.tool_calls_requested, 66);
	assert_int_equal(a.tool_calls_executed, 77);
	assert_true(a.tools_used);
}

static void a_provider_s_absurd_counts_do_not_overflow(void **state)
{
	struct usage a = {.input = INT64_MAX, .output = INT64_MIN};
	const struct usage b = {.input = 1, .output = -1};

	(void)state;
	usage_add(&a, &b);
	assert_true(a.input == INT64_MAX);
	assert_true(a.output == INT64_MIN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(items_keep_their_order, setup, teardown),
		cmocka_unit_test_setup_teardown(a_zeroed_list_is_empty_and_usable, setup, teardown),
		cmocka_unit_test_setup_teardown(parts_are_appended, setup, teardown),
		cmocka_unit_test(usage_is_summed_field_by_field),
		cmocka_unit_test(a_provider_s_absurd_counts_do_not_overflow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
