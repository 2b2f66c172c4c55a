/* scan: finding what changed in the home, and telling the box. SPDX-License-Identifier: ISC */
#ifndef SANDBOX_INIT_SCAN_H
#define SANDBOX_INIT_SCAN_H

#include <stdint.h>

#include "sandbox/init/init.h"

/* NULL if memory is short. home stays the caller's. */
struct scan *scan_new(int home);
/* Walks the home, sends CHANGES and then SCANNED. all: as if everything were new. */
void scan_run(struct init *i, uint32_t flags);
/* Walks the home and takes what is there as known. */
void scan_accept(struct init *i);

#endif
