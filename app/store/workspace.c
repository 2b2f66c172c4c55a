/* workspace: who shares containers and keys. SPDX-License-Identifier: ISC */
#include <errno.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "app/store/db.h"

#define TAG_LEN 8

static int make_tag(char out[TAG_LEN + 1], struct err *e)
{
	static const char alphabet[] = "abcdefghijklmnopqrstuvwxyz234567";
	unsigned char random[TAG_LEN];

	if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
		return err_set(e, ERR_SERVER, NULL, "no random numbers: %s", strerror(errno));
	for (size_t i = 0; i < TAG_LEN; i++)
		out[i] = alphabet[random[i] & 31];
	out[TAG_LEN] = '\0';
	return 0;
}

static void read_row(struct arena *a, sqlite3_stmt *q, struct workspace *out)
{
	out->id = sqlite3_column_int64(q, 0);
	out->slug = db_text(a, q, 1);
	out->tag = db_text(a, q, 2);
	out->created_at = sqlite3_column_int64(q, 3);
}

int store_workspace_add(
	struct store *s, struct arena *a, const char *slug, struct workspace *out, struct err *e)
{
	sqlite3_stmt *q;
	char tag[TAG_LEN + 1];
	int64_t now = (int64_t)time(NULL);
	int rc;

	if (!store_name_ok(slug))
		return err_set(e, ERR_INVALID_REQUEST, "workspace",
			"workspace: expected 1 to 40 characters of A-Z a-z 0-9 _ -");
	rc = make_tag(tag, e);
	if (rc < 0)
		return rc;
	rc = db_durable_begin(s, e);
	if (rc < 0)
		return rc;
	q = db_get(s, DB_WORKSPACE_ADD, e);
	if (!q) {
		rc = ERR_SERVER;
		goto end;
	}
	sqlite3_bind_text(q, 1, slug, -1, SQLITE_STATIC);
	sqlite3_bind_text(q, 2, tag, -1, SQLITE_STATIC);
	sqlite3_bind_int64(q, 3, now);
	rc = sqlite3_step(q);
	/* Two equal tags of 40 bits are no case to tell apart from an existing slug. */
	if (rc == SQLITE_CONSTRAINT)
		rc = err_set(e, ERR_CONFLICT, "workspace", "workspace %s exists", slug);
	else
		rc = rc == SQLITE_DONE ? 0 : db_fail(s, e);
	db_put(q);
	if (rc == 0)
		*out = (struct workspace){
			.id = sqlite3_last_insert_rowid(s->db),
			.slug = arena_strdup(a, slug),
			.tag = arena_strdup(a, tag),
			.created_at = now,
		};
end:
	db_durable_end(s);
	return rc;
}

int store_workspace_find(
	struct store *s, struct arena *a, const char *slug, struct workspace *out, struct err *e)
{
	sqlite3_stmt *q = db_get(s, DB_WORKSPACE_FIND, e);
	int rc;

	if (!q)
		return ERR_SERVER;
	sqlite3_bind_text(q, 1, slug, -1, SQLITE_STATIC);
	rc = sqlite3_step(q);
	if (rc == SQLITE_ROW) {
		read_row(a, q, out);
		rc = 0;
	} else {
		rc = rc == SQLITE_DONE
			? err_set(e, ERR_NOT_FOUND, "workspace", "no workspace %.40s", slug)
			: db_fail(s, e);
	}
	db_put(q);
	return rc;
}

int store_workspace_list(
	struct store *s, struct arena *a, struct workspace **out, size_t *n, struct err *e)
{
	sqlite3_stmt *q = db_get(s, DB_WORKSPACE_LIST, e);
	struct workspace *list = NULL;
	size_t count = 0, cap = 0;
	int rc;

	if (!q)
		return ERR_SERVER;
	while ((rc = sqlite3_step(q)) == SQLITE_ROW) {
		if (count == cap) {
			struct workspace *grown =
				arena_calloc(a, cap ? cap * 2 : 16, sizeof(*list));

			if (count)
				memcpy(grown, list, count * sizeof(*list));
			list = grown;
			cap = cap ? cap * 2 : 16;
		}
		read_row(a, q, &list[count++]);
	}
	rc = rc == SQLITE_DONE ? 0 : db_fail(s, e);
	db_put(q);
	*out = list;
	*n = count;
	return rc;
}
