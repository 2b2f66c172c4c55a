/* api: what the handlers share, and the route table. SPDX-License-Identifier: ISC */
#ifndef APP_API_API_H
#define APP_API_API_H

#include "app/base/conf.h"
#include "app/http/http.h"
#include "app/http/route.h"
#include "app/store/store.h"

/* Once a process, before threads and requests: the libraries that handlers use. 0 or an err_code. */
int api_global_init(struct err *e);

/* One a thread; handlers find it by api_env(). */
struct api_env {
	const struct conf *conf;
	struct store *store;
};
void api_set_env(struct api_env *env); /* for this thread */
struct api_env *api_env(void);

/* Every URL that is served (api/routes.c). */
extern const struct route api_routes[];
extern const size_t api_nroutes;

/* Serves one request from route to last byte: auth, body, handler, error. Between http_begin and http_end. */
void api_serve(struct req *r);

/* api/auth.c: the principal of a request (Bearer, x-api-key). ERR_AUTHENTICATION without a valid key. */
int api_auth(struct req *r, struct err *e);
/* Set for every route that is not ROUTE_OPEN. */
const struct principal *api_principal(const struct req *r);
/* The route's first placeholder as a container id; ERR_INVALID_REQUEST if it cannot be one. */
int api_container_id(const char **out, const struct req *r, struct err *e);

/* Handlers, one file a resource. */
int api_responses(struct req *r, struct err *e);
int api_messages(struct req *r, struct err *e);
int api_models_list(struct req *r, struct err *e);
int api_models_get(struct req *r, struct err *e);
int api_exec(struct req *r, struct err *e);
int api_files_list(struct req *r, struct err *e);
int api_files_get(struct req *r, struct err *e);
int api_files_content(struct req *r, struct err *e);
int api_health(struct req *r, struct err *e);

#endif
