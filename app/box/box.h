/* box: client of boxd and of the boxes that it leases. SPDX-License-Identifier: ISC */
#ifndef APP_BOX_BOX_H
#define APP_BOX_BOX_H

#include "app/base/arena.h"
#include "app/base/err.h"
#include "app/core/item.h"

/* A lease of one container for one request. Closing it kills a command of ours that still runs. */
struct box;

struct box_command {
	enum tool_kind tool; /* TOOL_SHELL or TOOL_BASH: which environment */
	const char *author;  /* commit author: shell bash exec */
	const char *command;
	const char *cwd;        /* NULL = home */
	const char *const *env; /* NAME=value, NULL-terminated; NULL = none */
	const char *input;      /* standard input, input_len bytes; NULL = none */
	size_t input_len;
	int timeout_ms, max_output, sleep_after_seconds;
};

/* How it went, beside the output. */
struct box_reply {
	enum { BOX_WARM, BOX_WOKEN, BOX_NEW } found;
	struct output output;   /* in the arena */
	struct citation *files; /* container_id, file_id filled */
	struct skipped *skipped;
};

/* Called while waiting, about every heartbeat_ms; non-zero (an err_code) gives up: the command is killed. */
typedef int box_wait_fn(void *ctx);

/*
 * Leases (workspace, container) from boxd at socket. The lease ends with the arena. Waits for a boxd
 * that is restarting for up to 3 s. ERR_RATE_LIMITED at a limit, ERR_SERVER, ERR_CLIENT_GONE.
 */
int box_lease(struct box **out, struct arena *a, const char *socket, const char *workspace,
	const char *container, const char *request_id, struct err *e);
/*
 * Runs one command and waits for it. client_fd is polled: a client that goes away ends it with
 * ERR_CLIENT_GONE. A box that slept or died before the command started is leased anew, for up to
 * 3 s; one that died after gives ERR_SERVER.
 */
int box_run(struct box *b, const struct box_command *c, struct box_reply *out, int client_fd,
	int heartbeat_ms, box_wait_fn *wait, void *ctx, struct err *e);

#endif
