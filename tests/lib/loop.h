/* loop: what the tests of the agent loop share. SPDX-License-Identifier: ISC */
#ifndef TESTS_LIB_LOOP_H
#define TESTS_LIB_LOOP_H

#include "app/agent/agent.h"
#include "app/base/json.h"
#include "sandbox/sys/buf.h"
#include "tests/lib/boxpeer.h"
#include "tests/lib/chatpeer.h"
#include "tests/lib/test.h"

/* A provider that a test scripts, a boxd that only speaks the protocol, and a request to run on them. */
struct world {
	struct arena *arena;
	struct chatpeer *chat;
	struct boxpeer *boxes;
	struct conf conf;
	struct conf_provider provider;
	char *models[2];
	struct turn turn;
	struct tool shell, bash, client;
	struct agent agent;
	struct buf seen; /* a line an event */
	char ids[4096];  /* call ids, space separated */
	int idles, used;
	int gone_at; /* event type at which the client goes away, -1 never */
	struct usage usage;
	struct err err;
	char log[8192];
};

/* For cmocka: state becomes a fresh world; loop_once is the group's set-up. */
int loop_setup(void **state);
int loop_teardown(void **state);
int loop_once(void **state);
#define LOOP_TEST(fn) cmocka_unit_test_setup_teardown(fn, loop_setup, loop_teardown)

/* Runs the request, events recorded in seen. */
int go(struct world *w);
/* All events were these. */
void saw(const struct world *w, const char *expected);
/* boxpeer's log. */
const char *asked(struct world *w);
/* The k-th request to the provider, parsed. */
const cJSON *request(struct world *w, size_t k);

/* Scripts a whole answer. */
void answers_text(struct world *w, const char *text, const char *finish, int in, int out);
void answers_call(struct world *w, const char *name, const char *arguments);

#define ECHO(text) "{\"commands\":[\"echo " text "\"]}"
#define ECHOED(text)                                                                               \
	"{\"output\":[{\"stdout\":\"" text                                                         \
	"\\n\",\"stderr\":\"\",\"outcome\":{\"type\":\"exit\",\"exit_code\":0}}]}"

#endif
