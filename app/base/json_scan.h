/* json_scan: is this text JSON, strictly? SPDX-License-Identifier: ISC */
#ifndef APP_BASE_JSON_SCAN_H
#define APP_BASE_JSON_SCAN_H

#include <stddef.h>

#define JSON_DEPTH_MAX  128
#define JSON_NUMBER_MAX 63     /* characters; cJSON reads no longer ones */
#define JSON_VALUES_MAX 500000 /* a value of two bytes takes eighty in a tree */

/*
 * Looks at all n bytes and builds nothing. NULL if they are one JSON value (RFC 8259) without NUL, "\u0000", invalid
 * UTF-8, lone surrogates or more than the maxima above; else what is wrong (a fixed text) and its offset in *at.
 */
const char *json_scan(const char *text, size_t n, size_t *at);

#endif
