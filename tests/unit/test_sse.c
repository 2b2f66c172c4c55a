/* Tests of app/dialect/sse. SPDX-License-Identifier: ISC */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "app/dialect/sse.h"

/* Writes each frame down as "[event|data]". */
struct log {
	struct buf text;
	int stop_at, frames; /* the frame that makes fn return 7; 0: none */
};

static int note(void *ctx, const char *event, const char *data, size_t n)
{
	struct log *l = ctx;
	assert_int_equal(data[n], '\0');
	buf_printf(&l->text, "[%s|", event);
	buf_put(&l->text, data, n);
	buf_putc(&l->text, ']');
	return ++l->frames == l->stop_at ? 7 : 0;
}

static void check_pieces(const char *in, size_t n, size_t step, const char *want)
{
	struct log l = {0};
	buf_init(&l.text, 1 << 16);
	struct sse_parser *p = sse_parser_new(1 << 16, note, &l);
	for (size_t i = 0; i < n; i += step)
		assert_int_equal(sse_parser_feed(p, in + i, n - i < step ? n - i : step), 0);
	assert_string_equal(buf_str(&l.text), want);
	sse_parser_free(p);
	buf_free(&l.text);
}

/* Whole, and split after each byte, and at one place only, wherever that is. */
static void check(const char *in, const char *want)
{
	size_t n = strlen(in);
	check_pieces(in, n, n, want);
	check_pieces(in, n, 1, want);
	for (size_t step = 2; step < n; step++)
		check_pieces(in, n, step, want);
}

static void reads_name_and_data(void **state)
{
	(void)state;
	check("event: ping\ndata: {}\n\ndata: x\n\n", "[ping|{}][|x]");
}

static void accepts_all_line_ends(void **state)
{
	(void)state;
	check("event: a\r\ndata: 1\r\n\r\n", "[a|1]");
	check("event: a\rdata: 1\r\r", "[a|1]");
	check("event: a\ndata: 1\r\n\rdata: 2\r\n\n", "[a|1][|2]");
}

static void joins_data_lines(void **state)
{
	(void)state;
	check("data: a\ndata:b\ndata:  c\ndata\n\n", "[|a\nb\n c\n]");
}

static void skips_comments_and_unknown_fields(void **state)
{
	(void)state;
	check(": keepalive\n\nid: 3\nretry: 5\nwhat\ndata: x\n:\n\n", "[|x]");
}

static void skips_a_byte_order_mark_at_the_beginning_only(void **state)
{
	(void)state;
	check("\xef\xbb\xbf"
	      "data: x\n\n",
		"[|x]");
	check("\xef\xbb\xbf"
	      "\xef\xbb\xbf"
	      "data: x\n\ndata: y\n\n",
		"[|y]");
	check("\xef\xbb"
	      "data: x\n\ndata: y\n\n",
		"[|y]");
}

static void a_frame_without_data_is_none(void **state)
{
	(void)state;
	check("event: a\n\ndata: x\n\n", "[|x]");
	check("data:\n\n", "[|]");
}

static void an_unfinished_frame_is_not_given(void **state)
{
	(void)state;
	check("data: x\n\ndata: y\n", "[|x]");
}

static void keeps_nul_bytes(void **state)
{
	(void)state;
	struct log l = {0};
	buf_init(&l.text, 100);
	struct sse_parser *p = sse_parser_new(100, note, &l);
	assert_int_equal(sse_parser_feed(p, "data: a\0b\n\n", 11), 0);
	assert_int_equal(l.text.len, 6);
	assert_memory_equal(l.text.data, "[|a\0b]", 6);
	sse_parser_free(p);
	buf_free(&l.text);
}

static int feed_lines(size_t max, const char *line, int count, const char *end)
{
	struct log l = {0};
	buf_init(&l.text, 1 << 20);
	struct sse_parser *p = sse_parser_new(max, note, &l);
	int rc = 0;
	for (int i = 0; i < count && rc == 0; i++)
		rc = sse_parser_feed(p, line, strlen(line));
	if (rc == 0)
		rc = sse_parser_feed(p, end, strlen(end));
	/* Once refused, always refused. */
	if (rc == -1)
		assert_int_equal(sse_parser_feed(p, "data: x\n\n", 9), -1);
	sse_parser_free(p);
	buf_free(&l.text);
	return rc;
}

static void refuses_a_frame_over_the_maximum(void **state)
{
	(void)state;
	assert_int_equal(feed_lines(20, "data: aaaaaaaaaaaaaa\n", 1, "\n"), 0);
	assert_int_equal(feed_lines(20, "data: aaaaaaaaaaaaaaa\n", 1, "\n"), -1);
	assert_int_equal(feed_lines(20, "data: aaaaaa\n", 3, "\n"), -1);
	assert_int_equal(feed_lines(20, "x", 30, "\n"), -1);
	assert_int_equal(feed_lines(20, "data: a\n\n", 1000, "\n"), 0);
	assert_int_equal(feed_lines(20, ": still here\n", 1000, "\n"), 0);
}

static void passes_on_what_the_receiver_returns(void **state)
{
	(void)state;
	struct log l = {.stop_at = 2};
	buf_init(&l.text, 100);
	struct sse_parser *p = sse_parser_new(100, note, &l);
	const char in[] = "data: 1\n\ndata: 2\n\ndata: 3\n\n";
	assert_int_equal(sse_parser_feed(p, in, strlen(in)), 7);
	assert_string_equal(buf_str(&l.text), "[|1][|2]");
	sse_parser_free(p);
	buf_free(&l.text);
}

static void written_frames_are_read_back(void **state)
{
	(void)state;
	struct buf b;
	buf_init(&b, 1000);
	sse_frame(&b, "a.b", "{\"x\":1}", 7);
	sse_frame(&b, NULL, "[DONE]", 6);
	assert_string_equal(buf_str(&b), "event: a.b\ndata: {\"x\":1}\n\ndata: [DONE]\n\n");
	check(buf_str(&b), "[a.b|{\"x\":1}][|[DONE]]");
	buf_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_name_and_data),
		cmocka_unit_test(accepts_all_line_ends),
		cmocka_unit_test(joins_data_lines),
		cmocka_unit_test(skips_comments_and_unknown_fields),
		cmocka_unit_test(skips_a_byte_order_mark_at_the_beginning_only),
		cmocka_unit_test(a_frame_without_data_is_none),
		cmocka_unit_test(an_unfinished_frame_is_not_given),
		cmocka_unit_test(keeps_nul_bytes),
		cmocka_unit_test(refuses_a_frame_over_the_maximum),
		cmocka_unit_test(passes_on_what_the_receiver_returns),
		cmocka_unit_test(written_frames_are_read_back),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
