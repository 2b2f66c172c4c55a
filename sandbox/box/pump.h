/* pump: reading the output pipes of commands. SPDX-License-Identifier: ISC */
#ifndef SANDBOX_BOX_PUMP_H
#define SANDBOX_BOX_PUMP_H

#include <stdint.h>

#include "sandbox/box/capture.h"

/* One output pipe of the running command. */
struct pump {
	int fd; /* read end, non-blocking; -1 after its end */
	struct capture capture;
};

/* Makes the pipe; the write end is the caller's. 0, or -1 with errno. */
int pump_open(struct pump *p, int *write_end, uint32_t max_output);
/* Reads what is there, within a share of time. True if anything came, the end included. */
bool pump_read(struct pump *p);
void pump_close(struct pump *p);

#endif
