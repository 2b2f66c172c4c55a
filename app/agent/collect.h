/* collect: one model turn, passed on and kept. SPDX-License-Identifier: ISC */
#ifndef APP_AGENT_COLLECT_H
#define APP_AGENT_COLLECT_H

#include "app/base/arena.h"
#include "app/core/event.h"
#include "app/core/turn.h"

#define COLLECT_CALLS_MAX 128 /* calls of one turn; more are dropped */

/* A call of the turn. */
struct collected {
	struct call call;            /* ours: stable, id unique in the response, kind set */
	const struct call *upstream; /* how the provider's events name it */
	bool ended;                  /* its arguments are whole */
	struct collected *next;
};

struct collect;

/* One for a request: ids stay unique over all its turns. Events go on to s. */
struct collect *collect_new(struct arena *a, const struct sink *s);

/* Forgets the last turn and gets ready for one that t asks for. */
void collect_begin(struct collect *c, const struct turn *t);

/*
 * An event sink (the collector is the ctx) for an upstream. Passes everything on, except calls
 * beyond what the turn allows: any when its choice is none, a second one when calls are not to be
 * parallel. ERR_PROVIDER_UNAVAILABLE if the turn grows beyond all measure.
 */
int collect_emit(void *c, const struct event *ev);

/* 0, or what s failed with: nobody is to be told anything more. */
int collect_broken(const struct collect *c);
/* True once an event was passed on. */
bool collect_emitted(const struct collect *c);
/* How the turn ended, with the calls taken into account; only after TURN_END. */
enum finish collect_finish(const struct collect *c);
/* The TURN_END event's usage and stop sequence. */
const struct usage *collect_usage(const struct collect *c);
const char *collect_stop_sequence(const struct collect *c);
/* The whole calls of the turn, in order. */
const struct collected *collect_calls(const struct collect *c);
/* Appends what the model said to the conversation: reasoning, text, calls. */
void collect_append(const struct collect *c, struct items *items);

#endif
