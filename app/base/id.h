/* id: random names, digests, base64url. SPDX-License-Identifier: ISC */
#ifndef APP_BASE_ID_H
#define APP_BASE_ID_H

#include <stddef.h>

#include "app/base/arena.h"

/* prefix followed by n random characters of [A-Za-z0-9] (getrandom). */
char *id_new(struct arena *a, const char *prefix, size_t n);
/* n random bytes as base64url without padding, e.g. the secret of a key (32 bytes: 43 characters). */
char *id_secret(struct arena *a, size_t n);
/* Lower-case hex of SHA-256, 64 characters and NUL. */
void id_sha256(char out[65], const void *p, size_t n);

/* Base64url without padding (RFC 4648 section 5). Decoding refuses padding, other characters and non-zero spare bits: NULL. */
char *id_base64url(struct arena *a, const void *p, size_t n);
void *id_base64url_decode(struct arena *a, const char *s, size_t *n);

/* Container file ids: cfile_ + base64url of the path (contract openrouter.md section 15). Decoding also refuses paths that are absolute, empty, or hold "..", "." or NUL. */
char *id_file(struct arena *a, const char *path, size_t n);
char *id_file_decode(struct arena *a, const char *file_id, size_t *n);

#endif
