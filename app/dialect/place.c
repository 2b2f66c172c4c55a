/* place: where in a request a value stands. SPDX-License-Identifier: ISC */
#include "app/dialect/place.h"

#include <stdio.h>
#include <string.h>

#include "app/base/json.h"
#include "sandbox/sys/buf.h"

#define PATH_MAX_BYTES 256

struct place place_item(const struct place *up, size_t index, const cJSON *v)
{
	return (struct place){.up = up, .index = index, .v = v};
}

static void put_path(struct buf *b, const struct place *at)
{
	if (!at || !at->up)
		return;
	put_path(b, at->up);
	if (at->key)
		buf_printf(b, "%s%s", b->len > 0 ? "." : "", at->key);
	else
		buf_printf(b, "[%zu]", at->index);
}

static int fail(const struct place *at, const char *key, struct err *e, const char *message)
{
	struct buf path;
	buf_init(&path, PATH_MAX_BYTES);
	put_path(&path, at);
	if (key)
		buf_printf(&path, "%s%s", path.len > 0 ? "." : "", key);
	const char *p = path.len > 0 ? buf_str(&path) : "body";
	int rc = err_set(e, ERR_INVALID_REQUEST, p, "%s: %s", p, message);
	buf_free(&path);
	return rc;
}

int place_fail(const struct place *at, const char *key, struct err *e, const char *fmt, ...)
{
	char message[400];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(message, sizeof(message), fmt, ap);
	va_end(ap);
	return fail(at, key, e, message);
}

const cJSON *place_member(const struct place *at, const char *key)
{
	const cJSON *v = json_member(at->v, key);
	return v && !cJSON_IsNull(v) ? v : NULL;
}

int place_string(const char **out, const struct place *at, const char *key, struct err *e)
{
	const cJSON *v = place_member(at, key);
	if (!v)
		return 1;
	if (!cJSON_IsString(v))
		return place_fail(at, key, e, "expected a string");
	*out = v->valuestring;
	return 0;
}

int place_bool(bool *out, const struct place *at, const char *key, struct err *e)
{
	const cJSON *v = place_member(at, key);
	if (!v)
		return 1;
	if (!cJSON_IsBool(v))
		return place_fail(at, key, e, "expected true or false");
	*out = cJSON_IsTrue(v);
	return 0;
}

int place_object(struct place *out, const struct place *at, const char *key, struct err *e)
{
	const cJSON *v = place_member(at, key);
	if (!v)
		return 1;
	if (!cJSON_IsObject(v))
		return place_fail(at, key, e, "expected an object");
	*out = (struct place){.up = at, .key = key, .v = v};
	return 0;
}

int place_array(struct place *out, const struct place *at, const char *key, struct err *e)
{
	const cJSON *v = place_member(at, key);
	if (!v)
		return 1;
	if (!cJSON_IsArray(v))
		return place_fail(at, key, e, "expected an array");
	*out = (struct place){.up = at, .key = key, .v = v};
	return 0;
}

int place_int(
	int64_t *out, const struct place *at, const char *key, struct place_range r, struct err *e)
{
	const cJSON *v = place_member(at, key);
	if (!v)
		return 1;
	double d = cJSON_GetNumberValue(v);
	/* The range comes first: converting what is outside of int64_t is undefined. NaN fails it. */
	if (cJSON_IsNumber(v) && d >= r.min && d <= r.max && (double)(int64_t)d == d) {
		*out = (int64_t)d;
		return 0;
	}
	if (r.max >= PLACE_INT_MAX)
		return place_fail(at, key, e, "expected an integer of at least %.0f", r.min);
	return place_fail(at, key, e, "expected an integer from %.0f to %.0f", r.min, r.max);
}

int place_number(
	double *out, const struct place *at, const char *key, struct place_range r, struct err *e)
{
	const cJSON *v = place_member(at, key);
	if (!v)
		return 1;
	double d = cJSON_GetNumberValue(v);
	if (!cJSON_IsNumber(v) || !(d >= r.min && d <= r.max))
		return place_fail(at, key, e, "expected a number from %g to %g", r.min, r.max);
	*out = d;
	return 0;
}

int place_word(size_t *out, const struct place *at, const char *key, const char *const *words,
	struct err *e)
{
	const cJSON *v = place_member(at, key);
	if (!v)
		return 1;
	for (size_t i = 0; cJSON_IsString(v) && words[i]; i++) {
		if (strcmp(words[i], v->valuestring) == 0) {
			*out = i;
			return 0;
		}
	}
	struct buf b;
	buf_init(&b, PATH_MAX_BYTES);
	for (size_t i = 0; words[i]; i++)
		buf_printf(&b, "%s\"%s\"", i > 0 ? ", " : "", words[i]);
	int rc = place_fail(at, key, e, "expected one of %s", buf_str(&b));
	buf_free(&b);
	return rc;
}

static int needed(int rc, const struct place *at, const char *key, struct err *e)
{
	return rc == 1 ? place_fail(at, key, e, "required") : rc;
}

int place_need_string(const char **out, const struct place *at, const char *key, struct err *e)
{
	return needed(place_string(out, at, key, e), at, key, e);
}

int place_need_array(struct place *out, const struct place *at, const char *key, struct err *e)
{
	return needed(place_array(out, at, key, e), at, key, e);
}

int place_need_object(struct place *out, const struct place *at, const char *key, struct err *e)
{
	return needed(place_object(out, at, key, e), at, key, e);
}

int place_refuse(const struct place *at, const char *key, const char *message, struct err *e)
{
	return place_member(at, key) ? place_fail(at, key, e, "%s", message) : 0;
}
