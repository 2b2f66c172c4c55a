/* query: typed parameters of a URL. SPDX-License-Identifier: ISC */
#include "app/api/query.h"

#include <string.h>

int query_int(int64_t *out, const struct req *r, const char *name, struct query_range range,
	struct err *e)
{
	const char *text = http_query(r, name);
	int64_t v = 0;

	*out = range.dflt;
	if (!text)
		return 0;
	/* 15 digits are more than any maximum here, and cannot overflow. */
	if (*text && strlen(text) <= 15 && strspn(text, "0123456789") == strlen(text)) {
		for (; *text; text++)
			v = v * 10 + (*text - '0');
		*out = v;
		if (v >= range.min && v <= range.max)
			return 0;
	}
	return err_set(e, ERR_INVALID_REQUEST, name, "%s: expected an integer from %lld to %lld",
		name, (long long)range.min, (long long)range.max);
}
