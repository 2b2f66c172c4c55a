/* query: typed parameters of a URL. SPDX-License-Identifier: ISC */
#ifndef APP_API_QUERY_H
#define APP_API_QUERY_H

#include <stdint.h>

#include "app/http/http.h"

struct query_range {
	int64_t dflt, min, max; /* min >= 0 */
};
/* Decimal digits within the range, dflt if absent. ERR_INVALID_REQUEST names the parameter and the range. */
int query_int(int64_t *out, const struct req *r, const char *name, struct query_range range,
	struct err *e);

#endif
