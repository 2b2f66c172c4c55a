/* utf8: one character at a time. SPDX-License-Identifier: ISC */
#ifndef SANDBOX_SYS_UTF8_H
#define SANDBOX_SYS_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UTF8_INVALID 0xFFFFFFFFu

/*
 * The first character of the n > 0 bytes at s: its code point in *cp, its length returned (1 to 4).
 * Overlong forms, surrogates and values over U+10FFFF are invalid: *cp is UTF8_INVALID and the length is that of the
 * longest beginning that could have become a character, the part that one U+FFFD stands for.
 */
size_t utf8_next(uint32_t *cp, const char *s, size_t n);
/* True if the n bytes are valid. */
bool utf8_valid(const char *s, size_t n);
/*
 * The first character as it stands between the quotes of a JSON string: out gets at most 6 bytes (no NUL) and *out_len
 * their number; control characters (C0, DEL, C1) are escaped, an invalid sequence becomes U+FFFD. Returns bytes used of s.
 */
size_t utf8_escape(char out[8], size_t *out_len, const char *s, size_t n);

#endif
