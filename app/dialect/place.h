/* place: where in a request a value stands, and reading what is there. SPDX-License-Identifier: ISC */
#ifndef APP_DIALECT_PLACE_H
#define APP_DIALECT_PLACE_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "app/base/arena.h"
#include "app/base/err.h"

/*
 * A value and the way to it, as a chain of frames on the stack: only when something is wrong is
 * the path written out ("input[2].content[0].type"), into err.param and at the front of err.message.
 */
struct place {
	const struct place *up; /* NULL: the body */
	const char *key;        /* in an object; NULL: index in an array */
	size_t index;
	const cJSON *v;
};

struct place place_item(const struct place *up, size_t index, const cJSON *v);

/* ERR_INVALID_REQUEST about the member key of what is at, or about what is at if key is NULL. */
int place_fail(const struct place *at, const char *key, struct err *e, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/*
 * Getters of a member: 0 found, 1 absent or null (then *out is left as it was), or
 * ERR_INVALID_REQUEST if it is of another type or outside of its range.
 */
int place_string(const char **out, const struct place *at, const char *key, struct err *e);
int place_bool(bool *out, const struct place *at, const char *key, struct err *e);
int place_object(struct place *out, const struct place *at, const char *key, struct err *e);
int place_array(struct place *out, const struct place *at, const char *key, struct err *e);
#define PLACE_INT_MAX 9007199254740992.0 /* 2^53: beyond it a double is no integer's own */
struct place_range {
	double min, max;
};
int place_int(
	int64_t *out, const struct place *at, const char *key, struct place_range r, struct err *e);
int place_number(
	double *out, const struct place *at, const char *key, struct place_range r, struct err *e);
/* *out: which of the words (NULL-terminated) it is. */
int place_word(size_t *out, const struct place *at, const char *key, const char *const *words,
	struct err *e);

/* As above, but absent is an error: 0, or ERR_INVALID_REQUEST. */
int place_need_string(const char **out, const struct place *at, const char *key, struct err *e);
int place_need_array(struct place *out, const struct place *at, const char *key, struct err *e);
int place_need_object(struct place *out, const struct place *at, const char *key, struct err *e);

/* The member if it is there and not null, else NULL. */
const cJSON *place_member(const struct place *at, const char *key);
/* Fails if the member is there and not null: message says what to do instead. */
int place_refuse(const struct place *at, const char *key, const char *message, struct err *e);

#endif
