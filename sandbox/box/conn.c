/* conn: the apps' connections and the queue of commands. SPDX-License-Identifier: ISC */
#include "sandbox/box/conn.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "sandbox/box/box.h"
#include "sandbox/sys/io.h"
#include "sandbox/sys/log.h"

void conn_init(struct conns *c)
{
	*c = (struct conns){.queue_end = &c->queue};
}

void conn_attach(struct box *b, int fd)
{
	struct conn *c = NULL;

	if (b->conns.n < CONNS_MAX && !io_set_nonblocking(fd, true))
		c = calloc(1, sizeof(*c));
	if (!c) {
		log_warn("too many connections");
		io_close(&fd);
		return;
	}
	c->fd = fd;
	c->next = b->conns.first;
	b->conns.first = c;
	b->conns.n++;
}

static void dequeue(struct conns *q, struct job *j)
{
	for (struct job **at = &q->queue; *at; at = &(*at)->next) {
		if (*at != j)
			continue;
		*at = j->next;
		if (!j->next)
			q->queue_end = at;
		conn_end(q, j);
		return;
	}
}

void conn_close(struct box *b, struct conn *c)
{
	struct job *j = c->job;

	io_close(&c->fd);
	c->job = NULL;
	if (!j)
		return;
	j->conn = NULL;
	if (j == b->run.job)
		run_abandon(b);
	else
		dequeue(&b->conns, j);
}

void conn_sweep(struct conns *q)
{
	struct conn **at = &q->first, *c;

	while ((c = *at)) {
		if (c->fd >= 0) {
			at = &c->next;
			continue;
		}
		*at = c->next;
		free(c);
		q->n--;
	}
}

short conn_events(const struct conn *c)
{
	return c->job ? POLLRDHUP : POLLIN | POLLRDHUP;
}

static void receive(struct box *b, struct conn *c)
{
	struct conns *q = &b->conns;
	struct job *j = q->spare;
	int rc;

	if (!j)
		j = q->spare = calloc(1, sizeof(*j));
	if (!j) {
		conn_close(b, c);
		return;
	}
	rc = wire_recv(c->fd, &j->in);
	if (rc < 0 && errno == EAGAIN)
		return;
	if (rc <= 0) {
		conn_close(b, c);
		return;
	}
	if (wire_exec_get(&j->in, &j->exec) || j->in.nfds > 1 ||
		(*j->exec.cwd && home_path_check(j->exec.cwd, strlen(j->exec.cwd)))) {
		log_error("a malformed message of type %d from an app", (int)wire_type(&j->in));
		wire_close(&j->in);
		conn_close(b, c);
		return;
	}
	q->spare = NULL;
	j->conn = c;
	c->job = j;
	j->next = NULL;
	*q->queue_end = j;
	q->queue_end = &j->next;
}

void conn_ready(struct box *b, struct conn *c, short revents)
{
	/* A peer that closed right after asking has gone, too: nobody would read the answer. */
	if (revents & (POLLRDHUP | POLLHUP | POLLERR | POLLNVAL))
		conn_close(b, c);
	else if (revents & POLLIN && !c->job)
		receive(b, c);
}

int conn_send(struct box *b, struct conn *c, const struct wire_out *o, int fd)
{
	if (!wire_send(c->fd, o, &fd, fd >= 0 ? 1 : 0))
		return 0;
	if (errno != EPIPE && errno != ECONNRESET)
		log_warn("an answer could not be sent: %s", strerror(errno));
	conn_close(b, c);
	return -1;
}

struct job *conn_next(struct conns *q)
{
	struct job *j = q->queue;

	if (j) {
		q->queue = j->next;
		if (!q->queue)
			q->queue_end = &q->queue;
		j->next = NULL;
	}
	return j;
}

void conn_end(struct conns *q, struct job *j)
{
	if (j->conn)
		j->conn->job = NULL;
	wire_close(&j->in);
	if (q->spare) {
		free(j);
		return;
	}
	j->conn = NULL;
	q->spare = j;
}
