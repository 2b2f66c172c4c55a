/* boxpeer: a boxd with its boxes that only speaks the protocol, for tests of the loop. SPDX-License-Identifier: ISC */
#ifndef TESTS_LIB_BOXPEER_H
#define TESTS_LIB_BOXPEER_H

#include <stddef.h>

/*
 * Threads of the test that listen at path. What a command does is said by its text:
 *   echo TEXT     TEXT and a newline on stdout
 *   exit N        ends with status N
 *   signal N      is killed by N
 *   write A B …   cites the files, A first
 *   sleep MS      takes as long, or until the connection is closed
 *   timeout       runs into its limit
 *   memory        runs out of it
 *   lose          the box dies while it runs
 *   break         the box says that it could not run it
 * The first command of a container finds it new, later ones warm. A container called "full" is
 * refused at a limit.
 */
struct boxpeer;
struct boxpeer *boxpeer_start(const char *path);
void boxpeer_stop(struct boxpeer *p);
/*
 * What was asked of it, a line each, in order:
 *   "lease WORKSPACE CONTAINER", "run ENV TOOL TIMEOUT OUTPUT SLEEP COMMAND", and "gone COMMAND" when a
 * sleeping one lost its connection. Copied into the caller's memory.
 */
void boxpeer_log(struct boxpeer *p, char *out, size_t size);

#endif
