/* Asking a provider over HTTP: upstream_turn against a server of our own. SPDX-License-Identifier: ISC */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "app/base/arena.h"
#include "app/upstream/upstream.h"
#include "sandbox/sys/io.h"
#include "sandbox/sys/log.h"
#include "tests/lib/events.h"
#include "tests/lib/rawpeer.h"
#include "tests/lib/test.h"

struct fixture {
	struct arena *arena;
	struct rawpeer peer;
	struct conf conf;
	struct conf_provider provider;
	char *models[2];
	char key[16];
	struct turn turn;
	struct events seen;
	struct err err;
	int64_t took; /* ms */
};

static char any[] = "*", prefix[] = "acme/", chat[] = "chat", name[] = "acme";

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	f->arena = arena_new();
	events_turn(&f->turn, f->arena);
	f->turn.model = "acme/lumen-9b";
	items_add_text(f->arena, &f->turn.items, ROLE_USER, "q");
	events_init(&f->seen);
	f->models[0] = any;
	snprintf(f->key, sizeof(f->key), "sk-secret");
	f->provider = (struct conf_provider){.name = name,
		.protocol = chat,
		.api_key = f->key,
		.models = f->models,
		.prefix = prefix};
	f->conf = (struct conf){.upstream_connect_timeout_ms = 2000,
		.upstream_idle_timeout_ms = 5000,
		.upstream_total_timeout_ms = 20000,
		.heartbeat_ms = 5000,
		.providers = &f->provider};
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	rawpeer_stop(&f->peer);
	events_free(&f->seen);
	arena_free(f->arena);
	free(f);
	return 0;
}

static void serve(struct fixture *f, const char *const *const *answers)
{
	rawpeer_start(&f->peer, answers);
	f->provider.base_url = f->peer.url;
}

static int ask_with(struct fixture *f, int client_fd)
{
	const int64_t start = io_now_ms();
	events_reset(&f->seen);
	f->err = (struct err){0};
	int rc = upstream_turn(&f->conf, &f->turn, &f->seen.sink, client_fd, &f->err);
	f->took = io_now_ms() - start;
	assert_int_equal(rc, f->err.code);
	return rc;
}

static int ask(struct fixture *f)
{
	return ask_with(f, -1);
}

static void saw(const struct fixture *f, const char *expected)
{
	assert_string_equal(buf_str(&f->seen.seen), expected);
}

#define HEAD(status, more) "HTTP/1.1 " status "\r\n" more "\r\n"
#define OK                 HEAD("200 OK", "Content-Type: text/event-stream\r\nConnection: close\r\n")
#define CONTENT(text)      "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"" text "\"}}]}\n\n"
#define FINISH             "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"
#define DONE               "data: [DONE]\n\n"
#define SAID(text)         "text \"" text "\"\nturn stop 0/0/0 0/0\n"
#define STEPS(...)         ((const char *const[]){__VA_ARGS__, NULL})
#define ANSWERS(...)       ((const char *const *const[]){__VA_ARGS__, NULL})

/* -- streams ----------------------------------------------------------------- */

static void a_stream_becomes_events(void **state)
{
	struct fixture *f = *state;
	serve(f, ANSWERS(STEPS(OK, CONTENT("a"), CONTENT("b"), FINISH, DONE)));
	assert_int_equal(ask(f), 0);
	saw(f, "text \"a\"\n" SAID("b"));
}

static void the_request_is_as_the_provider_wants_it(void **state)
{
	struct fixture *f = *state;
	serve(f, ANSWERS(STEPS(OK, FINISH)));
	assert_int_equal(ask(f), 0);
	const char *r = f->peer.seen->request[0];
	assert_int_equal(strncmp(r, "POST /v1/chat/completions HTTP/1.1\r\n", 36), 0);
	assert_non_null(strstr(r, "\r\nAuthorization: Bearer sk-secret\r\n"));
	assert_non_null(strstr(r, "\r\nContent-Type: application/json\r\n"));
	assert_non_null(strstr(r, "\r\nAccept: text/event-stream\r\n"));
	assert_null(strcasestr(r, "\r\nExpect:"));
	assert_null(strcasestr(r, "\r\nAccept-Encoding:"));
	assert_non_null(strstr(r, "\r\n\r\n{\"model\":\"lumen-9b\",\"stream\":true,"));
}

static void without_a_key_none_is_sent(void **state)
{
	struct fixture *f = *state;
	f->provider.api_key = NULL;
	serve(f, ANSWERS(STEPS(OK, FINISH)));
	assert_int_equal(ask(f), 0);
	assert_null(strcasestr(f->peer.seen->request[0], "Authorization"));
}

static void a_slash_at_the_end_of_the_address_is_not_doubled(void **state)
{
	struct fixture *f = *state;
	serve(f, ANSWERS(STEPS(OK, FINISH)));
	f->provider.base_url = arena_printf(f->arena, "%s//", f->peer.url);
	assert_int_equal(ask(f), 0);
	assert_int_equal(strncmp(f->peer.seen->request[0], "POST /v1/chat/", 14), 0);
}

static void a_whole_body_is_taken(void **state)
{
	struct fixture *f = *state;
	serve(f,
		ANSWERS(STEPS(
			HEAD("200 OK", "Content-Type: application/json\r\nConnection: close\r\n"),
			"{\"choices\":[{\"index\":0,\"message\":{\"content\":\"a\"},", "@sleep 20",
			"\"finish_reason\":\"stop\"}]}")));
	assert_int_equal(ask(f), 0);
	saw(f, SAID("a"));
}

static void silence_is_bridged_by_idle_events(void **state)
{
	struct fixture *f = *state;
	f->conf.heartbeat_ms = 100;
	serve(f, ANSWERS(STEPS(OK, CONTENT("a"), "@sleep 350", FINISH)));
	assert_int_equal(ask(f), 0);
	const char *seen = buf_str(&f->seen.seen);
	assert_int_equal(strncmp(seen, "text \"a\"\nidle\nidle\n", 19), 0);
	assert_true((int64_t)f->seen.idles <= f->took / 100);
}

static void comments_keep_the_provider_alive_but_not_the_client(void **state)
{
	struct fixture *f = *state;
	f->conf.heartbeat_ms = 300;
	f->conf.upstream_idle_timeout_ms = 600;
	serve(f,
		ANSWERS(STEPS(OK, ": wait\n\n", "@sleep 250", ": wait\n\n", "@sleep 250",
			": wait\n\n", "@sleep 250", CONTENT("a"), FINISH)));
	assert_int_equal(ask(f), 0);
	assert_true(f->seen.idles >= 2);
}

static void the_announced_end_is_enough(void **state)
{
	struct fixture *f = *state;
	serve(f, ANSWERS(STEPS(OK, CONTENT("a"), FINISH, DONE, "@wait 4000")));
	assert_int_equal(ask(f), 0);
	saw(f, SAID("a"));
	assert_true(f->took < 1500);
}

static void a_connection_is_used_again(void **state)
{
	struct fixture *f = *state;
	static const char head[] = HEAD("200 OK", "Transfer-Encoding: chunked\r\n");
	serve(f,
		ANSWERS(STEPS(head,
			"2e\r\ndata: {\"choices\":[{\"finish_reason\":\"stop\"}]}\n\n\r\n0\r\n\r\n",
			"@next")));
	assert_int_equal(ask(f), 0);
	assert_int_equal(ask(f), 0);
	assert_int_equal(f->peer.seen->requests, 2);
	assert_int_equal(f->peer.seen->connections, 1);
}

/* -- errors ------------------------------------------------------------------ */

static void nobody_listens(void **state)
{
	struct fixture *f = *state;
	rawpeer_nowhere(&f->peer);
	f->provider.base_url = f->peer.url;
	assert_int_equal(ask(f), ERR_PROVIDER_UNAVAILABLE);
	saw(f, "");
	assert_non_null(strstr(f->err.message, "cannot be reached"));
	assert_true(f->took >= 1500); /* two retries */
}

static void a_refused_key_is_not_retried(void **state)
{
	struct fixture *f = *state;
	serve(f,
		ANSWERS(STEPS(HEAD("401 Unauthorized", "Connection: close\r\n"),
			"{\"error\":{\"message\":\"bad key sk-secret\"}}")));
	assert_int_equal(ask(f), ERR_PROVIDER_UNAVAILABLE);
	saw(f, "");
	assert_non_null(strstr(f->err.message, "key"));
	assert_null(strstr(f->err.message, "sk-secret"));
	assert_int_equal(f->peer.seen->requests, 1);
}

static void a_rate_limit_is_waited_for(void **state)
{
	struct fixture *f = *state;
	serve(f,
		ANSWERS(STEPS(HEAD("429 Too Many", "Retry-After: 1\r\nConnection: close\r\n"),
				"{}"),
			STEPS(OK, CONTENT("a"), FINISH)));
	assert_int_equal(ask(f), 0);
	saw(f, SAID("a"));
	assert_true(f->took >= 1000);
	assert_int_equal(f->peer.seen->requests, 2);
}

static void a_long_rate_limit_is_the_clients_to_wait_for(void **state)
{
	struct fixture *f = *state;
	serve(f,
		ANSWERS(STEPS(
			HEAD("429 Too Many", "Retry-After: 60\r\nConnection: close\r\n"), "{}")));
	assert_int_equal(ask(f), ERR_RATE_LIMITED);
	assert_int_equal(f->err.retry_after, 60);
	assert_int_equal(f->peer.seen->requests, 1);
}

static void a_500_is_not_retried(void **state)
{
	struct fixture *f = *state;
	serve(f, ANSWERS(STEPS(HEAD("500 Oops", "Connection: close\r\n"), "{\"error\":\"boom\"}")));
	assert_int_equal(ask(f), ERR_PROVIDER_UNAVAILABLE);
	assert_non_null(strstr(f->err.message, "boom"));
	assert_int_equal(f->peer.seen->requests, 1);
}

static void an_overloaded_provider_is_asked_three_times(void **state)
{
	struct fixture *f = *state;
	serve(f, ANSWERS(STEPS(HEAD("529 Overloaded", "Connection: close\r\n"), "busy")));
	assert_int_equal(ask(f), ERR_PROVIDER_OVERLOADED);
	assert_int_equal(f->peer.seen->requests, 3);
}

static void a_redirect_is_not_followed(void **state)
{
	struct fixture *f = *state;
	serve(f,
		ANSWERS(STEPS(HEAD("302 Found",
			"Location: http://127.0.0.1:1/\r\nContent-Length: 0\r\nConnection: "
			"close\r\n"))));
	assert_int_equal(ask(f), ERR_PROVIDER_UNAVAILABLE);
	assert_int_equal(f->peer.seen->requests, 1);
}

static void a_stalled_provider_times_out(void **state)
{
	struct fixture *f = *state;
	f->conf.upstream_idle_timeout_ms = 300;
	serve(f, ANSWERS(STEPS(OK, CONTENT("a"), "@wait 5000")));
	assert_int_equal(ask(f), ERR_TIMEOUT);
	saw(f, "text \"a\"\n");
	assert_true(f->took >= 300 && f->took < 2000);
}

static void a_provider_that_never_answers_times_out(void **state)
{
	struct fixture *f = *state;
	f->conf.upstream_idle_timeout_ms = 300;
	serve(f, ANSWERS(STEPS("@wait 5000")));
	assert_int_equal(ask(f), ERR_TIMEOUT);
	assert_int_equal(f->peer.seen->requests, 1);
	assert_true(f->took < 2000);
}

static void a_turn_that_never_ends_times_out(void **state)
{
	struct fixture *f = *state;
	f->conf.upstream_total_timeout_ms = 400;
	serve(f,
		ANSWERS(STEPS(OK, CONTENT("a"), "@sleep 150", CONTENT("a"), "@sleep 150",
			CONTENT("a"), "@sleep 150", CONTENT("a"), "@wait 5000")));
	assert_int_equal(ask(f), ERR_TIMEOUT);
	assert_true(f->took >= 400 && f->took < 2000);
}

static void a_cut_stream_is_an_error(void **state)
{
	struct fixture *f = *state;
	serve(f, ANSWERS(STEPS(HEAD("200 OK", "Content-Length: 5000\r\n"), CONTENT("a"))));
	assert_int_equal(ask(f), ERR_PROVIDER_UNAVAILABLE);
	saw(f, "text \"a\"\n");
	assert_int_equal(f->peer.seen->requests, 1);
}

static void a_stream_cut_after_its_finish_is_whole(void **state)
{
	struct fixture *f = *state;
	serve(f, ANSWERS(STEPS(HEAD("200 OK", "Content-Length: 5000\r\n"), CONTENT("a"), FINISH)));
	assert_int_equal(ask(f), 0);
	saw(f, SAID("a"));
}

static void a_connection_closed_without_an_answer_is_an_error(void **state)
{
	struct fixture *f = *state;
	serve(f, ANSWERS(STEPS("@sleep 1")));
	assert_int_equal(ask(f), ERR_PROVIDER_UNAVAILABLE);
	saw(f, "");
}

static void what_is_no_http_is_an_error(void **state)
{
	struct fixture *f = *state;
	serve(f, ANSWERS(STEPS("SSH-2.0-OpenSSH_9.2\r\n")));
	assert_int_equal(ask(f), ERR_PROVIDER_UNAVAILABLE);
	saw(f, "");
}

static void an_error_frame_ends_the_turn(void **state)
{
	struct fixture *f = *state;
	serve(f,
		ANSWERS(STEPS(OK, CONTENT("a"),
			"data: {\"error\":{\"code\":503,\"message\":\"gone\"}}\n\n", CONTENT("b"),
			FINISH)));
	assert_int_equal(ask(f), ERR_PROVIDER_OVERLOADED);
	saw(f, "text \"a\"\n");
	/* Something was emitted, so there is no second try. */
	assert_int_equal(f->peer.seen->requests, 1);
}

static void an_error_frame_before_anything_else_is_retried(void **state)
{
	struct fixture *f = *state;
	serve(f,
		ANSWERS(STEPS(OK, "data: {\"error\":{\"code\":529,\"message\":\"busy\"}}\n\n"),
			STEPS(OK, CONTENT("a"), FINISH)));
	assert_int_equal(ask(f), 0);
	saw(f, SAID("a"));
	assert_int_equal(f->peer.seen->requests, 2);
}

static void a_huge_frame_is_refused(void **state)
{
	struct fixture *f = *state;
	serve(f, ANSWERS(STEPS(OK, "data: ", "@fill 20000000")));
	assert_int_equal(ask(f), ERR_PROVIDER_UNAVAILABLE);
	assert_non_null(strstr(f->err.message, "too large"));
}

static void huge_headers_are_refused(void **state)
{
	struct fixture *f = *state;
	serve(f,
		ANSWERS(STEPS("HTTP/1.1 200 OK\r\nX-A: ", "@fill 40000", "\r\nX-B: ", "@fill 40000",
			"\r\n\r\n", FINISH)));
	assert_int_equal(ask(f), ERR_PROVIDER_UNAVAILABLE);
	saw(f, "");
}

static void a_long_error_page_is_cut(void **state)
{
	struct fixture *f = *state;
	serve(f, ANSWERS(STEPS(HEAD("400 Bad", "Connection: close\r\n"), "@fill 20000000")));
	assert_int_equal(ask(f), ERR_INVALID_REQUEST);
	assert_true(strlen(f->err.message) < 400);
}

static void other_protocols_are_refused(void **state)
{
	struct fixture *f = *state;
	static char file[] = "file:///etc";
	f->provider.base_url = file;
	assert_int_equal(ask(f), ERR_PROVIDER_UNAVAILABLE);
	saw(f, "");
}

static void a_key_that_would_forge_headers_is_not_sent(void **state)
{
	struct fixture *f = *state;
	static char forged[] = "sk\r\nX-Evil: 1";
	serve(f, ANSWERS(STEPS(OK, FINISH)));
	f->provider.api_key = forged;
	assert_int_equal(ask(f), ERR_SERVER);
	assert_int_equal(f->peer.seen->requests, 0);
}

static void ask_and_log(void *p)
{
	log_open("test", LOG_DEBUG);
	ask(p);
	log_open("test", LOG_ERROR + 1);
}

static void failures_are_logged_without_the_key(void **state)
{
	struct fixture *f = *state;
	serve(f,
		ANSWERS(STEPS(HEAD("401 No", "Connection: close\r\n"),
			"{\"error\":\"sk-secret is bad\"}")));
	char *log = test_stderr_of(ask_and_log, f);
	assert_non_null(strstr(log, "provider acme: "));
	assert_null(strstr(log, "sk-secret"));
	free(log);
}

/* -- the client -------------------------------------------------------------- */

/* A client that closes its end after ms. */
static void *leave(void *p)
{
	int fd = *(int *)p;
	usleep(200000);
	close(fd);
	return NULL;
}

static void client_leaves(struct fixture *f)
{
	int fds[2];
	pthread_t t;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
	assert_int_equal(pthread_create(&t, NULL, leave, &fds[1]), 0);
	assert_int_equal(ask_with(f, fds[0]), ERR_CLIENT_GONE);
	pthread_join(t, NULL);
	close(fds[0]);
	assert_true(f->took >= 190 && f->took < 1500);
}

static void a_client_that_leaves_ends_the_transfer(void **state)
{
	struct fixture *f = *state;
	serve(f, ANSWERS(STEPS(OK, CONTENT("a"), "@wait 5000")));
	client_leaves(f);
	saw(f, "text \"a\"\n");
	for (int i = 0; i < 100 && f->peer.seen->hung_up == 0; i++)
		usleep(10000);
	assert_int_equal(f->peer.seen->hung_up, 1);
}

static void a_client_that_leaves_ends_the_wait_for_another_try(void **state)
{
	struct fixture *f = *state;
	serve(f,
		ANSWERS(STEPS(
			HEAD("429 Too Many", "Retry-After: 5\r\nConnection: close\r\n"), "{}")));
	client_leaves(f);
	assert_int_equal(f->peer.seen->requests, 1);
}

static void a_sink_that_fails_ends_the_transfer(void **state)
{
	struct fixture *f = *state;
	serve(f, ANSWERS(STEPS(OK, CONTENT("a"), CONTENT("b"), "@wait 5000")));
	events_reset(&f->seen);
	f->seen.fail_at = 2;
	assert_int_equal(
		upstream_turn(&f->conf, &f->turn, &f->seen.sink, -1, &f->err), ERR_CLIENT_GONE);
	saw(f, "text \"a\"\n");
	assert_int_equal(f->peer.seen->requests, 1);
}

static void a_sink_that_fails_at_a_heartbeat_ends_the_transfer(void **state)
{
	struct fixture *f = *state;
	f->conf.heartbeat_ms = 50;
	serve(f, ANSWERS(STEPS(OK, "@wait 5000")));
	events_reset(&f->seen);
	f->seen.fail_at = 2;
	assert_int_equal(
		upstream_turn(&f->conf, &f->turn, &f->seen.sink, -1, &f->err), ERR_CLIENT_GONE);
	saw(f, "idle\n");
}

/* -- threads ----------------------------------------------------------------- */

static void *ask_alone(void *p)
{
	struct fixture *f = p;
	struct arena *a = arena_new();
	struct turn t;
	struct events v;
	events_turn(&t, a);
	t.model = f->turn.model;
	items_add_text(a, &t.items, ROLE_USER, "q");
	events_init(&v);
	int rc = upstream_turn(&f->conf, &t, &v.sink, -1, NULL);
	bool good = rc == 0 && strcmp(buf_str(&v.seen), SAID("a")) == 0;
	events_free(&v);
	arena_free(a);
	return good ? p : NULL;
}

static void threads_do_not_mix(void **state)
{
	struct fixture *f = *state;
	pthread_t t[8];
	serve(f, ANSWERS(STEPS(OK, CONTENT("a"), FINISH)));
	for (size_t i = 0; i < 8; i++)
		assert_int_equal(pthread_create(&t[i], NULL, ask_alone, f), 0);
	for (size_t i = 0; i < 8; i++) {
		void *good;
		pthread_join(t[i], &good);
		assert_non_null(good);
	}
	assert_int_equal(f->peer.seen->requests, 8);
}

static int once(void **state)
{
	(void)state;
	log_open("test", LOG_ERROR + 1);
	return upstream_global_init();
}

int main(void)
{
#define T(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(a_stream_becomes_events),
		T(the_request_is_as_the_provider_wants_it),
		T(without_a_key_none_is_sent),
		T(a_slash_at_the_end_of_the_address_is_not_doubled),
		T(a_whole_body_is_taken),
		T(silence_is_bridged_by_idle_events),
		T(comments_keep_the_provider_alive_but_not_the_client),
		T(the_announced_end_is_enough),
		T(a_connection_is_used_again),
		T(nobody_listens),
		T(a_refused_key_is_not_retried),
		T(a_rate_limit_is_waited_for),
		T(a_long_rate_limit_is_the_clients_to_wait_for),
		T(a_500_is_not_retried),
		T(an_overloaded_provider_is_asked_three_times),
		T(a_redirect_is_not_followed),
		T(a_stalled_provider_times_out),
		T(a_provider_that_never_answers_times_out),
		T(a_turn_that_never_ends_times_out),
		T(a_cut_stream_is_an_error),
		T(a_stream_cut_after_its_finish_is_whole),
		T(a_connection_closed_without_an_answer_is_an_error),
		T(what_is_no_http_is_an_error),
		T(an_error_frame_ends_the_turn),
		T(an_error_frame_before_anything_else_is_retried),
		T(a_huge_frame_is_refused),
		T(huge_headers_are_refused),
		T(a_long_error_page_is_cut),
		T(other_protocols_are_refused),
		T(a_key_that_would_forge_headers_is_not_sent),
		T(failures_are_logged_without_the_key),
		T(a_client_that_leaves_ends_the_transfer),
		T(a_client_that_leaves_ends_the_wait_for_another_try),
		T(a_sink_that_fails_ends_the_transfer),
		T(a_sink_that_fails_at_a_heartbeat_ends_the_transfer),
		T(threads_do_not_mix),
	};
	return cmocka_run_group_tests(tests, once, NULL);
}
