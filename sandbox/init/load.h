/* load: unpacking an archive into the home. SPDX-License-Identifier: ISC */
#ifndef SANDBOX_INIT_LOAD_H
#define SANDBOX_INIT_LOAD_H

#include <stdint.h>

struct load_result {
	uint32_t failed; /* entries that could not be made */
	char text[256];  /* the first failure, "" if none */
};
/*
 * Reads the archive from fd to its end record and makes its entries below home, owned by the tenant,
 * over what is there. Entries that cannot be made are counted; a stream that breaks off or is
 * malformed counts as one. Does not close fd.
 */
void load(struct load_result *r, int home, int fd);

#endif
