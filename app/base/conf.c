/* conf: the settings of conf/sandgate.conf. SPDX-License-Identifier: ISC */
#include "app/base/conf.h"

#include <errno.h>
#include <ini.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/base/conf_parse.h"

enum { LINE_MAX_BYTES = 4096 };

/* What conf_load returns is the first member: the arena ends with it. */
struct loaded {
	struct conf conf;
	struct arena *arena;
};

enum kind { KIND_TEXT, KIND_INT, KIND_SIZE, KIND_MODE, KIND_NUMBER };

#define AT(field) #field, offsetof(struct conf, field)

/* Every key of [sandgate], in the order of conf/sandgate.conf. Defaults are read as values are. */
static const struct setting {
	const char *name;
	size_t offset;
	enum kind kind;
	const char *dflt;
	double min, max;
} settings[] = {
	{AT(state), KIND_TEXT, "/var/lib/sandgate", 0, 0},
	{AT(listen), KIND_TEXT, "", 0, 0}, /* but below state if it is not said; so is boxd */
	{AT(listen_mode), KIND_MODE, "0666", 0, 0777},
	{AT(boxd), KIND_TEXT, "", 0, 0},
	{AT(user), KIND_TEXT, "sandgate", 0, 0},
	{AT(processes), KIND_INT, "4", 1, 256},
	{AT(threads), KIND_INT, "64", 1, 1024},
	{AT(drain_seconds), KIND_INT, "30", 0, 3600},
	{AT(body_limit_bytes), KIND_SIZE, "33554432", 1024, 1 << 30},
	{AT(command_timeout_ms_default), KIND_INT, "120000", 1, 86400000},
	{AT(command_timeout_ms_max), KIND_INT, "300000", 1, 86400000},
	{AT(output_chars_default), KIND_INT, "16384", 1, 1048576},
	{AT(output_chars_max), KIND_INT, "65536", 1, 1048576},
	{AT(sleep_after_seconds_default), KIND_INT, "900", 1, 604800},
	{AT(sleep_after_seconds_max), KIND_INT, "14400", 1, 604800},
	{AT(max_tool_calls), KIND_INT, "30", 1, 1000},
	{AT(upstream_connect_timeout_ms), KIND_INT, "10000", 1, 600000},
	{AT(upstream_idle_timeout_ms), KIND_INT, "300000", 1, 86400000},
	{AT(upstream_total_timeout_ms), KIND_INT, "1800000", 1, 86400000},
	{AT(heartbeat_ms), KIND_INT, "10000", 100, 600000},
	{AT(sandbox_price_per_second), KIND_NUMBER, "0.0001", 0, 1000},
	{AT(sandbox_minimum_seconds), KIND_INT, "30", 0, 86400},
};
enum { NSETTINGS = sizeof settings / sizeof settings[0] };

enum where { IN_NOTHING, IN_SANDGATE, IN_PROVIDER, IN_OTHER };

/* Beside what conf_provider.c needs. */
struct reading {
	struct conf_parse p;
	enum where where;
	bool seen_sandgate;
	int lines[NSETTINGS]; /* where each was set, 0: it was not */
};

bool conf_fail(struct conf_parse *p, int line, const char *fmt, ...)
{
	char text[512], where[16] = "";
	va_list ap;

	if (p->failed)
		return false;
	p->failed = true;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	if (line > 0)
		snprintf(where, sizeof where, "%d:", line);
	snprintf(p->err, p->err_size, "%s:%s %s", p->path, where, text);
	return false;
}

/* A whole number of the given base within [min, max]. */
static bool read_integer(long long *out, const char *value, int base, double min, double max)
{
	char *end;

	if (value[0] < '0' || value[0] > '9')
		return false;
	errno = 0;
	*out = strtoll(value, &end, base);
	return errno == 0 && *end == '\0' && (double)*out >= min && (double)*out <= max;
}

static bool read_number(double *out, const char *value, double min, double max)
{
	char *end;

	/* No "inf", "nan", hexadecimal or sign: strtod would take them. */
	if (value[0] == '\0' || value[strspn(value, "0123456789.")] != '\0')
		return false;
	*out = strtod(value, &end);
	return *end == '\0' && *out >= min && *out <= max;
}

static bool set(struct conf_parse *p, const struct setting *s, const char *value)
{
	char *at = (char *)p->conf + s->offset;
	long long n = 0;
	double d = 0;

	switch (s->kind) {
	case KIND_TEXT:
		*(char **)(void *)at = arena_strdup(p->arena, value);
		return true;
	case KIND_INT:
	case KIND_SIZE:
		if (!read_integer(&n, value, 10, s->min, s->max))
			return conf_fail(p, p->line,
				"%s = %s: expected a whole number from %.0f to %.0f", s->name,
				value, s->min, s->max);
		if (s->kind == KIND_INT)
			*(int *)(void *)at = (int)n;
		else
			*(long long *)(void *)at = n;
		return true;
	case KIND_MODE:
		if (!read_integer(&n, value, 8, s->min, s->max))
			return conf_fail(p, p->line,
				"%s = %s: expected permission bits such as 0660", s->name, value);
		*(unsigned *)(void *)at = (unsigned)n;
		return true;
	case KIND_NUMBER:
		if (!read_number(&d, value, s->min, s->max))
			return conf_fail(p, p->line, "%s = %s: expected a number from %g to %g",
				s->name, value, s->min, s->max);
		*(double *)(void *)at = d;
		return true;
	}
	return false;
}

static bool sandgate_key(struct reading *r, const char *name, const char *value)
{
	struct conf_parse *p = &r->p;
	int i;

	for (i = 0; i < NSETTINGS; i++) {
		if (strcmp(settings[i].name, name) != 0)
			continue;
		if (r->lines[i] > 0)
			return conf_fail(
				p, p->line, "%s was set before, in line %d", name, r->lines[i]);
		r->lines[i] = p->line;
		return set(p, &settings[i], value);
	}
	return conf_fail(p, p->line, "unknown key %s in [sandgate]", name);
}

/* A line that begins with '['. inih hands out no section without keys and joins two of one name. */
static bool begin_section(struct reading *r, const char *line)
{
	const char *name = line + 1, *end = strchr(line, ']');
	struct conf_parse *p = &r->p;
	size_t n;

	if (!end)
		return conf_fail(p, p->line, "expected ] after the section's name");
	if (end[1 + strspn(end + 1, " \t\r\n")] != '\0' && end[1 + strspn(end + 1, " \t")] != ';')
		return conf_fail(p, p->line, "expected nothing after ]");
	n = (size_t)(end - name);
	if (n == strlen("sandgate") && memcmp(name, "sandgate", n) == 0) {
		if (r->seen_sandgate)
			return conf_fail(p, p->line, "[sandgate] was there before");
		r->seen_sandgate = true;
		r->where = IN_SANDGATE;
		return true;
	}
	if (n > strlen("provider ") && memcmp(name, "provider ", strlen("provider ")) == 0) {
		r->where = IN_PROVIDER;
		return conf_provider_begin(p, name + strlen("provider "), n - strlen("provider "));
	}
	if (n == strlen("boxd") && memcmp(name, "boxd", n) == 0) {
		r->where = IN_OTHER;
		return true;
	}
	return conf_fail(p, p->line,
		"unknown section [%.*s]: expected [sandgate], [provider NAME] or [boxd]", (int)n,
		name);
}

/* inih reads through this, so the line of what the handler is given is known. NULL ends the reading. */
static char *read_line(char *line, int size, void *stream)
{
	struct reading *r = stream;
	struct conf_parse *p = &r->p;
	size_t n;

	if (p->failed || !fgets(line, size, p->file))
		return NULL;
	p->line++;
	n = strlen(line);
	if ((n == 0 || line[n - 1] != '\n') && !feof(p->file)) {
		conf_fail(p, p->line, "the line is too long (over %d bytes) or holds a NUL",
			LINE_MAX_BYTES - 2);
		return NULL;
	}
	if (p->line == 1 && strncmp(line, "\xEF\xBB\xBF", 3) == 0) {
		conf_fail(p, p->line, "expected plain UTF-8 without a byte order mark");
		return NULL;
	}
	if ((line[0] == ' ' || line[0] == '\t') && line[strspn(line, " \t\r\n")] != '\0') {
		conf_fail(p, p->line, "expected no white space at the beginning of a line");
		return NULL;
	}
	if (line[0] == '[' && !begin_section(r, line))
		return NULL;
	return line;
}

static int handle(void *user, const char *section, const char *name, const char *value)
{
	struct reading *r = user;
	struct conf_parse *p = &r->p;

	(void)section;
	if (p->failed)
		return 0;
	switch (r->where) {
	case IN_SANDGATE:
		return sandgate_key(r, name, value);
	case IN_PROVIDER:
		return conf_provider_key(p, name, value);
	case IN_OTHER:
		return 1;
	case IN_NOTHING:
		break;
	}
	return conf_fail(
		p, p->line, "%s stands before any section: expected [sandgate] first", name);
}

static int line_of(const struct reading *r, const char *name)
{
	int i;

	for (i = 0; i < NSETTINGS; i++)
		if (strcmp(settings[i].name, name) == 0)
			return r->lines[i];
	return 0;
}

/* A default may not be over its maximum; the one that was written is blamed. */
static bool check_pair(struct reading *r, const char *name, int dflt, const char *max_name, int max)
{
	int line = line_of(r, name);

	if (dflt <= max)
		return true;
	if (line == 0)
		line = line_of(r, max_name);
	return conf_fail(&r->p, line, "%s (%d) is over %s (%d)", name, dflt, max_name, max);
}

static bool check_settings(struct reading *r)
{
	struct conf_parse *p = &r->p;
	struct conf *c = p->conf;
	struct arena *a = p->arena;

	if (c->state[0] != '/')
		return conf_fail(
			p, line_of(r, "state"), "state = %s: expected an absolute path", c->state);
	if (c->user[0] == '\0')
		return conf_fail(p, line_of(r, "user"), "user: expected a user's name");
	if (line_of(r, "listen") == 0)
		c->listen = arena_printf(a, "unix:%s/run/app.sock", c->state);
	if (line_of(r, "boxd") == 0)
		c->boxd = arena_printf(a, "%s/run/boxd.sock", c->state);
	if (c->boxd[0] != '/')
		return conf_fail(
			p, line_of(r, "boxd"), "boxd = %s: expected an absolute path", c->boxd);
	if (c->listen[0] != '\0' && strncmp(c->listen, "unix:/", 6) != 0 && !strchr(c->listen, ':'))
		return conf_fail(p, line_of(r, "listen"),
			"listen = %s: expected unix:/PATH, HOST:PORT, or nothing", c->listen);
#define PAIR(stem) check_pair(r, #stem "_default", c->stem##_default, #stem "_max", c->stem##_max)
	return PAIR(command_timeout_ms) && PAIR(output_chars) && PAIR(sleep_after_seconds);
#undef PAIR
}

/* Global in inih, and the same for all who use it. */
static void configure_inih(void)
{
	ini_use_stack = false;
	ini_max_line = LINE_MAX_BYTES;
	ini_initial_alloc = LINE_MAX_BYTES;
	ini_allow_multiline = false;
	ini_allow_bom = false;
	ini_stop_on_first_error = true;
}

static bool read_file(struct reading *r)
{
	struct conf_parse *p = &r->p;
	int i, rc;

	for (i = 0; i < NSETTINGS; i++)
		set(p, &settings[i], settings[i].dflt);
	p->file = fopen(p->path, "re");
	if (!p->file)
		return conf_fail(p, 0, "%s", strerror(errno));
	configure_inih();
	rc = ini_parse_stream(read_line, r, handle, r);
	if (rc > 0)
		conf_fail(p, rc, "expected `key = value`, a [section] or a comment");
	else if (rc < 0 || ferror(p->file))
		conf_fail(p, 0, "cannot be read: %s", strerror(errno));
	fclose(p->file);
	return !p->failed && check_settings(r) && conf_provider_check(p);
}

int conf_load(struct conf **out, const char *path, char *err, size_t err_size)
{
	struct arena *a = arena_new();
	struct loaded *l = arena_new_of(a, struct loaded);
	struct reading r = {.p = {.conf = &l->conf,
				    .arena = a,
				    .path = path,
				    .err = err,
				    .err_size = err_size}};

	l->arena = a;
	r.p.last = &r.p.sections;
	r.p.last_provider = &l->conf.providers;
	if (!read_file(&r)) {
		*out = NULL;
		arena_free(a);
		return -1;
	}
	conf_provider_built_in(&r.p);
	*out = &l->conf;
	return 0;
}

void conf_free(struct conf *c)
{
	/* conf is the first member of what was allocated. */
	if (c)
		arena_free(((struct loaded *)(void *)c)->arena);
}
