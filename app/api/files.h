/* files: finding a file of a container, for the handlers of files. SPDX-License-Identifier: ISC */
#ifndef APP_API_FILES_H
#define APP_API_FILES_H

#include "app/http/http.h"
#include "sandbox/home/browse.h"

/*
 * The repository and listing of a container of the request's workspace; both end with the arena.
 * No such repository: 0 and NULLs (to the API an unknown container has no files). ERR_SERVER.
 */
int files_open(struct home **home, struct home_listing **listing, struct req *r,
	const char *container, struct err *e);
/* The file that the route names. ERR_INVALID_REQUEST for ids that cannot be; ERR_NOT_FOUND. */
int files_find(struct home **home, const struct home_entry **out, struct req *r, struct err *e);

#endif
