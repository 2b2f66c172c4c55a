/* What holds for any stream, broken ones too: chat_in. SPDX-License-Identifier: ISC */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/base/arena.h"
#include "tests/lib/chatin.h"
#include "tests/lib/test.h"

#define ROUNDS 400 /* a sample */

static const char *const samples[] = {
	"chat-object-tool-calls.json",
	"chat-stream-error-midstream.sse",
	"chat-stream-parallel-tools.sse",
	"chat-stream-quirk-arguments-object.sse",
	"chat-stream-quirk-index-always-0.sse",
	"chat-stream-quirk-missing-id-and-late-index.sse",
	"chat-stream-quirk-no-done-usage-on-last-choice.sse",
	"chat-stream-reasoning-openrouter.sse",
	"chat-stream-reasoning.sse",
	"chat-stream-text.sse",
};

/* The same numbers in every run (xorshift). */
static size_t chance(uint64_t *seed, size_t below)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return (size_t)(*seed % below);
}

/* One to four small damages; text has room for them. */
static size_t damage(char *text, size_t n, uint64_t *seed)
{
	static const char bytes[] = "{}[]\":,\\\n\r 0n\xff";
	for (size_t i = chance(seed, 4) + 1; i > 0 && n > 64; i--) {
		const size_t at = chance(seed, n - 32);
		const size_t len = chance(seed, 24) + 1;
		switch (chance(seed, 4)) {
		case 0:
			text[at] = bytes[chance(seed, sizeof(bytes) - 1)];
			break;
		case 1:
			memmove(text + at, text + at + len, n - at - len);
			n -= len;
			break;
		case 2:
			memmove(text + at + len, text + at, n - at);
			n += len;
			break;
		default:
			n = at + 32;
			break;
		}
	}
	return n;
}

/* Result and events, in words that do not change with the cuts. */
static char *outcome(struct chatin *f, int rc)
{
	char *s = malloc(f->seen.seen.len + 64);
	snprintf(s, f->seen.seen.len + 64, "%d %s", rc, buf_str(&f->seen.seen));
	return s;
}

static void damaged_streams_give_the_same_however_cut(void **state)
{
	struct chatin *f = *state;
	uint64_t seed = 88172645463325252u;
	for (size_t i = 0; i < sizeof(samples) / sizeof(*samples); i++) {
		char path[128];
		size_t n;
		snprintf(path, sizeof(path), "tests/unit/golden/%s", samples[i]);
		char *text = test_read(path, &n);
		char *copy = malloc(n + 256);
		for (int round = 0; round < ROUNDS; round++) {
			memcpy(copy, text, n);
			const size_t len = damage(copy, n, &seed);
			char *whole = outcome(f, chatin_feed_cut(f, copy, len, len));
			char *cut =
				outcome(f, chatin_feed_cut(f, copy, len, chance(&seed, len + 1)));
			assert_string_equal(whole, cut);
			free(whole);
			free(cut);
		}
		free(copy);
		free(text);
	}
}

/* A call's arguments, cut into pieces in every way in two, are whole at the end. */
static void arguments_are_whole_however_the_model_cut_them(void **state)
{
	struct chatin *f = *state;
	static const char args[] =
		"{\"commands\":[\"echo \\\"{}[]\\\\\\\"\",\"\\u20ac\"],\"n\":{}}";
	struct buf b;
	buf_init(&b, 1 << 16);
	for (size_t cut = 0; cut < sizeof(args); cut++) {
		buf_reset(&b);
		for (int half = 0; half < 2; half++) {
			const char *s = half == 0 ? args : args + cut;
			buf_printf(&b,
				"data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,"
				"\"function\":{%s\"arguments\":",
				half == 0 ? "\"name\":\"shell\"," : "");
			buf_put_json(&b, s, half == 0 ? cut : sizeof(args) - 1 - cut);
			buf_puts(&b, "}}]}}]}\n\n");
		}
		buf_puts(&b, FINISH("tool_calls"));
		assert_int_equal(chatin_feed(f, b.data), 0);
		assert_int_equal(f->seen.ncalls, 1);
		assert_string_equal(f->seen.calls[0]->arguments, args);
	}
	buf_free(&b);
}

/* Arguments that end anywhere are repaired to JSON, or left as they came; never anything else. */
static void arguments_that_end_anywhere_are_only_added_to(void **state)
{
	struct chatin *f = *state;
	static const char args[] = "{\"a\":[{\"b\":\"c\\\\\\\"\"},[1,true]],\"d\":null}";
	struct buf b;
	buf_init(&b, 1 << 16);
	for (size_t n = 2; n < sizeof(args); n++) {
		buf_reset(&b);
		buf_puts(&b,
			"data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,"
			"\"function\":{\"name\":\"shell\",\"arguments\":");
		buf_put_json(&b, args, n);
		buf_puts(&b, "}}]}}]}\n\n" FINISH("tool_calls"));
		assert_int_equal(chatin_feed(f, b.data), 0);
		assert_int_equal(f->seen.ncalls, 1);
		assert_memory_equal(f->seen.calls[0]->arguments, args, n);
	}
	buf_free(&b);
}

int main(void)
{
#define T(fn) cmocka_unit_test_setup_teardown(fn, chatin_setup, chatin_teardown)
	const struct CMUnitTest tests[] = {
		T(damaged_streams_give_the_same_however_cut),
		T(arguments_are_whole_however_the_model_cut_them),
		T(arguments_that_end_anywhere_are_only_added_to),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
