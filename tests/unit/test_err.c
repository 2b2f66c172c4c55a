/* err: messages, and the table of words. SPDX-License-Identifier: ISC */
#include "tests/lib/test.h"

#include <string.h>

#include "app/base/err.h"

static void set_fills_and_returns(void **state)
{
	struct err e = {.retry_after = 9};

	(void)state;
	assert_int_equal(err_set(&e, ERR_NOT_FOUND, "file_id", "no file %d", 7), ERR_NOT_FOUND);
	assert_int_equal(e.code, ERR_NOT_FOUND);
	assert_string_equal(e.param, "file_id");
	assert_string_equal(e.message, "no file 7");
	assert_int_equal(e.retry_after, 0);
	err_set(&e, ERR_SERVER, NULL, "x");
	assert_string_equal(e.param, "");
}

static void nobody_need_listen(void **state)
{
	(void)state;
	assert_int_equal(err_set(NULL, ERR_TIMEOUT, NULL, "x"), ERR_TIMEOUT);
}

static void long_message_is_cut_between_characters(void **state)
{
	char text[600];
	struct err e;

	(void)state;
	memset(text, 'a', sizeof text);
	memcpy(text + 509, "\xE2\x82\xAC", 3); /* a sign of three bytes, of which two would fit */
	text[sizeof text - 1] = '\0';
	err_set(&e, ERR_SERVER, text, "%s", text);
	assert_int_equal(strlen(e.message), 509);
	assert_int_equal(strlen(e.param), 63);
	text[508] = '\0';
	memcpy(text + 505, "\xE2\x82\xAC", 3);
	err_set(&e, ERR_SERVER, NULL, "%s", text);
	assert_string_equal(e.message, text);
}

static void row(enum err_code code, int status, const char *canonical, const char *openai,
	const char *anthropic, const char *response)
{
	const struct err_info *i = err_info(code);

	assert_int_equal(i->status, status);
	assert_string_equal(i->canonical, canonical);
	assert_string_equal(i->openai, openai);
	assert_string_equal(i->anthropic, anthropic);
	assert_string_equal(i->response, response);
}

static void words_are_those_of_the_apis(void **state)
{
	static const char invalid[] = "invalid_request_error";

	(void)state;
	row(ERR_INVALID_REQUEST, 400, "invalid_request", invalid, invalid, "invalid_prompt");
	row(ERR_CONTEXT_LENGTH, 400, "context_length_exceeded", invalid, invalid, "invalid_prompt");
	row(ERR_AUTHENTICATION, 401, "authentication", "authentication_error",
		"authentication_error", "server_error");
	row(ERR_PAYMENT_REQUIRED, 402, "payment_required", "billing_error", "billing_error",
		"server_error");
	row(ERR_PERMISSION_DENIED, 403, "permission_denied", "permission_error", "permission_error",
		"server_error");
	row(ERR_NOT_FOUND, 404, "not_found", "not_found_error", "not_found_error", "server_error");
	row(ERR_METHOD_NOT_ALLOWED, 405, "invalid_request", invalid, invalid, "invalid_prompt");
	row(ERR_CONFLICT, 409, "invalid_request", invalid, "conflict_error", "server_error");
	row(ERR_PAYLOAD_TOO_LARGE, 413, "payload_too_large", invalid, invalid, "server_error");
	row(ERR_UNSUPPORTED_MEDIA, 415, "invalid_request", invalid, invalid, "invalid_prompt");
	row(ERR_UNPROCESSABLE, 422, "unprocessable", invalid, invalid, "server_error");
	row(ERR_RATE_LIMITED, 429, "rate_limit_exceeded", "rate_limit_error", "rate_limit_error",
		"rate_limit_exceeded");
	row(ERR_SERVER, 500, "server", "server_error", "api_error", "server_error");
	row(ERR_PROVIDER_UNAVAILABLE, 502, "provider_unavailable", "server_error", "api_error",
		"server_error");
	row(ERR_PROVIDER_OVERLOADED, 503, "provider_overloaded", "server_error", "overloaded_error",
		"server_error");
	row(ERR_TIMEOUT, 504, "timeout", "server_error", "timeout_error", "server_error");
}

static void unknown_codes_are_server_errors(void **state)
{
	(void)state;
	assert_int_equal(err_info((enum err_code) - 99)->status, 500);
	assert_int_equal(err_info((enum err_code)5)->status, 500);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(set_fills_and_returns),
		cmocka_unit_test(nobody_need_listen),
		cmocka_unit_test(long_message_is_cut_between_characters),
		cmocka_unit_test(words_are_those_of_the_apis),
		cmocka_unit_test(unknown_codes_are_server_errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
