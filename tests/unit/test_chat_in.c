/* Providers' streams, put together: chat_in. SPDX-License-Identifier: ISC */
#include <stdlib.h>
#include <string.h>

#include "app/base/arena.h"
#include "tests/lib/chatin.h"
#include "tests/lib/test.h"

/* -- samples ----------------------------------------------------------------- */

static void text_comes_in_pieces(void **state)
{
	chatin_sample(*state, "chat-stream-text.sse",
		"text \"812\"\ntext \" lines.\"\nturn stop " USAGE "\n");
}

static void parallel_calls_come_one_after_the_other(void **state)
{
	chatin_sample(*state, "chat-stream-parallel-tools.sse",
		"start 1 shell shell\n"
		"args 1 \"{\\\"commands\\\":[\\\"wc\"\nargs 1 \" -l app.log\\\"]}\"\n"
		"end 1 \"{\\\"commands\\\":[\\\"wc -l app.log\\\"]}\"\n"
		"start 2 shell shell\nargs 2 \"{\\\"commands\\\":[\\\"date\\\"]}\"\n"
		"end 2 \"{\\\"commands\\\":[\\\"date\\\"]}\"\n"
		"turn calls " USAGE "\n");
}

static void reasoning_content_is_reasoning(void **state)
{
	chatin_sample(*state, "chat-stream-reasoning.sse",
		"reasoning \"Need wc.\"\ntext \"812 lines.\"\nturn stop " USAGE
		" raw {\"field\":\"reasoning_content\"}\n");
}

static void reasoning_details_are_kept_whole(void **state)
{
	chatin_sample(*state, "chat-stream-reasoning-openrouter.sse",
		"reasoning \"Need wc.\"\ntext \"812 lines.\"\nturn stop " USAGE " cost 0.0004 raw "
		"[{\"type\":\"reasoning.text\",\"format\":\"unknown\",\"index\":0,\"text\":\"Need "
		"wc.\"}]\n");
}

static void calls_that_all_have_index_0_are_told_apart(void **state)
{
	chatin_sample(*state, "chat-stream-quirk-index-always-0.sse",
		"start 1 shell shell\nargs 1 \"{\\\"commands\\\":[\\\"ls\\\"]}\"\n"
		"end 1 \"{\\\"commands\\\":[\\\"ls\\\"]}\"\n"
		"start 2 shell shell\nargs 2 \"{\\\"commands\\\":[\\\"id\\\"]}\"\n"
		"end 2 \"{\\\"commands\\\":[\\\"id\\\"]}\"\n"
		"turn calls 0/0/0 0/0\n");
}

static void a_call_without_id_and_with_a_late_index_is_one_call(void **state)
{
	chatin_sample(*state, "chat-stream-quirk-missing-id-and-late-index.sse",
		"start 1 shell shell\nargs 1 \"{\\\"commands\\\":[\\\"ls\\\"]}\"\n"
		"end 1 \"{\\\"commands\\\":[\\\"ls\\\"]}\"\nturn calls 0/0/0 0/0\n");
}

static void arguments_that_are_an_object_become_text(void **state)
{
	chatin_sample(*state, "chat-stream-quirk-arguments-object.sse",
		"start 1 shell shell\nargs 1 \"{\\\"commands\\\":[\\\"ls\\\"]}\"\n"
		"end 1 \"{\\\"commands\\\":[\\\"ls\\\"]}\"\nturn calls " USAGE "\n");
}

static void the_end_need_not_be_announced(void **state)
{
	chatin_sample(*state, "chat-stream-quirk-no-done-usage-on-last-choice.sse",
		"text \"ok\"\nturn stop " USAGE "\n");
}

static void a_whole_body_instead_of_a_stream_is_taken(void **state)
{
	chatin_sample(*state, "chat-object-tool-calls.json",
		"start 1 shell shell\nargs 1 \"{\\\"commands\\\":[\\\"wc -l app.log\\\"]}\"\n"
		"end 1 \"{\\\"commands\\\":[\\\"wc -l app.log\\\"]}\"\nturn calls " USAGE "\n");
}

static void an_error_in_mid_stream_is_returned(void **state)
{
	struct chatin *f = *state;
	size_t n;
	char *text = test_read("tests/unit/golden/chat-stream-error-midstream.sse", &n);
	for (size_t cut = 0; cut <= n; cut++) {
		assert_int_equal(chatin_feed_cut(f, text, n, cut), ERR_PROVIDER_UNAVAILABLE);
		assert_string_equal(buf_str(&f->seen.seen), "text \"Work\"\n");
		assert_non_null(strstr(f->err.message, "Provider disconnected"));
	}
	free(text);
}

/* -- text and reasoning ------------------------------------------------------ */

static void think_at_the_beginning_is_reasoning(void **state)
{
	chatin_gives(*state,
		CONTENT("\\n<th") CONTENT("ink>Hm") CONTENT("m</t") CONTENT("hat") CONTENT("</thi")
			CONTENT("nk>") CONTENT("\\n\\n") CONTENT("Yes.") CONTENT("<think>")
				FINISH("stop"),
		"reasoning \"Hm\"\nreasoning \"m\"\nreasoning \"</that\"\ntext \"Yes.\"\ntext "
		"\"<think>\"\n"
		"turn stop 0/0/0 0/0\n");
}

static void what_only_looks_like_think_is_text(void **state)
{
	chatin_gives(*state, CONTENT(" <thi") CONTENT("s>") FINISH("stop"),
		"text \" <this>\"\nturn stop 0/0/0 0/0\n");
	chatin_gives(
		*state, CONTENT("<think") FINISH("stop"), "text \"<think\"\nturn stop 0/0/0 0/0\n");
	chatin_gives(*state, CONTENT("<think>never closed</") FINISH("stop"),
		"reasoning \"never closed\"\nreasoning \"</\"\nturn stop 0/0/0 0/0\n");
}

static void reasoning_under_two_names_is_said_once(void **state)
{
	chatin_gives(*state,
		DELTA("\"reasoning_content\":\"a\",\"reasoning\":\"a\"")
			DELTA("\"reasoning\":\"b\"") FINISH("stop"),
		"reasoning \"a\"\nreasoning \"b\"\nturn stop 0/0/0 0/0 raw "
		"{\"field\":\"reasoning\"}\n");
}

static void details_in_pieces_become_one_entry(void **state)
{
	chatin_gives(*state,
		DELTA("\"reasoning_details\":[{\"type\":\"reasoning.text\",\"text\":\"a\","
		      "\"index\":0}]") DELTA("\"reasoning_details\":[{\"type\":\"reasoning.text\","
					     "\"text\":\"b\",\"index\":0,"
					     "\"signature\":\"s\"}]")
			DELTA("\"reasoning_details\":[{\"type\":\"reasoning.encrypted\",\"data\":"
			      "\"zz\"},7]") FINISH("stop"),
		"reasoning \"a\"\nreasoning \"b\"\nturn stop 0/0/0 0/0 raw "
		"[{\"type\":\"reasoning.text\",\"index\":0,\"signature\":\"s\",\"text\":\"ab\"},"
		"{\"type\":\"reasoning.encrypted\",\"data\":\"zz\"}]\n");
}

static void content_in_parts_is_taken(void **state)
{
	chatin_gives(*state,
		DELTA("\"content\":[{\"type\":\"thinking\",\"thinking\":[{\"type\":\"text\","
		      "\"text\":\"hm\"}]},"
		      "{\"type\":\"text\",\"text\":\"yes\"}]") FINISH("stop"),
		"reasoning \"hm\"\ntext \"yes\"\nturn stop 0/0/0 0/0\n");
}

static void characters_cut_in_two_are_joined(void **state)
{
	chatin_gives(*state,
		DELTA("\"reasoning\":\"\\ud83d\"") DELTA("\"reasoning\":\"\\ude00!\"")
			CONTENT("a\\uD83D") CONTENT("") CONTENT("\\uDE00b \\ud83d\\ude01 \\u00e9")
				CALLS(ONE_CALL("0", "a", "{\\\"a\\\":\\\"\\ud83d"))
					CALLS("{\"index\":0,\"function\":{\"arguments\":"
					      "\"\\ude00\\\"}\"}}") FINISH("tool_calls"),
		"reasoning \"\xf0\x9f\x98\x80!\"\n"
		"text \"a\"\ntext \"\xf0\x9f\x98\x80"
		"b \xf0\x9f\x98\x81 \xc3\xa9\"\n"
		"start 1 shell shell\nargs 1 \"{\\\"a\\\":\\\"\"\n"
		"args 1 \"\xf0\x9f\x98\x80\\\"}\"\n"
		"end 1 \"{\\\"a\\\":\\\"\xf0\x9f\x98\x80\\\"}\"\nturn calls 0/0/0 0/0 raw "
		"{\"field\":\"reasoning\"}\n");
}

static void halves_without_their_other_are_replaced(void **state)
{
	chatin_gives(*state,
		CONTENT("x\\ud83dy") CONTENT("\\ude00") CONTENT("\\ud83d")
			CONTENT("\\ud83dz\\u0000\xff") CONTENT("\\ud83d") FINISH("stop"),
		"text \"x\xef\xbf\xbdy\"\ntext \"\xef\xbf\xbd\"\n"
		"text \"\xef\xbf\xbd\xef\xbf\xbdz\xef\xbf\xbd\xef\xbf\xbd\"\n"
		"turn stop 0/0/0 0/0\n");
}

static void a_refusal_is_a_refusal(void **state)
{
	chatin_gives(*state, DELTA("\"content\":null,\"refusal\":\"No.\"") FINISH("content_filter"),
		"refusal \"No.\"\nturn content_filter 0/0/0 0/0\n");
}

/* -- framing, finish, usage -------------------------------------------------- */

static void line_ends_comments_and_event_names_do_not_matter(void **state)
{
	chatin_gives(*state,
		": keepalive\r\n\r\nevent: message\r\ndata: "
		"{\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\r\n"
		"\r\n: x\rdata:{\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\r\rdata: "
		"[DONE]\r\r",
		"text \"a\"\nturn stop 0/0/0 0/0\n");
}

static void the_last_frame_needs_no_empty_line(void **state)
{
	chatin_gives(*state,
		CONTENT("a") "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}",
		"text \"a\"\nturn stop 0/0/0 0/0\n");
	chatin_gives(*state, CONTENT("a") FINISH("stop") "data: {\"choi",
		"text \"a\"\nturn stop 0/0/0 0/0\n");
}

static void what_follows_done_is_passed_over(void **state)
{
	chatin_gives(*state, CONTENT("a") DONE CONTENT("b") "data: {nonsense\n\n",
		"text \"a\"\nturn stop 0/0/0 0/0\n");
}

static void other_choices_are_passed_over(void **state)
{
	chatin_gives(*state,
		"data: "
		"{\"choices\":[{\"index\":1,\"delta\":{\"content\":\"no\"},\"finish_reason\":"
		"\"stop\"}]}\n\n"
		"data: "
		"{\"choices\":[{\"index\":1,\"delta\":{\"content\":\"no\"}},{\"index\":0,\"delta\":"
		"{\"content\":\"yes\"}}]}\n\n" FINISH("stop"),
		"text \"yes\"\nturn stop 0/0/0 0/0\n");
}

static void a_cut_stream_is_an_error(void **state)
{
	struct chatin *f = *state;
	assert_int_equal(chatin_feed(f, CONTENT("a")), ERR_PROVIDER_UNAVAILABLE);
	assert_string_equal(buf_str(&f->seen.seen), "text \"a\"\n");
	assert_int_equal(chatin_feed(f, ""), ERR_PROVIDER_UNAVAILABLE);
	assert_int_equal(chatin_feed(f, ": nothing\n\n"), ERR_PROVIDER_UNAVAILABLE);
	assert_int_equal(
		chatin_feed(f, "{\"choices\":[{\"message\":{\"con"), ERR_PROVIDER_UNAVAILABLE);
	assert_int_equal(chatin_feed(f, "<html>It works!</html>"), ERR_PROVIDER_UNAVAILABLE);
	assert_int_equal(chatin_feed(f, "{}"), ERR_PROVIDER_UNAVAILABLE);
}

static void usage_is_the_last_that_came(void **state)
{
	chatin_gives(*state,
		"data: "
		"{\"choices\":[{\"delta\":{\"content\":\"a\"}}],\"usage\":{\"prompt_tokens\":5,"
		"\"completion_tokens\":1}}\n\n" FINISH(
			"stop") "data: "
				"{\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":2,\"prompt_"
				"cache_hit_tokens\":3,"
				"\"prompt_tokens_details\":{\"cache_write_tokens\":1},"
				"\"completion_tokens_details\":{\"reasoning_tokens\":1}}}\n\n"
				"data: {\"choices\":[],\"usage\":null}\n\n" DONE,
		"text \"a\"\nturn stop 5/3/1 2/1\n");
}

static void absurd_usage_is_not_taken(void **state)
{
	chatin_gives(*state,
		FINISH("stop") "data: {\"usage\":{\"prompt_tokens\":-5,\"completion_tokens\":1e300,"
			       "\"cost\":-1,\"prompt_tokens_details\":[]}}\n\n",
		"turn stop 0/0/0 1000000000000/0\n");
}

static void the_stop_string_is_told(void **state)
{
	struct chatin *f = *state;
	static const char *const stop[] = {"END", "STOP", NULL};
	f->turn.stop = stop;
	chatin_gives(f,
		"data: "
		"{\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\",\"stop_reason\":\"STOP\"}]}"
		"\n\n",
		"turn stop_sequence 0/0/0 0/0 stop \"STOP\"\n");
	chatin_gives(f,
		"data: "
		"{\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\",\"stop_reason\":128009}]}"
		"\n\n",
		"turn stop 0/0/0 0/0\n");
}

/* -- errors ------------------------------------------------------------------ */

static void error_frames_have_many_shapes(void **state)
{
	static const struct {
		const char *frame;
		int code;
	} cases[] = {
		{"data: {\"error\":{\"code\":429,\"message\":\"slow down\"}}\n\n",
			ERR_RATE_LIMITED},
		{"data: {\"error\":{\"type\":\"overloaded_error\",\"message\":\"x\"}}\n\n",
			ERR_PROVIDER_OVERLOADED},
		{"data: {\"error\":\"boom\"}\n\n", ERR_PROVIDER_UNAVAILABLE},
		{"data: {\"object\":\"error\",\"message\":\"boom\",\"code\":400}\n\n",
			ERR_INVALID_REQUEST},
		{"event: error\ndata: {\"message\":\"boom\"}\n\n", ERR_PROVIDER_UNAVAILABLE},
		{"{\"error\":{\"message\":\"maximum context length is 10\",\"code\":400}}",
			ERR_CONTEXT_LENGTH},
		{"data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"error\"}]}\n\n",
			ERR_PROVIDER_UNAVAILABLE},
		{"data: "
		 "{\"choices\":[{\"delta\":{},\"error\":{\"code\":503,\"message\":\"x\"}}]}\n\n",
			ERR_PROVIDER_OVERLOADED},
		{"data: {\"choices\":[\n\n", ERR_PROVIDER_UNAVAILABLE},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_int_equal(chatin_feed(*state, cases[i].frame), cases[i].code);
		assert_string_equal(buf_str(&((struct chatin *)*state)->seen.seen), "");
	}
}

static void an_error_that_is_null_is_none(void **state)
{
	chatin_gives(*state,
		"data: "
		"{\"error\":null,\"choices\":[{\"delta\":{\"content\":\"a\"},\"error\":null}]}"
		"\n\n" FINISH("stop"),
		"text \"a\"\nturn stop 0/0/0 0/0\n");
}

static void a_failed_stream_stays_failed(void **state)
{
	struct chatin *f = *state;
	struct chat_in *c = chat_in_new(f->arena, &f->turn, &f->seen.sink);
	const char bad[] = "data: {\"error\":\"boom\"}\n\n", good[] = CONTENT("a") FINISH("stop");
	assert_int_equal(chat_in_feed(c, bad, strlen(bad), &f->err), ERR_PROVIDER_UNAVAILABLE);
	assert_int_equal(chat_in_feed(c, good, strlen(good), &f->err), ERR_PROVIDER_UNAVAILABLE);
	assert_int_equal(chat_in_end(c, &f->err), ERR_PROVIDER_UNAVAILABLE);
	assert_string_equal(buf_str(&f->seen.seen), "");
}

static void what_the_sink_says_is_returned(void **state)
{
	struct chatin *f = *state;
	const char text[] = CONTENT("a") CALLS(ONE_CALL("0", "a", SHELL(""))) FINISH("tool_calls");
	for (int at = 1; at <= 5; at++) {
		struct arena *a = arena_new();
		events_reset(&f->seen);
		f->seen.fail_at = at;
		struct chat_in *c = chat_in_new(a, &f->turn, &f->seen.sink);
		int rc = chat_in_feed(c, text, strlen(text), &f->err);
		if (rc == 0)
			rc = chat_in_end(c, &f->err);
		assert_int_equal(rc, ERR_CLIENT_GONE);
		assert_int_equal(f->seen.n, at);
		arena_free(a);
	}
}

static void a_huge_frame_is_refused(void **state)
{
	struct chatin *f = *state;
	char *block = malloc(1 << 20);
	memset(block, 'x', 1 << 20);
	struct chat_in *c = chat_in_new(f->arena, &f->turn, &f->seen.sink);
	int rc = chat_in_feed(c, "data: ", 6, &f->err);
	int fed = 0;
	for (; rc == 0 && fed < 100; fed++)
		rc = chat_in_feed(c, block, 1 << 20, &f->err);
	assert_int_equal(rc, ERR_PROVIDER_UNAVAILABLE);
	assert_true(fed <= 9);
	free(block);
}

static void an_endless_answer_is_refused(void **state)
{
	struct chatin *f = *state;
	struct buf b;
	buf_init(&b, 4 << 20);
	buf_puts(&b, "data: {\"choices\":[{\"delta\":{\"reasoning\":\"");
	for (int i = 0; i < 1 << 20; i++)
		buf_putc(&b, 'x');
	buf_puts(&b, "\"}}]}\n\n");
	struct chat_in *c = chat_in_new(f->arena, &f->turn, &f->seen.sink);
	int rc = 0, fed = 0;
	for (; rc == 0 && fed < 100; fed++)
		rc = chat_in_feed(c, b.data, b.len, &f->err);
	assert_int_equal(rc, ERR_PROVIDER_UNAVAILABLE);
	assert_int_equal(fed, 33);
	buf_free(&b);
}

int main(void)
{
#define T(fn) cmocka_unit_test_setup_teardown(fn, chatin_setup, chatin_teardown)
	const struct CMUnitTest tests[] = {
		T(text_comes_in_pieces),
		T(parallel_calls_come_one_after_the_other),
		T(reasoning_content_is_reasoning),
		T(reasoning_details_are_kept_whole),
		T(calls_that_all_have_index_0_are_told_apart),
		T(a_call_without_id_and_with_a_late_index_is_one_call),
		T(arguments_that_are_an_object_become_text),
		T(the_end_need_not_be_announced),
		T(a_whole_body_instead_of_a_stream_is_taken),
		T(an_error_in_mid_stream_is_returned),
		T(think_at_the_beginning_is_reasoning),
		T(what_only_looks_like_think_is_text),
		T(reasoning_under_two_names_is_said_once),
		T(details_in_pieces_become_one_entry),
		T(content_in_parts_is_taken),
		T(characters_cut_in_two_are_joined),
		T(halves_without_their_other_are_replaced),
		T(a_refusal_is_a_refusal),
		T(line_ends_comments_and_event_names_do_not_matter),
		T(the_last_frame_needs_no_empty_line),
		T(what_follows_done_is_passed_over),
		T(other_choices_are_passed_over),
		T(a_cut_stream_is_an_error),
		T(usage_is_the_last_that_came),
		T(absurd_usage_is_not_taken),
		T(the_stop_string_is_told),
		T(error_frames_have_many_shapes),
		T(an_error_that_is_null_is_none),
		T(a_failed_stream_stays_failed),
		T(what_the_sink_says_is_returned),
		T(a_huge_frame_is_refused),
		T(an_endless_answer_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
