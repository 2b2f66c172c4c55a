/* run: the life of one command. SPDX-License-Identifier: ISC */
#ifndef SANDBOX_BOX_RUN_H
#define SANDBOX_BOX_RUN_H

#include <stdint.h>

#include "sandbox/box/conn.h"
#include "sandbox/box/env.h"
#include "sandbox/box/pump.h"
#include "sandbox/wire/init.h"

/*
 * NONE: nothing runs. ENV: the command waits for its environment, which boxd makes. ON: init was
 * told to run it. DRAIN: its main process has ended; the pipes are read until they end or fall
 * silent. Then it is saved and answered, in one go, and the state is NONE again.
 */
enum run_state { RUN_NONE, RUN_ENV, RUN_ON, RUN_DRAIN };

struct run {
	enum run_state state;
	struct job *job;
	struct env *env;
	uint32_t id;
	int64_t until; /* io_now_ms: when the state's time is up */
	int64_t began_us, ended_us;
	int64_t silent_at; /* DRAIN: when 100 ms of silence are over */
	bool running;      /* RUNNING came */
	bool timed_out;
	bool killing; /* KILL was sent */
	bool killed;  /* and KILLED came */
	bool exited;  /* EXITED came */
	struct wire_exited how;
	struct pump out, err;
};

void run_init(struct run *r);
/* Starts the next command of the queue, if nothing runs and commands may start. */
void run_next(struct box *b);
/* The message in b->in came from e. Ends the environment when it is out of turn. */
void run_message(struct box *b, struct env *e);
/* The environment e has gone. */
void run_env_lost(struct box *b, struct env *e);
/* Boxd answered a wish for the bash environment: it is there, or it is not. */
void run_env_made(struct box *b);
/* The pipes have something to read. */
void run_output(struct box *b);
/* What the clock brings. */
void run_tick(struct box *b);
/* io_now_ms when the clock brings something; INT64_MAX: never. */
int64_t run_due(const struct box *b);
/* The app of the running command has gone, or the box must end: kill it. It is saved all the same. */
void run_abandon(struct box *b);

#endif
