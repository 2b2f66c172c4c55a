/* arena: allocation and clean-up. SPDX-License-Identifier: ISC */
#include "tests/lib/test.h"

#include <string.h>

#include "app/base/arena.h"

static void pieces_are_zeroed_aligned_apart(void **state)
{
	struct arena *a = arena_new();
	unsigned char *p[500];
	size_t i, j;

	(void)state;
	for (i = 0; i < 500; i++) {
		p[i] = arena_alloc(a, i % 97);
		assert_int_equal((uintptr_t)p[i] % _Alignof(max_align_t), 0);
		for (j = 0; j < i % 97; j++)
			assert_int_equal(p[i][j], 0);
		memset(p[i], (int)i & 0xFF, i % 97);
	}
	for (i = 0; i < 500; i++)
		for (j = 0; j < i % 97; j++)
			assert_int_equal(p[i][j], i & 0xFF);
	arena_free(a);
}

static void large_pieces_fit(void **state)
{
	struct arena *a = arena_new();
	char *small = arena_strdup(a, "before");
	char *large = arena_alloc(a, 10u << 20);

	(void)state;
	memset(large, 'x', 10u << 20);
	assert_string_equal(arena_strdup(a, "after"), "after");
	assert_string_equal(small, "before");
	arena_free(a);
}

static void strings(void **state)
{
	struct arena *a = arena_new();
	char longer[3000];

	(void)state;
	memset(longer, 'y', sizeof longer - 1);
	longer[sizeof longer - 1] = '\0';
	assert_null(arena_strdup(a, NULL));
	assert_string_equal(arena_strdup(a, ""), "");
	assert_string_equal(arena_strndup(a, "abcdef", 3), "abc");
	assert_string_equal(arena_strndup(a, NULL, 0), "");
	assert_string_equal(arena_printf(a, "%s-%d", "n", 7), "n-7");
	assert_string_equal(arena_printf(a, "%s", longer), longer);
	arena_free(a);
}

static char order[8];
static char one[] = "1", two[] = "2", three[] = "3", ex[] = "x";

static void note(void *p)
{
	strncat(order, p, 1);
}

static void deferred_run_newest_first(void **state)
{
	struct arena *a = arena_new();

	(void)state;
	order[0] = '\0';
	arena_defer(a, note, one);
	arena_defer(a, note, two);
	arena_defer(a, note, three);
	arena_free(a);
	assert_string_equal(order, "321");
}

static void defer_again(void *p)
{
	arena_defer(p, note, ex);
}

static void deferred_may_defer(void **state)
{
	struct arena *a = arena_new();

	(void)state;
	order[0] = '\0';
	arena_defer(a, note, one);
	arena_defer(a, defer_again, a);
	arena_free(a);
	assert_string_equal(order, "x1");
}

static void free_of_null_is_fine(void **state)
{
	(void)state;
	arena_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pieces_are_zeroed_aligned_apart),
		cmocka_unit_test(large_pieces_fit),
		cmocka_unit_test(strings),
		cmocka_unit_test(deferred_run_newest_first),
		cmocka_unit_test(deferred_may_defer),
		cmocka_unit_test(free_of_null_is_fine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
