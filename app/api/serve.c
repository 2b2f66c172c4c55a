/* serve: one request from route to last byte. SPDX-License-Identifier: ISC */
#include <string.h>

#include "app/api/api.h"
#include "app/upstream/upstream.h"
#include "sandbox/home/home.h"
#include "sandbox/sys/log.h"

static _Thread_local struct api_env *serve_env;

int api_global_init(struct err *e)
{
	if (home_global_init() < 0)
		return err_set(e, ERR_SERVER, NULL, "libgit2: %s", home_error());
	if (upstream_global_init() < 0)
		return err_set(e, ERR_SERVER, NULL, "libcurl cannot be initialised");
	return 0;
}

void api_set_env(struct api_env *env)
{
	serve_env = env;
}

struct api_env *api_env(void)
{
	return serve_env;
}

int api_container_id(const char **out, const struct req *r, struct err *e)
{
	*out = r->args[0];
	if (*out && store_name_ok(*out))
		return 0;
	return err_set(e, ERR_INVALID_REQUEST, "container_id",
		"container_id: expected 1 to 40 characters of A-Z a-z 0-9 _ -");
}

/*
 * Whose envelope errors wear, also where no route answers: what lies at or below an Anthropic
 * route is asked for by Anthropic's clients, and so is whatever carries their version header.
 */
static enum http_api envelope(const struct req *r)
{
	if (http_header(r, "anthropic-version"))
		return HTTP_ANTHROPIC;
	for (size_t i = 0; i < api_nroutes; i++) {
		size_t n = strlen(api_routes[i].pattern);

		if (api_routes[i].flags & ROUTE_ANTHROPIC &&
			strncmp(r->path, api_routes[i].pattern, n) == 0 &&
			(r->path[n] == '\0' || r->path[n] == '/'))
			return HTTP_ANTHROPIC;
	}
	return HTTP_OPENAI;
}

static int answer(struct req *r, struct err *e)
{
	const struct route *row = NULL;
	size_t limit = (size_t)api_env()->conf->body_limit_bytes;
	int rc = route_find(&row, api_routes, api_nroutes, r, e);

	r->api = envelope(r);
	if (rc < 0)
		return rc;
	if (!(row->flags & ROUTE_OPEN)) {
		rc = api_auth(r, e);
		if (rc < 0)
			return rc;
	}
	if (row->body_max) {
		rc = http_read_body(r, row->body_max < limit ? row->body_max : limit, e);
		if (rc < 0)
			return rc;
	}
	return row->handler(r, e);
}

void api_serve(struct req *r)
{
	struct err e = {0};
	int rc = answer(r, &e);

	if (rc >= 0 || http_begun(r))
		return;
	if (e.code == ERR_OK)
		err_set(&e, (enum err_code)rc, NULL, "the request failed");
	if (e.code == ERR_SERVER) {
		/* What failed inside is for the operator, not for whoever can make it fail. */
		log_error("%s", e.message);
		err_set(&e, ERR_SERVER, NULL, "Internal error (request %s)", r->id);
	}
	http_send_error(r, &e);
}
