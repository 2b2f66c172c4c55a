/* test_boxd_settings: the [boxd] section. SPDX-License-Identifier: ISC */
#include "tests/lib/test.h"

#include <stdlib.h>
#include <string.h>

#include "sandbox/pool/settings.h"

static char err[512];

static int load_text(struct settings *s, const char *text)
{
	err[0] = 0;
	return settings_load(s, test_tmp_file("conf", text, strlen(text)), err, sizeof err);
}

static void has_defaults(void **state)
{
	struct settings s;

	(void)state;
	assert_int_equal(load_text(&s, ""), 0);
	assert_string_equal(s.state, "/var/lib/sandgate");
	assert_string_equal(s.user, "sandgate");
	assert_int_equal(s.memory_limit, 1 << 30);
	assert_int_equal(s.pids_limit, 256);
	assert_int_equal(s.home_size, 512 << 20);
	assert_int_equal(s.id_base, 4096 * 65536);
	assert_true(s.durable);
	settings_free(&s);
}

static void takes_what_the_shipped_file_says(void **state)
{
	struct settings s;
	size_t n;
	char *text = test_read("conf/sandgate.conf", &n), *line;

	(void)state;
	/* With every comment sign in front of a setting of ours taken away. */
	line = strstr(text, "\n[boxd]");
	assert_non_null(line);
	for (; line; line = strchr(line + 1, '\n')) {
		if (line[1] == '#' && line[2] != ' ')
			line[1] = ' ';
	}
	memmove(text, strstr(text, "\n[boxd]"), strlen(strstr(text, "\n[boxd]")) + 1);
	for (line = text; (line = strstr(line, "\n ")) != NULL;)
		memmove(line + 1, line + 2, strlen(line + 2) + 1);
	if (load_text(&s, text) < 0)
		fail_msg("%s", err);
	assert_string_equal(s.box_program, "/usr/local/libexec/sandgate/sandgate-box");
	assert_int_equal(s.tmp_size, 256 << 20);
	settings_free(&s);
	free(text);
}

static void reads_units(void **state)
{
	struct settings s;

	(void)state;
	assert_int_equal(load_text(&s,
				 "[boxd]\nhome_size = 2m\ntmp_size = 3072k\nmemory_limit=33554432\n"
				 "durability = relaxed\nmax_containers = 7 ; a comment\n"),
		0);
	assert_int_equal(s.home_size, 2 << 20);
	assert_int_equal(s.tmp_size, 3 << 20);
	assert_int_equal(s.memory_limit, 32 << 20);
	assert_int_equal(s.max_containers, 7);
	assert_false(s.durable);
	settings_free(&s);
}

static void passes_other_sections_over(void **state)
{
	struct settings s;

	(void)state;
	assert_int_equal(
		load_text(&s, "[sandgate]\nwhatever = 1\n[provider x]\nstate = relative\n"), 0);
	settings_free(&s);
}

static void refuses_what_it_does_not_understand(void **state)
{
	static const struct {
		const char *text, *says;
	} bad[] = {
		{"[boxd]\nnonsense = 1\n", "conf:2: unknown key nonsense in [boxd]"},
		{"[boxd]\npids_limit = many\n",
			"conf:2: pids_limit = many: expected a number from 8 to 100000"},
		{"[boxd]\npids_limit = 7\n", "expected a number from 8"},
		{"[boxd]\npids_limit = -9\n", "expected a number from 8"},
		{"[boxd]\npids_limit = 9k\n", "expected a number from 8"},
		{"[boxd]\npids_limit =\n", "expected a number from 8"},
		{"[boxd]\nmemory_limit = 10t\n",
			"expected a number of bytes (k, m or g may follow)"},
		{"[boxd]\nmemory_limit = 1gg\n", "expected a number of bytes"},
		{"[boxd]\nmemory_limit = 99999999999999999999999999\n",
			"expected a number of bytes"},
		{"[boxd]\nmemory_limit = 18446744073709551617\n", "expected a number of bytes"},
		{"[boxd]\nmemory_limit = 99999999999g\n", "expected a number of bytes"},
		{"[boxd]\nstate = var\n", "expected an absolute path"},
		{"[boxd]\nuser = a b\n", "expected a name"},
		{"[boxd]\ndurability = maybe\n", "expected full or relaxed"},
		{"[boxd]\n\nhome_size = 1m\nhome_size = 2m\n", "conf:4: home_size is set twice"},
		{"[boxd]\nwhat is this\n", "conf:2: expected [section], key = value or a comment"},
	};
	struct settings s;

	(void)state;
	for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
		assert_int_equal(load_text(&s, bad[k].text), -1);
		if (!strstr(err, bad[k].says))
			fail_msg("\"%s\" does not say \"%s\"", err, bad[k].says);
		assert_null(s.state);
	}
	assert_int_equal(settings_load(&s, "/nowhere/conf", err, sizeof err), -1);
	assert_string_equal(err, "/nowhere/conf: No such file or directory");
}

static int tear_down(void **state)
{
	(void)state;
	test_tmp_remove();
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(has_defaults),
		cmocka_unit_test(takes_what_the_shipped_file_says),
		cmocka_unit_test(reads_units),
		cmocka_unit_test(passes_other_sections_over),
		cmocka_unit_test(refuses_what_it_does_not_understand),
	};

	return cmocka_run_group_tests(tests, NULL, tear_down);
}
