/* exec: what the app asks of a box, and the answer. SPDX-License-Identifier: ISC */
#ifndef SANDBOX_WIRE_EXEC_H
#define SANDBOX_WIRE_EXEC_H

#include "sandbox/wire/frame.h"

enum wire_env { WIRE_ENV_SHELL, WIRE_ENV_BASH, WIRE_ENV__MAX };
/* How a container was found by this command; the first command of a box says new or woken. */
enum wire_found { WIRE_WARM, WIRE_WOKEN, WIRE_NEW, WIRE_FOUND__MAX };
enum wire_outcome {
	WIRE_EXIT,
	WIRE_SIGNAL,
	WIRE_TIMEOUT,
	WIRE_OUT_OF_MEMORY,
	WIRE_FAILED,
	WIRE_OUTCOME__MAX
};

#define WIRE_TIMEOUT_MAX_MS 300000
#define WIRE_OUTPUT_MAX     65536 /* code points of one stream */
#define WIRE_FILES_MAX      10    /* citations a command */

/* WIRE_EXEC, app -> box. Descriptor 0, if present: standard input (a memfd). One at a time on a connection. */
struct wire_exec {
	uint32_t env;           /* enum wire_env: which environment runs it */
	uint32_t timeout_ms;    /* 1 … 300,000 */
	uint32_t max_output;    /* code points kept of each stream, 1 … 65,536 */
	uint32_t sleep_after;   /* idle seconds until sleep; restarts the timer */
	uint32_t stream;        /* 1: send WIRE_OUTPUT while it runs */
	const char *tool;       /* commit author: shell bash exec …; ^[a-z]{1,16}$ */
	const char *request_id; /* visible ASCII, at most 128, "" if none */
	const char *command;
	const char *cwd; /* "" or a path relative to the home */
	uint32_t nenv;
	const char *envp[WIRE_ENV_MAX]; /* NAME=value */
};

/*
 * WIRE_STARTED, box -> app, when the command leaves the queue: before it, a lost connection means
 * that the command never ran and may be sent again; after it, that it may have run.
 * WIRE_OUTPUT (later use): stream u32 (1, 2), bytes.
 * WIRE_DONE. Descriptor 0: a memfd with stdout, then stderr, valid UTF-8, already cut to max_output;
 * absent when both are empty.
 */
struct wire_file {
	const char *path; /* relative to the home; bytes without NUL, UTF-8 not promised */
	uint64_t bytes;
};
struct wire_done {
	uint32_t found;   /* enum wire_found */
	uint32_t outcome; /* enum wire_outcome */
	uint32_t code;    /* exit status; signal number; errno of WIRE_FAILED or 0; else 0 */
	uint64_t duration_us;
	uint64_t out_len, err_len;         /* bytes in the memfd */
	uint64_t out_omitted, err_omitted; /* code points left out */
	uint32_t background_output_open;   /* a process left behind still holds a pipe */
	const char *commit;                /* 40 hex digits, or "" if no file changed */
	const char *error; /* why it failed, or why its files were not saved; else "" */
	uint32_t nskipped; /* all skipped files; the first ones are listed */
	uint32_t nskips;
	struct wire_skip {
		const char *path, *reason;
	} skips[WIRE_FILES_MAX];
	uint32_t nfiles; /* newest first, regular files that exist, at most 10 */
	struct wire_file files[WIRE_FILES_MAX];
};

void wire_exec(struct wire_out *o, const struct wire_exec *m);
int wire_exec_get(struct wire_in *i, struct wire_exec *m);
void wire_exec_done(struct wire_out *o, const struct wire_done *m);
int wire_exec_done_get(struct wire_in *i, struct wire_done *m);

#endif
