/* boxd: the real boxd as a child of a test, and the app's side of it. SPDX-License-Identifier: ISC */
#ifndef TESTS_LIB_BOXD_H
#define TESTS_LIB_BOXD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "sandbox/wire/exec.h"
#include "sandbox/wire/lease.h"

/* One boxd at a time, with a state folder below the test's. What does not come as expected fails the test. */
struct boxd {
	pid_t pid;        /* 0: none runs */
	char build[4096]; /* the folder of the programs */
	char socket_path[256], log_path[256];
	struct wire_in in; /* the last message */
	struct wire_out out;
	char text[4096]; /* standard output of the last command */
};
extern struct boxd boxd;

/* For the group, and after each test: SIGTERM, and that nothing is left. */
int boxd_set_up(void **state);
int boxd_tear_down(void **state);
int boxd_after_each(void **state);

/* Writes the configuration, with lines of the [boxd] section; starts boxd with it; starts it and waits until it serves. */
void boxd_write_conf(const char *more);
pid_t boxd_spawn(void);
void boxd_start(const char *more);
/* Ends it with a signal; its wait status. */
int boxd_end(int sig);
/* How many boxes and inits of it run; the pid of one box; whether its log has the text. */
size_t boxd_children(void);
pid_t boxd_box(void);
bool boxd_log_says(const char *what);

/* A connection, -1 if it is not let in; one that has sent LEASE; the app's end of a connection to a box. */
int boxd_connect(const char *path);
int boxd_ask(const char *workspace, const char *container);
int boxd_lease(const char *workspace, const char *container);
/* The reason of a refusal whose text has `says` in it. */
uint32_t boxd_refused(const char *workspace, const char *container, const char *says);
void boxd_receive(int fd, enum wire_type type, int ms);

/* A command in an environment (enum wire_env); its STARTED and DONE; both at once in the shell's, and what it must print. */
void boxd_send_command(int conn, uint32_t env, uint32_t sleep_after, const char *command);
struct wire_done boxd_await_done(int conn);
struct wire_done boxd_run(int conn, const char *command);
void boxd_prints(int conn, const char *command, const char *expected);

#endif
