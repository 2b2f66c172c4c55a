/* box: the state of one awake container, shared by the files of sandgate-box. SPDX-License-Identifier: ISC */
#ifndef SANDBOX_BOX_BOX_H
#define SANDBOX_BOX_BOX_H

#include "sandbox/box/conn.h"
#include "sandbox/box/env.h"
#include "sandbox/box/leftovers.h"
#include "sandbox/box/run.h"
#include "sandbox/home/home.h"
#include "sandbox/wire/exec.h"

struct box {
	int control; /* to boxd, -1 once it has gone */
	int null;    /* /dev/null, the input of commands that bring none */
	char *workspace, *container, *repository; /* from WIRE_START */
	bool durable;
	struct env env[WIRE_ENV__MAX];

	struct home *home;     /* NULL until there is a repository */
	enum wire_found found; /* said to the next command */
	bool partial;          /* not everything saved could be loaded */
	bool scan_files;       /* a save reads every file, changed or not */
	bool scan_all;         /* a save went wrong: the next one looks at everything */
	char trouble
		[WIRE_TEXT_MAX]; /* not "": commands are refused with this text, then the box ends */

	struct conns conns;
	struct run run;
	struct leftovers leftovers;

	uint32_t attached;      /* WIRE_ATTACH received */
	int64_t sleep_after_ms; /* of the last command */
	int64_t idle_at;        /* io_now_ms when the box asks for sleep */
	int64_t asked_at;       /* when it asked and was not answered yet, 0: not asked */
	bool stopping;          /* no command starts any more */
	bool lost;              /* the shell's init is gone: nothing can be run or saved */

	struct wire_out out; /* for whoever packs a message */
	struct wire_in in;   /* for whoever receives one from boxd or an init */
};

#endif
