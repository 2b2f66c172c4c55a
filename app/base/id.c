/* id: random names, digests, base64url. SPDX-License-Identifier: ISC */
#include "app/base/id.h"

#include <errno.h>
#include <openssl/evp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "sandbox/sys/log.h"

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/* A name that can be guessed is worse than a process that has ended. */
static void random_bytes(void *p, size_t n)
{
	unsigned char *at = p;
	ssize_t got;

	while (n > 0) {
		got = getrandom(at, n, 0);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0) {
			log_error("getrandom: %s", strerror(errno));
			abort();
		}
		at += got;
		n -= (size_t)got;
	}
}

char *id_new(struct arena *a, const char *prefix, size_t n)
{
	enum { LETTERS = 62 };
	size_t len = strlen(prefix), i = 0, at;
	char *id = arena_alloc(a, len + n + 1);
	unsigned char pool[64];

	memcpy(id, prefix, len);
	while (i < n) {
		random_bytes(pool, sizeof pool);
		/* Values over the last whole multiple would favour the first letters. */
		for (at = 0; at < sizeof pool && i < n; at++)
			if (pool[at] < 256 / LETTERS * LETTERS)
				id[len + i++] = alphabet[pool[at] % LETTERS];
	}
	return id;
}

char *id_secret(struct arena *a, size_t n)
{
	unsigned char *bytes = arena_alloc(a, n);

	random_bytes(bytes, n);
	return id_base64url(a, bytes, n);
}

void id_sha256(char out[65], const void *p, size_t n)
{
	static const char hex[] = "0123456789abcdef";
	unsigned char digest[EVP_MAX_MD_SIZE];
	unsigned int len = 0, i;

	if (EVP_Digest(p, n, digest, &len, EVP_sha256(), NULL) != 1 || len != 32) {
		log_error("SHA-256 is not available");
		abort();
	}
	for (i = 0; i < 32; i++) {
		out[2 * i] = hex[digest[i] >> 4];
		out[2 * i + 1] = hex[digest[i] & 0xF];
	}
	out[64] = '\0';
}

char *id_base64url(struct arena *a, const void *p, size_t n)
{
	const unsigned char *s = p;
	char *text = arena_alloc(a, n / 3 * 4 + 5), *at = text;
	size_t i, left;
	uint32_t v;

	for (i = 0; i < n; i += 3) {
		left = n - i;
		v = (uint32_t)s[i] << 16;
		if (left > 1)
			v |= (uint32_t)s[i + 1] << 8;
		if (left > 2)
			v |= s[i + 2];
		*at++ = alphabet[v >> 18];
		*at++ = alphabet[v >> 12 & 63];
		if (left > 1)
			*at++ = alphabet[v >> 6 & 63];
		if (left > 2)
			*at++ = alphabet[v & 63];
	}
	*at = '\0';
	return text;
}

static int digit(char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	if (c == '-')
		return 62;
	return c == '_' ? 63 : -1;
}

void *id_base64url_decode(struct arena *a, const char *s, size_t *n)
{
	size_t len = strlen(s), i, put = 0;
	unsigned char *out;
	uint32_t bits = 0;
	unsigned held = 0; /* bits not yet written */
	int d;

	if (len % 4 == 1)
		return NULL;
	out = arena_alloc(a, len / 4 * 3 + 3);
	for (i = 0; i < len; i++) {
		d = digit(s[i]);
		if (d < 0)
			return NULL;
		bits = bits << 6 | (uint32_t)d;
		held += 6;
		if (held >= 8) {
			held -= 8;
			out[put++] = (unsigned char)(bits >> held);
			bits &= (1u << held) - 1;
		}
	}
	if (bits != 0)
		return NULL;
	out[put] = '\0';
	*n = put;
	return out;
}

static const char file_prefix[] = "cfile_";

char *id_file(struct arena *a, const char *path, size_t n)
{
	return arena_printf(a, "%s%s", file_prefix, id_base64url(a, path, n));
}

/* A path as git has it: relative, no empty, "." or ".." components. */
static bool path_is_plain(const char *path, size_t n)
{
	size_t start = 0, end, len;

	if (n == 0 || memchr(path, '\0', n))
		return false;
	for (start = 0; start <= n; start = end + 1) {
		for (end = start; end < n && path[end] != '/'; end++)
			;
		len = end - start;
		if (len == 0 || (len == 1 && path[start] == '.') ||
			(len == 2 && path[start] == '.' && path[start + 1] == '.'))
			return false;
	}
	return true;
}

char *id_file_decode(struct arena *a, const char *file_id, size_t *n)
{
	char *path;

	if (strncmp(file_id, file_prefix, sizeof file_prefix - 1) != 0)
		return NULL;
	path = id_base64url_decode(a, file_id + sizeof file_prefix - 1, n);
	return path && path_is_plain(path, *n) ? path : NULL;
}
