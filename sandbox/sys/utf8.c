/* utf8: one character at a time. SPDX-License-Identifier: ISC */
#include "sandbox/sys/utf8.h"

#include <string.h>

static unsigned char byte_at(const char *s, size_t i)
{
	return (unsigned char)s[i];
}

size_t utf8_next(uint32_t *cp, const char *s, size_t n)
{
	unsigned char first = byte_at(s, 0);
	/* The second byte's range says it all about overlong forms, surrogates and the upper end. */
	unsigned char low = 0x80, high = 0xBF;
	size_t more, i;
	uint32_t value;

	*cp = UTF8_INVALID;
	if (first < 0x80) {
		*cp = first;
		return 1;
	}
	if (first >= 0xC2 && first <= 0xDF) {
		more = 1;
		value = first & 0x1Fu;
	} else if (first >= 0xE0 && first <= 0xEF) {
		more = 2;
		value = first & 0x0Fu;
		low = first == 0xE0 ? 0xA0 : 0x80;
		high = first == 0xED ? 0x9F : 0xBF;
	} else if (first >= 0xF0 && first <= 0xF4) {
		more = 3;
		value = first & 0x07u;
		low = first == 0xF0 ? 0x90 : 0x80;
		high = first == 0xF4 ? 0x8F : 0xBF;
	} else {
		return 1;
	}
	for (i = 1; i <= more; i++) {
		if (i == n || byte_at(s, i) < low || byte_at(s, i) > high)
			return i;
		value = value << 6 | (byte_at(s, i) & 0x3Fu);
		low = 0x80;
		high = 0xBF;
	}
	*cp = value;
	return more + 1;
}

bool utf8_valid(const char *s, size_t n)
{
	size_t i = 0;
	uint32_t cp;

	while (i < n) {
		if (byte_at(s, i) < 0x80) {
			i++;
			continue;
		}
		i += utf8_next(&cp, s + i, n - i);
		if (cp == UTF8_INVALID)
			return false;
	}
	return true;
}

size_t utf8_escape(char out[8], size_t *out_len, const char *s, size_t n)
{
	static const char hex[] = "0123456789abcdef";
	uint32_t cp;
	size_t used = utf8_next(&cp, s, n);
	char letter = '\0';

	if (cp == UTF8_INVALID) {
		memcpy(out, "\xEF\xBF\xBD", 3);
		*out_len = 3;
		return used;
	}
	if (cp == '"' || cp == '\\')
		letter = (char)cp;
	else if (cp == '\n')
		letter = 'n';
	else if (cp == '\r')
		letter = 'r';
	else if (cp == '\t')
		letter = 't';
	if (letter != '\0') {
		out[0] = '\\';
		out[1] = letter;
		*out_len = 2;
	} else if (cp < 0x20 || (cp >= 0x7F && cp < 0xA0)) {
		memcpy(out, "\\u00", 4);
		out[4] = hex[cp >> 4];
		out[5] = hex[cp & 0xF];
		*out_len = 6;
	} else {
		memcpy(out, s, used);
		*out_len = used;
	}
	return used;
}
