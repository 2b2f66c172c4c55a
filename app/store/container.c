/* container: what is known of a container beside its files. SPDX-License-Identifier: ISC */
#include <time.h>

#include "app/store/db.h"

int store_container_touch(
	struct store *s, int64_t workspace, const char *id, int64_t sleep_after, struct err *e)
{
	sqlite3_stmt *q = db_get(s, DB_CONTAINER_TOUCH, e);
	int rc;

	if (!q)
		return ERR_SERVER;
	sqlite3_bind_int64(q, 1, workspace);
	sqlite3_bind_text(q, 2, id, -1, SQLITE_STATIC);
	sqlite3_bind_int64(q, 3, (int64_t)time(NULL));
	sqlite3_bind_int64(q, 4, sleep_after);
	rc = sqlite3_step(q) == SQLITE_DONE ? 0 : db_fail(s, e);
	db_put(q);
	return rc;
}

int store_container_find(struct store *s, struct arena *a, int64_t workspace, const char *id,
	struct container *out, struct err *e)
{
	sqlite3_stmt *q = db_get(s, DB_CONTAINER_FIND, e);
	int rc;

	if (!q)
		return ERR_SERVER;
	sqlite3_bind_int64(q, 1, workspace);
	sqlite3_bind_text(q, 2, id, -1, SQLITE_STATIC);
	rc = sqlite3_step(q);
	if (rc == SQLITE_ROW) {
		*out = (struct container){
			.id = db_text(a, q, 0),
			.name = db_text(a, q, 1),
			.image = db_text(a, q, 2),
			.created_at = sqlite3_column_int64(q, 3),
			.last_active_at = sqlite3_column_int64(q, 4),
			.sleep_after_seconds = sqlite3_column_int64(q, 5),
		};
		rc = 0;
	} else {
		rc = rc == SQLITE_DONE
			? err_set(e, ERR_NOT_FOUND, "container_id", "Container not found")
			: db_fail(s, e);
	}
	db_put(q);
	return rc;
}
