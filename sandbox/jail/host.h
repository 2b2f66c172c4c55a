/* host: what the kernel and its settings must offer. SPDX-License-Identifier: ISC */
#ifndef SANDBOX_JAIL_HOST_H
#define SANDBOX_JAIL_HOST_H

#include <stddef.h>

/*
 * Tries the requirements from number *k on, and moves *k past the first that is not met: a line for
 * people that says what is missing and how to enable it. NULL when none is left. Begin with *k = 0.
 */
const char *host_missing(size_t *k);

#endif
