/* init: what a box asks of the init (PID 1) of a compute environment. SPDX-License-Identifier: ISC */
#ifndef SANDBOX_WIRE_INIT_H
#define SANDBOX_WIRE_INIT_H

#include "sandbox/wire/frame.h"

/*
 * The order of a command: RUN → RUNNING → EXITED (or KILL → KILLED, EXITED) → FREEZE → FROZEN →
 * SCAN → CHANGES* → SCANNED → THAW → THAWED. Init answers in order; EXITED alone comes unasked.
 */

/* WIRE_READY, init -> box: the environment is set up. No body. */

/* WIRE_LOAD: descriptor 0 is the read end of a pipe with the archive (below); answered by WIRE_LOADED. */
struct wire_loaded {
	uint32_t failed;  /* entries that could not be made */
	const char *text; /* the first failure, "" if none */
};
/*
 * The archive, a stream of records, all integers little-endian:
 *   u8 kind ('d' 'f' 'l' or 'e' = end), u32 mode (permission bits), u64 mtime (seconds),
 *   u32 path length, u64 data length, path, data (file content or link target).
 * Folders come before what is in them; init sets folder times and modes at the end.
 */
#define WIRE_ARCHIVE_HEAD 25 /* bytes before the path */
struct wire_archive_head {
	char kind;
	uint32_t mode;
	uint64_t mtime;
	uint32_t path_len;
	uint64_t data_len;
};
void wire_archive_pack(uint8_t out[WIRE_ARCHIVE_HEAD], const struct wire_archive_head *h);
/* 0, or -1 for an unknown kind or a path longer than WIRE_PATH_MAX. */
int wire_archive_unpack(const uint8_t in[WIRE_ARCHIVE_HEAD], struct wire_archive_head *h);
#define WIRE_PATH_MAX 65536

/* WIRE_RUN. Descriptors 0, 1, 2: standard input, output, error of the command. Answered by WIRE_RUNNING or WIRE_EXITED with an error. */
struct wire_run {
	uint32_t id;         /* chosen by box, names the command in KILL and EXITED */
	const char *command; /* run by /bin/bash -c */
	const char *cwd;     /* relative to the home, "" = the home */
	uint32_t nenv;
	const char *envp[WIRE_ENV_MAX]; /* NAME=value, added to the standard environment */
};
/* WIRE_EXITED: the main process has ended. */
enum wire_exit_how { WIRE_HOW_EXIT, WIRE_HOW_SIGNAL, WIRE_HOW_ERROR };
struct wire_exited {
	uint32_t id, how, code; /* status, signal number, or errno when it could not be started */
	uint32_t out_of_memory; /* read from the cgroup's events since RUN */
};
/* WIRE_KILL id: kills the command and all that it started; WIRE_KILLED id when none is left. */

/* WIRE_SCAN: what changed in the home since the last scan (or LOAD). flags: WIRE_SCAN_ALL = everything, as if nothing were known;
 * WIRE_SCAN_FILES = what changed, and every regular file whether it did or not. */
#define WIRE_SCAN_ALL   1u
#define WIRE_SCAN_FILES 2u
/*
 * WIRE_CHANGES, any number: u32 count, u32 count of descriptors, then the changes; the k-th change
 * that has_fd owns the k-th descriptor (opened O_RDONLY|O_NOFOLLOW|O_NONBLOCK beneath the home with openat2). A removed path
 * stands for all that was below it. Folders come before what is in them, removals before all else.
 */
enum wire_change_kind {
	WIRE_REMOVED,
	WIRE_FILE,
	WIRE_LINK,
	WIRE_DIR,
	WIRE_SKIPPED,
	WIRE_CHANGE__MAX
};
struct wire_change {
	uint32_t kind;
	uint32_t mode;   /* permission bits */
	uint32_t empty;  /* of a folder: nothing in it */
	uint32_t has_fd; /* 1 of a file, 0 of all else */
	uint64_t size;   /* of a file */
	uint64_t mtime_ns;
	const char *path; /* relative to the home, no leading slash, bytes */
	const char *text; /* target of a link; reason of a skip; "" of all else */
};
/* WIRE_SCANNED: u32 entries seen, u32 entries changed. */

void wire_loaded(struct wire_out *o, const struct wire_loaded *m);
int wire_loaded_get(struct wire_in *i, struct wire_loaded *m);
void wire_run(struct wire_out *o, const struct wire_run *m);
int wire_run_get(struct wire_in *i, struct wire_run *m);
void wire_exited(struct wire_out *o, const struct wire_exited *m);
int wire_exited_get(struct wire_in *i, struct wire_exited *m);
/* Frames with one number: KILL, KILLED, RUNNING (id), SCAN (flags). */
void wire_number(struct wire_out *o, enum wire_type type, uint32_t n);
int wire_number_get(struct wire_in *i, uint32_t *n);
/* Frames without a body. */
void wire_empty(struct wire_out *o, enum wire_type type);
/*
 * CHANGES is packed one change after another: begin, then add …; false: full, the change was not
 * added; send and begin anew. A change that an empty frame cannot hold makes the frame bad.
 */
void wire_changes_begin(struct wire_out *o);
bool wire_changes_add(struct wire_out *o, const struct wire_change *c);
/* Unpacking: the count (which fits the descriptors received), then each change in turn, then wire_done(). */
int wire_changes_get(struct wire_in *i, uint32_t *count);
int wire_change_get(struct wire_in *i, struct wire_change *c);
void wire_scanned(struct wire_out *o, uint32_t seen, uint32_t changed);
int wire_scanned_get(struct wire_in *i, uint32_t *seen, uint32_t *changed);

#endif
