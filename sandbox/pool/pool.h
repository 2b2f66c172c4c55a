/* pool: what the parts of sandgate-boxd share. SPDX-License-Identifier: ISC */
#ifndef SANDBOX_POOL_POOL_H
#define SANDBOX_POOL_POOL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "sandbox/jail/cgroup.h"
#include "sandbox/pool/settings.h"
#include "sandbox/wire/box.h"
#include "sandbox/wire/lease.h"

struct slot;
struct peer;

struct pool {
	struct settings settings;
	struct cgroup *cgroup;
	uid_t uid; /* the service user */
	gid_t gid;
	int state;                    /* folder */
	int lock;                     /* held while this boxd lives */
	int listen;                   /* -1 once it stops */
	int signals;                  /* signalfd */
	int image, filter, init, box; /* what environments and boxes are made of */
	uint32_t next_block;
	bool stopping;
	struct slot *slots;
	struct peer *peers;
	size_t nslots, npeers;
	struct wire_in in;
	struct wire_out out;
};

#endif
