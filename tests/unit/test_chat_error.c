/* Providers' errors: chat_error. SPDX-License-Identifier: ISC */
#include <stdio.h>
#include <string.h>

#include "app/dialect/chat.h"
#include "sandbox/sys/utf8.h"
#include "tests/lib/test.h"

/* The body under the status is that code, and the message holds what is said. */
static struct err means(int status, const char *body, int code, const char *said)
{
	struct err e = {0};
	assert_int_equal(chat_error(&e, status, body, strlen(body)), code);
	assert_int_equal(e.code, code);
	if (strstr(e.message, said) == NULL)
		fail_msg("'%s' does not say '%s'", e.message, said);
	return e;
}

static void bodies_have_many_shapes(void **state)
{
	(void)state;
	means(400, "{\"error\":{\"message\":\"bad thing\",\"type\":\"x\",\"code\":null}}",
		ERR_INVALID_REQUEST, ": bad thing");
	means(400, "{\"error\":\"bad thing\"}", ERR_INVALID_REQUEST, ": bad thing");
	means(400, "{\"object\":\"error\",\"message\":\"bad thing\"}", ERR_INVALID_REQUEST,
		": bad thing");
	means(400, "{\"detail\":\"bad thing\"}", ERR_INVALID_REQUEST, ": bad thing");
	means(422, "{\"detail\":[{\"loc\":[\"body\"],\"msg\":\"bad thing\"}]}", ERR_UNPROCESSABLE,
		": bad thing");
	means(400, "[{\"error\":{\"code\":400,\"message\":\"bad thing\"}}]", ERR_INVALID_REQUEST,
		": bad thing");
	means(400, "bad thing\n", ERR_INVALID_REQUEST, ": bad thing");
	means(400,
		"{\"error\":{\"message\":\"Provider returned error\",\"metadata\":{\"raw\":\"bad "
		"thing\"}}}",
		ERR_INVALID_REQUEST, ": bad thing");
}

static void a_body_that_says_nothing_is_no_trouble(void **state)
{
	(void)state;
	static const char *const bodies[] = {"", "null", "[]", "{}", "{\"error\":[]}",
		"{\"error\":{}}", "{\"detail\":[]}", "{\"detail\":{\"a\":1}}",
		"  <html><body>Bad gateway</body></html>", "{\"error\":{\"message\":7}}"};
	for (size_t i = 0; i < sizeof(bodies) / sizeof(*bodies); i++) {
		struct err e = means(502, bodies[i], ERR_PROVIDER_UNAVAILABLE, "status 502");
		assert_null(strchr(e.message, '<'));
		assert_null(strchr(e.message, ':'));
	}
	struct err e;
	assert_int_equal(chat_error(&e, 500, NULL, 0), ERR_PROVIDER_UNAVAILABLE);
}

static void a_refused_key_is_ours_to_mend(void **state)
{
	(void)state;
	static const char body[] =
		"{\"error\":{\"message\":\"Incorrect API key provided: sk-abcd\"}}";
	struct err e = means(401, body, ERR_PROVIDER_UNAVAILABLE, "refused this server's key");
	assert_null(strstr(e.message, "sk-"));
	e = means(403, body, ERR_PROVIDER_UNAVAILABLE, "refused this server's key");
	assert_null(strstr(e.message, "sk-"));
	means(402, body, ERR_PROVIDER_UNAVAILABLE, "no credit");
}

static void statuses_have_their_codes(void **state)
{
	(void)state;
	static const struct {
		int status, code;
	} cases[] = {{302, ERR_PROVIDER_UNAVAILABLE}, {400, ERR_INVALID_REQUEST},
		{404, ERR_NOT_FOUND}, {405, ERR_PROVIDER_UNAVAILABLE}, {408, ERR_TIMEOUT},
		{413, ERR_PAYLOAD_TOO_LARGE}, {418, ERR_INVALID_REQUEST}, {422, ERR_UNPROCESSABLE},
		{429, ERR_RATE_LIMITED}, {500, ERR_PROVIDER_UNAVAILABLE},
		{502, ERR_PROVIDER_UNAVAILABLE}, {503, ERR_PROVIDER_OVERLOADED}, {504, ERR_TIMEOUT},
		{524, ERR_TIMEOUT}, {529, ERR_PROVIDER_OVERLOADED},
		{599, ERR_PROVIDER_UNAVAILABLE}};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		means(cases[i].status, "{\"error\":\"why\"}", cases[i].code, "why");
}

static void an_unknown_model_names_the_field(void **state)
{
	(void)state;
	struct err e = means(404, "{\"error\":{\"message\":\"The model `x` does not exist\"}}",
		ERR_NOT_FOUND, "does not exist");
	assert_string_equal(e.param, "model");
}

static void too_long_a_context_is_found(void **state)
{
	(void)state;
	means(400, "{\"error\":{\"code\":\"context_length_exceeded\",\"message\":\"too long\"}}",
		ERR_CONTEXT_LENGTH, "too long");
	means(400, "{\"message\":\"This model's maximum context length is 4096 tokens.\"}",
		ERR_CONTEXT_LENGTH, "4096");
	means(400, "{\"error\":{\"type\":\"exceed_context_size_error\",\"message\":\"x\"}}",
		ERR_CONTEXT_LENGTH, "x");
	means(500, "{\"error\":{\"message\":\"exceeds the available context size\"}}",
		ERR_CONTEXT_LENGTH, "available");
	means(400, "{\"error\":{\"message\":\"prompt is too long: 9 tokens\"}}", ERR_CONTEXT_LENGTH,
		"9");
	means(429, "{\"error\":{\"message\":\"context window requests per minute\"}}",
		ERR_RATE_LIMITED, "per minute");
}

static void words_are_cut_and_cleaned(void **state)
{
	(void)state;
	char body[2048];
	struct err e = means(400, "a\x1b[31m\nb\r\n\tc\xff", ERR_INVALID_REQUEST, ": a [31m b c");
	for (const char *p = e.message; *p != '\0'; p++)
		assert_true((unsigned char)*p >= 0x20);
	size_t n = 0;
	while (n < sizeof(body) - 4) {
		memcpy(body + n, "\xe2\x82\xac", 3);
		n += 3;
	}
	body[n] = '\0';
	e = means(400, body, ERR_INVALID_REQUEST, "\xe2\x82\xac");
	assert_true(strlen(e.message) < 400);
	assert_true(utf8_valid(e.message, strlen(e.message)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bodies_have_many_shapes),
		cmocka_unit_test(a_body_that_says_nothing_is_no_trouble),
		cmocka_unit_test(a_refused_key_is_ours_to_mend),
		cmocka_unit_test(statuses_have_their_codes),
		cmocka_unit_test(an_unknown_model_names_the_field),
		cmocka_unit_test(too_long_a_context_is_found),
		cmocka_unit_test(words_are_cut_and_cleaned),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
