/* jail: a compute environment for tests, and the box's side of its channel. SPDX-License-Identifier: ISC */
#ifndef TESTS_LIB_JAIL_H
#define TESTS_LIB_JAIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "sandbox/wire/init.h"

/*
 * For test programs that run as root. jail_set_up unshares the mount namespace, makes a cgroup tree
 * of the test's own, the image, the filter, and loads build/sandgate-init; jail_tear_down leaves
 * nothing behind and fails the test if it cannot. All functions fail the running test on errors.
 */
int jail_set_up(void **state);
int jail_tear_down(void **state);

struct jail {
	pid_t pid;
	int channel;
	unsigned block;
	uint32_t base; /* first host id */
	uint32_t next_id;
	struct jail *first; /* of a second environment */
};
/* A ready environment; a second one beside it; and its end: the channel closes, init exits, groups go. */
void jail_open(struct jail *e);
void jail_open_beside(struct jail *e, struct jail *first);
void jail_close(struct jail *e);

struct jail_result {
	struct wire_exited exited;
	char out[65536]; /* standard output, then standard error; NUL-terminated */
	int64_t ms;
};
/* Runs a command to its end; or kills it after ms (and all that it started). The result is static. */
const struct jail_result *jail_run(struct jail *e, const char *command);
const struct jail_result *jail_run_ms(struct jail *e, const char *command, int ms);
/* The pieces: the id of a started command (stdout and stderr go to fd), and what KILL says. */
uint32_t jail_start_command(struct jail *e, const char *command, int fd);
void jail_kill(struct jail *e, uint32_t id);
/* Waits for EXITED of id; false after ms. */
bool jail_wait(struct jail *e, uint32_t id, struct wire_exited *x, int ms);

/* One change as a line: "removed PATH", "file MODE SIZE PATH = CONTENT", "link PATH -> TARGET", "dir MODE empty PATH", "skipped PATH: REASON". */
struct jail_changes {
	char **lines; /* in the order sent */
	size_t n;
	uint32_t seen, changed;
};
/* FREEZE, SCAN, THAW. Static, until the next scan. */
const struct jail_changes *jail_scan(struct jail *e, uint32_t flags);
/* All lines, sorted and joined by newlines; static. */
const char *jail_scan_text(struct jail *e);
/* LOAD of an archive. The result's text is static. */
struct wire_loaded jail_load(struct jail *e, const void *archive, size_t n);
/* Archive records for LOAD, put one after another; the end record with kind 'e'. */
struct buf;
void jail_archive_put(
	struct buf *b, char kind, unsigned mode, const char *path, const void *data, size_t n);
/* Puts this test program into the home as ./probe, mode 755. */
void jail_load_probe(struct jail *e);
/* How many processes the container's groups hold. */
size_t jail_processes(const struct jail *e);

#endif
