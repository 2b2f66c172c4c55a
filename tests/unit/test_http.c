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
#include "tests/lib/http_case.h"

/* -- requests -------------------------------------------------------------- */

static void request_is_taken_apart(void **state)
{
	const char *const h[] = {
		"HTTP_X_SESSION_ID=s 1", "CONTENT_TYPE=text/x", "HTTP_AUTHORIZATION=", NULL};

	(void)state;
	fcgi_request(&http_case, http_case_server.where, "GET", "/echo?a=b&q=x+y%2Bz&q=2", h);
	assert_int_equal(fcgi_status(&http_case), 200);
	assert_string_equal(fcgi_header(&http_case, "Content-Type"), "application/json");
	assert_string_equal(http_case_text("method"), "GET");
	assert_string_equal(http_case_text("path"), "/echo");
	assert_string_equal(http_case_text("query"), "a=b&q=x+y%2Bz&q=2");
	assert_string_equal(http_case_text("q"), "x y+z");
	assert_string_equal(http_case_text("x-session-id"), "s 1");
	assert_string_equal(http_case_text("content-type"), "text/x");
	assert_true(cJSON_IsNull(http_case_member("content-length")));
	assert_true(cJSON_IsNull(http_case_member("authorization")));
	http_case_done();
}

static void query_edges(void **state)
{
	(void)state;
	http_case_get("/echo?q");
	assert_string_equal(http_case_text("q"), "");
	http_case_done();
	http_case_get("/echo?&&q=%41&");
	assert_string_equal(http_case_text("q"), "A");
	http_case_done();
	http_case_get("/echo?q=%zz");
	assert_true(cJSON_IsNull(http_case_member("q")));
	http_case_done();
	http_case_get("/echo?q=%00");
	assert_true(cJSON_IsNull(http_case_member("q")));
	http_case_done();
	http_case_get("/echo?qq=1&xq=2");
	assert_true(cJSON_IsNull(http_case_member("q")));
	http_case_done();
}

static void path_falls_back_to_cgi(void **state)
{
	const char *const document[] = {"REQUEST_METHOD=GET", "DOCUMENT_URI=/things/a%b", NULL};
	const char *const info[] = {"REQUEST_METHOD=GET", "SCRIPT_NAME=/things", "PATH_INFO=/x y",
		"QUERY_STRING=q=1", NULL};

	(void)state;
	fcgi_connect(&http_case, http_case_server.where);
	fcgi_send_params(&http_case, document);
	fcgi_send_body(&http_case, "", 0);
	assert_true(fcgi_read(&http_case, NULL, 2000));
	assert_string_equal(http_case_text("arg"), "a%b");
	http_case_done();
	fcgi_connect(&http_case, http_case_server.where);
	fcgi_send_params(&http_case, info);
	fcgi_send_body(&http_case, "", 0);
	assert_true(fcgi_read(&http_case, NULL, 2000));
	assert_string_equal(http_case_text("arg"), "x y");
	assert_string_equal(http_case_text("q"), "1");
	http_case_done();
}

static void routes_decode_their_arguments(void **state)
{
	(void)state;
	http_case_get("/things/all");
	assert_string_equal(http_case_text("arg"), "");
	http_case_done();
	http_case_get("/things/a%2Fb%20c");
	assert_string_equal(http_case_text("arg"), "a/b c");
	http_case_done();
	http_case_get("/things/1/parts/%C3%A9+");
	assert_string_equal(http_case_text("arg"), "1");
	assert_string_equal(http_case_text("arg2"), "\xC3\xA9+");
	http_case_done();
}

static void no_such_path(void **state)
{
	static const char *const paths[] = {"/", "/ech", "/echo/", "/echos", "/things/",
		"/things//", "/things/%", "/things/%00", "/things/a/parts", "//echo", "/things/a/b",
		"/ECHO"};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof paths / sizeof paths[0]; i++) {
		http_case_get(paths[i]);
		if (fcgi_status(&http_case) != 404)
			fail_msg("%s: %d", paths[i], fcgi_status(&http_case));
		http_case_done();
	}
}

static void wrong_method_names_the_right_ones(void **state)
{
	(void)state;
	fcgi_request(&http_case, http_case_server.where, "PUT", "/echo", NULL);
	assert_int_equal(fcgi_status(&http_case), 405);
	assert_string_equal(fcgi_header(&http_case, "Allow"), "GET, HEAD, POST, DELETE");
	assert_int_equal(fcgi_header_count(&http_case, "Allow"), 1);
	http_case_done();
	fcgi_request(&http_case, http_case_server.where, "POST", "/messages/fail", NULL);
	assert_int_equal(fcgi_status(&http_case), 405);
	assert_string_equal(http_case_text("type"), "error"); /* in the envelope of the path */
	http_case_done();
	fcgi_request(&http_case, http_case_server.where, "get", "/echo", NULL);
	assert_int_equal(fcgi_status(&http_case), 405);
	http_case_done();
	fcgi_request(&http_case, http_case_server.where, "POST", "/things/all", NULL);
	assert_string_equal(
		fcgi_header(&http_case, "Allow"), "GET, HEAD"); /* two rows, each once */
	http_case_done();
}

static void head_has_no_body(void **state)
{
	char length[32];

	(void)state;
	http_case_get("/headers");
	snprintf(length, sizeof length, "%s", fcgi_header(&http_case, "Content-Length"));
	http_case_done();
	fcgi_request(&http_case, http_case_server.where, "HEAD", "/headers", NULL);
	assert_int_equal(fcgi_status(&http_case), 200);
	assert_string_equal(fcgi_header(&http_case, "Content-Length"), length);
	assert_int_equal(fcgi_body_len(&http_case), 0);
	assert_true(http_case.ended);
	http_case_done();
	fcgi_request(&http_case, http_case_server.where, "HEAD", "/stream", NULL);
	assert_int_equal(fcgi_body_len(&http_case), 0);
	http_case_done();
	fcgi_request(&http_case, http_case_server.where, "HEAD", "/nowhere", NULL);
	assert_int_equal(fcgi_status(&http_case), 404);
	assert_int_equal(fcgi_body_len(&http_case), 0);
	http_case_done();
}

/* -- bodies ---------------------------------------------------------------- */

static void post(size_t n)
{
	char *body = malloc(n + 1);

	memset(body, 'b', n);
	fcgi_post(&http_case, http_case_server.where, "/echo", body, n);
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
		assert_int_equal(fcgi_status(&http_case), 200);
		assert_int_equal((size_t)http_case_member("body_len")->valuedouble, sizes[i]);
		http_case_done();
	}
}

static void body_over_the_limit(void **state)
{
	(void)state;
	post(HTTP_APP_LIMIT + 1);
	assert_int_equal(fcgi_status(&http_case), 413);
	assert_non_null(strstr(fcgi_body(&http_case), "expected at most 100000 bytes"));
	http_case_done();
	post(5000000);
	assert_int_equal(fcgi_status(&http_case), 413);
	http_case_done();
}

/* As a web server does that does not buffer: no length, the body in pieces. */
static void begin_chunked(const char *length)
{
	const char *params[] = {"REQUEST_METHOD=POST", "REQUEST_URI=/echo", length, NULL};

	fcgi_connect(&http_case, http_case_server.where);
	fcgi_send_params(&http_case, params);
}

static void body_without_length(void **state)
{
	(void)state;
	begin_chunked(NULL);
	fcgi_send_body(&http_case, "one", 3);
	usleep(20000);
	fcgi_send_body(&http_case, "two", 3);
	fcgi_send_body(&http_case, "", 0);
	assert_true(fcgi_read(&http_case, NULL, 2000));
	assert_string_equal(http_case_text("body"), "onetwo");
	http_case_done();
}

static void body_without_length_is_limited_too(void **state)
{
	static char much[HTTP_APP_LIMIT + 1];

	(void)state;
	begin_chunked(NULL);
	memset(much, 'm', sizeof much);
	fcgi_send_body(&http_case, much, sizeof much);
	fcgi_send_body(&http_case, "", 0);
	assert_true(fcgi_read(&http_case, NULL, 2000));
	assert_int_equal(fcgi_status(&http_case), 413);
	http_case_done();
}

static void length_that_lies(const char *length, const char *expected)
{
	begin_chunked(length);
	fcgi_send_body(&http_case, "12345", 5);
	fcgi_send_body(&http_case, "", 0);
	assert_true(fcgi_read(&http_case, NULL, 2000));
	assert_int_equal(fcgi_status(&http_case), 400);
	assert_non_null(strstr(fcgi_body(&http_case), expected));
	http_case_done();
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
	fcgi_send_body(&http_case, "123", 3);
	http_case_done();
	assert_true(
		fcgi_server_logged(&http_case_server, "\"path\":\"/echo\",\"status\":499", 2000));
}

static void body_with_nul_keeps_its_length(void **state)
{
	(void)state;
	fcgi_post(&http_case, http_case_server.where, "/echo", "a\0b", 3);
	assert_int_equal((int)http_case_member("body_len")->valuedouble, 3);
	http_case_done();
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

	return cmocka_run_group_tests(tests, http_case_start, http_case_stop);
}
