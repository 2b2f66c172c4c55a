/* The built-in model: script_turn. SPDX-License-Identifier: ISC */
#include <stdlib.h>
#include <string.h>

#include "app/base/arena.h"
#include "app/upstream/script.h"
#include "app/upstream/script_parse.h"
#include "tests/lib/events.h"
#include "tests/lib/test.h"

struct fixture {
	struct arena *arena;
	struct turn turn;
	struct buf text, args; /* what was said, joined */
	const struct call *call;
	enum finish finish;
	struct usage usage;
	int texts, pieces, ends;
	int fail_at, n;
	struct sink sink;
	struct err err;
};

static int emit(void *ctx, const struct event *ev)
{
	struct fixture *f = ctx;
	if (++f->n == f->fail_at)
		return ERR_CLIENT_GONE;
	if (ev->type == EVENT_TEXT) {
		f->texts++;
		assert_true(ev->len > 0);
		assert_int_equal(ev->text[ev->len], '\0');
		buf_put(&f->text, ev->text, ev->len);
	} else if (ev->type == EVENT_CALL_START) {
		f->call = ev->call;
	} else if (ev->type == EVENT_CALL_ARGS) {
		f->pieces++;
		assert_ptr_equal(ev->call, f->call);
		buf_put(&f->args, ev->text, ev->len);
	} else if (ev->type == EVENT_CALL_END) {
		assert_string_equal(f->call->arguments, buf_str(&f->args));
	} else if (ev->type == EVENT_TURN_END) {
		f->ends++;
		f->finish = ev->finish;
		f->usage = ev->usage;
	} else {
		fail();
	}
	return 0;
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	f->arena = arena_new();
	events_turn(&f->turn, f->arena);
	f->sink = (struct sink){emit, f};
	buf_init(&f->text, 64 << 20);
	buf_init(&f->args, 64 << 20);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	buf_free(&f->text);
	buf_free(&f->args);
	arena_free(f->arena);
	free(f);
	return 0;
}

static int ask(struct fixture *f)
{
	buf_reset(&f->text);
	buf_reset(&f->args);
	f->call = NULL;
	f->texts = f->pieces = f->ends = f->n = 0;
	return script_turn(&f->turn, &f->sink, &f->err);
}

static void user(struct fixture *f, const char *text)
{
	items_add_text(f->arena, &f->turn.items, ROLE_USER, text);
}

/* A call with its result, as the loop or a replay puts them. */
static void ran(struct fixture *f, const char *id, const char *arguments, const char *result)
{
	struct item *it = items_add(f->arena, &f->turn.items, ITEM_CALL);
	it->call = (struct call){
		.tool = TOOL_SHELL, .id = id, .name = "shell", .arguments = arguments};
	it = items_add(f->arena, &f->turn.items, ITEM_RESULT);
	it->call_id = id;
	it->text = result;
}

static void calls(struct fixture *f, enum tool_kind kind, const char *arguments)
{
	assert_int_equal(ask(f), 0);
	assert_int_equal(f->finish, FINISH_CALLS);
	assert_non_null(f->call);
	assert_int_equal(f->call->tool, kind);
	assert_string_equal(f->call->arguments, arguments);
	assert_string_equal(f->call->name, kind == TOOL_BASH ? "bash" : "shell");
	assert_int_equal(f->texts, 0);
	assert_int_equal(f->ends, 1);
}

static void says(struct fixture *f, const char *text)
{
	assert_int_equal(ask(f), 0);
	assert_null(f->call);
	assert_int_equal(f->ends, 1);
	assert_string_equal(buf_str(&f->text), text);
}

static void says_something_of(struct fixture *f, const char *word)
{
	assert_int_equal(ask(f), 0);
	assert_null(f->call);
	assert_int_equal(f->finish, FINISH_STOP);
	assert_non_null(strstr(buf_str(&f->text), word));
	assert_true(f->texts > 1);
}

#define OUTPUT(out, err, code)                                                                     \
	"{\"stdout\":\"" out "\",\"stderr\":\"" err                                                \
	"\",\"outcome\":{\"type\":\"exit\",\"exit_code\":" code "}}"

/* -- finding commands -------------------------------------------------------- */

static void finds(const char *text, const char *expected)
{
	struct arena *a = arena_new();
	struct script_commands c;
	struct buf b;
	buf_init(&b, 1 << 20);
	script_parse(&c, a, text);
	for (size_t i = 0; i < c.n; i++)
		buf_printf(&b, "[%s]", c.list[i]);
	assert_string_equal(buf_str(&b), expected);
	buf_free(&b);
	arena_free(a);
}

static void fenced_blocks_are_commands(void **state)
{
	(void)state;
	finds("```sh\nls\n```", "[ls]");
	finds("Do\n\n```bash\nls\nid\n```\nand\n~~~ shell extra\ndate\n~~~\n", "[ls\nid][date]");
	finds("```SH\r\nls\r\n```\r\n", "[ls]");
	finds("  ```sh\n  ls\n  ```", "[  ls]");
	finds("````sh\necho '```'\n```\n````", "[echo '```'\n```]");
}

static void a_fence_may_stand_behind_other_words(void **state)
{
	(void)state;
	finds("Please run ```sh\npython3 -c 'print(1)'\n```", "[python3 -c 'print(1)']");
	finds("\xe2\x80\xa6```sh\nls\n```", "[ls]");
}

static void a_block_without_an_end_goes_to_the_end(void **state)
{
	(void)state;
	finds("```sh\nls\nid", "[ls\nid]");
	finds("```sh\n", "");
	finds("```sh", "");
}

static void other_blocks_are_no_commands(void **state)
{
	(void)state;
	finds("```python\nprint(1)\n```\n```\nls\n```\n```shellfish\nls\n```", "");
	finds("```python\n`ls`\n```\nthen `id`", "[id]");
	finds("```python\nx\n```\n```sh\nls\n```\n`id`", "[ls]");
}

static void spans_are_commands_if_there_is_no_block(void **state)
{
	(void)state;
	finds("run `ls -l` and ``echo `id` ``", "[ls -l][echo `id` ]");
	finds("`` `date` ``", "[`date`]");
	finds("```ls```", "[ls]");
	finds("an ` alone, then `ls`", "[alone, then]");
	finds("``not closed` `", "");
	finds("`` ` ` `", "");
	finds("nothing", "");
	finds("", "");
}

static void blank_blocks_are_no_commands(void **state)
{
	(void)state;
	finds("```sh\n\n  \n```\n```sh\nls\n\n```", "[ls]");
	finds("` `", "");
}

static void odd_texts_take_no_time(void **state)
{
	(void)state;
	struct buf b;
	struct arena *a = arena_new();
	struct script_commands c;
	buf_init(&b, 64 << 20);
	for (int i = 0; i < 1 << 20; i++)
		buf_puts(&b, "``` ");
	script_parse(&c, a, b.data);
	buf_reset(&b);
	for (int i = 1; i < 3000; i++) {
		for (int k = 0; k < i; k++)
			buf_putc(&b, '`');
		buf_putc(&b, 'a');
	}
	script_parse(&c, a, b.data);
	buf_reset(&b);
	for (int i = 0; i < 1 << 20; i++)
		buf_puts(&b, "a\n~~~\n");
	script_parse(&c, a, b.data);
	buf_free(&b);
	arena_free(a);
}

/* -- calling ----------------------------------------------------------------- */

static void commands_become_one_shell_call(void **state)
{
	struct fixture *f = *state;
	events_offer(&f->turn, TOOL_SHELL, "shell");
	user(f, "```sh\necho \"a\"\n```\n```sh\nid\n```");
	calls(f, TOOL_SHELL, "{\"commands\":[\"echo \\\"a\\\"\",\"id\"]}");
	assert_true(f->pieces > 1);
}

static void one_command_is_a_bash_command(void **state)
{
	struct fixture *f = *state;
	events_offer(&f->turn, TOOL_BASH, "bash");
	user(f, "`ls`");
	calls(f, TOOL_BASH, "{\"command\":\"ls\"}");
	user(f, "`ls` `id`");
	calls(f, TOOL_BASH, "{\"commands\":[\"ls\",\"id\"]}");
}

static void the_shell_is_preferred(void **state)
{
	struct fixture *f = *state;
	events_offer(&f->turn, TOOL_BASH, "bash");
	events_offer(&f->turn, TOOL_SHELL, "shell");
	user(f, "`ls`");
	calls(f, TOOL_SHELL, "{\"commands\":[\"ls\"]}");
	f->turn.choice = CHOICE_TOOL;
	f->turn.choice_name = "bash";
	calls(f, TOOL_BASH, "{\"command\":\"ls\"}");
}

static void only_the_last_message_of_the_user_counts(void **state)
{
	struct fixture *f = *state;
	events_offer(&f->turn, TOOL_SHELL, "shell");
	user(f, "`ls`");
	items_add_text(f->arena, &f->turn.items, ROLE_ASSISTANT, "`rm`");
	user(f, "`id`");
	items_add_text(f->arena, &f->turn.items, ROLE_SYSTEM, "`halt`");
	calls(f, TOOL_SHELL, "{\"commands\":[\"id\"]}");
}

static void without_a_tool_of_ours_it_says_so(void **state)
{
	struct fixture *f = *state;
	user(f, "`ls`");
	says_something_of(f, "no shell or bash tool");
	events_offer(&f->turn, TOOL_CLIENT, "shell");
	says_something_of(f, "no shell or bash tool");
	events_offer(&f->turn, TOOL_SHELL, "shell");
	f->turn.choice = CHOICE_NONE;
	says_something_of(f, "no shell or bash tool");
	f->turn.choice = CHOICE_TOOL;
	f->turn.choice_name = "other";
	says_something_of(f, "no shell or bash tool");
}

static void without_commands_it_says_how_to_use_it(void **state)
{
	struct fixture *f = *state;
	events_offer(&f->turn, TOOL_SHELL, "shell");
	user(f, "hello");
	says_something_of(f, "```sh");
}

static void without_the_user_it_refuses(void **state)
{
	struct fixture *f = *state;
	items_add_text(f->arena, &f->turn.items, ROLE_SYSTEM, "x");
	assert_int_equal(ask(f), ERR_INVALID_REQUEST);
	assert_int_equal(f->n, 0);
}

/* -- answering --------------------------------------------------------------- */

static void outputs_are_shown_by_command(void **state)
{
	struct fixture *f = *state;
	events_offer(&f->turn, TOOL_SHELL, "shell");
	user(f, "`echo 5050` `false` `sleep 9`");
	ran(f, "a", "{\"commands\":[\"echo 5050\",\"false\",\"sleep 9\"]}",
		"{\"output\":[" OUTPUT("5050\\n", "", "0") "," OUTPUT(
			"", "oh", "1") ",{\"stdout\":\"\",\"stderr\":\"\",\"outcome\":{\"type\":"
				       "\"timeout\"}}]}");
	says(f, "$ echo 5050\n5050\n\n$ false\noh\n[exit status 1]\n\n$ sleep 9\n[timeout]\n");
	assert_int_equal(f->finish, FINISH_STOP);
	assert_true(f->texts > 1);
}

static void a_bash_result_is_shown(void **state)
{
	struct fixture *f = *state;
	user(f, "`ls`");
	ran(f, "a", "{\"command\":\"ls\"}",
		"{\"command\":\"ls\",\"stdout\":\"a\\n\",\"stderr\":\"\",\"exitCode\":2}");
	says(f, "$ ls\na\n[exit status 2]\n");
}

static void a_failed_call_is_shown(void **state)
{
	struct fixture *f = *state;
	user(f, "`ls`");
	ran(f, "a", "{}", "{\"error\":\"no room\"}");
	says(f, "no room\n");
}

static void results_of_other_shapes_are_shown_as_they_are(void **state)
{
	struct fixture *f = *state;
	user(f, "`ls`");
	ran(f, "a", "not json", "plain");
	ran(f, "b", "{}", "[1]");
	ran(f, "c", "{}", "{\"output\":[7,null,{\"outcome\":3}]}");
	says(f, "plain\n\n[1]\n\n\n\n");
}

static void nothing_at_all_is_said_so(void **state)
{
	struct fixture *f = *state;
	user(f, "`ls`");
	ran(f, "a", "{}", "");
	says(f, "(no output)");
}

static void a_replayed_conversation_goes_on(void **state)
{
	struct fixture *f = *state;
	events_offer(&f->turn, TOOL_SHELL, "shell");
	user(f, "`ls`");
	ran(f, "a", "{\"commands\":[\"ls\"]}", "{\"output\":[" OUTPUT("x", "", "0") "]}");
	items_add_text(f->arena, &f->turn.items, ROLE_ASSISTANT, "$ ls\nx\n");
	user(f, "`id`");
	calls(f, TOOL_SHELL, "{\"commands\":[\"id\"]}");
	ran(f, "b", "{\"commands\":[\"id\"]}", "{\"output\":[" OUTPUT("y", "", "0") "]}");
	says(f, "$ id\ny\n");
}

static void a_late_result_of_an_earlier_call_is_no_answer(void **state)
{
	struct fixture *f = *state;
	events_offer(&f->turn, TOOL_SHELL, "shell");
	struct item *it = items_add(f->arena, &f->turn.items, ITEM_CALL);
	it->call = (struct call){.tool = TOOL_SHELL, .id = "a", .name = "shell", .arguments = "{}"};
	user(f, "`id`");
	it = items_add(f->arena, &f->turn.items, ITEM_RESULT);
	it->call_id = "a";
	it->text = "{}";
	calls(f, TOOL_SHELL, "{\"commands\":[\"id\"]}");
}

static void results_are_told_even_without_tools(void **state)
{
	struct fixture *f = *state;
	user(f, "`ls`");
	ran(f, "a", "{\"commands\":[\"ls\"]}", "{\"output\":[" OUTPUT("x", "", "0") "]}");
	f->turn.choice = CHOICE_NONE;
	says(f, "$ ls\nx\n");
}

/* -- tokens, streaming ------------------------------------------------------- */

static void tokens_are_words(void **state)
{
	struct fixture *f = *state;
	items_add_text(f->arena, &f->turn.items, ROLE_SYSTEM, " be  brief\n");
	user(f, "run `ls -l` now");
	events_offer(&f->turn, TOOL_SHELL, "shell");
	assert_int_equal(ask(f), 0);
	assert_int_equal(f->usage.input, 6);
	assert_int_equal(f->usage.output, 2); /* {"commands":["ls  -l"]} */
	ran(f, "a", "{\"commands\":[\"ls -l\"]}", "{\"output\":[" OUTPUT("a b c", "", "0") "]}");
	assert_int_equal(ask(f), 0);
	assert_string_equal(buf_str(&f->text), "$ ls -l\na b c\n");
	assert_int_equal(f->usage.output, 6);
}

static void the_limit_cuts_between_words(void **state)
{
	struct fixture *f = *state;
	user(f, "`ls`");
	ran(f, "a", "{\"commands\":[\"ls\"]}", "{\"output\":[" OUTPUT("a b c", "", "0") "]}");
	f->turn.max_tokens = 3;
	says(f, "$ ls\na");
	assert_int_equal(f->finish, FINISH_LENGTH);
	assert_int_equal(f->usage.output, 3);
	f->turn.max_tokens = 5;
	says(f, "$ ls\na b c\n");
	assert_int_equal(f->finish, FINISH_STOP);
}

static void long_texts_come_in_whole_characters(void **state)
{
	struct fixture *f = *state;
	struct buf b;
	buf_init(&b, 1 << 20);
	for (int i = 0; i < 20000; i++)
		buf_puts(&b, "\xe2\x82\xac");
	user(f, "`ls`");
	ran(f, "a", "{}", b.data);
	assert_int_equal(ask(f), 0);
	assert_int_equal(f->text.len, b.len + 1);
	assert_memory_equal(f->text.data, b.data, b.len);
	assert_true(f->texts >= 5 && f->texts <= 32);
	buf_free(&b);
}

static void what_the_sink_says_is_returned(void **state)
{
	struct fixture *f = *state;
	events_offer(&f->turn, TOOL_SHELL, "shell");
	user(f, "`ls`");
	for (f->fail_at = 1; f->fail_at <= 4; f->fail_at++) {
		assert_int_equal(ask(f), ERR_CLIENT_GONE);
		assert_int_equal(f->n, f->fail_at);
	}
}

int main(void)
{
#define T(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(fenced_blocks_are_commands),
		T(a_fence_may_stand_behind_other_words),
		T(a_block_without_an_end_goes_to_the_end),
		T(other_blocks_are_no_commands),
		T(spans_are_commands_if_there_is_no_block),
		T(blank_blocks_are_no_commands),
		T(odd_texts_take_no_time),
		T(commands_become_one_shell_call),
		T(one_command_is_a_bash_command),
		T(the_shell_is_preferred),
		T(only_the_last_message_of_the_user_counts),
		T(without_a_tool_of_ours_it_says_so),
		T(without_commands_it_says_how_to_use_it),
		T(without_the_user_it_refuses),
		T(outputs_are_shown_by_command),
		T(a_bash_result_is_shown),
		T(a_failed_call_is_shown),
		T(results_of_other_shapes_are_shown_as_they_are),
		T(nothing_at_all_is_said_so),
		T(a_replayed_conversation_goes_on),
		T(a_late_result_of_an_earlier_call_is_no_answer),
		T(results_are_told_even_without_tools),
		T(tokens_are_words),
		T(the_limit_cuts_between_words),
		T(long_texts_come_in_whole_characters),
		T(what_the_sink_says_is_returned),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
