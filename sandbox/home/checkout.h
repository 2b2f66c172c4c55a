/* checkout: reading a whole home out of a commit. SPDX-License-Identifier: ISC */
#ifndef SANDBOX_HOME_CHECKOUT_H
#define SANDBOX_HOME_CHECKOUT_H

#include "sandbox/home/home.h"

struct home_node {
	char kind; /* 'd' folder, 'f' file, 'l' symbolic link */
	unsigned mode;
	const char *path;
	const void *data; /* content or target; NULL for folders */
	uint64_t len;
};
/* Called for each entry, folders before what is in them. Non-zero stops, and is returned. Data is valid during the call. */
typedef int home_node_fn(void *ctx, const struct home_node *n);
/* Every entry of a commit (NULL: head; an empty home if there is none), and the commit's time. */
int home_checkout(struct home *h, const char *commit, int64_t *time, home_node_fn *fn, void *ctx);

#endif
