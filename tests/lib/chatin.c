/* chatin: what the tests of chat_in share. SPDX-License-Identifier: ISC */
#include "tests/lib/chatin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/base/arena.h"
#include "sandbox/sys/log.h"
#include "tests/lib/test.h"

int chatin_setup(void **state)
{
	struct chatin *f = calloc(1, sizeof(*f));
	log_open("test", LOG_ERROR);
	f->arena = arena_new();
	events_turn(&f->turn, f->arena);
	events_offer(&f->turn, TOOL_SHELL, "shell");
	events_offer(&f->turn, TOOL_CLIENT, "open_ticket");
	events_offer(&f->turn, TOOL_CLIENT, "now");
	events_init(&f->seen);
	*state = f;
	return 0;
}

int chatin_teardown(void **state)
{
	struct chatin *f = *state;
	events_free(&f->seen);
	arena_free(f->arena);
	free(f);
	return 0;
}

/* Feeds text in two pieces that meet at cut. */
int chatin_feed_cut(struct chatin *f, const char *text, size_t n, size_t cut)
{
	struct arena *a = arena_new();
	events_reset(&f->seen);
	f->err = (struct err){0};
	struct chat_in *c = chat_in_new(a, &f->turn, &f->seen.sink);
	int rc = chat_in_feed(c, text, cut, &f->err);
	if (rc == 0)
		rc = chat_in_feed(c, text + cut, n - cut, &f->err);
	if (rc == 0)
		rc = chat_in_end(c, &f->err);
	arena_free(a);
	assert_false(f->seen.overlap);
	return rc;
}

int chatin_feed(struct chatin *f, const char *text)
{
	return chatin_feed_cut(f, text, strlen(text), strlen(text));
}

static int feed_bytes(struct chatin *f, const char *text, size_t n)
{
	struct arena *a = arena_new();
	int rc = 0;
	events_reset(&f->seen);
	struct chat_in *c = chat_in_new(a, &f->turn, &f->seen.sink);
	for (size_t i = 0; rc == 0 && i < n; i++)
		rc = chat_in_feed(c, text + i, 1, &f->err);
	if (rc == 0)
		rc = chat_in_end(c, &f->err);
	arena_free(a);
	return rc;
}

/* The events of text, however it is cut. */
void chatin_gives(struct chatin *f, const char *text, const char *expected)
{
	const size_t n = strlen(text);
	assert_int_equal(chatin_feed(f, text), 0);
	assert_string_equal(buf_str(&f->seen.seen), expected);
	for (size_t cut = 0; cut <= n; cut++) {
		assert_int_equal(chatin_feed_cut(f, text, n, cut), 0);
		assert_string_equal(buf_str(&f->seen.seen), expected);
	}
	assert_int_equal(feed_bytes(f, text, n), 0);
	assert_string_equal(buf_str(&f->seen.seen), expected);
}

void chatin_sample(struct chatin *f, const char *name, const char *expected)
{
	char path[256];
	size_t n;
	snprintf(path, sizeof(path), "tests/unit/golden/%s", name);
	char *text = test_read(path, &n);
	chatin_gives(f, text, expected);
	free(text);
}
