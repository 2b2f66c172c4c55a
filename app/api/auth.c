/* auth: from a key to the workspace that it opens. SPDX-License-Identifier: ISC */
#include <string.h>
#include <strings.h>

#include "app/api/api.h"

/* The token of "Authorization: Bearer TOKEN", NULL if it is another scheme. */
static const char *bearer(const char *value)
{
	static const char scheme[] = "Bearer";
	size_t n = sizeof(scheme) - 1;

	if (strncasecmp(value, scheme, n) != 0 || (value[n] != ' ' && value[n] != '\t'))
		return NULL;
	value += n;
	return value + strspn(value, " \t");
}

/* OpenAI's clients send Authorization, Anthropic's send either, and some proxies send both. */
static const char *presented_key(const struct req *r)
{
	const char *authorization = http_header(r, "authorization"), *key = NULL;

	if (authorization)
		key = bearer(authorization);
	return key ? key : http_header(r, "x-api-key");
}

int api_auth(struct req *r, struct err *e)
{
	const char *key = presented_key(r);
	struct principal *p = arena_new_of(r->arena, struct principal);
	int rc;

	if (key && *key)
		rc = store_key_find(api_env()->store, r->arena, key, p, e);
	else
		rc = err_set(e, ERR_AUTHENTICATION, NULL, "Missing Authentication header");
	if (rc == ERR_AUTHENTICATION)
		http_set_header(r, "WWW-Authenticate", "Bearer");
	if (rc == 0)
		r->principal = p;
	return rc;
}

const struct principal *api_principal(const struct req *r)
{
	return r->principal;
}
