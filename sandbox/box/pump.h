/* pump: reading the output pipes of commands. SPDX-License-Identifier: ISC */
#ifndef SANDBOX_BOX_PUMP_H
#define SANDBOX_BOX_PUMP_H

#include <stdint.h>

#include "sandbox/box/capture.h"

/* One output pipe of the running command. */
struct pump {
	int fd; /* read end, non-blocking; -1 after its end */
	struct capture capture;
};

/* Makes the pipe; the write end is the caller's. 0, or -1 with errno. */
int pump_open(struct pump *p, int *write_end, uint32_t max_output);
/* Reads what is there, within a share of time. True if anything came, the end included. */
bool pump_read(struct pump *p);
void pump_close(struct pump *p);

/*
 * Pipes that processes left behind still hold after their command was answered. They are read to
 * nowhere until the container sleeps, so that the writers live on, but slowly: a rest follows each
 * reading. Beyond the maximum the oldest is closed, and its writers get SIGPIPE.
 */
#define LEFTOVERS_MAX 16
struct leftovers {
	struct leftover {
		int fd;
		int64_t rest_until; /* io_now_ms */
	} at[LEFTOVERS_MAX];
	unsigned n;
};
/* Takes the descriptor over. */
void leftovers_add(struct leftovers *l, int fd);
/* Reads the k-th, which poll says is readable; at its end it is closed (fd is -1). */
void leftovers_read(struct leftovers *l, unsigned k, int64_t now);
/* Drops the closed ones. */
void leftovers_sweep(struct leftovers *l);

#endif
