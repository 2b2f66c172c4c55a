/* sandgate-boxd: wakes containers and puts them to sleep. SPDX-License-Identifier: ISC */

/*
 * How it works. The only program that runs as root. It reads nothing that a tenant wrote: a lease
 * names a workspace and a container, and everything else goes past it through descriptors.
 *
 * An app connects to run/boxd.sock (peer.c) and asks for a lease of a container. If the container
 * is asleep, a slot is made for it (slot.c): control groups and a block of host ids of its own, an
 * environment (sandbox/jail/env.c: namespaces, mounts, then sandgate-init as PID 1), and a box
 * (box.c: sandgate-box as the service user). The box gets one end of init's channel, and one end of
 * a connection to the app; the app gets the other end, and boxd is out of the way.
 *
 *     app ==lease== boxd ==control== box ==channel== init
 *      \_______________connection_____/
 *
 * A slot ends when its box exits: asked to (it said that it was idle, or boxd stops) or not. Then
 * all in its groups is killed, and the slot is dropped when the kernel has let go of it. A lease
 * that comes in between waits, and wakes the container anew.
 *
 * One thread, one poll loop: the listening socket, the peers that have not been answered, the
 * control channels, and a signalfd for SIGCHLD, SIGTERM and SIGINT. Nothing blocks for longer than
 * it takes to make a container (about a millisecond). Its end: SIGTERM stops every box, waits for
 * stop_seconds, kills what is left, and leaves nothing behind. If it is killed itself, the boxes see
 * their control channel close, save and exit; the next boxd removes what is left (prepare.c).
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "sandbox/pool/peer.h"
#include "sandbox/pool/pool.h"
#include "sandbox/pool/prepare.h"
#include "sandbox/pool/slot.h"
#include "sandbox/sys/io.h"
#include "sandbox/sys/log.h"

#define CONFIG "/etc/sandgate/sandgate.conf"

enum { SIGNALS, LISTEN, FIRST }; /* places in the list that is polled */

static void stop(struct pool *p)
{
	bool again = p->stopping;

	p->stopping = true;
	io_close(&p->listen);
	peer_refuse_all(p);
	for (struct slot *s = p->slots; s; s = s->next) {
		if (again)
			slot_kill(p, s);
		else
			slot_stop(p, s, (int)p->settings.stop_seconds * 1000);
	}
}

static void on_signals(struct pool *p)
{
	struct signalfd_siginfo info;

	while (read(p->signals, &info, sizeof info) == (ssize_t)sizeof info) {
		if (info.ssi_signo != SIGCHLD)
			stop(p);
	}
	slot_reap(p);
}

/* The list of one round: fds[k] belongs to owners[k]. */
struct round {
	struct pollfd *fds;
	void **owners;
	size_t cap, n, peers_end;
};

static void put(struct round *r, int fd, void *owner)
{
	r->fds[r->n] = (struct pollfd){.fd = fd, .events = POLLIN};
	r->owners[r->n++] = owner;
}

static int make_round(struct round *r, const struct pool *p)
{
	size_t need = FIRST + p->npeers + p->nslots;

	if (need > r->cap) {
		need *= 2;
		struct pollfd *fds = reallocarray(r->fds, need, sizeof *fds);
		if (!fds)
			return -1;
		r->fds = fds;
		void **owners = reallocarray(r->owners, need, sizeof *owners);
		if (!owners)
			return -1;
		r->owners = owners;
		r->cap = need;
	}
	r->n = 0;
	put(r, p->signals, NULL);
	put(r, peer_room(p) ? p->listen : -1, NULL);
	for (struct peer *c = p->peers; c; c = c->next)
		put(r, c->fd, c);
	r->peers_end = r->n;
	for (struct slot *s = p->slots; s; s = s->next)
		put(r, s->control, s);
	return 0;
}

/* Slots first: none of them is freed here, while a peer may be, and may add slots. Signals last, as they free slots. */
static void act(struct round *r, struct pool *p)
{
	for (size_t k = r->peers_end; k < r->n; k++) {
		struct slot *s = r->owners[k];
		if (r->fds[k].revents && s->control == r->fds[k].fd)
			slot_on_control(p, s);
	}
	for (size_t k = FIRST; k < r->peers_end; k++) {
		if (r->fds[k].revents)
			peer_on_input(p, r->owners[k]);
	}
	if (r->fds[LISTEN].revents && p->listen >= 0)
		peer_accept(p);
	if (r->fds[SIGNALS].revents)
		on_signals(p);
}

static int sooner(int a, int b)
{
	return a < 0 || (b >= 0 && b < a) ? b : a;
}

static void serve(struct pool *p)
{
	struct round r = {0};
	int wait;

	while (!p->stopping || p->slots) {
		/* Slots before peers: a peer may wait for a slot that is dropped here. */
		wait = slot_tick(p);
		wait = sooner(wait, peer_tick(p));
		if (make_round(&r, p) < 0) {
			log_error("out of memory");
			(void)poll(NULL, 0, 100);
			continue;
		}
		if (poll(r.fds, (nfds_t)r.n, wait) < 0) {
			if (errno != EINTR)
				log_error("poll: %s", strerror(errno));
			continue;
		}
		act(&r, p);
	}
	free(r.fds);
	free(r.owners);
}

int main(int argc, char **argv)
{
	static struct pool pool;
	const char *config = CONFIG;
	char err[512];

	log_open("sandgate-boxd", LOG_INFO);
	if (argc == 3 && strcmp(argv[1], "--config") == 0) {
		config = argv[2];
	} else if (argc != 1) {
		(void)fprintf(stderr, "usage: sandgate-boxd [--config FILE]\n");
		return 2;
	}
	if (settings_load(&pool.settings, config, err, sizeof err) < 0)
		log_die("%s", err);
	prepare(&pool);
	prepare_listen(&pool);
	log_info("serving %s", pool.settings.state);
	serve(&pool);
	prepare_undo(&pool);
	log_info("stopped");
	return 0;
}
