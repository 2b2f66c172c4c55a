/* find: which provider serves a model. SPDX-License-Identifier: ISC */
#include "app/upstream/upstream.h"

#include <fnmatch.h>
#include <string.h>

#include "app/base/arena.h"

#define MODEL_MAX 256 /* bytes of a model's name */

/* The name as the provider knows it, NULL if this one does not serve it. */
static const char *served(const struct conf_provider *p, const char *model)
{
	const size_t prefix = p->prefix != NULL ? strlen(p->prefix) : 0;
	if (prefix > 0 && strncmp(model, p->prefix, prefix) != 0)
		return NULL;
	const char *name = model + prefix;
	if (*name == '\0' || p->models == NULL)
		return NULL;
	for (char **glob = p->models; *glob != NULL; glob++)
		if (fnmatch(*glob, name, 0) == 0)
			return name;
	return NULL;
}

/* The built-in model's own name is not for a catch-all to take: it works on every server. */
static const struct conf_provider *find(const struct conf *c, const char *model, const char **name)
{
	for (int built_in = 1; built_in >= 0; built_in--) {
		for (const struct conf_provider *p = c->providers; p != NULL; p = p->next) {
			if ((strcmp(p->protocol, "script") == 0) != built_in)
				continue;
			*name = served(p, model);
			if (*name != NULL)
				return p;
		}
	}
	return NULL;
}

const struct conf_provider *upstream_find(
	const struct conf *c, const char *model, const char **name, struct arena *a, struct err *e)
{
	*name = NULL;
	if (model == NULL || *model == '\0') {
		err_set(e, ERR_INVALID_REQUEST, "model", "model: expected the name of a model");
		return NULL;
	}
	const struct conf_provider *p = strlen(model) <= MODEL_MAX ? find(c, model, name) : NULL;
	if (p == NULL)
		err_set(e, ERR_NOT_FOUND, "model", "model: no provider serves '%.100s'", model);
	*name = arena_strdup(a, *name);
	return p;
}

void upstream_models(const struct conf *c,
	void (*fn)(void *ctx, const char *model, const struct conf_provider *p), void *ctx)
{
	struct arena *scratch = arena_new();
	const char *name;
	for (const struct conf_provider *p = c->providers; p != NULL; p = p->next) {
		for (char **glob = p->models; glob != NULL && *glob != NULL; glob++) {
			if (strpbrk(*glob, "*?[\\") != NULL)
				continue;
			const char *model = arena_printf(
				scratch, "%s%s", p->prefix != NULL ? p->prefix : "", *glob);
			/* One that an earlier provider serves under this name never gets here. */
			if (find(c, model, &name) == p)
				fn(ctx, model, p);
		}
	}
	arena_free(scratch);
}
