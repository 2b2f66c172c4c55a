/* event: what a model says, piece by piece, in no API's dialect. SPDX-License-Identifier: ISC */
#ifndef APP_CORE_EVENT_H
#define APP_CORE_EVENT_H

#include "app/base/err.h"
#include "app/core/item.h"
#include "app/core/usage.h"

/*
 * An upstream emits, per model turn: any of IDLE TEXT REFUSAL REASONING CALL_START CALL_ARGS CALL_END, and
 * TURN_END last, unless it fails (it then returns an error and emits no TURN_END).
 * The loop passes them on, with call ids minted and tool kinds set, and adds RUNNING and RESULT
 * after a turn's end for each server call, IDLE while it waits, and DONE or FAILED once, last.
 */
enum event_type {
	EVENT_IDLE,       /* nothing to say for a while: a heartbeat is due */
	EVENT_TEXT,       /* text: a piece of the answer */
	EVENT_REFUSAL,    /* text */
	EVENT_REASONING,  /* text */
	EVENT_CALL_START, /* call: id, name, tool are known; arguments are not */
	EVENT_CALL_ARGS,  /* call, text: a piece of the arguments */
	EVENT_CALL_END,   /* call: whole */
	EVENT_TURN_END,   /* finish, usage of the turn; raw reasoning_details in text, or NULL */
	EVENT_RUNNING,    /* call: a server call begins to run */
	EVENT_RESULT,     /* result */
	EVENT_DONE,       /* finish, usage: of the whole request */
	EVENT_FAILED,     /* err, usage so far */
	EVENT__MAX
};

enum finish {
	FINISH_STOP,
	FINISH_CALLS,
	FINISH_LENGTH,
	FINISH_CONTENT_FILTER,
	FINISH_STOP_SEQUENCE
};

struct event {
	enum event_type type;
	const char *text; /* n bytes, also NUL-terminated */
	size_t len;
	const struct call *call; /* stable through the request from CALL_START on */
	const struct result *result;
	enum finish finish;
	const char *stop_sequence; /* FINISH_STOP_SEQUENCE, if known */
	struct usage usage;
	const struct err *err;
};

/* Where events go. Returns 0, or an err_code (ERR_CLIENT_GONE: stop now), which the emitter returns. */
struct sink {
	int (*emit)(void *ctx, const struct event *ev);
	void *ctx;
};
static inline int sink_emit(const struct sink *s, const struct event *ev)
{
	return s->emit(s->ctx, ev);
}

#endif
