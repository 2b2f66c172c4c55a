/* conf_parse: reading the configuration, private to conf*.c. SPDX-License-Identifier: ISC */
#ifndef APP_BASE_CONF_PARSE_H
#define APP_BASE_CONF_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "app/base/arena.h"
#include "app/base/conf.h"

/* A [provider] section while it is read. */
struct conf_section {
	struct conf_provider *provider;
	int line;
	const char *key_env, *key_file;
	int key_line;
	unsigned seen; /* bit per key */
	struct conf_section *next;
};

struct conf_parse {
	struct conf *conf;
	struct arena *arena; /* of all that conf points to */
	const char *path;
	FILE *file;
	int line;    /* the one that was read last */
	bool failed; /* err is filled */
	char *err;
	size_t err_size;
	struct conf_section *sections, **last, *current;
	struct conf_provider **last_provider;
};

/* Says what is wrong, the first time only; line 0: with the file as a whole. False, for return. */
bool conf_fail(struct conf_parse *p, int line, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* conf_provider.c: a section begins; one of its keys; once all is read, what is missing and the key files. */
bool conf_provider_begin(struct conf_parse *p, const char *name, size_t n);
bool conf_provider_key(struct conf_parse *p, const char *name, const char *value);
bool conf_provider_check(struct conf_parse *p);
/* The built-in one, at the end. */
void conf_provider_built_in(struct conf_parse *p);

#endif
