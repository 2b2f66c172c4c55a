/* report: the list of changes of one scan, on its way to the box. SPDX-License-Identifier: ISC */
#ifndef SANDBOX_INIT_REPORT_H
#define SANDBOX_INIT_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sandbox/init/init.h"
#include "sandbox/init/tree.h"

/*
 * Life: begin → removed, add, add_at, skipped in any order → end. Removals are sent at once, all else
 * at the end, in order. The nodes added must live until then.
 */
struct report {
	struct init *init;
	int home;
	struct node **nodes;
	size_t n, cap;
	uint32_t changed;
	int fds[WIRE_MAX_FDS];
	size_t nfds;
	bool open; /* a frame has been begun */
	struct report_skip *skips;
};

void report_init(struct report *r, int home);
void report_begin(struct report *r, struct init *i);
void report_removed(struct report *r, const struct node *n);
void report_add(struct report *r, struct node *n);
/* A place before all that is added later, and adding there. */
size_t report_place(struct report *r);
void report_add_at(struct report *r, struct node *n, size_t place);
/* A name in a folder that has no node. */
void report_skipped(
	struct report *r, const struct node *folder, const char *name, const char *reason);
/* Sends what is left; the number of changes. */
uint32_t report_end(struct report *r);

#endif
