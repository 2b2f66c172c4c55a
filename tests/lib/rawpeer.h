/* rawpeer: an HTTP server that plays bytes and pauses, good and bad. SPDX-License-Identifier: ISC */
#ifndef TESTS_LIB_RAWPEER_H
#define TESTS_LIB_RAWPEER_H

#include <stddef.h>
#include <sys/types.h>

#define RAWPEER_REQUESTS 4
#define RAWPEER_MAX      8192

/* What the server's process saw; shared memory. */
struct rawpeer_seen {
	int connections, requests;
	int hung_up;                                 /* a @wait ended because the client closed */
	char request[RAWPEER_REQUESTS][RAWPEER_MAX]; /* the first ones: head and body, cut */
};

struct rawpeer {
	pid_t pid;
	char url[64]; /* http://127.0.0.1:PORT/v1 */
	struct rawpeer_seen *seen;
};

/*
 * Forks a server whose k-th request gets the k-th answer (the last one again and again). An answer
 * is a NULL-terminated list of steps: bytes to be sent, or
 *   @sleep MS   @wait MS (until the client closes, at most MS)   @fill N (bytes x)
 *   @next       the connection stays for another request; without it, it is closed at the end
 */
void rawpeer_start(struct rawpeer *p, const char *const *const *answers);
void rawpeer_stop(struct rawpeer *p);
/* Makes *p the address of a port where nobody listens. */
void rawpeer_nowhere(struct rawpeer *p);

#endif
