/* events: what an upstream emits, written down for comparison. SPDX-License-Identifier: ISC */
#ifndef TESTS_LIB_EVENTS_H
#define TESTS_LIB_EVENTS_H

#include "app/core/event.h"
#include "app/core/turn.h"
#include "sandbox/sys/buf.h"

/*
 * A line an event; calls are numbered in the order in which they begin:
 *   text "…"   reasoning "…"   refusal "…"   idle
 *   start 1 shell name   args 1 "…"   end 1 "…"
 *   turn FINISH in/cached/write out/reasoning [cost N] [stop "…"] [raw JSON]
 */
struct events {
	struct sink sink;
	struct buf seen;
	const struct call *calls[256];
	size_t ncalls;
	size_t idles;
	int fail_at; /* emit fails with ERR_CLIENT_GONE at the n-th event from 1; 0 never */
	int n;
	bool overlap; /* a piece belonged to no open call, or text came within one */
};
void events_init(struct events *v);
void events_free(struct events *v);
void events_reset(struct events *v);

/* Makes *t a turn in which nothing is said; a is its arena. (A turn is not to be copied: its list points into it.) */
void events_turn(struct turn *t, struct arena *a);
/* Adds a tool to a turn. */
void events_offer(struct turn *t, enum tool_kind kind, const char *name);

#endif
