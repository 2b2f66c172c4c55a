/* http: requests over FastCGI, to real processes over real sockets. SPDX-License-Identifier: ISC */
#include "tests/lib/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/base/json.h"
#include "sandbox/sys/io.h"
#include "tests/lib/fcgi_client.h"
#include "tests/lib/fcgi_server.h"
#include "tests/lib/http_app.h"

static struct fcgi_server server;

static int start(void **state)
{
	struct worker w = {
		.processes = 1, .threads = 4, .drain_seconds = 2, .serve = http_app_serve};

	(void)state;
	fcgi_server_start(&server, &w);
	return 0;
}

static int stop(void **state)
{
	(void)state;
	assert_int_equal(fcgi_server_stop(&server), 0);
	test_tmp_remove();
	return 0;
}

/* -- helpers --------------------------------------------------------------- */

static struct fcgi_client c;

static void get(const char *uri)
{
	fcgi_request(&c, server.where, "GET", uri, NULL);
	assert_true(c.ended);
}

/* A member of the JSON answer; freed by done(). */
static cJSON *parsed;

static const cJSON *member(const char *name)
{
	if (!parsed)
		parsed = cJSON_Parse(fcgi_body(&c));
	if (!parsed)
		fail_msg("no JSON: %s", buf_str(&c.out));
	return cJSON_GetObjectItemCaseSensitive(parsed, name);
}

static const char *text_of(const char *name)
{
	const char *s = cJSON_GetStringValue(member(name));

	return s ? s : "(none)";
}

static void done(void)
{
	cJSON_Delete(parsed);
	parsed = NULL;
	fcgi_close(&c);
}

/* -- requests -------------------------------------------------------------- */

static void request_is_taken_apart(void **state)
{
	const char *const h[] = {
		"HTTP_X_SESSION_ID=s 1", "CONTENT_TYPE=text/x", "HTTP_AUTHORIZATION=", NULL};

	(void)state;
	fcgi_request(&c, server.where, "GET", "/echo?a=b&q=x+y%2Bz&q=2", h);
	assert_int_equal(fcgi_status(&c), 200);
	assert_string_equal(fcgi_header(&c, "Content-Type"), "application/json");
	assert_string_equal(text_of("method"), "GET");
	assert_string_equal(text_of("path"), "/echo");
	assert_string_equal(text_of("query"), "a=b&q=x+y%2Bz&q=2");
	assert_string_equal(text_of("q"), "x y+z");
	assert_string_equal(text_of("x-session-id"), "s 1");
	assert_string_equal(text_of("content-type"), "text/x");
	assert_true(cJSON_IsNull(member("content-length")));
	assert_true(cJSON_IsNull(member("authorization")));
	done();
}

static void query_edges(void **state)
{
	(void)state;
	get("/echo?q");
	assert_string_equal(text_of("q"), "");
	done();
	get("/echo?&&q=%41&");
	assert_string_equal(text_of("q"), "A");
	done();
	get("/echo?q=%zz");
	assert_true(cJSON_IsNull(member("q")));
	done();
	get("/echo?q=%00");
	assert_true(cJSON_IsNull(member("q")));
	done();
	get("/echo?qq=1&xq=2");
	assert_true(cJSON_IsNull(member("q")));
	done();
}

static void path_falls_back_to_cgi(void **state)
{
	const char *const document[] = {"REQUEST_METHOD=GET", "DOCUMENT_URI=/things/a%b", NULL};
	const char *const info[] = {"REQUEST_METHOD=GET", "SCRIPT_NAME=/things", "PATH_INFO=/x y",
		"QUERY_STRING=q=1", NULL};

	(void)state;
	fcgi_connect(&c, server.where);
	fcgi_send_params(&c, document);
	fcgi_send_body(&c, "", 0);
	assert_true(fcgi_read(&c, NULL, 2000));
	assert_string_equal(text_of("arg"), "a%b");
	done();
	fcgi_connect(&c, server.where);
	fcgi_send_params(&c, info);
	fcgi_send_body(&c, "", 0);
	assert_true(fcgi_read(&c, NULL, 2000));
	assert_string_equal(text_of("arg"), "x y");
	assert_string_equal(text_of("q"), "1");
	done();
}

static void routes_decode_their_arguments(void **state)
{
	(void)state;
	get("/things/all");
	assert_string_equal(text_of("arg"), "");
	done();
	get("/things/a%2Fb%20c");
	assert_string_equal(text_of("arg"), "a/b c");
	done();
	get("/things/1/parts/%C3%A9+");
	assert_string_equal(text_of("arg"), "1");
	assert_string_equal(text_of("arg2"), "\xC3\xA9+");
	done();
}

static void no_such_path(void **state)
{
	static const char *const paths[] = {"/", "/ech", "/echo/", "/echos", "/things/",
		"/things//", "/things/%", "/things/%00", "/things/a/parts", "//echo", "/things/a/b",
		"/ECHO"};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof paths / sizeof paths[0]; i++) {
		get(paths[i]);
		if (fcgi_status(&c) != 404)
			fail_msg("%s: %d", paths[i], fcgi_status(&c));
		done();
	}
}

static void wrong_method_names_the_right_ones(void **state)
{
	(void)state;
	fcgi_request(&c, server.where, "PUT", "/echo", NULL);
	assert_int_equal(fcgi_status(&c), 405);
	assert_string_equal(fcgi_header(&c, "Allow"), "GET, HEAD, POST, DELETE");
	assert_int_equal(fcgi_header_count(&c, "Allow"), 1);
	done();
	fcgi_request(&c, server.where, "POST", "/messages/fail", NULL);
	assert_int_equal(fcgi_status(&c), 405);
	assert_string_equal(text_of("type"), "error"); /* in the envelope of the path */
	done();
	fcgi_request(&c, server.where, "get", "/echo", NULL);
	assert_int_equal(fcgi_status(&c), 405);
	done();
	fcgi_request(&c, server.where, "POST", "/things/all", NULL);
	assert_string_equal(fcgi_header(&c, "Allow"), "GET, HEAD"); /* two rows, each once */
	done();
}

static void head_has_no_body(void **state)
{
	char length[32];

	(void)state;
	get("/headers");
	snprintf(length, sizeof length, "%s", fcgi_header(&c, "Content-Length"));
	done();
	fcgi_request(&c, server.where, "HEAD", "/headers", NULL);
	assert_int_equal(fcgi_status(&c), 200);
	assert_string_equal(fcgi_header(&c, "Content-Length"), length);
	assert_int_equal(fcgi_body_len(&c), 0);
	assert_true(c.ended);
	done();
	fcgi_request(&c, server.where, "HEAD", "/stream", NULL);
	assert_int_equal(fcgi_body_len(&c), 0);
	done();
	fcgi_request(&c, server.where, "HEAD", "/nowhere", NULL);
	assert_int_equal(fcgi_status(&c), 404);
	assert_int_equal(fcgi_body_len(&c), 0);
	done();
}

/* -- bodies ---------------------------------------------------------------- */

static void post(size_t n)
{
	char *body = malloc(n + 1);

	memset(body, 'b', n);
	fcgi_post(&c, server.where, "/echo", body, n);
	free(body);
}

static void body_up_to_the_limit(void **state)
{
	static const size_t sizes[] = {
		0, 1, 8191, 8192, 8193, 65535, 65536, HTTP_APP_LIMIT - 1, HTTP_APP_LIMIT};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
		post(sizes[i]);
		assert_int_equal(fcgi_status(&c), 200);
		assert_int_equal((size_t)member("body_len")->valuedouble, sizes[i]);
		done();
	}
}

static void body_over_the_limit(void **state)
{
	(void)state;
	post(HTTP_APP_LIMIT + 1);
	assert_int_equal(fcgi_status(&c), 413);
	assert_non_null(strstr(fcgi_body(&c), "expected at most 100000 bytes"));
	done();
	post(5000000);
	assert_int_equal(fcgi_status(&c), 413);
	done();
}

/* As a web server does that does not buffer: no length, the body in pieces. */
static void begin_chunked(const char *length)
{
	const char *params[] = {"REQUEST_METHOD=POST", "REQUEST_URI=/echo", length, NULL};

	fcgi_connect(&c, server.where);
	fcgi_send_params(&c, params);
}

static void body_without_length(void **state)
{
	(void)state;
	begin_chunked(NULL);
	fcgi_send_body(&c, "one", 3);
	usleep(20000);
	fcgi_send_body(&c, "two", 3);
	fcgi_send_body(&c, "", 0);
	assert_true(fcgi_read(&c, NULL, 2000));
	assert_string_equal(text_of("body"), "onetwo");
	done();
}

static void body_without_length_is_limited_too(void **state)
{
	static char much[HTTP_APP_LIMIT + 1];

	(void)state;
	begin_chunked(NULL);
	memset(much, 'm', sizeof much);
	fcgi_send_body(&c, much, sizeof much);
	fcgi_send_body(&c, "", 0);
	assert_true(fcgi_read(&c, NULL, 2000));
	assert_int_equal(fcgi_status(&c), 413);
	done();
}

static void length_that_lies(const char *length, const char *expected)
{
	begin_chunked(length);
	fcgi_send_body(&c, "12345", 5);
	fcgi_send_body(&c, "", 0);
	assert_true(fcgi_read(&c, NULL, 2000));
	assert_int_equal(fcgi_status(&c), 400);
	assert_non_null(strstr(fcgi_body(&c), expected));
	done();
}

static void body_and_length_must_agree(void **state)
{
	(void)state;
	length_that_lies("CONTENT_LENGTH=6", "5 bytes came, Content-Length says 6");
	length_that_lies("CONTENT_LENGTH=4", "5 bytes came, Content-Length says 4");
	length_that_lies("CONTENT_LENGTH=0", "5 bytes came, Content-Length says 0");
	length_that_lies("CONTENT_LENGTH=-1", "expected a number");
	length_that_lies("CONTENT_LENGTH=5x", "expected a number");
	length_that_lies("CONTENT_LENGTH=99999999999999999999999", "expected a number");
}

static void client_that_leaves_in_its_body(void **state)
{
	(void)state;
	begin_chunked("CONTENT_LENGTH=10");
	fcgi_send_body(&c, "123", 3);
	done();
	assert_true(fcgi_server_logged(&server, "\"path\":\"/echo\",\"status\":499", 2000));
}

static void body_with_nul_keeps_its_length(void **state)
{
	(void)state;
	fcgi_post(&c, server.where, "/echo", "a\0b", 3);
	assert_int_equal((int)member("body_len")->valuedouble, 3);
	done();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(request_is_taken_apart),
		cmocka_unit_test(query_edges),
		cmocka_unit_test(path_falls_back_to_cgi),
		cmocka_unit_test(routes_decode_their_arguments),
		cmocka_unit_test(no_such_path),
		cmocka_unit_test(wrong_method_names_the_right_ones),
		cmocka_unit_test(head_has_no_body),
		cmocka_unit_test(body_up_to_the_limit),
		cmocka_unit_test(body_over_the_limit),
		cmocka_unit_test(body_without_length),
		cmocka_unit_test(body_without_length_is_limited_too),
		cmocka_unit_test(body_and_length_must_agree),
		cmocka_unit_test(client_that_leaves_in_its_body),
		cmocka_unit_test(body_with_nul_keeps_its_length),
	};

	return cmocka_run_group_tests(tests, start, stop);
}
