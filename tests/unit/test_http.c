/* http: requests and answers over FastCGI, with real processes and sockets. SPDX-License-Identifier: ISC */
#include "tests/lib/test.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/base/json.h"
#include "app/http/http.h"
#include "app/http/route.h"
#include "sandbox/sys/io.h"
#include "sandbox/sys/log.h"
#include "tests/lib/fcgi_client.h"
#include "tests/lib/fcgi_server.h"

enum { LIMIT = 100000 };

/* -- the application ------------------------------------------------------- */

/* What came in, as JSON. */
static int echo(struct req *r, struct err *e)
{
	const char *names[] = {"x-session-id", "content-type", "content-length", "authorization"};
	cJSON *v = cJSON_CreateObject();
	const char *value;
	size_t i;
	int rc;

	(void)e;
	cJSON_AddStringToObject(v, "method", r->method);
	cJSON_AddStringToObject(v, "path", r->path);
	cJSON_AddStringToObject(v, "query", r->query);
	cJSON_AddStringToObject(v, "arg", r->args[0] ? r->args[0] : "");
	cJSON_AddStringToObject(v, "arg2", r->args[1] ? r->args[1] : "");
	for (i = 0; i < sizeof names / sizeof names[0]; i++) {
		value = http_header(r, names[i]);
		cJSON_AddItemToObject(
			v, names[i], value ? cJSON_CreateString(value) : cJSON_CreateNull());
	}
	value = http_query(r, "q");
	cJSON_AddItemToObject(v, "q", value ? cJSON_CreateString(value) : cJSON_CreateNull());
	cJSON_AddNumberToObject(v, "body_len", r->body ? (double)r->body_len : -1);
	json_add_text(v, "body", r->body ? r->body : "", r->body ? strnlen(r->body, 20) : 0);
	rc = http_send_json(r, 200, v);
	cJSON_Delete(v);
	return rc;
}

static int fail_as_asked(struct req *r, struct err *e)
{
	const char *code = http_query(r, "code"), *retry = http_query(r, "retry");

	err_set(e, (enum err_code)strtol(code, NULL, 10), http_query(r, "param"),
		"it \"failed\"\n");
	e->retry_after = retry ? (int)strtol(retry, NULL, 10) : 0;
	return e->code;
}

static int headers(struct req *r, struct err *e)
{
	(void)e;
	http_set_header(r, "X-Twice", "one");
	http_set_header(r, "x-twice", "two");
	http_set_header(r, "x-request-id", "forged");
	http_set_header(r, "x-bad", "a\r\nx-injected: 1");
	http_set_header(r, "x bad", "a");
	http_set_header(r, "", "a");
	http_set_header(r, "content-type", "text/html");
	return http_send_text(r, 200, "text/plain", "text");
}

/* Large and in pieces, of a length announced: right, too short or too long. */
static int download(struct req *r, struct err *e)
{
	long long said = strtoll(http_query(r, "said"), NULL, 10);
	long long n = strtoll(http_query(r, "n"), NULL, 10);
	char piece[1000];
	int rc;

	(void)e;
	memset(piece, 'x', sizeof piece);
	rc = http_send_head(r, 200, "application/octet-stream", said);
	for (; n > 0 && rc == 0; n -= (long long)sizeof piece)
		rc = http_write(r, piece, n > 1000 ? 1000 : (size_t)n);
	return rc;
}

static int stream(struct req *r, struct err *e)
{
	int i, rc = http_stream(r);

	(void)e;
	for (i = 0; i < 3 && rc == 0; i++) {
		rc = http_write(r, "data: x\n\n", 9);
		usleep(30000);
	}
	return rc;
}

/* Streams without end; how it noticed that its client is gone goes to the log. */
static int stream_for_ever(struct req *r, struct err *e)
{
	int rc = http_stream(r);

	(void)e;
	while (rc == 0) {
		usleep(5000);
		rc = http_write(r, "data: x\n\n", 9);
	}
	log_info("write says %d", rc);
	return rc;
}

/* Silent, watching its client as the upstream and the box client do. */
static int watch(struct req *r, struct err *e)
{
	struct pollfd p = {.fd = http_client_fd(r), .events = POLLIN | POLLRDHUP};
	int n = poll(&p, 1, 300);

	log_info("poll says %d, gone says %d", n, http_client_gone(r));
	if (n > 0)
		return err_set(e, ERR_CLIENT_GONE, NULL, "gone");
	return http_send_text(r, 200, "text/plain", "stayed");
}

static int twice(struct req *r, struct err *e)
{
	http_send_text(r, 200, "text/plain", "first");
	err_set(e, ERR_SERVER, NULL, "late");
	http_send_error(r, e);
	return http_send_text(r, 200, "text/plain", "second");
}

static int nothing(struct req *r, struct err *e)
{
	(void)r;
	(void)e;
	return 0;
}

static const struct route routes[] = {
	{"GET", "/echo", echo, 0, 0},
	{"POST", "/echo", echo, LIMIT, 0},
	{"DELETE", "/echo", echo, 0, 0},
	{"GET", "/things/all", echo, 0, 0},
	{"GET", "/things/{id}", echo, 0, 0},
	{"GET", "/things/{id}/parts/{part}", echo, 0, 0},
	{"GET", "/fail", fail_as_asked, 0, 0},
	{"GET", "/messages/fail", fail_as_asked, 0, ROUTE_ANTHROPIC},
	{"GET", "/headers", headers, 0, 0},
	{"GET", "/download", download, 0, 0},
	{"GET", "/stream", stream, 0, 0},
	{"POST", "/stream-for-ever", stream_for_ever, LIMIT, 0},
	{"POST", "/watch", watch, LIMIT, 0},
	{"GET", "/watch", watch, 0, 0},
	{"GET", "/twice", twice, 0, 0},
	{"GET", "/nothing", nothing, 0, 0},
};

static void serve(struct req *r)
{
	const struct route *row;
	struct err e = {0};
	int rc = route_find(&row, routes, sizeof routes / sizeof routes[0], r, &e);

	if (rc == 0 && row->body_max > 0)
		rc = http_read_body(r, row->body_max, &e);
	if (rc == 0)
		rc = row->handler(r, &e);
	if (rc < 0 && e.code != ERR_OK)
		http_send_error(r, &e);
}

static struct fcgi_server server;

static int start(void **state)
{
	struct worker w = {.processes = 1, .threads = 4, .drain_seconds = 2, .serve = serve};

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
	static const size_t sizes[] = {0, 1, 8191, 8192, 8193, 65535, 65536, LIMIT - 1, LIMIT};
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
	post(LIMIT + 1);
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
	static char much[LIMIT + 1];

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

/* -- answers --------------------------------------------------------------- */

static void answers_carry_their_id_once(void **state)
{
	char id[64];

	(void)state;
	get("/headers");
	snprintf(id, sizeof id, "%s", fcgi_header(&c, "X-Request-Id"));
	assert_int_equal(strlen(id), 28);
	assert_memory_equal(id, "req_", 4);
	assert_string_equal(fcgi_header(&c, "Request-Id"), id);
	assert_int_equal(fcgi_header_count(&c, "X-Request-Id"), 1);
	assert_int_equal(fcgi_header_count(&c, "Request-Id"), 1);
	done();
	get("/headers");
	assert_string_not_equal(fcgi_header(&c, "X-Request-Id"), id);
	assert_true(fcgi_server_logged(&server, id, 1000));
	done();
}

static void headers_are_single_and_sound(void **state)
{
	(void)state;
	get("/headers");
	assert_string_equal(fcgi_header(&c, "x-twice"), "two");
	assert_int_equal(fcgi_header_count(&c, "x-twice"), 1);
	assert_null(fcgi_header(&c, "x-injected"));
	assert_null(fcgi_header(&c, "x-bad"));
	assert_null(fcgi_header(&c, "x bad"));
	assert_string_equal(fcgi_header(&c, "content-type"), "text/plain");
	assert_int_equal(fcgi_header_count(&c, "content-type"), 1);
	assert_string_equal(fcgi_header(&c, "content-length"), "4");
	assert_string_equal(fcgi_body(&c), "text");
	done();
}

static void download_is_whole(void **state)
{
	(void)state;
	get("/download?said=3000500&n=3000500");
	assert_string_equal(fcgi_header(&c, "content-length"), "3000500");
	assert_int_equal(fcgi_body_len(&c), 3000500);
	done();
}

/* Without the end of the request, a web server tells its client that something is missing. */
static void short_download_is_no_success(void **state)
{
	(void)state;
	fcgi_request(&c, server.where, "GET", "/download?said=2000&n=1500", NULL);
	assert_true(c.closed);
	assert_false(c.ended);
	done();
	assert_true(fcgi_server_logged(&server, "2000 bytes were announced, 1500 written", 1000));
}

static void long_download_is_cut(void **state)
{
	(void)state;
	get("/download?said=2000&n=2500");
	assert_int_equal(fcgi_body_len(&c), 2000);
	done();
	assert_true(fcgi_server_logged(&server, "more was written than the 2000 bytes", 1000));
}

static void second_answer_is_not_sent(void **state)
{
	(void)state;
	get("/twice");
	assert_int_equal(fcgi_status(&c), 200);
	assert_string_equal(fcgi_body(&c), "first");
	done();
}

static void no_answer_is_500(void **state)
{
	(void)state;
	get("/nothing");
	assert_int_equal(fcgi_status(&c), 500);
	assert_int_equal(fcgi_body_len(&c), 0);
	done();
}

static void openai_errors(void **state)
{
	const cJSON *error;

	(void)state;
	get("/fail?code=-5&param=file_id");
	assert_int_equal(fcgi_status(&c), 404);
	error = member("error");
	assert_int_equal(json_member(error, "code")->valueint, 404);
	assert_string_equal(json_text(error, "message"), "it \"failed\"\n");
	assert_string_equal(json_text(error, "type"), "not_found_error");
	assert_string_equal(json_text(error, "param"), "file_id");
	assert_string_equal(json_text(json_member(error, "metadata"), "error_type"), "not_found");
	assert_null(fcgi_header(&c, "retry-after"));
	done();
	get("/fail?code=-10&retry=7");
	assert_int_equal(fcgi_status(&c), 429);
	assert_string_equal(fcgi_header(&c, "retry-after"), "7");
	assert_true(cJSON_IsNull(json_member(member("error"), "param")));
	done();
}

static void anthropic_errors(void **state)
{
	const cJSON *error;

	(void)state;
	get("/messages/fail?code=-2");
	assert_int_equal(fcgi_status(&c), 401);
	assert_string_equal(text_of("type"), "error");
	assert_string_equal(text_of("request_id"), fcgi_header(&c, "request-id"));
	error = member("error");
	assert_string_equal(json_text(error, "type"), "authentication_error");
	assert_string_equal(json_text(error, "message"), "it \"failed\"\n");
	assert_string_equal(json_text(error, "error_type"), "authentication");
	done();
}

/* -- streams and clients that leave ---------------------------------------- */

static void stream_comes_piece_by_piece(void **state)
{
	(void)state;
	fcgi_connect(&c, server.where);
	fcgi_send_params(
		&c, (const char *const[]){"REQUEST_METHOD=GET", "REQUEST_URI=/stream", NULL});
	fcgi_send_body(&c, "", 0);
	assert_true(fcgi_read(&c, "\r\n\r\n", 1000));
	assert_string_equal(fcgi_header(&c, "content-type"), "text/event-stream; charset=utf-8");
	assert_string_equal(fcgi_header(&c, "cache-control"), "no-cache");
	assert_string_equal(fcgi_header(&c, "x-accel-buffering"), "no");
	assert_null(fcgi_header(&c, "content-length"));
	assert_true(fcgi_read(&c, "data: x\n\n", 1000));
	assert_false(c.ended);
	assert_true(fcgi_read(&c, NULL, 1000));
	assert_string_equal(fcgi_body(&c), "data: x\n\ndata: x\n\ndata: x\n\n");
	done();
}

static void begin_post(const char *uri)
{
	char line[64];

	snprintf(line, sizeof line, "REQUEST_URI=%s", uri);
	fcgi_connect(&c, server.where);
	fcgi_send_params(
		&c, (const char *const[]){"REQUEST_METHOD=POST", "CONTENT_LENGTH=2", line, NULL});
	fcgi_send_body(&c, "{}", 2);
	fcgi_send_body(&c, "", 0);
}

static void write_to_a_client_that_left(void **state)
{
	(void)state;
	begin_post("/stream-for-ever");
	assert_true(fcgi_read(&c, "data: x", 1000));
	done();
	assert_true(fcgi_server_logged(&server, "write says -17", 2000));
}

static void silent_client_stays(void **state)
{
	(void)state;
	begin_post("/watch");
	assert_true(fcgi_read(&c, NULL, 2000));
	assert_string_equal(fcgi_body(&c), "stayed");
	assert_true(fcgi_server_logged(&server, "poll says 0, gone says 0", 1000));
	done();
}

static void client_that_left_is_noticed(void **state)
{
	(void)state;
	begin_post("/watch");
	usleep(50000);
	done();
	assert_true(fcgi_server_logged(&server, "poll says 1, gone says 1", 1000));
	assert_true(fcgi_server_logged(&server, "\"path\":\"/watch\",\"status\":499", 1000));
}

static void abort_record_counts_as_gone(void **state)
{
	(void)state;
	fcgi_connect(&c, server.where);
	fcgi_send_params(
		&c, (const char *const[]){"REQUEST_METHOD=GET", "REQUEST_URI=/watch", NULL});
	usleep(50000);
	fcgi_send_record(&c, 2, "", 0);
	assert_true(fcgi_read(&c, NULL, 2000));
	assert_int_equal(fcgi_status(&c), 0);
	done();
}

static void garbage_ends_the_connection_only(void **state)
{
	(void)state;
	fcgi_connect(&c, server.where);
	assert_int_equal(io_write_full(c.fd, "GET / HTTP/1.1\r\n\r\n", 18), 0);
	assert_true(fcgi_read(&c, NULL, 2000));
	assert_true(c.closed);
	done();
	get("/echo"); /* and the next is served */
	assert_int_equal(fcgi_status(&c), 200);
	done();
}

static void access_log_is_one_line(void **state)
{
	(void)state;
	fcgi_request(&c, server.where, "GET", "/nowhere\"\\\x1b[31m", NULL);
	done();
	assert_true(fcgi_server_logged(&server,
		"\"method\":\"GET\",\"path\":\"/"
		"nowhere\\\"\\\\\\u001b[31m\",\"status\":404,\"ms\":",
		1000));
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

	return cmocka_run_group_tests(tests, start, stop);
}
