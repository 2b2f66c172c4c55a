/* Tool calls in providers' streams: chat_in. SPDX-License-Identifier: ISC */
#include <stdlib.h>
#include <string.h>

#include "app/base/arena.h"
#include "tests/lib/chatin.h"
#include "tests/lib/test.h"

/* -- calls ------------------------------------------------------------------- */

static void arguments_of_calls_may_alternate(void **state)
{
	chatin_gives(*state,
		CALLS(ONE_CALL("0", "a", "{\\\"commands\\\":")) CALLS(
			ONE_CALL("1", "b", "{\\\"commands\\\":"))
			CALLS("{\"index\":0,\"function\":{\"arguments\":\"[\\\"ls\\\"]}\"}}") CALLS(
				"{\"index\":1,\"function\":{\"arguments\":\"[\\\"id\\\"]}\"}}")
				FINISH("tool_calls"),
		"start 1 shell shell\nargs 1 \"{\\\"commands\\\":\"\nargs 1 \"[\\\"ls\\\"]}\"\n"
		"end 1 \"{\\\"commands\\\":[\\\"ls\\\"]}\"\n"
		"start 2 shell shell\nargs 2 \"{\\\"commands\\\":\"\nargs 2 \"[\\\"id\\\"]}\"\n"
		"end 2 \"{\\\"commands\\\":[\\\"id\\\"]}\"\nturn calls 0/0/0 0/0\n");
}

static void calls_without_any_index_are_told_apart(void **state)
{
	chatin_gives(*state,
		CALLS("{\"function\":{\"name\":\"now\",\"arguments\":{}}},"
		      "{\"function\":{\"name\":\"shell\",\"arguments\":{\"commands\":[\"ls\"]}}}")
			CALLS("{\"function\":{\"name\":\"shell\",\"arguments\":{\"commands\":["
			      "\"id\"]}}}") FINISH("stop"),
		"start 1 client now\nargs 1 \"{}\"\nend 1 \"{}\"\n"
		"start 2 shell shell\nargs 2 \"{\\\"commands\\\":[\\\"ls\\\"]}\"\n"
		"end 2 \"{\\\"commands\\\":[\\\"ls\\\"]}\"\n"
		"start 3 shell shell\nargs 3 \"{\\\"commands\\\":[\\\"id\\\"]}\"\n"
		"end 3 \"{\\\"commands\\\":[\\\"id\\\"]}\"\nturn calls 0/0/0 0/0\n");
}

static void two_calls_with_index_0_and_no_ids_are_told_apart(void **state)
{
	chatin_gives(*state,
		CALLS(ONE_CALL("0", "", SHELL("\\\"ls\\\"")))
			CALLS(ONE_CALL("0", "", SHELL("\\\"id\\\""))) FINISH("stop"),
		"start 1 shell shell\nargs 1 \"{\\\"commands\\\":[\\\"ls\\\"]}\"\n"
		"end 1 \"{\\\"commands\\\":[\\\"ls\\\"]}\"\n"
		"start 2 shell shell\nargs 2 \"{\\\"commands\\\":[\\\"id\\\"]}\"\n"
		"end 2 \"{\\\"commands\\\":[\\\"id\\\"]}\"\nturn calls 0/0/0 0/0\n");
}

static void calls_without_arguments_are_told_apart_by_name(void **state)
{
	chatin_gives(*state,
		CALLS("{\"function\":{\"name\":\"now\",\"arguments\":\"\"}}")
			CALLS("{\"function\":{\"name\":\"open_ticket\",\"arguments\":\"\"}}")
				FINISH("tool_calls"),
		"start 1 client now\nargs 1 \"{}\"\nend 1 \"{}\"\n"
		"start 2 client open_ticket\nargs 2 \"{}\"\nend 2 \"{}\"\nturn calls 0/0/0 0/0\n");
}

static void a_repeated_name_is_not_doubled(void **state)
{
	chatin_gives(*state,
		CALLS(ONE_CALL("0", "a", "{\\\"commands\\\":"))
			CALLS(ONE_CALL("0", "a", "[\\\"ls\\\"]}")) CALLS(ONE_CALL("0", "a", ""))
				FINISH("tool_calls"),
		"start 1 shell shell\nargs 1 \"{\\\"commands\\\":\"\nargs 1 \"[\\\"ls\\\"]}\"\n"
		"end 1 \"{\\\"commands\\\":[\\\"ls\\\"]}\"\nturn calls 0/0/0 0/0\n");
}

static void a_name_in_fragments_is_joined(void **state)
{
	chatin_gives(*state,
		CALLS("{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"open_\"}}")
			CALLS("{\"index\":0,\"function\":{\"name\":\"ticket\"}}") CALLS(
				"{\"index\":0,\"function\":{\"arguments\":\"{\\\"title\\\":1}\"}}")
				FINISH("tool_calls"),
		"start 1 client open_ticket\nargs 1 \"{\\\"title\\\":1}\"\n"
		"end 1 \"{\\\"title\\\":1}\"\nturn calls 0/0/0 0/0\n");
}

static void an_empty_object_before_the_arguments_is_forgotten(void **state)
{
	chatin_gives(*state,
		CALLS(ONE_CALL("0", "a", "{}"))
			CALLS("{\"index\":0,\"function\":{\"arguments\":\"{\\\"commands\\\":\"}}")
				CALLS("{\"index\":0,\"function\":{\"arguments\":\"[]}\"}}")
					FINISH("tool_calls"),
		"start 1 shell shell\nargs 1 \"{\\\"commands\\\":\"\nargs 1 \"[]}\"\n"
		"end 1 \"{\\\"commands\\\":[]}\"\nturn calls 0/0/0 0/0\n");
}

static void what_follows_the_arguments_is_dropped(void **state)
{
	chatin_gives(*state,
		CALLS(ONE_CALL("0", "a", SHELL("") "\\n{\\\"commands\\\":[]}"))
			FINISH("tool_calls"),
		"start 1 shell shell\nargs 1 \"{\\\"commands\\\":[]}\"\n"
		"end 1 \"{\\\"commands\\\":[]}\"\nturn calls 0/0/0 0/0\n");
}

static void arguments_encoded_twice_are_unwrapped(void **state)
{
	chatin_gives(*state,
		CALLS(ONE_CALL("0", "a", "\\\"{\\\\\\\"commands\\\\\\\":[]}\\\""))
			FINISH("tool_calls"),
		"start 1 shell shell\nargs 1 \"{\\\"commands\\\":[]}\"\n"
		"end 1 \"{\\\"commands\\\":[]}\"\nturn calls 0/0/0 0/0\n");
}

static void arguments_that_are_null_are_an_empty_object(void **state)
{
	chatin_gives(*state,
		CALLS("{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"now\",\"arguments\":null}"
		      "}") CALLS("{\"index\":1,\"id\":\"b\",\"function\":{\"name\":\"now\","
				 "\"arguments\":\"null\"}}") FINISH("tool_calls"),
		"start 1 client now\nargs 1 \"{}\"\nend 1 \"{}\"\n"
		"start 2 client now\nargs 2 \"{}\"\nend 2 \"{}\"\nturn calls 0/0/0 0/0\n");
}

static void unterminated_arguments_are_repaired(void **state)
{
	chatin_gives(*state,
		CALLS(ONE_CALL("0", "a", "{\\\"commands\\\":[\\\"ls")) FINISH("tool_calls"),
		"start 1 shell shell\nargs 1 \"{\\\"commands\\\":[\\\"ls\"\nargs 1 \"\\\"]}\"\n"
		"end 1 \"{\\\"commands\\\":[\\\"ls\\\"]}\"\nturn calls 0/0/0 0/0\n");
}

static void arguments_beyond_repair_are_left_to_the_tool(void **state)
{
	chatin_gives(*state, CALLS(ONE_CALL("0", "a", "{\\\"commands\\\"")) FINISH("tool_calls"),
		"start 1 shell shell\nargs 1 \"{\\\"commands\\\"\"\n"
		"end 1 \"{\\\"commands\\\"\"\nturn calls 0/0/0 0/0\n");
	chatin_gives(*state, CALLS(ONE_CALL("0", "a", "ls -l ")) FINISH("tool_calls"),
		"start 1 shell shell\nargs 1 \"ls -l\"\nend 1 \"ls -l\"\nturn calls 0/0/0 0/0\n");
	chatin_gives(*state, CALLS(ONE_CALL("0", "a", "{\\\"a\\\":]  ")) FINISH("tool_calls"),
		"start 1 shell shell\nargs 1 \"{\\\"a\\\":]  \"\n"
		"end 1 \"{\\\"a\\\":]  \"\nturn calls 0/0/0 0/0\n");
}

static void a_call_cut_by_the_length_has_no_end(void **state)
{
	chatin_gives(*state,
		CALLS(ONE_CALL("0", "a", SHELL("")))
			CALLS(ONE_CALL("1", "b", "{\\\"commands\\\":[\\\"rm")) FINISH("length"),
		"start 1 shell shell\nargs 1 \"{\\\"commands\\\":[]}\"\nend 1 "
		"\"{\\\"commands\\\":[]}\"\n"
		"start 2 shell shell\nargs 2 \"{\\\"commands\\\":[\\\"rm\"\nturn length 0/0/0 "
		"0/0\n");
	chatin_gives(
		*state, CALLS(ONE_CALL("0", "a", "")) FINISH("length"), "turn length 0/0/0 0/0\n");
}

static void tool_calls_without_any_call_is_stop(void **state)
{
	chatin_gives(
		*state, CONTENT("hi") FINISH("tool_calls"), "text \"hi\"\nturn stop 0/0/0 0/0\n");
}

static void the_old_function_call_is_a_call(void **state)
{
	chatin_gives(*state,
		DELTA("\"function_call\":{\"name\":\"now\",\"arguments\":\"\"}")
			DELTA("\"function_call\":{\"arguments\":\"{\\\"a\\\":1}\"}")
				FINISH("function_call"),
		"start 1 client now\nargs 1 \"{\\\"a\\\":1}\"\nend 1 \"{\\\"a\\\":1}\"\n"
		"turn calls 0/0/0 0/0\n");
}

static void text_after_a_call_waits_for_its_end(void **state)
{
	chatin_gives(*state,
		CONTENT("first") CALLS(ONE_CALL("0", "a", "{\\\"commands\\\":")) CONTENT("then")
			CALLS("{\"index\":0,\"function\":{\"arguments\":\"[]}\"}}")
				FINISH("tool_calls"),
		"text \"first\"\nstart 1 shell shell\nargs 1 \"{\\\"commands\\\":\"\nargs 1 "
		"\"[]}\"\n"
		"end 1 \"{\\\"commands\\\":[]}\"\ntext \"then\"\nturn calls 0/0/0 0/0\n");
}

static void blank_text_between_calls_is_dropped(void **state)
{
	chatin_gives(*state,
		CALLS(ONE_CALL("0", "a", SHELL(""))) CONTENT("\\n\\n")
			CALLS(ONE_CALL("1", "b", SHELL(""))) FINISH("tool_calls"),
		"start 1 shell shell\nargs 1 \"{\\\"commands\\\":[]}\"\nend 1 "
		"\"{\\\"commands\\\":[]}\"\n"
		"start 2 shell shell\nargs 2 \"{\\\"commands\\\":[]}\"\nend 2 "
		"\"{\\\"commands\\\":[]}\"\n"
		"turn calls 0/0/0 0/0\n");
}

static void a_call_without_a_name_is_left_out(void **state)
{
	chatin_gives(*state,
		CALLS("{\"index\":0,\"id\":\"a\",\"function\":{\"arguments\":\"{}\"}}")
			FINISH("stop"),
		"turn stop 0/0/0 0/0\n");
}

static void a_decorated_name_is_found(void **state)
{
	chatin_gives(*state,
		CALLS("{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"functions.shell\","
		      "\"arguments\":"
		      "\"{\\\"commands\\\":[]}\"}}") FINISH("tool_calls"),
		"start 1 shell shell\nargs 1 \"{\\\"commands\\\":[]}\"\n"
		"end 1 \"{\\\"commands\\\":[]}\"\nturn calls 0/0/0 0/0\n");
}

static void a_call_of_no_tool_of_ours_is_the_clients(void **state)
{
	chatin_gives(*state,
		CALLS("{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"bash\",\"arguments\":\"{}"
		      "\"}}") FINISH("tool_calls"),
		"start 1 client bash\nargs 1 \"{}\"\nend 1 \"{}\"\nturn calls 0/0/0 0/0\n");
}

static void the_clients_own_shell_is_not_ours(void **state)
{
	struct chatin *f = *state;
	events_offer(&f->turn, TOOL_CLIENT, "shell");
	chatin_gives(f,
		CALLS(ONE_CALL("0", "a", SHELL("")))
			CALLS("{\"index\":1,\"id\":\"b\",\"function\":{\"name\":\"sandbox_shell\","
			      "\"arguments\":"
			      "\"{\\\"commands\\\":[]}\"}}") FINISH("tool_calls"),
		"start 1 client shell\nargs 1 \"{\\\"commands\\\":[]}\"\nend 1 "
		"\"{\\\"commands\\\":[]}\"\n"
		"start 2 shell shell\nargs 2 \"{\\\"commands\\\":[]}\"\nend 2 "
		"\"{\\\"commands\\\":[]}\"\n"
		"turn calls 0/0/0 0/0\n");
}

static void calls_that_nobody_asked_for_are_dropped(void **state)
{
	struct chatin *f = *state;
	f->turn.choice = CHOICE_NONE;
	chatin_gives(f,
		CONTENT("x") CALLS(ONE_CALL("0", "a", SHELL(""))) CONTENT("y") FINISH("tool_calls"),
		"text \"x\"\ntext \"y\"\nturn stop 0/0/0 0/0\n");
	f->turn.choice = CHOICE_AUTO;
	f->turn.tools = NULL;
	chatin_gives(f, CALLS(ONE_CALL("0", "a", SHELL(""))) FINISH("tool_calls"),
		"turn stop 0/0/0 0/0\n");
}

static void too_many_calls_are_an_error(void **state)
{
	struct chatin *f = *state;
	struct buf b;
	buf_init(&b, 1 << 20);
	for (int i = 0; i < CHAT_CALLS_MAX + 1; i++)
		buf_printf(&b,
			CALLS("{\"index\":%d,\"function\":{\"name\":\"now\",\"arguments\":\"{}\"}"
			      "}"),
			i);
	assert_int_equal(chatin_feed(f, b.data), ERR_PROVIDER_UNAVAILABLE);
	assert_non_null(strstr(f->err.message, "128"));
	buf_free(&b);
}

int main(void)
{
#define T(fn) cmocka_unit_test_setup_teardown(fn, chatin_setup, chatin_teardown)
	const struct CMUnitTest tests[] = {
		T(arguments_of_calls_may_alternate),
		T(calls_without_any_index_are_told_apart),
		T(two_calls_with_index_0_and_no_ids_are_told_apart),
		T(calls_without_arguments_are_told_apart_by_name),
		T(a_repeated_name_is_not_doubled),
		T(a_name_in_fragments_is_joined),
		T(an_empty_object_before_the_arguments_is_forgotten),
		T(what_follows_the_arguments_is_dropped),
		T(arguments_encoded_twice_are_unwrapped),
		T(arguments_that_are_null_are_an_empty_object),
		T(unterminated_arguments_are_repaired),
		T(arguments_beyond_repair_are_left_to_the_tool),
		T(a_call_cut_by_the_length_has_no_end),
		T(tool_calls_without_any_call_is_stop),
		T(the_old_function_call_is_a_call),
		T(text_after_a_call_waits_for_its_end),
		T(blank_text_between_calls_is_dropped),
		T(a_call_without_a_name_is_left_out),
		T(a_decorated_name_is_found),
		T(a_call_of_no_tool_of_ours_is_the_clients),
		T(the_clients_own_shell_is_not_ours),
		T(calls_that_nobody_asked_for_are_dropped),
		T(too_many_calls_are_an_error),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
