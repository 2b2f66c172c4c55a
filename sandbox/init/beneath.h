/* beneath: opening what is in the home and nothing else. SPDX-License-Identifier: ISC */
#ifndef SANDBOX_INIT_BENEATH_H
#define SANDBOX_INIT_BENEATH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BENEATH_PATH_MAX 4095 /* longest path below the home that can be opened, and saved */

/*
 * Opens path below dirfd: never out of it, through no symbolic link (or, with links, through such as
 * stay inside), no magic link, no other mount. O_CLOEXEC is added. The descriptor, or -1 with errno.
 */
int beneath_open(int dirfd, const char *path, int flags, bool links);
/* True for a relative path (n bytes, NUL after them) without empty, "." or ".." component, NUL or too many bytes. */
bool beneath_path_ok(const char *path, size_t n);

#endif
