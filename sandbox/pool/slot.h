/* slot: one awake container: its box, its environments, its groups. SPDX-License-Identifier: ISC */
#ifndef SANDBOX_POOL_SLOT_H
#define SANDBOX_POOL_SLOT_H

#include "sandbox/pool/pool.h"

#define SLOT_ENVS 2 /* shell, bash */

enum slot_state {
	SLOT_LIVE,
	SLOT_STOPPING, /* told to stop, or about to end by itself */
	SLOT_DYING     /* killed; waiting for its processes */
};
struct slot {
	struct slot *next;
	char workspace[WIRE_NAME_MAX + 1], container[WIRE_NAME_MAX + 1];
	enum slot_state state;
	uint32_t block;
	int control; /* to the box; -1 once it has closed */
	pid_t box, inits[SLOT_ENVS];
	uint32_t attaches; /* sent to the box */
	int64_t deadline;  /* ms: of stopping, of dying */
};

struct slot *slot_find(struct pool *p, const char *workspace, const char *container);
size_t slot_count(const struct pool *p, const char *workspace);
/* Makes a container awake: groups, environment, box. NULL with a text for people. */
struct slot *slot_new(
	struct pool *p, const char *workspace, const char *container, char *why, size_t why_size);
/* Connects an app: its end, to be passed on and closed; -1 if the box does not take it, which then ends. */
int slot_attach(struct pool *p, struct slot *s);
/* Something came from the box. */
void slot_on_control(struct pool *p, struct slot *s);
/* Asks the box to save and exit; it is killed if it has not within ms. */
void slot_stop(struct pool *p, struct slot *s, int ms);
void slot_kill(struct pool *p, struct slot *s);
/* Reaps children of any slot; slots that are over are removed. */
void slot_reap(struct pool *p);
/* Acts on deadlines that have passed. The next one in ms from now, or -1. */
int slot_tick(struct pool *p);
/* Makes an environment without a box, waits until it is ready, and removes it. 0, or -1 with why. */
int slot_trial(struct pool *p, int ms, char *why, size_t why_size);

#endif
