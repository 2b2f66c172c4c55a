/* http: answers, streams and clients that leave. SPDX-License-Identifier: ISC */
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

/* -- answers --------------------------------------------------------------- */

static void answers_carry_their_id_once(void **state)
{
	char id[64];

	(void)state;
	http_case_get("/headers");
	snprintf(id, sizeof id, "%s", fcgi_header(&http_case, "X-Request-Id"));
	assert_int_equal(strlen(id), 28);
	assert_memory_equal(id, "req_", 4);
	assert_string_equal(fcgi_header(&http_case, "Request-Id"), id);
	assert_int_equal(fcgi_header_count(&http_case, "X-Request-Id"), 1);
	assert_int_equal(fcgi_header_count(&http_case, "Request-Id"), 1);
	http_case_done();
	http_case_get("/headers");
	assert_string_not_equal(fcgi_header(&http_case, "X-Request-Id"), id);
	assert_true(fcgi_server_logged(&http_case_server, id, 1000));
	http_case_done();
}

static void headers_are_single_and_sound(void **state)
{
	(void)state;
	http_case_get("/headers");
	assert_string_equal(fcgi_header(&http_case, "x-twice"), "two");
	assert_int_equal(fcgi_header_count(&http_case, "x-twice"), 1);
	assert_null(fcgi_header(&http_case, "x-injected"));
	assert_null(fcgi_header(&http_case, "x-bad"));
	assert_null(fcgi_header(&http_case, "x bad"));
	assert_string_equal(fcgi_header(&http_case, "content-type"), "text/plain");
	assert_int_equal(fcgi_header_count(&http_case, "content-type"), 1);
	assert_string_equal(fcgi_header(&http_case, "content-length"), "4");
	assert_string_equal(fcgi_body(&http_case), "text");
	http_case_done();
}

static void download_is_whole(void **state)
{
	(void)state;
	http_case_get("/download?said=3000500&n=3000500");
	assert_string_equal(fcgi_header(&http_case, "content-length"), "3000500");
	assert_int_equal(fcgi_body_len(&http_case), 3000500);
	http_case_done();
}

/* Without the end of the request, a web server tells its client that something is missing. */
static void short_download_is_no_success(void **state)
{
	(void)state;
	fcgi_request(&http_case, http_case_server.where, "GET", "/download?said=2000&n=1500", NULL);
	assert_true(http_case.closed);
	assert_false(http_case.ended);
	http_case_done();
	assert_true(fcgi_server_logged(
		&http_case_server, "2000 bytes were announced, 1500 written", 1000));
}

static void long_download_is_cut(void **state)
{
	(void)state;
	http_case_get("/download?said=2000&n=2500");
	assert_int_equal(fcgi_body_len(&http_case), 2000);
	http_case_done();
	assert_true(fcgi_server_logged(
		&http_case_server, "more was written than the 2000 bytes", 1000));
}

static void second_answer_is_not_sent(void **state)
{
	(void)state;
	http_case_get("/twice");
	assert_int_equal(fcgi_status(&http_case), 200);
	assert_string_equal(fcgi_body(&http_case), "first");
	http_case_done();
}

static void no_answer_is_500(void **state)
{
	(void)state;
	http_case_get("/nothing");
	assert_int_equal(fcgi_status(&http_case), 500);
	assert_int_equal(fcgi_body_len(&http_case), 0);
	http_case_done();
}

static void openai_errors(void **state)
{
	const cJSON *error;

	(void)state;
	http_case_get("/fail?code=-5&param=file_id");
	assert_int_equal(fcgi_status(&http_case), 404);
	error = http_case_member("error");
	assert_int_equal(json_member(error, "code")->valueint, 404);
	assert_string_equal(json_text(error, "message"), "it \"failed\"\n");
	assert_string_equal(json_text(error, "type"), "not_found_error");
	assert_string_equal(json_text(error, "param"), "file_id");
	assert_string_equal(json_text(json_member(error, "metadata"), "error_type"), "not_found");
	assert_null(fcgi_header(&http_case, "retry-after"));
	http_case_done();
	http_case_get("/fail?code=-10&retry=7");
	assert_int_equal(fcgi_status(&http_case), 429);
	assert_string_equal(fcgi_header(&http_case, "retry-after"), "7");
	assert_true(cJSON_IsNull(json_member(http_case_member("error"), "param")));
	http_case_done();
}

static void anthropic_errors(void **state)
{
	const cJSON *error;

	(void)state;
	http_case_get("/messages/fail?code=-2");
	assert_int_equal(fcgi_status(&http_case), 401);
	assert_string_equal(http_case_text("type"), "error");
	assert_string_equal(http_case_text("request_id"), fcgi_header(&http_case, "request-id"));
	error = http_case_member("error");
	assert_string_equal(json_text(error, "type"), "authentication_error");
	assert_string_equal(json_text(error, "message"), "it \"failed\"\n");
	assert_string_equal(json_text(error, "error_type"), "authentication");
	http_case_done();
}

/* -- streams and clients that leave ---------------------------------------- */

static void stream_comes_piece_by_piece(void **state)
{
	(void)state;
	fcgi_connect(&http_case, http_case_server.where);
	fcgi_send_params(&http_case,
		(const char *const[]){"REQUEST_METHOD=GET", "REQUEST_URI=/stream", NULL});
	fcgi_send_body(&http_case, "", 0);
	assert_true(fcgi_read(&http_case, "\r\n\r\n", 1000));
	assert_string_equal(
		fcgi_header(&http_case, "content-type"), "text/event-stream; charset=utf-8");
	assert_string_equal(fcgi_header(&http_case, "cache-control"), "no-cache");
	assert_string_equal(fcgi_header(&http_case, "x-accel-buffering"), "no");
	assert_null(fcgi_header(&http_case, "content-length"));
	assert_true(fcgi_read(&http_case, "data: x\n\n", 1000));
	assert_false(http_case.ended);
	assert_true(fcgi_read(&http_case, NULL, 1000));
	assert_string_equal(fcgi_body(&http_case), "data: x\n\ndata: x\n\ndata: x\n\n");
	http_case_done();
}

static void begin_post(const char *uri)
{
	char line[64];

	snprintf(line, sizeof line, "REQUEST_URI=%s", uri);
	fcgi_connect(&http_case, http_case_server.where);
	fcgi_send_params(&http_case,
		(const char *const[]){"REQUEST_METHOD=POST", "CONTENT_LENGTH=2", line, NULL});
	fcgi_send_body(&http_case, "{}", 2);
	fcgi_send_body(&http_case, "", 0);
}

static void write_to_a_client_that_left(void **state)
{
	(void)state;
	begin_post("/stream-for-ever");
	assert_true(fcgi_read(&http_case, "data: x", 1000));
	http_case_done();
	assert_true(fcgi_server_logged(&http_case_server, "write says -17", 2000));
	assert_true(fcgi_server_logged(&http_case_server, "\"client_gone\":true", 1000));
}

static void silent_client_stays(void **state)
{
	(void)state;
	begin_post("/watch");
	assert_true(fcgi_read(&http_case, NULL, 2000));
	assert_string_equal(fcgi_body(&http_case), "stayed");
	assert_true(fcgi_server_logged(&http_case_server, "poll says 0, gone says 0", 1000));
	http_case_done();
}

static void client_that_left_is_noticed(void **state)
{
	(void)state;
	begin_post("/watch");
	usleep(50000);
	http_case_done();
	assert_true(fcgi_server_logged(&http_case_server, "poll says 1, gone says 1", 1000));
	assert_true(
		fcgi_server_logged(&http_case_server, "\"path\":\"/watch\",\"status\":499", 1000));
}

static void abort_record_counts_as_gone(void **state)
{
	(void)state;
	fcgi_connect(&http_case, http_case_server.where);
	fcgi_send_params(&http_case,
		(const char *const[]){"REQUEST_METHOD=GET", "REQUEST_URI=/watch", NULL});
	usleep(50000);
	fcgi_send_record(&http_case, 2, "", 0);
	assert_true(fcgi_read(&http_case, NULL, 2000));
	assert_int_equal(fcgi_status(&http_case), 0);
	http_case_done();
}

static void garbage_ends_the_connection_only(void **state)
{
	(void)state;
	fcgi_connect(&http_case, http_case_server.where);
	assert_int_equal(io_write_full(http_case.fd, "GET / HTTP/1.1\r\n\r\n", 18), 0);
	assert_true(fcgi_read(&http_case, NULL, 2000));
	assert_true(http_case.closed);
	http_case_done();
	http_case_get("/echo"); /* and the next is served */
	assert_int_equal(fcgi_status(&http_case), 200);
	http_case_done();
}

static void access_log_is_one_line(void **state)
{
	(void)state;
	fcgi_request(&http_case, http_case_server.where, "GET", "/nowhere\"\\\x1b[31m", NULL);
	http_case_done();
	assert_true(fcgi_server_logged(&http_case_server,
		"\"method\":\"GET\",\"path\":\"/"
		"nowhere\\\"\\\\\\u001b[31m\",\"status\":404,\"ms\":",
		1000));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(answers_carry_their_id_once),
		cmocka_unit_test(headers_are_single_and_sound),
		cmocka_unit_test(download_is_whole),
		cmocka_unit_test(short_download_is_no_success),
		cmocka_unit_test(long_download_is_cut),
		cmocka_unit_test(second_answer_is_not_sent),
		cmocka_unit_test(no_answer_is_500),
		cmocka_unit_test(openai_errors),
		cmocka_unit_test(anthropic_errors),
		cmocka_unit_test(stream_comes_piece_by_piece),
		cmocka_unit_test(write_to_a_client_that_left),
		cmocka_unit_test(silent_client_stays),
		cmocka_unit_test(client_that_left_is_noticed),
		cmocka_unit_test(abort_record_counts_as_gone),
		cmocka_unit_test(garbage_ends_the_connection_only),
		cmocka_unit_test(access_log_is_one_line),
	};

	return cmocka_run_group_tests(tests, http_case_start, http_case_stop);
}
