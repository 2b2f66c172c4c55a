/* conf_provider: the [provider NAME] sections. SPDX-License-Identifier: ISC */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "app/base/conf_parse.h"
#include "sandbox/sys/io.h"
#include "sandbox/sys/log.h"

enum { KEY_FILE_MAX = 65536, MODELS_MAX = 256 };

static const char *const provider_keys[] = {
	"protocol", "base_url", "api_key_env", "api_key_file", "models", "prefix"};
enum provider_key { PROTOCOL, BASE_URL, API_KEY_ENV, API_KEY_FILE, MODELS, PREFIX, NPROVIDER_KEYS };

/* Globs with spaces or commas between them. */
static bool set_models(struct conf_parse *p, struct conf_provider *pr, const char *value)
{
	static const char between[] = " \t,";
	size_t n = 0, len;

	pr->models = arena_calloc(p->arena, MODELS_MAX + 1, sizeof *pr->models);
	for (value += strspn(value, between); *value; value += strspn(value, between)) {
		len = strcspn(value, between);
		if (n == MODELS_MAX)
			return conf_fail(
				p, p->line, "models: expected at most %d names", MODELS_MAX);
		pr->models[n++] = arena_strndup(p->arena, value, len);
		value += len;
	}
	return n > 0 || conf_fail(p, p->line, "models: expected names or globs of models");
}

static bool set_base_url(struct conf_parse *p, struct conf_provider *pr, const char *value)
{
	size_t n = strlen(value);
	const char *rest = NULL;

	if (strncmp(value, "http://", 7) == 0)
		rest = value + 7;
	else if (strncmp(value, "https://", 8) == 0)
		rest = value + 8;
	if (!rest || *rest == '\0' || *rest == '/' || strpbrk(value, " \t?#"))
		return conf_fail(p, p->line,
			"base_url = %s: expected http://HOST[:PORT][/PATH] or https://…", value);
	while (value[n - 1] == '/')
		n--;
	pr->base_url = arena_strndup(p->arena, value, n);
	return true;
}

bool conf_provider_key(struct conf_parse *p, const char *name, const char *value)
{
	struct conf_section *s = p->current;
	struct conf_provider *pr = s->provider;
	struct arena *a = p->arena;
	int key = 0;

	while (key < NPROVIDER_KEYS && strcmp(provider_keys[key], name) != 0)
		key++;
	if (key == NPROVIDER_KEYS)
		return conf_fail(p, p->line, "unknown key %s in [provider %s]", name, pr->name);
	if (s->seen & 1u << key)
		return conf_fail(p, p->line, "%s was set before in [provider %s]", name, pr->name);
	s->seen |= 1u << key;
	switch ((enum provider_key)key) {
	case PROTOCOL:
		if (strcmp(value, "chat") != 0)
			return conf_fail(p, p->line, "protocol = %s: expected chat", value);
		return true;
	case BASE_URL:
		return set_base_url(p, pr, value);
	case MODELS:
		return set_models(p, pr, value);
	case PREFIX:
		if (strpbrk(value, " \t,*?"))
			return conf_fail(
				p, p->line, "prefix = %s: expected text like acme/", value);
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
		return conf_fail(p, p->line, "[provider %s] has both api_key_env and api_key_file",
			pr->name);
	s->key_line = p->line;
	return true;
}

bool conf_provider_begin(struct conf_parse *p, const char *name, size_t n)
{
	struct arena *a = p->arena;
	struct conf_section *s;

	if (n == 0 || n > 64 ||
		strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-") <
			n)
		return conf_fail(p, p->line,
			"[provider %.*s]: expected a name of 1 to 64 letters, digits, - and _",
			(int)n, name);
	if (n == strlen("sandgate") && memcmp(name, "sandgate", n) == 0)
		return conf_fail(p, p->line, "[provider sandgate] is built in");
	for (s = p->sections; s; s = s->next)
		if (strlen(s->provider->name) == n && memcmp(s->provider->name, name, n) == 0)
			return conf_fail(p, p->line, "[provider %s] was there before, in line %d",
				s->provider->name, s->line);
	s = arena_new_of(a, struct conf_section);
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
	return true;
}

/* A key is a header's value: printable, one line. */
static bool key_is_plain(const char *s)
{
	for (; *s; s++)
		if (*s < 0x21 || *s > 0x7E)
			return false;
	return true;
}

static bool load_key(struct conf_parse *p, struct conf_section *s)
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
			return conf_fail(p, s->key_line, "api_key_file = %s: %s", s->key_file,
				strerror(errno));
		while (n > 0 && (text[n - 1] == '\n' || text[n - 1] == '\r' || text[n - 1] == ' '))
			text[--n] = '\0';
		value = text;
	}
	ok = !value || (*value && key_is_plain(value));
	s->provider->api_key = ok ? arena_strdup(p->arena, value) : NULL;
	free(text);
	return ok ||
		conf_fail(p, s->key_line, "[provider %s]: the key is empty or not one word",
			s->provider->name);
}

bool conf_provider_check(struct conf_parse *p)
{
	struct conf_section *s;

	for (s = p->sections; s; s = s->next) {
		if (!s->provider->base_url)
			return conf_fail(
				p, s->line, "[provider %s] lacks base_url", s->provider->name);
		if (!s->provider->models)
			return conf_fail(
				p, s->line, "[provider %s] lacks models", s->provider->name);
		if (!load_key(p, s))
			return false;
	}
	return true;
}

void conf_provider_built_in(struct conf_parse *p)
{
	struct arena *a = p->arena;
	struct conf_provider *pr = arena_new_of(a, struct conf_provider);

	pr->name = arena_strdup(a, "sandgate");
	pr->protocol = arena_strdup(a, "script");
	pr->base_url = arena_strdup(a, "");
	pr->prefix = arena_strdup(a, "sandgate/");
	pr->models = arena_calloc(a, 2, sizeof *pr->models);
	pr->models[0] = arena_strdup(a, "script");
	*p->last_provider = pr;
}
