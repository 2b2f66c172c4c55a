/* json: strict reading and short writing over cJSON. SPDX-License-Identifier: ISC */
#ifndef APP_BASE_JSON_H
#define APP_BASE_JSON_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "app/base/arena.h"
#include "app/base/err.h"
#include "sandbox/sys/buf.h"

/*
 * Parses n bytes, all of them (white space around is fine). The tree is freed with the arena.
 * Refused with ERR_INVALID_REQUEST and the position: bad syntax, nesting over 128, over 500,000 values, NUL, invalid
 * UTF-8, lone surrogates. Numbers are doubles (cJSON), which is what the APIs promise.
 */
int json_parse(cJSON **out, struct arena *a, const char *text, size_t n, struct err *e);

/*
 * Getters, case-sensitive. Absent and null give the default (1 is returned: absent). A value of
 * another type is ERR_INVALID_REQUEST naming the key. 0 when found.
 */
int json_get_string(
	const char **out, const cJSON *o, const char *key, const char *dflt, struct err *e);
int json_get_int(int64_t *out, const cJSON *o, const char *key, int64_t dflt, int64_t min,
	int64_t max, struct err *e);
int json_get_number(double *out, const cJSON *o, const char *key, double dflt, double min,
	double max, struct err *e);
int json_get_bool(bool *out, const cJSON *o, const char *key, bool dflt, struct err *e);
int json_get_object(const cJSON **out, const cJSON *o, const char *key, struct err *e);
int json_get_array(const cJSON **out, const cJSON *o, const char *key, struct err *e);
/* The member or NULL; no type check. */
const cJSON *json_member(const cJSON *o, const char *key);
/* The string value, or NULL if the member is absent or no string. */
const char *json_text(const cJSON *o, const char *key);

/* Compact text in the arena. */
char *json_print(struct arena *a, const cJSON *v);
/* Adds text of n bytes as a string, invalid UTF-8 replaced by U+FFFD, and NUL too: our own parser and many others refuse it. */
void json_add_text(cJSON *o, const char *key, const char *s, size_t n);
/* The same with NUL kept as \u0000, for readers who want the bytes. The member can be printed, but not read back from the tree. */
void json_add_exact(cJSON *o, const char *key, const char *s, size_t n);

#endif
