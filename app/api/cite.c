/* cite: which of the files that commands wrote are still there. SPDX-License-Identifier: ISC */
#include "app/api/cite.h"

#include "app/api/files.h"
#include "app/base/id.h"
#include "sandbox/sys/log.h"

static bool exists(struct req *r, const struct home_listing *listing, const char *file_id)
{
	size_t n;
	const char *path = id_file_decode(r->arena, file_id, &n);

	return path && home_listing_find(listing, path, n);
}

static struct citation *copy(struct arena *a, const struct citation *c)
{
	struct citation *mine = arena_new_of(a, struct citation);

	*mine = *c;
	mine->next = NULL;
	return mine;
}

struct citation *cite_existing(struct req *r, const struct citation *files)
{
	struct home_listing *listing = NULL;
	struct citation *list = NULL, **last = &list;
	struct home *home;
	struct err e;

	if (files && files_open(&home, &listing, r, files->container_id, &e) < 0)
		log_error("citations are not checked: %s", e.message);
	for (const struct citation *c = files; c; c = c->next) {
		if (listing && !exists(r, listing, c->file_id))
			continue;
		*last = copy(r->arena, c);
		last = &(*last)->next;
	}
	return list;
}
