/* rig: sandgate-box with everything round it played by the test. SPDX-License-Identifier: ISC */
#ifndef TESTS_LIB_RIG_H
#define TESTS_LIB_RIG_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "sandbox/wire/box.h"
#include "sandbox/wire/exec.h"
#include "sandbox/wire/init.h"

/*
 * The program that was built with the test runs as a child; the test is its boxd, its inits and its
 * apps, in one thread. Whatever does not come as expected, or in time, fails the test.
 */
struct rig {
	pid_t pid;               /* of sandgate-box */
	int control, init, bash; /* our ends */
	uint32_t sleep_after;    /* set before rig_start; 0: 60 */
	struct wire_in in;       /* the last message */
	struct wire_out out;
	struct wire_run run; /* the last command, and its descriptors */
	int in_fd, out_fd, err_fd;
	struct wire_done done; /* the last answer, and its output, stdout first */
	char output[600000];
};
extern struct rig rig;

/* After each test, as cmocka's teardown. */
int rig_teardown(void **state);

/* Of boxd. The repository is below the test's folder, and outlives one box. */
void rig_start(void);
const char *rig_program(void);
const char *rig_repository(void);
int rig_attach(void); /* the app's end */
/* STOP, a last scan without changes, and status 0. */
void rig_stop(void);
/* Its exit status, or minus the signal that ended it. */
int rig_wait_box(void);
void rig_close_all(void);

void rig_pair(int fds[2]);
void rig_ready(int fd);
bool rig_readable(int fd, int ms);
void rig_receive(int fd, enum wire_type type);
void rig_at_end(int fd);
void rig_say(int fd, enum wire_type type);

/* Of an app. */
struct wire_exec rig_shell(const char *text);
void rig_ask(int conn, struct wire_exec m, int input);
void rig_take_answer(int conn);
/* DONE, when STARTED was taken already. */
void rig_take_done(int conn);

/* Of an init. */
void rig_take_run(void);
void rig_take_run_from(int fd);
void rig_close_run(void);
void rig_exit_on(int fd, enum wire_exit_how how, uint32_t code, uint32_t oom);
/* FREEZE and SCAN, up to where changes are told; the flags of SCAN. */
uint32_t rig_begin_scan(void);
void rig_tell(const struct wire_change *c, const char *content);
void rig_tell_file(const char *path, const char *content, uint64_t mtime);
void rig_end_scan(uint32_t changed);
void rig_no_changes(void);
/* The command that runs ends with 0 at once, having changed nothing, and is answered. */
void rig_end_run(int conn);
/* A command that ends with 0 at once and changed one file. */
void rig_write_file(int conn, const char *text, const char *path, const char *content);

struct rig_record {
	struct wire_archive_head h;
	char path[64], data[64];
};
/* LOAD: the pipe. */
int rig_take_load(void);
void rig_read_record(int fd, struct rig_record *r);
void rig_loaded(uint32_t failed);
/* A whole life whose command "one" makes the folder d (0700), the file d/f ("text") and the link l. */
void rig_make_home(void);

/* What git prints of the repository; static. */
const char *rig_git_args(const char *const *args);
#define rig_git(...) rig_git_args((const char *const[]){__VA_ARGS__, NULL})

#endif
