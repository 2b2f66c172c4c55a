/* conn: the apps' connections and the queue of commands. SPDX-License-Identifier: ISC */
#ifndef SANDBOX_BOX_CONN_H
#define SANDBOX_BOX_CONN_H

#include <stdbool.h>
#include <stddef.h>

#include "sandbox/wire/exec.h"

struct box;
struct conn;

/* A command that waits or runs. The message stays where it was received: exec borrows from in. */
struct job {
	struct wire_in in;
	struct wire_exec exec;
	struct conn *conn; /* NULL once the app has gone */
	struct job *next;  /* in the queue */
};

struct conn {
	int fd;          /* -1: closed, to be swept */
	struct job *job; /* waiting or running, at most one */
	struct conn *next;
};

#define CONNS_MAX 256
struct conns {
	struct conn *first;
	unsigned n;
	struct job *queue, **queue_end; /* first in, first out, over all connections */
	struct job *spare;              /* where the next message is received */
};

void conn_init(struct conns *c);
/* Takes the descriptor over; closed at once when there are too many. */
void conn_attach(struct box *b, int fd);
/*
 * Poll said something of the connection. A command is put into the queue; a peer that has gone or
 * talks nonsense is closed, its waiting command dropped, its running one killed.
 */
void conn_ready(struct box *b, struct conn *c, short revents);
/* What to poll for: a busy connection is only watched for its end. */
short conn_events(const struct conn *c);
/*
 * Sends; 0, or -1 and the connection is closed. A connection whose socket is full has not read two
 * short messages: it is not waited for.
 */
int conn_send(struct box *b, struct conn *c, const struct wire_out *o, int fd);
void conn_close(struct box *b, struct conn *c);
/* Frees closed connections. */
void conn_sweep(struct conns *c);
/* The next command of the queue, or NULL; the caller owns it. */
struct job *conn_next(struct conns *c);
/* Ends a job: its connection may ask for another. */
void conn_end(struct conns *c, struct job *j);

#endif
