/* Tests of app/agent/collect: what is kept of a turn and what is passed on. SPDX-License-Identifier: ISC */
#include "tests/lib/test.h"

#include <stdlib.h>
#include <string.h>

#include "app/agent/collect.h"

struct fixture {
	struct arena *arena;
	struct tool tools[2];
	struct turn turn;
	struct sink sink;
	struct collect *c;
	int counts[EVENT__MAX];
	struct call last; /* of the newest call event */
	enum finish finish;
	int says; /* what the sink returns */
};

static int on_event(void *ctx, const struct event *ev)
{
	struct fixture *f = ctx;

	f->counts[ev->type]++;
	if (ev->call)
		f->last = *ev->call;
	f->finish = ev->finish;
	return f->says;
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	if (!f)
		return -1;
	f->arena = arena_new();
	f->tools[0] = (struct tool){.kind = TOOL_SHELL, .name = "shell", .next = &f->tools[1]};
	f->tools[1] = (struct tool){.kind = TOOL_CLIENT, .name = "weather"};
	f->turn = (struct turn){.tools = f->tools, .parallel_tool_calls = -1};
	f->sink = (struct sink){on_event, f};
	f->c = collect_new(f->arena, &f->sink);
	collect_begin(f->c, &f->turn);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	arena_free(f->arena);
	free(f);
	return 0;
}

static int say(struct fixture *f, enum event_type type, const char *text)
{
	return collect_emit(f->c, &(struct event){.type = type, .text = text, .len = strlen(text)});
}

static void call(struct fixture *f, struct call *k, bool whole)
{
	assert_int_equal(
		collect_emit(f->c, &(struct event){.type = EVENT_CALL_START, .call = k}), 0);
	assert_int_equal(
		collect_emit(f->c,
			&(struct event){.type = EVENT_CALL_ARGS, .call = k, .text = "{", .len = 1}),
		0);
	if (whole)
		assert_int_equal(
			collect_emit(f->c, &(struct event){.type = EVENT_CALL_END, .call = k}), 0);
}

static int end(struct fixture *f, enum finish finish)
{
	return collect_emit(f->c,
		&(struct event){.type = EVENT_TURN_END, .finish = finish, .usage = {.output = 3}});
}

static void pieces_are_passed_on_and_joined(void **state)
{
	struct fixture *f = *state;
	struct items items = {0};

	say(f, EVENT_REASONING, "hm");
	say(f, EVENT_TEXT, "hel");
	say(f, EVENT_TEXT, "lo");
	say(f, EVENT_REFUSAL, "no");
	assert_int_equal(end(f, FINISH_STOP), 0);
	assert_int_equal(f->counts[EVENT_TEXT], 2);
	assert_int_equal(collect_usage(f->c)->output, 3);
	collect_append(f->c, &items);
	assert_int_equal(items.first->kind, ITEM_REASONING);
	assert_string_equal(items.first->reasoning, "hm");
	assert_string_equal(items.first->next->parts->text, "hello");
	assert_int_equal(items.first->next->parts->next->kind, PART_REFUSAL);
	assert_null(items.first->next->next);
}

static void a_turn_begins_empty(void **state)
{
	struct fixture *f = *state;
	struct items items = {0};

	say(f, EVENT_TEXT, "old");
	call(f, &(struct call){.id = "a", .name = "shell", .arguments = "{}"}, true);
	end(f, FINISH_CALLS);
	collect_begin(f->c, &f->turn);
	end(f, FINISH_STOP);
	collect_append(f->c, &items);
	assert_null(items.first);
	assert_null(collect_calls(f->c));
}

static void kinds_are_set_by_name(void **state)
{
	struct fixture *f = *state;

	call(f, &(struct call){.id = "a", .name = "shell", .arguments = "{}"}, true);
	assert_int_equal(f->last.tool, TOOL_SHELL);
	call(f, &(struct call){.tool = TOOL_SHELL, .id = "b", .name = "weather", .arguments = "{}"},
		true);
	assert_int_equal(f->last.tool, TOOL_CLIENT);
	call(f, &(struct call){.tool = TOOL_SHELL, .id = "c", .name = "bash", .arguments = "{}"},
		true);
	assert_int_equal(f->last.tool, TOOL_CLIENT);
}

static void an_id_is_kept_unless_it_was_seen(void **state)
{
	struct fixture *f = *state;
	struct call one = {.id = "call_0", .name = "shell", .arguments = "{}"};
	struct call two = one, three = one, none = {.name = "shell", .arguments = "{}"};

	call(f, &one, true);
	assert_string_equal(f->last.id, "call_0");
	call(f, &two, true);
	assert_string_not_equal(f->last.id, "call_0");
	end(f, FINISH_CALLS);
	collect_begin(f->c, &f->turn);
	call(f, &three, true);
	assert_string_not_equal(f->last.id, "call_0");
	call(f, &none, true);
	assert_int_equal(strlen(f->last.id), 29);
}

static void no_arguments_are_an_empty_object(void **state)
{
	struct fixture *f = *state;

	call(f, &(struct call){.id = "a", .name = "shell", .arguments = ""}, true);
	assert_string_equal(f->last.arguments, "{}");
	call(f, &(struct call){.id = "b", .name = "shell"}, true);
	assert_string_equal(f->last.arguments, "{}");
}

static void with_choice_none_calls_are_dropped(void **state)
{
	struct fixture *f = *state;

	f->turn.choice = CHOICE_NONE;
	call(f, &(struct call){.id = "a", .name = "shell", .arguments = "{}"}, true);
	end(f, FINISH_CALLS);
	assert_int_equal(f->counts[EVENT_CALL_START] + f->counts[EVENT_CALL_ARGS] +
			f->counts[EVENT_CALL_END],
		0);
	assert_int_equal(f->finish, FINISH_STOP);
	assert_int_equal(collect_finish(f->c), FINISH_STOP);
}

static void without_parallel_calls_the_first_stays(void **state)
{
	struct fixture *f = *state;

	f->turn.parallel_tool_calls = 0;
	call(f, &(struct call){.id = "a", .name = "weather", .arguments = "{}"}, true);
	call(f, &(struct call){.id = "b", .name = "shell", .arguments = "{}"}, true);
	assert_int_equal(f->counts[EVENT_CALL_END], 1);
	assert_string_equal(collect_calls(f->c)->call.id, "a");
	assert_null(collect_calls(f->c)->next);
}

static void a_turn_has_a_highest_number_of_calls(void **state)
{
	struct fixture *f = *state;
	struct call *k = calloc(COLLECT_CALLS_MAX + 1, sizeof(*k));

	assert_non_null(k);
	for (int i = 0; i <= COLLECT_CALLS_MAX; i++) {
		k[i] = (struct call){.name = "shell", .arguments = "{}"};
		call(f, &k[i], true);
	}
	assert_int_equal(f->counts[EVENT_CALL_START], COLLECT_CALLS_MAX);
	free(k);
}

static void stop_beside_calls_means_calls(void **state)
{
	struct fixture *f = *state;

	call(f, &(struct call){.id = "a", .name = "shell", .arguments = "{}"}, true);
	end(f, FINISH_STOP);
	assert_int_equal(f->finish, FINISH_CALLS);
}

static void calls_without_any_mean_stop(void **state)
{
	struct fixture *f = *state;

	end(f, FINISH_CALLS);
	assert_int_equal(f->finish, FINISH_STOP);
}

static void half_a_call_is_not_kept(void **state)
{
	struct fixture *f = *state;
	struct items items = {0};

	call(f, &(struct call){.id = "a", .name = "shell", .arguments = "{}"}, false);
	end(f, FINISH_LENGTH);
	assert_int_equal(f->finish, FINISH_LENGTH);
	collect_append(f->c, &items);
	assert_null(items.first);
}

static void raw_reasoning_goes_back_alone_too(void **state)
{
	struct fixture *f = *state;
	struct items items = {0};

	collect_emit(f->c, &(struct event){.type = EVENT_TURN_END, .text = "[1]", .len = 3});
	collect_append(f->c, &items);
	assert_int_equal(items.first->kind, ITEM_REASONING);
	assert_string_equal(items.first->raw, "[1]");
}

static void a_sink_that_fails_hears_no_more(void **state)
{
	struct fixture *f = *state;

	assert_false(collect_emitted(f->c));
	f->says = ERR_CLIENT_GONE;
	assert_int_equal(say(f, EVENT_TEXT, "a"), ERR_CLIENT_GONE);
	assert_true(collect_emitted(f->c));
	assert_int_equal(collect_broken(f->c), ERR_CLIENT_GONE);
	f->says = 0;
	assert_int_equal(say(f, EVENT_TEXT, "b"), ERR_CLIENT_GONE);
	assert_int_equal(f->counts[EVENT_TEXT], 1);
}

static void an_endless_text_is_refused(void **state)
{
	struct fixture *f = *state;
	const size_t n = (size_t)1 << 20;
	char *piece = calloc(1, n + 1);
	int rc = 0;

	assert_non_null(piece);
	memset(piece, 'x', n);
	for (int i = 0; i < 40 && rc == 0; i++)
		rc = say(f, EVENT_TEXT, piece);
	assert_int_equal(rc, ERR_PROVIDER_UNAVAILABLE);
	assert_int_equal(collect_broken(f->c), 0);
	free(piece);
}

static void an_upstream_cannot_speak_for_the_loop(void **state)
{
	struct fixture *f = *state;
	static const enum event_type types[] = {
		EVENT_RUNNING, EVENT_RESULT, EVENT_DONE, EVENT_FAILED};

	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(collect_emit(f->c, &(struct event){.type = types[i]}), ERR_SERVER);
		assert_int_equal(f->counts[types[i]], 0);
	}
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(pieces_are_passed_on_and_joined),
		TEST(a_turn_begins_empty),
		TEST(kinds_are_set_by_name),
		TEST(an_id_is_kept_unless_it_was_seen),
		TEST(no_arguments_are_an_empty_object),
		TEST(with_choice_none_calls_are_dropped),
		TEST(without_parallel_calls_the_first_stays),
		TEST(a_turn_has_a_highest_number_of_calls),
		TEST(stop_beside_calls_means_calls),
		TEST(calls_without_any_mean_stop),
		TEST(half_a_call_is_not_kept),
		TEST(raw_reasoning_goes_back_alone_too),
		TEST(a_sink_that_fails_hears_no_more),
		TEST(an_endless_text_is_refused),
		TEST(an_upstream_cannot_speak_for_the_loop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
