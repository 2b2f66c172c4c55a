/* range: which bytes of a file a request asks for. SPDX-License-Identifier: ISC */
#ifndef APP_API_RANGE_H
#define APP_API_RANGE_H

#include <stdbool.h>
#include <stdint.h>

enum range_kind { RANGE_WHOLE, RANGE_PART, RANGE_NONE /* nothing of the file lies in it: 416 */ };
struct range {
	uint64_t first, length;
};
/*
 * Reads a Range header (NULL: none) against a size (RFC 9110 section 14). Several ranges, other units
 * and malformed ones are passed over, as a server may: RANGE_WHOLE. out is set in each case.
 */
enum range_kind range_read(struct range *out, const char *header, uint64_t size);

/* True if an If-None-Match or If-Range list has the entity tag (with its quotes), or "*"; weak tags match too unless strong. */
bool range_tag_listed(const char *list, const char *tag, bool strong);

#endif
