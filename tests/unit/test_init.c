/* test_init: a container from the inside, and its init from the box's side. SPDX-License-Identifier: ISC */
#include "tests/lib/test.h"

#include <string.h>

#include "tests/lib/jail.h"

static void runs_a_command(void **state)
{
	struct jail e;

	(void)state;
	jail_open(&e);
	const struct jail_result *r = jail_run(&e, "echo hi; echo oops >&2; exit 3");
	assert_string_equal(r->out, "hi\noops\n");
	assert_int_equal(r->exited.how, WIRE_HOW_EXIT);
	assert_int_equal(r->exited.code, 3);
	assert_int_equal(r->exited.out_of_memory, 0);
	jail_close(&e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(runs_a_command),
	};

	return cmocka_run_group_tests(tests, jail_set_up, jail_tear_down);
}
