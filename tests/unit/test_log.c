/* log: every line is one JSON object, whatever is in the message. SPDX-License-Identifier: ISC */
#include "tests/lib/test.h"

#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox/sys/log.h"
#include "sandbox/sys/utf8.h"

static void write_one(void *p)
{
	log_info("%s", (const char *)p);
}

/* The line of a message, parsed. */
static cJSON *line_of(void (*fn)(void *), void *p)
{
	char *text = test_stderr_of(fn, p);
	cJSON *v;

	assert_true(strlen(text) <= 4096);
	assert_non_null(strchr(text, '\n'));
	assert_int_equal(strchr(text, '\n') - text, (long)strlen(text) - 1);
	v = cJSON_Parse(text);
	if (!v)
		fail_msg("no JSON: %s", text);
	free(text);
	return v;
}

static const char *text_of(const cJSON *v, const char *name)
{
	const char *s = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(v, name));

	return s ? s : "(none)";
}

static void line_has_its_members(void **state)
{
	static char message[] = "hello";
	cJSON *v;

	(void)state;
	log_open("prog", LOG_INFO);
	v = line_of(write_one, message);
	assert_string_equal(text_of(v, "message"), "hello");
	assert_string_equal(text_of(v, "level"), "info");
	assert_string_equal(text_of(v, "program"), "prog");
	assert_string_equal(text_of(v, "request"), "(none)");
	assert_int_equal(strlen(text_of(v, "time")), strlen("2026-01-02T03:04:05.678Z"));
	assert_int_equal(text_of(v, "time")[10], 'T');
	assert_int_equal(text_of(v, "time")[23], 'Z');
	cJSON_Delete(v);
}

static void request_is_named_until_it_ends(void **state)
{
	static char message[] = "m";
	cJSON *v;

	(void)state;
	log_request("req_1\"");
	v = line_of(write_one, message);
	assert_string_equal(text_of(v, "request"), "req_1\"");
	cJSON_Delete(v);
	log_request(NULL);
	v = line_of(write_one, message);
	assert_string_equal(text_of(v, "request"), "(none)");
	cJSON_Delete(v);
}

static void message_cannot_forge(void **state)
{
	static char message[] = "a\n{\"level\":\"error\"}\r\x1b[31m\x7f\"\\";
	char *text = test_stderr_of(write_one, message);
	cJSON *v = cJSON_Parse(text);

	(void)state;
	assert_string_equal(text_of(v, "message"), message);
	assert_null(strchr(text, '\x1b'));
	assert_null(strchr(text, '\r'));
	assert_int_equal(strcspn(text, "\n"), strlen(text) - 1);
	cJSON_Delete(v);
	free(text);
}

static void invalid_bytes_are_replaced(void **state)
{
	static char message[] = "a\xFFz";
	cJSON *v = line_of(write_one, message);

	(void)state;
	assert_string_equal(text_of(v, "message"), "a\xEF\xBF\xBDz");
	cJSON_Delete(v);
}

static void long_message_is_cut(void **state)
{
	static char message[20000];
	const char *kept;
	cJSON *v;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof message - 3; i += 2)
		memcpy(message + i, "\xC3\xA9", 2);
	v = line_of(write_one, message);
	kept = text_of(v, "message");
	assert_in_range(strlen(kept), 3800, 4096);
	assert_true(utf8_valid(kept, strlen(kept)));
	cJSON_Delete(v);
	memset(message, '\x01', sizeof message - 1); /* six bytes each in the line */
	v = line_of(write_one, message);
	assert_in_range(strlen(text_of(v, "message")), 600, 700);
	cJSON_Delete(v);
}

static void write_members(void *p)
{
	log_write_with(LOG_WARN, p, "m %d", 1);
}

static void members_stand_before_the_message(void **state)
{
	static char members[] = "\"status\":200,\"path\":\"/x\",";
	static char too_long[4000];
	cJSON *v = line_of(write_members, members);

	(void)state;
	assert_int_equal(cJSON_GetObjectItemCaseSensitive(v, "status")->valueint, 200);
	assert_string_equal(text_of(v, "message"), "m 1");
	cJSON_Delete(v);
	memset(too_long, ' ', sizeof too_long - 1);
	v = line_of(write_members, too_long);
	assert_string_equal(text_of(v, "message"), "m 1");
	cJSON_Delete(v);
}

static void write_levels(void *p)
{
	(void)p;
	log_debug("d");
	log_info("i");
	log_warn("w");
	log_error("e");
}

static void lesser_levels_are_silent(void **state)
{
	char *text;

	(void)state;
	log_open("prog", LOG_WARN);
	text = test_stderr_of(write_levels, NULL);
	assert_null(strstr(text, "\"message\":\"i\""));
	assert_non_null(strstr(text, "\"level\":\"warn\",\"program\":\"prog\",\"message\":\"w\""));
	assert_non_null(strstr(text, "\"level\":\"error\",\"program\":\"prog\",\"message\":\"e\""));
	free(text);
	log_open("prog", LOG_INFO);
}

static void die(void *p)
{
	pid_t pid = fork();

	if (pid == 0)
		log_die("no %s", "way");
	waitpid(pid, p, 0);
}

static void die_says_why_and_exits(void **state)
{
	int status = 0;
	char *text = test_stderr_of(die, &status);

	(void)state;
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 1);
	assert_non_null(strstr(text, "\"message\":\"no way\""));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(line_has_its_members),
		cmocka_unit_test(request_is_named_until_it_ends),
		cmocka_unit_test(message_cannot_forge),
		cmocka_unit_test(invalid_bytes_are_replaced),
		cmocka_unit_test(long_message_is_cut),
		cmocka_unit_test(members_stand_before_the_message),
		cmocka_unit_test(lesser_levels_are_silent),
		cmocka_unit_test(die_says_why_and_exits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
