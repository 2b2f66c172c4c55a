/* init: what the parts of sandgate-init share. SPDX-License-Identifier: ISC */
#ifndef SANDBOX_INIT_INIT_H
#define SANDBOX_INIT_INIT_H

#include <signal.h>
#include <stdint.h>

#include "sandbox/wire/init.h"

struct command;
struct scan;

struct init {
	int channel;              /* to the box */
	int cmds;                 /* cgroup folder in which each command gets a leaf */
	int events;               /* counts out-of-memory kills */
	int home;                 /* folder */
	int signals;              /* signalfd of SIGCHLD */
	sigset_t no_signals;      /* the mask of commands: empty */
	char prefix;              /* of leaf names: two inits share cmds */
	struct command *commands; /* running, or with processes left behind */
	struct scan *scan;
	const void *filter; /* compiled seccomp filter */
	size_t filter_len;
	struct wire_in in;
	struct wire_out out;
};

/* Sends what is in out. The box being gone is the end: it exits then, and with it all of the environment. */
void init_send(struct init *i, const int *fds, size_t nfds);

#endif
