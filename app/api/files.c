/* files: GET /api/v1/containers/{container_id}/files[/{file_id}]. SPDX-License-Identifier: ISC */
#include "app/api/files.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "app/api/api.h"
#include "app/api/query.h"
#include "app/base/id.h"
#include "app/base/json.h"

static void close_home(void *p)
{
	home_close(p);
}

static void free_listing(void *p)
{
	home_listing_free(p);
}

/* The folders of the listings' caches, which the first reader of a workspace makes. */
static char *cache_path(struct arena *a, const char *workspace, const char *container)
{
	const char *state = api_env()->conf->state;
	const char *folder = arena_printf(a, "%s/cache/%s", state, workspace);

	if (mkdir(folder, 0700) < 0 && errno == ENOENT) {
		mkdir(arena_printf(a, "%s/cache", state), 0700);
		mkdir(folder, 0700);
	}
	return arena_printf(a, "%s/%s.idx", folder, container);
}

int files_open(struct home **home, struct home_listing **listing, struct req *r,
	const char *container, struct err *e)
{
	const char *workspace = api_principal(r)->workspace.slug;
	const char *path = arena_printf(
		r->arena, "%s/homes/%s/%s.git", api_env()->conf->state, workspace, container);
	int rc;

	*home = NULL;
	*listing = NULL;
	rc = home_open(home, path);
	if (rc == HOME_NOT_FOUND)
		return 0;
	if (rc < 0)
		return err_set(e, ERR_SERVER, NULL, "%s: %s", path, home_error());
	arena_defer(r->arena, close_home, *home);
	rc = home_listing_open(listing, *home, cache_path(r->arena, workspace, container));
	if (rc < 0)
		return err_set(e, ERR_SERVER, NULL, "files of %s: %s", path, home_error());
	arena_defer(r->arena, free_listing, *listing);
	return 0;
}

/* What later versions of this API will answer by is refused, because another answer would be wrong. */
static int check_query(const struct req *r, struct err *e)
{
	static const char *const later[] = {"commit", "prefix"};

	for (size_t i = 0; i < sizeof(later) / sizeof(later[0]); i++)
		if (http_query(r, later[i]))
			return err_set(
				e, ERR_INVALID_REQUEST, later[i], "%s: not offered yet", later[i]);
	return 0;
}

int files_find(struct home **home, const struct home_entry **out, struct req *r, struct err *e)
{
	struct home_listing *listing;
	const char *container, *path;
	size_t n;
	int rc = api_container_id(&container, r, e);

	if (rc == 0)
		rc = check_query(r, e);
	if (rc < 0)
		return rc;
	path = id_file_decode(r->arena, r->args[1], &n);
	if (!path)
		return err_set(e, ERR_INVALID_REQUEST, "file_id",
			"file_id: expected cfile_ and the base64url of a path in the home, without "
			"padding");
	rc = files_open(home, &listing, r, container, e);
	if (rc < 0)
		return rc;
	*out = listing ? home_listing_find(listing, path, n) : NULL;
	if (!*out)
		return err_set(e, ERR_NOT_FOUND, "file_id", "Container file not found");
	return 0;
}

/* The id is exact whatever the bytes of the path are; "path" shows U+FFFD where they are not UTF-8. */
static cJSON *encode(struct arena *a, const struct home_entry *f, const char *container)
{
	cJSON *v = cJSON_CreateObject();

	cJSON_AddStringToObject(v, "id", id_file(a, f->path, f->path_len));
	cJSON_AddStringToObject(v, "object", "container.file");
	cJSON_AddStringToObject(v, "container_id", container);
	cJSON_AddNumberToObject(v, "bytes", (double)f->bytes);
	cJSON_AddNumberToObject(v, "created_at", (double)f->time);
	json_add_text(v, "path", f->path, f->path_len);
	cJSON_AddStringToObject(v, "source", "assistant");
	cJSON_AddStringToObject(v, "commit", f->commit);
	cJSON_AddStringToObject(v, "mode", arena_printf(a, "%06o", f->mode));
	return v;
}

/* Where the page begins: strictly after the path that the parameter names, be it a file or not. */
static int read_after(size_t *out, struct req *r, const struct home_listing *listing, struct err *e)
{
	const char *after = http_query(r, "after"), *path;
	size_t n;

	*out = 0;
	if (!after)
		return 0;
	path = id_file_decode(r->arena, after, &n);
	if (!path)
		return err_set(e, ERR_INVALID_REQUEST, "after",
			"after: expected the id of a container file");
	if (listing)
		*out = home_listing_after(listing, path, n);
	return 0;
}

static void add_id(cJSON *o, const char *key, struct arena *a, const struct home_entry *f)
{
	if (f)
		cJSON_AddStringToObject(o, key, id_file(a, f->path, f->path_len));
	else
		cJSON_AddNullToObject(o, key);
}

static int answer(struct req *r, const struct home_listing *listing, size_t from, size_t limit)
{
	size_t n = listing ? home_listing_count(listing) : 0,
	       end = n - from > limit ? from + limit : n;
	cJSON *list = cJSON_CreateObject(), *data = cJSON_CreateArray();
	int rc;

	for (size_t i = from; i < end; i++)
		cJSON_AddItemToArray(
			data, encode(r->arena, home_listing_at(listing, i), r->args[0]));
	cJSON_AddStringToObject(list, "object", "list");
	cJSON_AddItemToObject(list, "data", data);
	add_id(list, "first_id", r->arena, from < end ? home_listing_at(listing, from) : NULL);
	add_id(list, "last_id", r->arena, from < end ? home_listing_at(listing, end - 1) : NULL);
	cJSON_AddBoolToObject(list, "has_more", end < n);
	rc = http_send_json(r, 200, list);
	cJSON_Delete(list);
	return rc;
}

int api_files_list(struct req *r, struct err *e)
{
	struct home *home;
	struct home_listing *listing = NULL;
	const char *container;
	size_t from = 0;
	int64_t limit = 0;
	int rc = api_container_id(&container, r, e);

	if (rc == 0)
		rc = check_query(r, e);
	if (rc == 0)
		rc = query_int(&limit, r, "limit", (struct query_range){100, 1, 1000}, e);
	/* A bad parameter is a bad parameter, also of a container that is not there. */
	if (rc == 0)
		rc = read_after(&from, r, NULL, e);
	if (rc == 0)
		rc = files_open(&home, &listing, r, container, e);
	if (rc == 0)
		rc = read_after(&from, r, listing, e);
	return rc < 0 ? rc : answer(r, listing, from, (size_t)limit);
}

int api_files_get(struct req *r, struct err *e)
{
	struct home *home;
	const struct home_entry *f;
	cJSON *v;
	int rc = files_find(&home, &f, r, e);

	if (rc < 0)
		return rc;
	v = encode(r->arena, f, r->args[0]);
	rc = http_send_json(r, 200, v);
	cJSON_Delete(v);
	return rc;
}
