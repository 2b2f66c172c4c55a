/* chatpeer: a Chat Completions server that says what a test scripted. SPDX-License-Identifier: ISC */
#ifndef TESTS_LIB_CHATPEER_H
#define TESTS_LIB_CHATPEER_H

#include <stddef.h>

#include "sandbox/sys/buf.h"

struct chatpeer;
/* Listens on a free port of 127.0.0.1, and nothing more: a test may fork before it serves, in a thread. */
struct chatpeer *chatpeer_listen(void);
void chatpeer_serve(struct chatpeer *p);
/* Both. */
struct chatpeer *chatpeer_start(void);
void chatpeer_stop(struct chatpeer *p);
/* "http://127.0.0.1:PORT/v1", borrowed. */
const char *chatpeer_url(const struct chatpeer *p);

/*
 * The answers, one a request, in order; after the last one every request gets a 500. Text and calls
 * are put into the answer that was begun last.
 */
void chatpeer_answer(struct chatpeer *p);
void chatpeer_text(struct chatpeer *p, const char *text);
void chatpeer_call(
	struct chatpeer *p, int index, const char *id, const char *name, const char *arguments);
/* finish NULL: the stream is cut without a finish reason. */
void chatpeer_finish(struct chatpeer *p, const char *finish, int prompt, int completion);
/* An answer that is an HTTP error. */
void chatpeer_error(struct chatpeer *p, int status, const char *body);
/* The answer goes on (silently) after what was put until the client hangs up, or for at most ms. */
void chatpeer_hang(struct chatpeer *p, int ms);

/* How many requests came, and the body of the k-th (from 0; NULL if it did not come; borrowed until stop). */
size_t chatpeer_requests(struct chatpeer *p);
const char *chatpeer_request(struct chatpeer *p, size_t k);

#endif
