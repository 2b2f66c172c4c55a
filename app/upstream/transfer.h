/* transfer: one HTTP exchange with a provider. SPDX-License-Identifier: ISC */
#ifndef APP_UPSTREAM_TRANSFER_H
#define APP_UPSTREAM_TRANSFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "app/base/conf.h"
#include "app/base/err.h"
#include "sandbox/sys/buf.h"

#define TRANSFER_ERROR_MAX  ((size_t)64 << 10) /* bytes of an error body that are kept */
#define TRANSFER_HEADER_MAX ((size_t)64 << 10) /* bytes of all response headers */

struct transfer {
	const struct conf *conf;
	const struct conf_provider *provider;
	const char *body;
	size_t body_len;
	int client_fd;       /* -1: none */
	int64_t deadline_ms; /* CLOCK_MONOTONIC when it has to be over, 0 = never */
	int64_t quiet_since; /* CLOCK_MONOTONIC; moved on by whoever gives the client a sign of life */
	int (*receive)(void *ctx, const char *p,
		size_t n); /* bytes of an answer with status 2xx; not 0 ends it */
	bool (*complete)(
		void *ctx); /* the answer says that it is over: the connection's end is not waited for */
	int (*idle)(void *ctx); /* the client heard nothing for heartbeat_ms; not 0 ends it */
	void *ctx;
	/* What became of it. */
	int status;        /* 0: none came */
	int retry_after;   /* seconds, 0 = not said */
	bool unconnected;  /* nothing was sent: trying again is safe */
	struct buf failed; /* body of an answer that is not 2xx; owned by the caller */
};

/* Once a process, before threads. 0, or -1 (logged). */
int transfer_global_init(void);
/*
 * POSTs to the provider's /chat/completions. 0 when an answer with some status came, though perhaps
 * cut short; else a code: what receive or idle gave, ERR_CLIENT_GONE, ERR_TIMEOUT, ERR_PROVIDER_UNAVAILABLE.
 * Connections are kept for later transfers of the same thread.
 */
int transfer_run(struct transfer *t, struct err *e);
/* Waits ms before another try; heartbeats and the client's going are as in transfer_run. */
int transfer_pause(struct transfer *t, int64_t ms, struct err *e);

#endif
