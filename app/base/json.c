/* json: strict reading and short writing over cJSON. SPDX-License-Identifier: ISC */
#include "app/base/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "app/base/json_scan.h"
#include "sandbox/sys/log.h"
#include "sandbox/sys/utf8.h"

static void delete_tree(void *p)
{
	cJSON_Delete(p);
}

/* Line and column (in bytes, both from 1) of an offset. */
static void locate(const char *text, size_t at, size_t *line, size_t *column)
{
	size_t i, start = 0;

	*line = 1;
	for (i = 0; i < at; i++) {
		if (text[i] == '\n') {
			++*line;
			start = i + 1;
		}
	}
	*column = at - start + 1;
}

int json_parse(cJSON **out, struct arena *a, const char *text, size_t n, struct err *e)
{
	size_t at, line, column;
	const char *wrong = json_scan(text, n, &at);

	*out = NULL;
	if (wrong) {
		locate(text, at, &line, &column);
		return err_set(e, ERR_INVALID_REQUEST, NULL,
			"invalid JSON at byte %zu (line %zu, column %zu): %s", at, line, column,
			wrong);
	}
	*out = cJSON_ParseWithLength(text, n);
	if (!*out)
		return err_set(e, ERR_INVALID_REQUEST, NULL, "invalid JSON");
	arena_defer(a, delete_tree, *out);
	return 0;
}

const cJSON *json_member(const cJSON *o, const char *key)
{
	return cJSON_GetObjectItemCaseSensitive(o, key);
}

const char *json_text(const cJSON *o, const char *key)
{
	return cJSON_GetStringValue(json_member(o, key));
}

/* The member if it is there and not null. */
static const cJSON *present(const cJSON *o, const char *key)
{
	const cJSON *v = json_member(o, key);

	return v && !cJSON_IsNull(v) ? v : NULL;
}

static int wrong_type(struct err *e, const char *key, const char *expected)
{
	return err_set(e, ERR_INVALID_REQUEST, key, "%s: expected %s", key, expected);
}

int json_get_string(
	const char **out, const cJSON *o, const char *key, const char *dflt, struct err *e)
{
	const cJSON *v = present(o, key);

	*out = dflt;
	if (!v)
		return 1;
	if (!cJSON_IsString(v))
		return wrong_type(e, key, "a string");
	*out = v->valuestring;
	return 0;
}

int json_get_int(int64_t *out, const cJSON *o, const char *key, int64_t dflt, int64_t min,
	int64_t max, struct err *e)
{
	/* Beyond 2^53 a double no longer tells neighbours apart. */
	const double exact = 9007199254740992.0;
	const cJSON *v = present(o, key);
	double d;

	*out = dflt;
	if (!v)
		return 1;
	if (!cJSON_IsNumber(v))
		return wrong_type(e, key, "an integer");
	d = v->valuedouble;
	if (!(d >= -exact && d <= exact) || trunc(d) != d)
		return wrong_type(e, key, "an integer");
	if ((int64_t)d < min || (int64_t)d > max)
		return err_set(e, ERR_INVALID_REQUEST, key,
			"%s: expected an integer from %lld to %lld", key, (long long)min,
			(long long)max);
	*out = (int64_t)d;
	return 0;
}

int json_get_number(double *out, const cJSON *o, const char *key, double dflt, double min,
	double max, struct err *e)
{
	const cJSON *v = present(o, key);

	*out = dflt;
	if (!v)
		return 1;
	if (!cJSON_IsNumber(v))
		return wrong_type(e, key, "a number");
	if (!(v->valuedouble >= min && v->valuedouble <= max))
		return err_set(e, ERR_INVALID_REQUEST, key, "%s: expected a number from %g to %g",
			key, min, max);
	*out = v->valuedouble;
	return 0;
}

int json_get_bool(bool *out, const cJSON *o, const char *key, bool dflt, struct err *e)
{
	const cJSON *v = present(o, key);

	*out = dflt;
	if (!v)
		return 1;
	if (!cJSON_IsBool(v))
		return wrong_type(e, key, "true or false");
	*out = cJSON_IsTrue(v);
	return 0;
}

int json_get_object(const cJSON **out, const cJSON *o, const char *key, struct err *e)
{
	*out = present(o, key);
	if (!*out)
		return 1;
	if (cJSON_IsObject(*out))
		return 0;
	*out = NULL;
	return wrong_type(e, key, "an object");
}

int json_get_array(const cJSON **out, const cJSON *o, const char *key, struct err *e)
{
	*out = present(o, key);
	if (!*out)
		return 1;
	if (cJSON_IsArray(*out))
		return 0;
	*out = NULL;
	return wrong_type(e, key, "an array");
}

char *json_print(struct arena *a, const cJSON *v)
{
	char *text = cJSON_PrintUnformatted(v);
	char *copy;

	/* As in the arena: only a machine without memory gets here. */
	if (!text) {
		log_error("out of memory");
		abort();
	}
	copy = arena_strdup(a, text);
	cJSON_free(text);
	return copy;
}

/* s with every invalid sequence as U+FFFD and without NUL, in fresh memory. */
static char *cleaned(const char *s, size_t n)
{
	char *copy = malloc(3 * n + 1), *at = copy;
	size_t i = 0, used;
	uint32_t cp;

	if (!copy) {
		log_error("out of memory");
		abort();
	}
	while (i < n) {
		used = utf8_next(&cp, s + i, n - i);
		if (cp == UTF8_INVALID || cp == 0) {
			memcpy(at, "\xEF\xBF\xBD", 3);
			at += 3;
		} else {
			memcpy(at, s + i, used);
			at += used;
		}
		i += used;
	}
	*at = '\0';
	return copy;
}

void json_add_text(cJSON *o, const char *key, const char *s, size_t n)
{
	char *text = cleaned(s, n);

	cJSON_AddStringToObject(o, key, text);
	free(text);
}

void json_add_exact(cJSON *o, const char *key, const char *s, size_t n)
{
	struct buf text;

	/* A byte takes six characters at most. */
	buf_init(&text, 6 * n + 2);
	buf_put_json(&text, s, n);
	if (!buf_ok(&text)) {
		log_error("out of memory");
		abort();
	}
	cJSON_AddRawToObject(o, key, buf_str(&text));
	buf_free(&text);
}
