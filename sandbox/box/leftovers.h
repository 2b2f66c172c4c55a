/* leftovers: pipes that outlive their command. SPDX-License-Identifier: ISC */
#ifndef SANDBOX_BOX_LEFTOVERS_H
#define SANDBOX_BOX_LEFTOVERS_H

#include <stdint.h>

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
