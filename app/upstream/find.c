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

const struct conf_provider *upstream_find(
	const struct conf *c, const char *model, const char **name, struct arena *a, struct err *e)
{
	*name = NULL;
	if (model == NULL || *model == '\0') {
		err_set(e, ERR_INVALID_REQUEST, "model", "model: expected the name of a model");
		return NULL;
	}
	for (const struct conf_provider *p = c->providers; p != NULL && strlen(model) <= MODEL_MAX;
		p = p->next) {
		const char *found = served(p, model);
		if (found == NULL)
			continue;
		*name = arena_strdup(a, found);
		return p;
	}
	err_set(e, ERR_NOT_FOUND, "model", "model: no provider serves '%.100s'", model);
	return NULL;
}

static bool is_first(const struct conf *c, const struct conf_provider *mine, const char *model)
{
	const struct conf_provider *p = c->providers;
	while (p != NULL && p != mine && served(p, model) == NULL)
		p = p->next;
	return p == mine;
}

void upstream_models(const struct conf *c,
	void (*fn)(void *ctx, const char *model, const struct conf_provider *p), void *ctx)
{
	struct arena *scratch = arena_new();
	for (const struct conf_provider *p = c->providers; p != NULL; p = p->next) {
		for (char **glob = p->models; glob != NULL && *glob != NULL; glob++) {
			if (strpbrk(*glob, "*?[\\") != NULL)
				continue;
			const char *model = arena_printf(
				scratch, "%s%s", p->prefix != NULL ? p->prefix : "", *glob);
			/* One that an earlier provider serves under this name never gets here. */
			if (is_first(c, p, model))
				fn(ctx, model, p);
		}
	}
	arena_free(scratch);
}
