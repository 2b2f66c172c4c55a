/* settings: the [boxd] section of the configuration. SPDX-License-Identifier: ISC */
#include "sandbox/pool/settings.h"

#include <errno.h>
#include <ini.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KIB UINT64_C(1024)
#define MIB (KIB * KIB)
#define GIB (KIB * MIB)

enum kind { PATH, WORD, COUNT, SIZE, DURABILITY };

/* Every key of the section. */
static const struct setting {
	const char *key;
	enum kind kind;
	size_t at;
	const char *value; /* default */
	uint64_t least, most;
} table[] = {
	{"state", PATH, offsetof(struct settings, state), "/var/lib/sandgate", 0, 0},
	{"user", WORD, offsetof(struct settings, user), "sandgate", 0, 0},
	{"box_program", PATH, offsetof(struct settings, box_program),
		"/usr/local/libexec/sandgate/sandgate-box", 0, 0},
	{"init_program", PATH, offsetof(struct settings, init_program),
		"/usr/local/libexec/sandgate/sandgate-init", 0, 0},
	{"memory_limit", SIZE, offsetof(struct settings, memory_limit), "1g", 16 * MIB, 1024 * GIB},
	{"home_size", SIZE, offsetof(struct settings, home_size), "512m", MIB, 1024 * GIB},
	{"home_files", COUNT, offsetof(struct settings, home_files), "200000", 16, 4000000},
	{"tmp_size", SIZE, offsetof(struct settings, tmp_size), "256m", MIB, 1024 * GIB},
	{"pids_limit", COUNT, offsetof(struct settings, pids_limit), "256", 8, 100000},
	{"max_containers", COUNT, offsetof(struct settings, max_containers), "500", 1, 10000},
	{"max_containers_per_workspace", COUNT,
		offsetof(struct settings, max_containers_per_workspace), "500", 1, 10000},
	{"id_base", COUNT, offsetof(struct settings, id_base), "268435456", 65536, 0x70000000},
	{"sleep_after_seconds", COUNT, offsetof(struct settings, sleep_after_seconds), "900", 1,
		86400},
	{"stop_seconds", COUNT, offsetof(struct settings, stop_seconds), "15", 1, 600},
	{"durability", DURABILITY, offsetof(struct settings, durable), "full", 0, 0},
};
#define N (sizeof table / sizeof *table)

struct reading {
	struct settings *s;
	bool given[N];
	char problem[256]; /* the first */
};

static int parse_number(uint64_t *out, const struct setting *t, const char *text)
{
	uint64_t v = 0, unit = 1;

	if (*text < '0' || *text > '9')
		return -1;
	for (; *text >= '0' && *text <= '9'; text++) {
		if (v > UINT64_MAX / 16)
			return -1;
		v = v * 10 + (uint64_t)(*text - '0');
	}
	if (t->kind == SIZE && *text) {
		unit = *text == 'k' ? KIB : *text == 'm' ? MIB : *text == 'g' ? GIB : 0;
		text++;
	}
	if (*text || unit == 0 || v > t->most / unit || v * unit < t->least)
		return -1;
	*out = v * unit;
	return 0;
}

static int set_text(char **at, const char *value)
{
	char *copy = strdup(value);

	if (!copy)
		return -1;
	free(*at);
	*at = copy;
	return 0;
}

static int set(struct settings *s, const struct setting *t, const char *value)
{
	void *at = (char *)s + t->at;

	switch (t->kind) {
	case PATH:
		return value[0] == '/' ? set_text(at, value) : -1;
	case WORD:
		return value[0] && !strpbrk(value, " /:") ? set_text(at, value) : -1;
	case COUNT:
	case SIZE:
		return parse_number(at, t, value);
	case DURABILITY:
		*(bool *)at = strcmp(value, "full") == 0;
		return *(bool *)at || strcmp(value, "relaxed") == 0 ? 0 : -1;
	}
	return -1;
}

static void expected(char *out, size_t n, const struct setting *t)
{
	switch (t->kind) {
	case PATH:
		(void)snprintf(out, n, "an absolute path");
		break;
	case WORD:
		(void)snprintf(out, n, "a name");
		break;
	case COUNT:
	case SIZE:
		(void)snprintf(out, n, "a number%s from %llu to %llu",
			t->kind == SIZE ? " of bytes (k, m or g may follow)" : "",
			(unsigned long long)t->least, (unsigned long long)t->most);
		break;
	case DURABILITY:
		(void)snprintf(out, n, "full or relaxed");
		break;
	}
}

/* For inih: 0 is an error. */
static int on_pair(void *ctx, const char *section, const char *key, const char *value)
{
	struct reading *r = ctx;
	char want[96], problem[sizeof r->problem];

	if (strcmp(section, "boxd") != 0)
		return 1;
	for (size_t k = 0; k < N; k++) {
		if (strcmp(table[k].key, key) != 0)
			continue;
		if (r->given[k]) {
			(void)snprintf(problem, sizeof problem, "%s is set twice", key);
			goto bad;
		}
		r->given[k] = true;
		if (set(r->s, &table[k], value) == 0)
			return 1;
		expected(want, sizeof want, &table[k]);
		(void)snprintf(
			problem, sizeof problem, "%s = %.80s: expected %s", key, value, want);
		goto bad;
	}
	(void)snprintf(problem, sizeof problem, "unknown key %.80s in [boxd]", key);
bad:
	if (!r->problem[0])
		memcpy(r->problem, problem, sizeof problem);
	return 0;
}

int settings_load(struct settings *s, const char *path, char *err, size_t err_size)
{
	struct reading r = {.s = s};
	int line;

	memset(s, 0, sizeof *s);
	for (size_t k = 0; k < N; k++) {
		if (set(s, &table[k], table[k].value) < 0) {
			(void)snprintf(err, err_size, "out of memory");
			goto fail;
		}
	}
	line = ini_parse(path, on_pair, &r);
	if (line < 0) {
		(void)snprintf(err, err_size, "%s: %s", path, strerror(errno));
		goto fail;
	}
	if (line > 0) {
		(void)snprintf(err, err_size, "%s:%d: %s", path, line,
			r.problem[0] ? r.problem : "expected [section], key = value or a comment");
		goto fail;
	}
	return 0;
fail:
	settings_free(s);
	return -1;
}

void settings_free(struct settings *s)
{
	free(s->state);
	free(s->user);
	free(s->box_program);
	free(s->init_program);
	memset(s, 0, sizeof *s);
}
