/* wire: messages survive the trip, and nothing malformed is taken. SPDX-License-Identifier: ISC */
#include "tests/lib/test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sandbox/wire/box.h"
#include "sandbox/wire/exec.h"
#include "sandbox/wire/frame.h"
#include "sandbox/wire/init.h"
#include "sandbox/wire/lease.h"

static struct wire_out out;
static struct wire_in in;

/* Puts a packed frame where a received one would be, as if by recv. */
static void deliver(const uint8_t *p, size_t n)
{
	assert_true(n <= WIRE_MAX_FRAME);
	memcpy(in.data, p, n);
	in.data[n] = 0;
	in.len = n;
	in.off = 4;
	in.bad = n < 4;
	in.nfds = 0;
}

/* -- one sample and one reader of each message --------------------------- */

static void make_lease(void)
{
	wire_lease(&out, &(struct wire_lease){.workspace = "acme", .container = "c-1_X"});
}
static int read_lease(void)
{
	struct wire_lease m;
	return wire_lease_get(&in, &m);
}
static void make_refused(void)
{
	wire_refused(&out, &(struct wire_refused){.why = WIRE_REFUSED_LIMIT, .text = "too many"});
}
static int read_refused(void)
{
	struct wire_refused m;
	return wire_refused_get(&in, &m);
}
static void make_start(void)
{
	wire_start(&out,
		&(struct wire_start){.workspace = "acme",
			.container = "c1",
			.repository = "/var/lib/x/c1.git",
			.sleep_after = 900,
			.durable = 1});
}
static int read_start(void)
{
	struct wire_start m;
	return wire_start_get(&in, &m);
}
static void make_idle(void)
{
	wire_idle(&out, 7);
}
static int read_idle(void)
{
	uint32_t seen;
	return wire_idle_get(&in, &seen);
}
static const struct wire_exec exec_sample = {.env = WIRE_ENV_BASH,
	.timeout_ms = 1000,
	.max_output = 4096,
	.sleep_after = 60,
	.tool = "bash",
	.request_id = "req_1",
	.command = "echo 'h\xc3\xa9'\n",
	.cwd = "sub dir",
	.nenv = 2,
	.envp = {"A=1", "B="}};
static void make_exec(void)
{
	wire_exec(&out, &exec_sample);
}
static int read_exec(void)
{
	struct wire_exec m;
	return wire_exec_get(&in, &m);
}
static const struct wire_done done_sample = {.found = WIRE_WOKEN,
	.outcome = WIRE_SIGNAL,
	.code = 9,
	.duration_us = 1234567890123,
	.out_len = 10,
	.err_len = 262144,
	.err_omitted = 5000000000,
	.background_output_open = 1,
	.commit = "0123456789abcdef0123456789abcdef01234567",
	.error = "",
	.nskipped = 3,
	.nskips = 1,
	.skips = {{"sock", "a socket"}},
	.nfiles = 2,
	.files = {{"a", 1}, {"b\xff", 2}}};
static void make_done(void)
{
	wire_exec_done(&out, &done_sample);
}
static int read_done(void)
{
	struct wire_done m;
	return wire_exec_done_get(&in, &m);
}
static void make_loaded(void)
{
	wire_loaded(&out, &(struct wire_loaded){.failed = 2, .text = "a: no space"});
}
static int read_loaded(void)
{
	struct wire_loaded m;
	return wire_loaded_get(&in, &m);
}
static void make_run(void)
{
	wire_run(&out,
		&(struct wire_run){
			.id = 5, .command = "true", .cwd = "", .nenv = 1, .envp = {"K=V"}});
}
static int read_run(void)
{
	struct wire_run m;
	return wire_run_get(&in, &m);
}
static void make_exited(void)
{
	wire_exited(&out, &(struct wire_exited){.id = 5, .how = WIRE_HOW_SIGNAL, .code = 9});
}
static int read_exited(void)
{
	struct wire_exited m;
	return wire_exited_get(&in, &m);
}
static void make_number(void)
{
	wire_number(&out, WIRE_KILL, 5);
}
static int read_number(void)
{
	uint32_t n;
	return wire_number_get(&in, &n);
}
static void make_changes(void)
{
	wire_changes_begin(&out);
	assert_true(
		wire_changes_add(&out, &(struct wire_change){.kind = WIRE_REMOVED, .path = "x"}));
	assert_true(wire_changes_add(&out,
		&(struct wire_change){.kind = WIRE_DIR, .mode = 0755, .empty = 1, .path = "d"}));
	assert_true(wire_changes_add(&out,
		&(struct wire_change){
			.kind = WIRE_LINK, .mode = 0777, .path = "l", .text = "d/f"}));
}
static int read_changes(void)
{
	struct wire_change c;
	uint32_t n;
	if (wire_changes_get(&in, &n))
		return -1;
	while (n--) {
		if (wire_change_get(&in, &c))
			return -1;
	}
	return wire_done(&in) ? 0 : -1;
}
static void make_scanned(void)
{
	wire_scanned(&out, 10, 2);
}
static int read_scanned(void)
{
	uint32_t a, b;
	return wire_scanned_get(&in, &a, &b);
}
static void make_empty(void)
{
	wire_empty(&out, WIRE_FROZEN);
}
static int read_empty(void)
{
	return wire_expect(&in, WIRE_FROZEN) && wire_done(&in) ? 0 : -1;
}

static const struct {
	void (*make)(void);
	int (*read)(void);
} messages[] = {{make_lease, read_lease}, {make_refused, read_refused}, {make_start, read_start},
	{make_idle, read_idle}, {make_exec, read_exec}, {make_done, read_done},
	{make_loaded, read_loaded}, {make_run, read_run}, {make_exited, read_exited},
	{make_number, read_number}, {make_changes, read_changes}, {make_scanned, read_scanned},
	{make_empty, read_empty}};
#define N (sizeof(messages) / sizeof(messages[0]))

/* -- all messages ---------------------------------------------------------- */

static void every_message_is_read_back(void **state)
{
	(void)state;
	for (size_t k = 0; k < N; k++) {
		messages[k].make();
		assert_false(out.bad);
		deliver(out.data, out.len);
		assert_int_equal(messages[k].read(), 0);
	}
}

static void every_truncation_is_refused(void **state)
{
	(void)state;
	for (size_t k = 0; k < N; k++) {
		messages[k].make();
		for (size_t n = 0; n < out.len; n++) {
			deliver(out.data, n);
			assert_int_equal(messages[k].read(), -1);
		}
	}
}

static void a_byte_too_many_is_refused(void **state)
{
	(void)state;
	for (size_t k = 0; k < N; k++) {
		messages[k].make();
		out.data[out.len] = 0;
		deliver(out.data, out.len + 1);
		assert_int_equal(messages[k].read(), -1);
	}
}

static void another_type_is_refused(void **state)
{
	(void)state;
	for (size_t k = 0; k < N; k++) {
		messages[k].make();
		out.data[0] = out.data[0] == WIRE_DROP ? WIRE_LEASED : WIRE_DROP;
		deliver(out.data, out.len);
		assert_int_equal(messages[k].read(), -1);
	}
}

/* What mutated frames give is only asked to be in bounds: the sanitizers watch. */
static void random_mutations_do_no_harm(void **state)
{
	(void)state;
	srandom(42);
	for (size_t k = 0; k < N; k++) {
		for (int round = 0; round < 3000; round++) {
			messages[k].make();
			long hits = 1 + random() % 4;
			for (long h = 0; h < hits; h++)
				out.data[4 + (size_t)random() % (out.len - 3)] = (uint8_t)random();
			deliver(out.data, out.len);
			(void)messages[k].read();
		}
	}
}

/* -- fields ------------------------------------------------------------------ */

static void exec_keeps_its_fields(void **state)
{
	struct wire_exec m;
	(void)state;
	make_exec();
	deliver(out.data, out.len);
	assert_int_equal(wire_exec_get(&in, &m), 0);
	assert_int_equal(m.env, WIRE_ENV_BASH);
	assert_int_equal(m.timeout_ms, 1000);
	assert_int_equal(m.max_output, 4096);
	assert_int_equal(m.sleep_after, 60);
	assert_int_equal(m.stream, 0);
	assert_string_equal(m.tool, "bash");
	assert_string_equal(m.request_id, "req_1");
	assert_string_equal(m.command, exec_sample.command);
	assert_string_equal(m.cwd, "sub dir");
	assert_int_equal(m.nenv, 2);
	assert_string_equal(m.envp[0], "A=1");
	assert_string_equal(m.envp[1], "B=");
}

static void done_keeps_its_fields(void **state)
{
	struct wire_done m;
	(void)state;
	make_done();
	deliver(out.data, out.len);
	assert_int_equal(wire_exec_done_get(&in, &m), 0);
	assert_int_equal(m.found, WIRE_WOKEN);
	assert_int_equal(m.outcome, WIRE_SIGNAL);
	assert_int_equal(m.code, 9);
	assert_true(m.duration_us == 1234567890123);
	assert_true(m.out_len == 10 && m.err_len == 262144);
	assert_true(m.out_omitted == 0 && m.err_omitted == 5000000000);
	assert_int_equal(m.background_output_open, 1);
	assert_string_equal(m.commit, done_sample.commit);
	assert_int_equal(m.nskipped, 3);
	assert_int_equal(m.nskips, 1);
	assert_string_equal(m.skips[0].path, "sock");
	assert_string_equal(m.skips[0].reason, "a socket");
	assert_int_equal(m.nfiles, 2);
	assert_string_equal(m.files[1].path, "b\xff");
	assert_true(m.files[1].bytes == 2);
}

static int exec_with(struct wire_exec m)
{
	wire_exec(&out, &m);
	if (out.bad)
		return -2;
	deliver(out.data, out.len);
	return read_exec();
}

static void exec_refuses_what_is_out_of_range(void **state)
{
	struct wire_exec m = exec_sample;
	static char big[WIRE_COMMAND_MAX + 2];
	(void)state;
#define REFUSED(field, value)                                                                      \
	do {                                                                                       \
		m = exec_sample;                                                                   \
		m.field = value;                                                                   \
		assert_int_equal(exec_with(m), -1);                                                \
	} while (0)
	REFUSED(env, WIRE_ENV__MAX);
	REFUSED(timeout_ms, 0);
	REFUSED(timeout_ms, WIRE_TIMEOUT_MAX_MS + 1);
	REFUSED(max_output, 0);
	REFUSED(max_output, WIRE_OUTPUT_MAX + 1);
	REFUSED(sleep_after, 0);
	REFUSED(sleep_after, UINT32_MAX);
	REFUSED(stream, 2);
	REFUSED(tool, "");
	REFUSED(tool, "Shell");
	REFUSED(tool, "a b");
	REFUSED(tool, "abcdefghijklmnopq");
	REFUSED(request_id, "two words");
	REFUSED(request_id, "line\n");
	REFUSED(request_id, "\xc3\xa9");
	REFUSED(envp[0], "novalue");
	REFUSED(envp[0], "=x");
	REFUSED(envp[1], "");
	memset(big, 'x', sizeof(big) - 1);
	REFUSED(command, big);
	big[WIRE_COMMAND_MAX] = 0;
	m = exec_sample;
	m.command = big;
	assert_int_equal(exec_with(m), 0);
	m.nenv = WIRE_ENV_MAX + 1;
	assert_int_equal(exec_with(m), -2);
}

static int done_with(struct wire_done m)
{
	wire_exec_done(&out, &m);
	if (out.bad)
		return -2;
	deliver(out.data, out.len);
	return read_done();
}

static void done_refuses_what_is_out_of_range(void **state)
{
	struct wire_done m;
	(void)state;
#define REFUSED_DONE(field, value)                                                                 \
	do {                                                                                       \
		m = done_sample;                                                                   \
		m.field = value;                                                                   \
		assert_int_equal(done_with(m), -1);                                                \
	} while (0)
	REFUSED_DONE(found, WIRE_FOUND__MAX);
	REFUSED_DONE(outcome, WIRE_OUTCOME__MAX);
	REFUSED_DONE(code, 0);
	REFUSED_DONE(code, 65);
	REFUSED_DONE(outcome, WIRE_TIMEOUT); /* with a code */
	REFUSED_DONE(out_len, 262145);
	REFUSED_DONE(err_len, UINT64_MAX);
	REFUSED_DONE(background_output_open, 2);
	REFUSED_DONE(commit, "0123");
	REFUSED_DONE(commit, "0123456789ABCDEF0123456789abcdef01234567");
	REFUSED_DONE(nskipped, 0); /* fewer than are listed */
	REFUSED_DONE(files[0].path, "");
	m = done_sample;
	m.outcome = WIRE_EXIT;
	m.code = 255;
	assert_int_equal(done_with(m), 0);
	m.code = 256;
	assert_int_equal(done_with(m), -1);
	m = done_sample;
	m.nfiles = 11;
	assert_int_equal(done_with(m), -2);
}

static void names_have_a_form(void **state)
{
	(void)state;
	assert_true(wire_name_ok("a"));
	assert_true(wire_name_ok("abcdefghijklmnopqrstuvwxyz0123456789_-AZ"));
	assert_false(wire_name_ok("abcdefghijklmnopqrstuvwxyz0123456789_-AZx"));
	assert_false(wire_name_ok(""));
	assert_false(wire_name_ok(".."));
	assert_false(wire_name_ok("a/b"));
	assert_false(wire_name_ok("a b"));
	assert_false(wire_name_ok("\xc3\xa9"));
}

static void start_wants_an_absolute_repository(void **state)
{
	(void)state;
	wire_start(&out,
		&(struct wire_start){.workspace = "w",
			.container = "c",
			.repository = "homes/c.git",
			.sleep_after = 1});
	deliver(out.data, out.len);
	assert_int_equal(read_start(), -1);
}

static void exited_codes_fit_how_it_ended(void **state)
{
	static const struct {
		uint32_t how, code;
		int good;
	} t[] = {{WIRE_HOW_EXIT, 0, 0}, {WIRE_HOW_EXIT, 255, 0}, {WIRE_HOW_EXIT, 256, -1},
		{WIRE_HOW_SIGNAL, 0, -1}, {WIRE_HOW_SIGNAL, 64, 0}, {WIRE_HOW_SIGNAL, 65, -1},
		{WIRE_HOW_ERROR, 0, -1}, {WIRE_HOW_ERROR, ENOMEM, 0}, {3, 1, -1}};
	(void)state;
	for (size_t k = 0; k < sizeof(t) / sizeof(t[0]); k++) {
		wire_exited(
			&out, &(struct wire_exited){.id = 1, .how = t[k].how, .code = t[k].code});
		deliver(out.data, out.len);
		assert_int_equal(read_exited(), t[k].good);
	}
}

/* -- changes ------------------------------------------------------------------ */

static int one_change(const struct wire_change *c, size_t nfds)
{
	wire_changes_begin(&out);
	assert_true(wire_changes_add(&out, c));
	deliver(out.data, out.len);
	in.nfds = nfds;
	int rc = read_changes();
	in.nfds = 0;
	return rc;
}

static void changes_must_make_sense(void **state)
{
	(void)state;
	assert_int_equal(
		one_change(&(struct wire_change){.kind = WIRE_REMOVED, .path = ""}, 0), -1);
	assert_int_equal(one_change(&(struct wire_change){.kind = WIRE_FILE, .path = "f"}, 0), -1);
	assert_int_equal(
		one_change(&(struct wire_change){.kind = WIRE_FILE, .path = "f", .has_fd = 1}, 0),
		-1);
	assert_int_equal(
		one_change(&(struct wire_change){.kind = WIRE_FILE, .path = "f", .has_fd = 1}, 1),
		0);
	assert_int_equal(
		one_change(&(struct wire_change){.kind = WIRE_DIR, .path = "f", .has_fd = 1}, 1),
		-1);
	assert_int_equal(one_change(&(struct wire_change){.kind = WIRE_LINK, .path = "l"}, 0), -1);
	assert_int_equal(
		one_change(&(struct wire_change){.kind = WIRE_DIR, .path = "d", .text = "x"}, 0),
		-1);
	assert_int_equal(
		one_change(&(struct wire_change){.kind = WIRE_DIR, .path = "d", .mode = 010000}, 0),
		-1);
	assert_int_equal(
		one_change(
			&(struct wire_change){
				.kind = WIRE_FILE, .path = "f", .has_fd = 1, .size = 1ull << 63},
			1),
		-1);
	assert_int_equal(
		one_change(&(struct wire_change){.kind = WIRE_CHANGE__MAX, .path = "f"}, 0), -1);
	assert_int_equal(
		one_change(&(struct wire_change){.kind = WIRE_SKIPPED, .path = "f", .text = "fifo"},
			0),
		0);
}

static void a_frame_takes_as_many_changes_as_descriptors(void **state)
{
	const struct wire_change f = {.kind = WIRE_FILE, .path = "f", .has_fd = 1};
	(void)state;
	wire_changes_begin(&out);
	for (int k = 0; k < WIRE_MAX_FDS; k++)
		assert_true(wire_changes_add(&out, &f));
	assert_false(wire_changes_add(&out, &f));
	assert_false(out.bad);
	assert_true(wire_changes_add(&out, &(struct wire_change){.kind = WIRE_DIR, .path = "d"}));
	deliver(out.data, out.len);
	in.nfds = WIRE_MAX_FDS;
	assert_int_equal(read_changes(), 0);
	in.nfds = 0;
}

static void a_full_frame_keeps_what_was_added(void **state)
{
	static char path[4096];
	uint32_t n = 0, count;
	struct wire_change c = {.kind = WIRE_REMOVED, .path = path};
	(void)state;
	memset(path, 'p', sizeof(path) - 1);
	wire_changes_begin(&out);
	while (wire_changes_add(&out, &c))
		n++;
	assert_int_equal(n, (WIRE_MAX_FRAME - 12) / (42 + 4095));
	assert_false(out.bad);
	deliver(out.data, out.len);
	assert_int_equal(wire_changes_get(&in, &count), 0);
	assert_int_equal(count, n);
	deliver(out.data, out.len);
	assert_int_equal(read_changes(), 0);
}

static void a_change_that_never_fits_makes_the_frame_bad(void **state)
{
	static char path[WIRE_MAX_FRAME];
	(void)state;
	memset(path, 'p', sizeof(path) - 1);
	wire_changes_begin(&out);
	assert_false(
		wire_changes_add(&out, &(struct wire_change){.kind = WIRE_REMOVED, .path = path}));
	assert_true(out.bad);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_message_is_read_back),
		cmocka_unit_test(every_truncation_is_refused),
		cmocka_unit_test(a_byte_too_many_is_refused),
		cmocka_unit_test(another_type_is_refused),
		cmocka_unit_test(random_mutations_do_no_harm),
		cmocka_unit_test(exec_keeps_its_fields),
		cmocka_unit_test(done_keeps_its_fields),
		cmocka_unit_test(exec_refuses_what_is_out_of_range),
		cmocka_unit_test(done_refuses_what_is_out_of_range),
		cmocka_unit_test(names_have_a_form),
		cmocka_unit_test(start_wants_an_absolute_repository),
		cmocka_unit_test(exited_codes_fit_how_it_ended),
		cmocka_unit_test(changes_must_make_sense),
		cmocka_unit_test(a_frame_takes_as_many_changes_as_descriptors),
		cmocka_unit_test(a_full_frame_keeps_what_was_added),
		cmocka_unit_test(a_change_that_never_fits_makes_the_frame_bad),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
