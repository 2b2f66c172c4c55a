/* conf: defaults, every key, and what stops the start. SPDX-License-Identifier: ISC */
#include "tests/lib/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/base/conf.h"
#include "sandbox/sys/io.h"

static char err[1024];

static struct conf *load_bytes(const void *text, size_t n)
{
	struct conf *c = NULL;
	int rc;

	err[0] = '\0';
	rc = conf_load(&c, test_tmp_file("c.conf", text, n), err, sizeof err);
	assert_int_equal(rc == 0, c != NULL);
	assert_int_equal(rc == 0, err[0] == '\0');
	return c;
}

static struct conf *load(const char *text)
{
	struct conf *c = load_bytes(text, strlen(text));

	if (!c)
		fail_msg("%s", err);
	return c;
}

/* The text is refused, and the message is ".../c.conf:" and expected. */
static void refused(const char *text, const char *expected)
{
	char whole[1024];
	struct conf *c = load_bytes(text, strlen(text));

	snprintf(whole, sizeof whole, "%s/c.conf:%s", test_tmp(), expected);
	conf_free(c);
	assert_string_equal(err, whole);
}

static void check_defaults(const struct conf *c)
{
	assert_string_equal(c->state, "/var/lib/sandgate");
	assert_string_equal(c->listen, "unix:/var/lib/sandgate/run/app.sock");
	assert_int_equal(c->listen_mode, 0666);
	assert_string_equal(c->boxd, "/var/lib/sandgate/run/boxd.sock");
	assert_string_equal(c->user, "sandgate");
	assert_int_equal(c->processes, 4);
	assert_int_equal(c->threads, 64);
	assert_int_equal(c->drain_seconds, 30);
	assert_int_equal(c->body_limit_bytes, 32 << 20);
	assert_int_equal(c->command_timeout_ms_default, 120000);
	assert_int_equal(c->command_timeout_ms_max, 300000);
	assert_int_equal(c->output_chars_default, 16384);
	assert_int_equal(c->output_chars_max, 65536);
	assert_int_equal(c->sleep_after_seconds_default, 900);
	assert_int_equal(c->sleep_after_seconds_max, 14400);
	assert_int_equal(c->max_tool_calls, 30);
	assert_int_equal(c->upstream_connect_timeout_ms, 10000);
	assert_int_equal(c->upstream_idle_timeout_ms, 300000);
	assert_int_equal(c->upstream_total_timeout_ms, 1800000);
	assert_int_equal(c->heartbeat_ms, 10000);
	assert_true(
		c->sandbox_price_per_second > 0.000099 && c->sandbox_price_per_second < 0.000101);
	assert_int_equal(c->sandbox_minimum_seconds, 30);
	assert_non_null(c->providers);
	assert_string_equal(c->providers->name, "sandgate");
	assert_string_equal(c->providers->protocol, "script");
	assert_string_equal(c->providers->prefix, "sandgate/");
	assert_string_equal(c->providers->models[0], "script");
	assert_null(c->providers->models[1]);
	assert_null(c->providers->api_key);
	assert_null(c->providers->next);
}

static void empty_file_gives_defaults(void **state)
{
	struct conf *c = load("");

	(void)state;
	check_defaults(c);
	conf_free(c);
}

/* Without the comment signs, the file that is shipped says the defaults. */
static void shipped_file_is_true(void **state)
{
	size_t n;
	char *text = test_read("conf/sandgate.conf", &n), *line = text, *end;
	struct conf *c = load(text);

	(void)state;
	check_defaults(c);
	conf_free(c);
	/* Only its first section: the providers there are examples. */
	end = strstr(text, "\n# Model providers");
	assert_non_null(end);
	*end = '\0';
	for (line = text; line; line = strchr(line + 1, '\n'))
		if (line[0] == '\n' && line[1] == '#' && line[2] != ' ')
			line[1] = ' ', memmove(line + 1, line + 2, strlen(line + 2) + 1);
	c = load(text);
	check_defaults(c);
	conf_free(c);
	free(text);
}

static void every_key_is_read(void **state)
{
	struct conf *c =
		load("[sandgate]\nstate = /s\nlisten = 127.0.0.1:9000\nlisten_mode = 0600\n"
		     "boxd = /b.sock\nuser = nobody\nprocesses = 1\nthreads = 2\n"
		     "drain_seconds = 0\nbody_limit_bytes = 1048576\n"
		     "command_timeout_ms_default = 3\ncommand_timeout_ms_max = 4\n"
		     "output_chars_default = 5\noutput_chars_max = 6\n"
		     "sleep_after_seconds_default = 7\nsleep_after_seconds_max = 8\n"
		     "max_tool_calls = 9\nupstream_connect_timeout_ms = 10\n"
		     "upstream_idle_timeout_ms = 11\nupstream_total_timeout_ms = 12\n"
		     "heartbeat_ms = 130\nsandbox_price_per_second = 0.5\n"
		     "sandbox_minimum_seconds = 0\n");

	(void)state;
	assert_string_equal(c->state, "/s");
	assert_string_equal(c->listen, "127.0.0.1:9000");
	assert_int_equal(c->listen_mode, 0600);
	assert_string_equal(c->boxd, "/b.sock");
	assert_string_equal(c->user, "nobody");
	assert_int_equal(c->processes, 1);
	assert_int_equal(c->threads, 2);
	assert_int_equal(c->drain_seconds, 0);
	assert_int_equal(c->body_limit_bytes, 1 << 20);
	assert_int_equal(c->command_timeout_ms_default, 3);
	assert_int_equal(c->command_timeout_ms_max, 4);
	assert_int_equal(c->output_chars_default, 5);
	assert_int_equal(c->output_chars_max, 6);
	assert_int_equal(c->sleep_after_seconds_default, 7);
	assert_int_equal(c->sleep_after_seconds_max, 8);
	assert_int_equal(c->max_tool_calls, 9);
	assert_int_equal(c->upstream_connect_timeout_ms, 10);
	assert_int_equal(c->upstream_idle_timeout_ms, 11);
	assert_int_equal(c->upstream_total_timeout_ms, 12);
	assert_int_equal(c->heartbeat_ms, 130);
	assert_true(c->sandbox_price_per_second > 0.49 && c->sandbox_price_per_second < 0.51);
	assert_int_equal(c->sandbox_minimum_seconds, 0);
	conf_free(c);
}

static void places_follow_state(void **state)
{
	struct conf *c = load("[sandgate]\nstate = /srv/x\n");

	(void)state;
	assert_string_equal(c->listen, "unix:/srv/x/run/app.sock");
	assert_string_equal(c->boxd, "/srv/x/run/boxd.sock");
	conf_free(c);
}

static void empty_listen_is_descriptor_0(void **state)
{
	struct conf *c = load("[sandgate]\nlisten =\n");

	(void)state;
	assert_string_equal(c->listen, "");
	conf_free(c);
}

static void other_programs_are_passed_over(void **state)
{
	struct conf *c = load(
		"[boxd]\nanything = goes\nanything = twice\n[sandgate]\nthreads = 3 ; three\n");

	(void)state;
	assert_int_equal(c->threads, 3);
	conf_free(c);
}

static void bad_lines_name_file_and_line(void **state)
{
	(void)state;
	refused("[sandgate]\n\nthread = 3\n", "3: unknown key thread in [sandgate]");
	refused("[sandgat]\n",
		"1: unknown section [sandgat]: expected [sandgate], [provider NAME] or [boxd]");
	refused("threads = 3\n", "1: threads stands before any section: expected [sandgate] first");
	refused("[sandgate]\nthreads = 3\n# x\nthreads = 4\n",
		"4: threads was set before, in line 2");
	refused("[sandgate]\n[boxd]\n[sandgate]\n", "3: [sandgate] was there before");
	refused("[sandgate]\nthreads\n", "2: expected `key = value`, a [section] or a comment");
	refused("[sandgate\n", "1: expected ] after the section's name");
	refused("[sandgate] x\n", "1: expected nothing after ]");
	refused("[sandgate]\n threads = 3\n",
		"2: expected no white space at the beginning of a line");
	refused("\xEF\xBB\xBF[sandgate]\n", "1: expected plain UTF-8 without a byte order mark");
}

static void bad_values_say_what_was_expected(void **state)
{
	(void)state;
	refused("[sandgate]\nthreads = 0\n",
		"2: threads = 0: expected a whole number from 1 to 1024");
	refused("[sandgate]\nthreads = 1025\n",
		"2: threads = 1025: expected a whole number from 1 to 1024");
	refused("[sandgate]\nthreads = 3x\n",
		"2: threads = 3x: expected a whole number from 1 to 1024");
	refused("[sandgate]\nthreads = -3\n",
		"2: threads = -3: expected a whole number from 1 to 1024");
	refused("[sandgate]\nthreads =\n", "2: threads = : expected a whole number from 1 to 1024");
	refused("[sandgate]\nthreads = 99999999999999999999\n",
		"2: threads = 99999999999999999999: expected a whole number from 1 to 1024");
	refused("[sandgate]\nlisten_mode = 0888\n",
		"2: listen_mode = 0888: expected permission bits such as 0660");
	refused("[sandgate]\nsandbox_price_per_second = nan\n",
		"2: sandbox_price_per_second = nan: expected a number from 0 to 1000");
	refused("[sandgate]\nsandbox_price_per_second = 1.2.3\n",
		"2: sandbox_price_per_second = 1.2.3: expected a number from 0 to 1000");
	refused("[sandgate]\nstate = var\n", "2: state = var: expected an absolute path");
	refused("[sandgate]\nboxd =\n", "2: boxd = : expected an absolute path");
	refused("[sandgate]\nlisten = somewhere\n",
		"2: listen = somewhere: expected unix:/PATH, HOST:PORT, or nothing");
	refused("[sandgate]\noutput_chars_max = 100\n",
		"2: output_chars_default (16384) is over output_chars_max (100)");
}

static void long_lines_and_nul_are_refused(void **state)
{
	static char text[8192];

	(void)state;
	memset(text, 'x', sizeof text - 1);
	memcpy(text, "[sandgate]\nstate = /", 20);
	refused(text, "2: the line is too long (over 4094 bytes) or holds a NUL");
	assert_null(load_bytes("[sandgate]\nstate = /a\0b\n", 24));
	assert_non_null(strstr(err, ":2: the line is too long"));
}

static void missing_file_is_named(void **state)
{
	struct conf *c = NULL;

	(void)state;
	assert_int_equal(conf_load(&c, "/nonexistent/x.conf", err, sizeof err), -1);
	assert_string_equal(err, "/nonexistent/x.conf: No such file or directory");
}

static void providers_are_in_order(void **state)
{
	struct conf *c =
		load("[provider one]\nprotocol = chat\nbase_url = https://one.example/v1/\n"
		     "models = a-*, b\tc\nprefix = one/\n[boxd]\nx = 1\n"
		     "[provider two]\nbase_url = http://[::1]:8000\nmodels = *\n");
	struct conf_provider *p = c->providers;

	(void)state;
	assert_string_equal(p->name, "one");
	assert_string_equal(p->protocol, "chat");
	assert_string_equal(p->base_url, "https://one.example/v1");
	assert_string_equal(p->models[0], "a-*");
	assert_string_equal(p->models[1], "b");
	assert_string_equal(p->models[2], "c");
	assert_null(p->models[3]);
	assert_string_equal(p->prefix, "one/");
	assert_null(p->api_key);
	p = p->next;
	assert_string_equal(p->name, "two");
	assert_string_equal(p->prefix, "");
	assert_string_equal(p->base_url, "http://[::1]:8000");
	assert_string_equal(p->next->name, "sandgate");
	conf_free(c);
}

#define P "[provider p]\nbase_url = http://h\nmodels = *\n"

static void provider_errors(void **state)
{
	(void)state;
	refused("[provider p]\nmodels = *\n", "1: [provider p] lacks base_url");
	refused("[provider p]\nbase_url = http://h\n", "1: [provider p] lacks models");
	refused(P "protocol = responses\n", "4: protocol = responses: expected chat");
	refused(P "modells = x\n", "4: unknown key modells in [provider p]");
	refused(P "models = x\n", "4: models was set before in [provider p]");
	refused(P P, "4: [provider p] was there before, in line 1");
	refused("[provider sandgate]\n", "1: [provider sandgate] is built in");
	refused("[provider ]\n",
		"1: unknown section [provider ]: expected [sandgate], [provider NAME] or [boxd]");
	refused("[provider a b]\n",
		"1: [provider a b]: expected a name of 1 to 64 letters, digits, - and _");
	refused("[provider p]\nmodels = ,\n", "2: models: expected names or globs of models");
	refused("[provider p]\nbase_url = ftp://h\n",
		"2: base_url = ftp://h: expected http://HOST[:PORT][/PATH] or https://…");
	refused("[provider p]\nbase_url = https:///x\n",
		"2: base_url = https:///x: expected http://HOST[:PORT][/PATH] or https://…");
	refused(P "prefix = a*\n", "4: prefix = a*: expected text like acme/");
}

static void keys_come_from_files_and_environment(void **state)
{
	char text[1024], path[256];
	struct conf *c;

	(void)state;
	snprintf(path, sizeof path, "%s", test_tmp_file("key", "sk-file\r\n", 9));
	snprintf(text, sizeof text, P "api_key_file = %s\n", path);
	c = load(text);
	assert_string_equal(c->providers->api_key, "sk-file");
	conf_free(c);
	setenv("SANDGATE_TEST_KEY", "sk-env", 1);
	c = load(P "api_key_env = SANDGATE_TEST_KEY\n");
	assert_string_equal(c->providers->api_key, "sk-env");
	conf_free(c);
}

static void bad_keys_stop_the_start(void **state)
{
	char text[1024], path[256];

	(void)state;
	refused(P "api_key_file = /nonexistent\n",
		"4: api_key_file = /nonexistent: No such file or directory");
	refused(P "api_key_file = /nonexistent\napi_key_env = X\n",
		"5: [provider p] has both api_key_env and api_key_file");
	snprintf(path, sizeof path, "%s", test_tmp_file("key", "two words", 9));
	snprintf(text, sizeof text, P "api_key_file = %s\n", path);
	refused(text, "4: [provider p]: the key is empty or not one word");
	test_tmp_file("key", "\n", 1);
	refused(text, "4: [provider p]: the key is empty or not one word");
}

static void load_with_unset(void *p)
{
	*(struct conf **)p = load(P "api_key_env = SANDGATE_TEST_UNSET\n");
}

static void unset_environment_is_a_warning(void **state)
{
	struct conf *c = NULL;
	char *log = test_stderr_of(load_with_unset, &c);

	(void)state;
	assert_non_null(
		strstr(log, "c.conf:4: environment variable SANDGATE_TEST_UNSET is not set"));
	assert_null(c->providers->api_key);
	free(log);
	conf_free(c);
}

static int clean(void **state)
{
	(void)state;
	test_tmp_remove();
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(empty_file_gives_defaults),
		cmocka_unit_test(shipped_file_is_true),
		cmocka_unit_test(every_key_is_read),
		cmocka_unit_test(places_follow_state),
		cmocka_unit_test(empty_listen_is_descriptor_0),
		cmocka_unit_test(other_programs_are_passed_over),
		cmocka_unit_test(bad_lines_name_file_and_line),
		cmocka_unit_test(bad_values_say_what_was_expected),
		cmocka_unit_test(long_lines_and_nul_are_refused),
		cmocka_unit_test(missing_file_is_named),
		cmocka_unit_test(providers_are_in_order),
		cmocka_unit_test(provider_errors),
		cmocka_unit_test(keys_come_from_files_and_environment),
		cmocka_unit_test(bad_keys_stop_the_start),
		cmocka_unit_test(unset_environment_is_a_warning),
	};

	return cmocka_run_group_tests(tests, NULL, clean);
}
