/* apiworld: the application behind a socket, with a database and keys, for tests of the API. SPDX-License-Identifier: ISC */
#ifndef TESTS_LIB_APIWORLD_H
#define TESTS_LIB_APIWORLD_H

#include <cjson/cJSON.h>

#include "app/api/api.h"
#include "tests/lib/fcgi_client.h"
#include "tests/lib/fcgi_server.h"

/*
 * State folder, database, a workspace "one" with a key and another "two" are made anew for each test;
 * the built-in model is the only provider. The first request starts the application in a process of
 * its own, with conf as it is then.
 */
struct apiworld {
	struct arena *arena;
	struct conf conf;
	struct conf_provider script;
	struct store *store; /* the test's own connection */
	struct workspace one, two;
	const char *key, *key_two;
	struct worker worker;
	struct fcgi_server server; /* pid 0: not started yet */
	struct fcgi_client client; /* of the last request */
	bool asked;
};
int apiworld_setup(void **state);
int apiworld_teardown(void **state);

/* Starts the application now, if it was not yet: before the test has threads, as it is a fork. */
void apiworld_start(struct apiworld *w);

struct reply {
	int status;
	const char *head; /* all header lines */
	const char *body; /* len bytes, NUL-terminated */
	size_t len;
};
/*
 * One request. headers: "name: value" lines joined by newlines, or NULL; the key of "one" is sent
 * unless they name an authorization or x-api-key, even an empty one. body may be NULL.
 */
struct reply apiworld_ask(struct apiworld *w, const char *method, const char *uri,
	const char *headers, const char *body);
/* Only sends it: the answer is read from w->client. */
void apiworld_begin(struct apiworld *w, const char *method, const char *uri, const char *headers,
	const char *body);
/* A header's value, NULL if it was not sent. */
const char *apiworld_header(struct apiworld *w, const struct reply *r, const char *name);
/* The body as JSON; the test fails if it is none. */
const cJSON *apiworld_json(struct apiworld *w, const struct reply *r);
/* The text at a dotted path such as "error.message"; fails the test if it is not there. */
const char *apiworld_text(struct apiworld *w, const struct reply *r, const char *path);

#endif
