/* peer: an app that asks for a lease. SPDX-License-Identifier: ISC */
#include "sandbox/pool/peer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sandbox/pool/slot.h"
#include "sandbox/sys/io.h"
#include "sandbox/sys/log.h"

#define PEERS_MAX  1024
#define SILENCE_MS 5000  /* until a peer has said what it wants */
#define WAIT_MS    30000 /* for a container to end */

bool peer_room(const struct pool *p)
{
	return p->npeers < PEERS_MAX;
}

static void drop(struct pool *p, struct peer *c)
{
	struct peer **at = &p->peers;

	while (*at != c)
		at = &(*at)->next;
	*at = c->next;
	p->npeers--;
	io_close(&c->fd);
	free(c);
}

/* The socket's mode keeps others out already; this holds if someone changed it. */
static bool is_known(const struct pool *p, int fd)
{
	struct ucred who;
	socklen_t n = sizeof who;

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &n) < 0)
		return false;
	return who.uid == p->uid || who.uid == 0;
}

void peer_accept(struct pool *p)
{
	int fd = accept4(p->listen, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct peer *c;

	if (fd < 0) {
		if (errno != EAGAIN && errno != ECONNABORTED && errno != EINTR)
			log_error("accept: %s", strerror(errno));
		return;
	}
	c = is_known(p, fd) ? calloc(1, sizeof *c) : NULL;
	if (!c) {
		io_close(&fd);
		return;
	}
	c->fd = fd;
	c->deadline = io_now_ms() + SILENCE_MS;
	c->next = p->peers;
	p->peers = c;
	p->npeers++;
}

static void refuse(struct pool *p, struct peer *c, enum wire_refusal why, const char *text)
{
	const struct wire_refused m = {.why = why, .text = text};

	wire_refused(&p->out, &m);
	(void)wire_send(c->fd, &p->out, NULL, 0);
	drop(p, c);
}

/* A text if one more container would be over a limit. */
static bool over_limit(const struct pool *p, const char *workspace, char text[WIRE_TEXT_MAX])
{
	const struct settings *s = &p->settings;

	if (p->nslots >= s->max_containers) {
		(void)snprintf(text, WIRE_TEXT_MAX,
			"%zu containers are awake on this server, which is its limit "
			"(max_containers); "
			"try again when one has gone to sleep",
			p->nslots);
		return true;
	}
	if (slot_count(p, workspace) >= s->max_containers_per_workspace) {
		(void)snprintf(text, WIRE_TEXT_MAX,
			"%llu containers of this workspace are awake, which is the limit "
			"(max_containers_per_workspace); try again when one has gone to sleep",
			(unsigned long long)s->max_containers_per_workspace);
		return true;
	}
	return false;
}

static void grant(struct pool *p, struct peer *c, struct slot *s)
{
	int fd = slot_attach(p, s);

	if (fd < 0) {
		refuse(p, c, WIRE_REFUSED_FAILED, "the container does not take connections");
		return;
	}
	wire_leased(&p->out);
	/* If the app has gone, closing its end tells the box. */
	(void)wire_send(c->fd, &p->out, &fd, 1);
	io_close(&fd);
	drop(p, c);
}

/* Answers if it can; else the peer waits. */
static void serve(struct pool *p, struct peer *c)
{
	struct slot *s = slot_find(p, c->workspace, c->container);
	char text[WIRE_TEXT_MAX];

	if (p->stopping) {
		refuse(p, c, WIRE_REFUSED_STOPPING, "the sandbox is being shut down");
		return;
	}
	if (s && s->state != SLOT_LIVE) {
		c->waits = true;
		return;
	}
	if (!s) {
		if (over_limit(p, c->workspace, text)) {
			refuse(p, c, WIRE_REFUSED_LIMIT, text);
			return;
		}
		s = slot_new(p, c->workspace, c->container, text, sizeof text);
		if (!s) {
			refuse(p, c, WIRE_REFUSED_FAILED, text);
			return;
		}
	}
	grant(p, c, s);
}

void peer_on_input(struct pool *p, struct peer *c)
{
	struct wire_lease m;
	int r = wire_recv(c->fd, &p->in);

	if (r < 0 && errno == EAGAIN)
		return;
	/* A peer that waits has nothing more to say: what comes now is its going. */
	if (r <= 0 || c->waits) {
		drop(p, c);
	} else if (wire_lease_get(&p->in, &m) < 0 || !wire_name_ok(m.workspace) ||
		!wire_name_ok(m.container)) {
		refuse(p, c, WIRE_REFUSED_BAD, "malformed lease");
	} else {
		(void)snprintf(c->workspace, sizeof c->workspace, "%s", m.workspace);
		(void)snprintf(c->container, sizeof c->container, "%s", m.container);
		c->deadline = io_now_ms() + WAIT_MS;
		serve(p, c);
	}
	wire_close(&p->in);
}

int peer_tick(struct pool *p)
{
	int64_t now = io_now_ms(), left, least = -1;

	for (struct peer *c = p->peers, *next; c; c = next) {
		next = c->next;
		if (c->waits && !slot_find(p, c->workspace, c->container)) {
			c->waits = false;
			serve(p, c);
			continue;
		}
		left = c->deadline - now;
		if (left <= 0) {
			if (c->waits)
				refuse(p, c, WIRE_REFUSED_FAILED,
					"the container is being put to sleep and does not end");
			else
				drop(p, c);
		} else if (least < 0 || left < least) {
			least = left;
		}
	}
	return (int)least;
}

void peer_refuse_all(struct pool *p)
{
	while (p->peers) {
		if (p->peers->workspace[0])
			refuse(p, p->peers, WIRE_REFUSED_STOPPING,
				"the sandbox is being shut down");
		else
			drop(p, p->peers);
	}
}
