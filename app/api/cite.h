/* cite: which of the files that commands wrote are still there. SPDX-License-Identifier: ISC */
#ifndef APP_API_CITE_H
#define APP_API_CITE_H

#include "app/core/item.h"
#include "app/http/http.h"

/*
 * The citations whose file exists at the container's head, copied, in their order: a later command
 * of the same call may have deleted what an earlier one wrote. If the repository cannot be
 * read they are all given as they are, and the reason is logged.
 */
struct citation *cite_existing(struct req *r, const struct citation *files);

#endif
