/* api: what the handlers share, and the route table. SPDX-License-Identifier: ISC */
#ifndef APP_API_API_H
#define APP_API_API_H

#include "app/base/conf.h"
#include "app/http/http.h"
#include "app/http/route.h"
#include "app/store/store.h"

/* One a thread; handlers find it by api_env(). */
struct api_env {
	const struct conf *conf;
	struct store *store;
};
void api_set_env(struct api_env *env); /* for this thread */
struct api_env *api_env(void);

extern const struct route api_routes[];
extern const size_t api_nroutes;

/* Serves one request from route to last byte: auth, body, handler, error. */
void api_serve(struct req *r);

/* api/auth.c: the principal of a request (Bearer, x-api-key). */
int api_auth(struct req *r, struct err *e);
const struct principal *api_principal(const struct req *r);

/* Handlers, one file a resource. */
int api_responses(struct req *r, struct err *e);
int api_messages(struct req *r, struct err *e);
int api_models(struct req *r, struct err *e);
int api_exec(struct req *r, struct err *e);
int api_files_list(struct req *r, struct err *e);
int api_files_get(struct req *r, struct err *e);
int api_files_content(struct req *r, struct err *e);
int api_health(struct req *r, struct err *e);

#endif
