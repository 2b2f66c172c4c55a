/* container: the id after a restart. SPDX-License-Identifier: ISC */
#ifndef APP_TOOL_CONTAINER_H
#define APP_TOOL_CONTAINER_H

#include "app/base/arena.h"

/* "ID-r" and 6 random characters; a long ID loses its head, so that 40 characters are never passed. */
char *container_restart_id(struct arena *a, const char *id);

#endif
