/* conf: the settings of conf/sandgate.conf. SPDX-License-Identifier: ISC */
#include "app/base/conf.h"

#include <errno.h>
#include <fcntl.h>
#include <ini.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/base/arena.h"
#include "sandbox/sys/io.h"
#include "sandbox/sys/log.h"

enum { LINE_MAX_BYTES = 4096, KEY_FILE_MAX = 65536, MODELS_MAX = 256 };

/* What conf_load returns is the first member: the arena ends with it. */
struct loaded {
	struct conf conf;
	struct arena *arena;
};

/* A [provider] section while it is read. */
struct section {
	struct conf_provider *provider;
	int line;
	const char *key_env, *key_file;
	int key_line;
	unsigned seen; /* bit per key */
	struct section *next;
};

enum where { IN_NOTHING, IN_SANDGATE, IN_PROVIDER, IN_OTHER };

enum kind { KIND_TEXT, KIND_INT, KIND_SIZE, KIND_MODE, KIND_NUMBER };

#define TEXT(field, dflt)                                                                          \
	{                                                                                          \
#field, KIND_TEXT, offsetof(struct conf, field), dflt, 0, 0                        \
	}
#define INT(field, dflt, min, max)                                                                 \
	{                                                                                          \
#field, KIND_INT, offsetof(struct conf, field), dflt, min, max                     \
	}
#define OTHER(kind, field, dflt, min, max)                                                         \
	{                                                                                          \
#field, kind, offsetof(struct conf, field), dflt, min, max                         \
	}

/* Every key of [sandgate], in the order of conf/sandgate.conf. Defaults are read as values are. */
static const struct setting {
	const char *name;
	enum kind kind;
	size_t offset;
	const char *dflt;
	double min, max;
} settings[] = {
	TEXT(state, "/var/lib/sandgate"),
	TEXT(listen, ""), /* but below state if it is not said; so is boxd */
	OTHER(KIND_MODE, listen_mode, "0666", 0, 0777),
	TEXT(boxd, ""),
	TEXT(user, "sandgate"),
	INT(processes, "4", 1, 256),
	INT(threads, "64", 1, 1024),
	INT(drain_seconds, "30", 0, 3600),
	OTHER(KIND_SIZE, body_limit_bytes, "33554432", 1024, 1 << 30),
	INT(command_timeout_ms_default, "120000", 1, 86400000),
	INT(command_timeout_ms_max, "300000", 1, 86400000),
	INT(output_chars_default, "16384", 1, 1048576),
	INT(output_chars_max, "65536", 1, 1048576),
	INT(sleep_after_seconds_default, "900", 1, 604800),
	INT(sleep_after_seconds_max, "14400", 1, 604800),
	INT(max_tool_calls, "30", 1, 1000),
	INT(upstream_connect_timeout_ms, "10000", 1, 600000),
	INT(upstream_idle_timeout_ms, "300000", 1, 86400000),
	INT(upstream_total_timeout_ms, "1800000", 1, 86400000),
	INT(heartbeat_ms, "10000", 100, 600000),
	OTHER(KIND_NUMBER, sandbox_price_per_second, "0.0001", 0, 1000),
	INT(sandbox_minimum_seconds, "30", 0, 86400),
};
enum { NSETTINGS = sizeof settings / sizeof settings[0] };

struct parse {
	struct loaded *l;
	FILE *file;
	const char *path;
	char *err;
	size_t err_size;
	int line;
	bool failed;
	enum where where;
	bool seen_sandgate;
	int lines[NSETTINGS]; /* where each was set, 0: it was not */
	struct section *sections, **last, *current;
	struct conf_provider **last_provider;
};

static const char *const provider_keys[] = {
	"protocol", "base_url", "api_key_env", "api_key_file", "models", "prefix"};
enum provider_key { PROTOCOL, BASE_URL, API_KEY_ENV, API_KEY_FILE, MODELS, PREFIX, NPROVIDER_KEYS };

/* Says what is wrong, the first time only; line 0: of the file as a whole. False, for return. */
__attribute__((format(printf, 3, 4))) static bool fail_at(
	struct parse *p, int line, const char *fmt, ...)
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

static bool set(struct parse *p, const struct setting *s, const char *value)
{
	char *at = (char *)&p->l->conf + s->offset;
	long long n = 0;
	double d = 0;

	switch (s->kind) {
	case KIND_TEXT:
		*(char **)(void *)at = arena_strdup(p->l->arena, value);
		return true;
	case KIND_INT:
	case KIND_SIZE:
		if (!read_integer(&n, value, 10, s->min, s->max))
			return fail_at(p, p->line,
				"%s = %s: expected a whole number from %.0f to %.0f", s->name,
				value, s->min, s->max);
		if (s->kind == KIND_INT)
			*(int *)(void *)at = (int)n;
		else
			*(long long *)(void *)at = n;
		return true;
	case KIND_MODE:
		if (!read_integer(&n, value, 8, s->min, s->max))
			return fail_at(p, p->line, "%s = %s: expected permission bits such as 0660",
				s->name, value);
		*(unsigned *)(void *)at = (unsigned)n;
		return true;
	case KIND_NUMBER:
		if (!read_number(&d, value, s->min, s->max))
			return fail_at(p, p->line, "%s = %s: expected a number from %g to %g",
				s->name, value, s->min, s->max);
		*(double *)(void *)at = d;
		return true;
	}
	return false;
}

static bool sandgate_key(struct parse *p, const char *name, const char *value)
{
	int i;

	for (i = 0; i < NSETTINGS; i++) {
		if (strcmp(settings[i].name, name) != 0)
			continue;
		if (p->lines[i] > 0)
			return fail_at(
				p, p->line, "%s was set before, in line %d", name, p->lines[i]);
		p->lines[i] = p->line;
		return set(p, &settings[i], value);
	}
	return fail_at(p, p->line, "unknown key %s in [sandgate]", name);
}

/* Globs with spaces or commas between them. */
static bool set_models(struct parse *p, struct conf_provider *pr, const char *value)
{
	static const char between[] = " \t,";
	size_t n = 0, len;

	pr->models = arena_calloc(p->l->arena, MODELS_MAX + 1, sizeof *pr->models);
	for (value += strspn(value, between); *value; value += strspn(value, between)) {
		len = strcspn(value, between);
		if (n == MODELS_MAX)
			return fail_at(p, p->line, "models: expected at most %d names", MODELS_MAX);
		pr->models[n++] = arena_strndup(p->l->arena, value, len);
		value += len;
	}
	return n > 0 || fail_at(p, p->line, "models: expected names or globs of models");
}

static bool set_base_url(struct parse *p, struct conf_provider *pr, const char *value)
{
	size_t n = strlen(value);
	const char *rest = NULL;

	if (strncmp(value, "http://", 7) == 0)
		rest = value + 7;
	else if (strncmp(value, "https://", 8) == 0)
		rest = value + 8;
	if (!rest || *rest == '\0' || *rest == '/' || strpbrk(value, " \t?#"))
		return fail_at(p, p->line,
			"base_url = %s: expected http://HOST[:PORT][/PATH] or https://…", value);
	while (value[n - 1] == '/')
		n--;
	pr->base_url = arena_strndup(p->l->arena, value, n);
	return true;
}

static bool provider_key(struct parse *p, const char *name, const char *value)
{
	struct section *s = p->current;
	struct conf_provider *pr = s->provider;
	struct arena *a = p->l->arena;
	int key = 0;

	while (key < NPROVIDER_KEYS && strcmp(provider_keys[key], name) != 0)
		key++;
	if (key == NPROVIDER_KEYS)
		return fail_at(p, p->line, "unknown key %s in [provider %s]", name, pr->name);
	if (s->seen & 1u << key)
		return fail_at(p, p->line, "%s was set before in [provider %s]", name, pr->name);
	s->seen |= 1u << key;
	switch ((enum provider_key)key) {
	case PROTOCOL:
		if (strcmp(value, "chat") != 0)
			return fail_at(p, p->line, "protocol = %s: expected chat", value);
		return true;
	case BASE_URL:
		return set_base_url(p, pr, value);
	case MODELS:
		return set_models(p, pr, value);
	case PREFIX:
		if (strpbrk(value, " \t,*?"))
			return fail_at(p, p->line, "prefix = %s: expected text like acme/", value);
		pr->prefix = arena_strdup(a, value);
		return true;
	case API_KEY_ENV:
		s->key_env = arena_strdup(a, value);
		break;
	case API_KEY_FILE:
		s->key_file = arena_strdup(a, value);
		break;
	case NPROVIDER_KEYS:
		break;
	}
	if (s->key_env && s->key_file)
		return fail_at(p, p->line, "[provider %s] has both api_key_env and api_key_file",
			pr->name);
	s->key_line = p->line;
	return true;
}

static bool begin_provider(struct parse *p, const char *name, size_t n)
{
	struct arena *a = p->l->arena;
	struct section *s;

	if (n == 0 || n > 64 ||
		strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-") <
			n)
		return fail_at(p, p->line,
			"[provider %.*s]: expected a name of 1 to 64 letters, digits, - and _",
			(int)n, name);
	if (n == strlen("sandgate") && memcmp(name, "sandgate", n) == 0)
		return fail_at(p, p->line, "[provider sandgate] is built in");
	for (s = p->sections; s; s = s->next)
		if (strlen(s->provider->name) == n && memcmp(s->provider->name, name, n) == 0)
			return fail_at(p, p->line, "[provider %s] was there before, in line %d",
				s->provider->name, s->line);
	s = arena_new_of(a, struct section);
	s->provider = arena_new_of(a, struct conf_provider);
	s->provider->name = arena_strndup(a, name, n);
	s->provider->protocol = arena_strdup(a, "chat");
	s->provider->prefix = arena_strdup(a, "");
	s->line = p->line;
	*p->last = s;
	p->last = &s->next;
	*p->last_provider = s->provider;
	p->last_provider = &s->provider->next;
	p->current = s;
	p->where = IN_PROVIDER;
	return true;
}

/* A line that begins with '['. inih hands out no section without keys and joins two of one name. */
static bool begin_section(struct parse *p, const char *line)
{
	const char *name = line + 1, *end = strchr(line, ']');
	size_t n;

	if (!end)
		return fail_at(p, p->line, "expected ] after the section's name");
	if (end[1 + strspn(end + 1, " \t\r\n")] != '\0' && end[1 + strspn(end + 1, " \t")] != ';')
		return fail_at(p, p->line, "expected nothing after ]");
	n = (size_t)(end - name);
	if (n == strlen("sandgate") && memcmp(name, "sandgate", n) == 0) {
		if (p->seen_sandgate)
			return fail_at(p, p->line, "[sandgate] was there before");
		p->seen_sandgate = true;
		p->where = IN_SANDGATE;
		return true;
	}
	if (n > strlen("provider ") && memcmp(name, "provider ", strlen("provider ")) == 0)
		return begin_provider(p, name + strlen("provider "), n - strlen("provider "));
	if (n == strlen("boxd") && memcmp(name, "boxd", n) == 0) {
		p->where = IN_OTHER;
		return true;
	}
	return fail_at(p, p->line,
		"unknown section [%.*s]: expected [sandgate], [provider NAME] or [boxd]", (int)n,
		name);
}

/* inih reads through this, so the line of what the handler is given is known. NULL ends the reading. */
static char *read_line(char *line, int size, void *stream)
{
	struct parse *p = stream;
	size_t n;

	if (p->failed || !fgets(line, size, p->file))
		return NULL;
	p->line++;
	n = strlen(line);
	if ((n == 0 || line[n - 1] != '\n') && !feof(p->file)) {
		fail_at(p, p->line, "the line is too long (over %d bytes) or holds a NUL",
			LINE_MAX_BYTES - 2);
		return NULL;
	}
	if (p->line == 1 && strncmp(line, "\xEF\xBB\xBF", 3) == 0) {
		fail_at(p, p->line, "expected plain UTF-8 without a byte order mark");
		return NULL;
	}
	if ((line[0] == ' ' || line[0] == '\t') && line[strspn(line, " \t\r\n")] != '\0') {
		fail_at(p, p->line, "expected no white space at the beginning of a line");
		return NULL;
	}
	if (line[0] == '[' && !begin_section(p, line))
		return NULL;
	return line;
}

static int handle(void *user, const char *section, const char *name, const char *value)
{
	struct parse *p = user;

	(void)section;
	if (p->failed)
		return 0;
	switch (p->where) {
	case IN_SANDGATE:
		return sandgate_key(p, name, value);
	case IN_PROVIDER:
		return provider_key(p, name, value);
	case IN_OTHER:
		return 1;
	case IN_NOTHING:
		break;
	}
	return fail_at(p, p->line, "%s stands before any section: expected [sandgate] first", name);
}

/* A key is a header's value: printable, one line. */
static bool key_is_plain(const char *s)
{
	for (; *s; s++)
		if (*s < 0x21 || *s > 0x7E)
			return false;
	return true;
}

static bool load_key(struct parse *p, struct section *s)
{
	const char *value = NULL;
	char *text = NULL;
	size_t n;
	bool ok;

	if (s->key_env) {
		value = getenv(s->key_env);
		/* The other programs read this file too, without the server's environment. */
		if (!value)
			log_warn("%s:%d: environment variable %s is not set: [provider %s] is "
				 "called "
				 "without a key",
				p->path, s->key_line, s->key_env, s->provider->name);
	} else if (s->key_file) {
		text = io_read_file(AT_FDCWD, s->key_file, KEY_FILE_MAX, &n);
		if (!text)
			return fail_at(p, s->key_line, "api_key_file = %s: %s", s->key_file,
				strerror(errno));
		while (n > 0 && (text[n - 1] == '\n' || text[n - 1] == '\r' || text[n - 1] == ' '))
			text[--n] = '\0';
		value = text;
	}
	ok = !value || (*value && key_is_plain(value));
	s->provider->api_key = ok ? arena_strdup(p->l->arena, value) : NULL;
	free(text);
	return ok ||
		fail_at(p, s->key_line, "[provider %s]: the key is empty or not one word",
			s->provider->name);
}

static bool check_providers(struct parse *p)
{
	struct section *s;

	for (s = p->sections; s; s = s->next) {
		if (!s->provider->base_url)
			return fail_at(
				p, s->line, "[provider %s] lacks base_url", s->provider->name);
		if (!s->provider->models)
			return fail_at(p, s->line, "[provider %s] lacks models", s->provider->name);
		if (!load_key(p, s))
			return false;
	}
	return true;
}

static int line_of(const struct parse *p, const char *name)
{
	int i;

	for (i = 0; i < NSETTINGS; i++)
		if (strcmp(settings[i].name, name) == 0)
			return p->lines[i];
	return 0;
}

/* A default may not be over its maximum; the one that was written is blamed. */
static bool check_pair(struct parse *p, const char *name, int dflt, const char *max_name, int max)
{
	int line = line_of(p, name);

	if (dflt <= max)
		return true;
	if (line == 0)
		line = line_of(p, max_name);
	return fail_at(p, line, "%s (%d) is over %s (%d)", name, dflt, max_name, max);
}

static bool check_settings(struct parse *p)
{
	struct conf *c = &p->l->conf;
	struct arena *a = p->l->arena;

	if (c->state[0] != '/')
		return fail_at(
			p, line_of(p, "state"), "state = %s: expected an absolute path", c->state);
	if (c->user[0] == '\0')
		return fail_at(p, line_of(p, "user"), "user: expected a user's name");
	if (line_of(p, "listen") == 0)
		c->listen = arena_printf(a, "unix:%s/run/app.sock", c->state);
	if (line_of(p, "boxd") == 0)
		c->boxd = arena_printf(a, "%s/run/boxd.sock", c->state);
	if (c->boxd[0] != '/')
		return fail_at(
			p, line_of(p, "boxd"), "boxd = %s: expected an absolute path", c->boxd);
	if (c->listen[0] != '\0' && strncmp(c->listen, "unix:/", 6) != 0 && !strchr(c->listen, ':'))
		return fail_at(p, line_of(p, "listen"),
			"listen = %s: expected unix:/PATH, HOST:PORT, or nothing", c->listen);
#define PAIR(stem) check_pair(p, #stem "_default", c->stem##_default, #stem "_max", c->stem##_max)
	return PAIR(command_timeout_ms) && PAIR(output_chars) && PAIR(sleep_after_seconds);
#undef PAIR
}

static void add_built_in(struct parse *p)
{
	struct arena *a = p->l->arena;
	struct conf_provider *pr = arena_new_of(a, struct conf_provider);

	pr->name = arena_strdup(a, "sandgate");
	pr->protocol = arena_strdup(a, "script");
	pr->base_url = arena_strdup(a, "");
	pr->prefix = arena_strdup(a, "sandgate/");
	pr->models = arena_calloc(a, 2, sizeof *pr->models);
	pr->models[0] = arena_strdup(a, "script");
	*p->last_provider = pr;
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

static bool read_file(struct parse *p)
{
	int i, rc;

	for (i = 0; i < NSETTINGS; i++)
		set(p, &settings[i], settings[i].dflt);
	p->file = fopen(p->path, "re");
	if (!p->file)
		return fail_at(p, 0, "%s", strerror(errno));
	configure_inih();
	rc = ini_parse_stream(read_line, p, handle, p);
	if (rc > 0)
		fail_at(p, rc, "expected `key = value`, a [section] or a comment");
	else if (rc < 0 || ferror(p->file))
		fail_at(p, 0, "cannot be read: %s", strerror(errno));
	fclose(p->file);
	return !p->failed && check_settings(p) && check_providers(p);
}

int conf_load(struct conf **out, const char *path, char *err, size_t err_size)
{
	struct arena *a = arena_new();
	struct loaded *l = arena_new_of(a, struct loaded);
	struct parse p = {.l = l, .path = path, .err = err, .err_size = err_size};

	l->arena = a;
	p.last = &p.sections;
	p.last_provider = &l->conf.providers;
	if (!read_file(&p)) {
		*out = NULL;
		arena_free(a);
		return -1;
	}
	add_built_in(&p);
	*out = &l->conf;
	return 0;
}

void conf_free(struct conf *c)
{
	/* conf is the first member of what was allocated. */
	if (c)
		arena_free(((struct loaded *)(void *)c)->arena);
}
