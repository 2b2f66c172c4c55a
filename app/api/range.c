/* range: which bytes of a file a request asks for. SPDX-License-Identifier: ISC */
#include "app/api/range.h"

#include <string.h>

/* A number at *at, moved past it; saturates. False without a digit. */
static bool number(uint64_t *out, const char **at)
{
	const char *s = *at;

	*out = 0;
	for (; *s >= '0' && *s <= '9'; s++) {
		uint64_t digit = (uint64_t)(*s - '0');

		*out = *out > (UINT64_MAX - digit) / 10 ? UINT64_MAX : *out * 10 + digit;
	}
	if (s == *at)
		return false;
	*at = s;
	return true;
}

/* bytes=-N: the last N. */
static enum range_kind suffix(struct range *out, const char *at, uint64_t size)
{
	uint64_t n;

	if (!number(&n, &at) || *at)
		return RANGE_WHOLE;
	if (n == 0 || size == 0)
		return RANGE_NONE;
	if (n > size)
		n = size;
	*out = (struct range){size - n, n};
	return RANGE_PART;
}

enum range_kind range_read(struct range *out, const char *header, uint64_t size)
{
	uint64_t first, last = UINT64_MAX;
	const char *at;

	*out = (struct range){0, size};
	if (!header || strncmp(header, "bytes=", 6) != 0)
		return RANGE_WHOLE;
	at = header + 6;
	if (*at == '-')
		return suffix(out, at + 1, size);
	if (!number(&first, &at) || *at++ != '-')
		return RANGE_WHOLE;
	if (*at && (!number(&last, &at) || *at || last < first))
		return RANGE_WHOLE;
	if (first >= size)
		return RANGE_NONE;
	if (last >= size)
		last = size - 1;
	*out = (struct range){first, last - first + 1};
	return RANGE_PART;
}

bool range_tag_listed(const char *list, const char *tag, bool strong)
{
	size_t n = strlen(tag);

	if (!list)
		return false;
	for (const char *at = list; *(at += strspn(at, " \t,"));) {
		bool weak = strncmp(at, "W/", 2) == 0;
		size_t len;

		if (weak)
			at += 2;
		len = strcspn(at, " \t,");
		if (len == 1 && *at == '*' && !weak)
			return true;
		if (len == n && memcmp(at, tag, n) == 0 && !(weak && strong))
			return true;
		at += len;
	}
	return false;
}
