/* test_home_snapshot: commits, as home_checkout and plain git see them. SPDX-License-Identifier: ISC */
#include "tests/unit/test_home.h"

static void a_new_repository_has_no_head_and_is_opened_again(void **state)
{
	struct fixture *f = *state;
	struct home *again;
	home_id head = "x";

	assert_int_equal(home_head(f->h, head), HOME_OK);
	assert_string_equal(head, "");
	assert_int_equal(home_create(&again, f->repo), HOME_OK);
	home_close(again);
	assert_int_equal(home_open(&again, "/tmp/no-such-home.git"), HOME_NOT_FOUND);
	assert_home(f, "");
}

static void a_first_commit_holds_files_folders_and_links(void **state)
{
	struct fixture *f = *state;
	struct home_snapshot *s = begin(f);

	home_snapshot_dir(s, "out", 0755, false);
	put(s, "out/report.csv", 0644, "a,b\n");
	put(s, "run.sh", 0755, "#!/bin/sh\n");
	assert_int_equal(home_snapshot_link(s, "latest", "out/report.csv"), HOME_OK);
	assert_true(commit(f, s));
	assert_home(f, "l 0 latest=out/report.csv\n"
		       "d 755 out\n"
		       "f 644 out/report.csv=a,b\n\n"
		       "f 755 run.sh=#!/bin/sh\n\n");
	assert_sound(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test_setup_teardown(a_new_repository_has_no_head_and_is_opened_again, setup,
					teardown),
			cmocka_unit_test_setup_teardown(a_first_commit_holds_files_folders_and_links, setup,
					teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
