/* db: the connection and its statements. SPDX-License-Identifier: ISC */
#include "app/store/db.h"

static const char *const db_texts[DB_SQL__MAX] = {
	[DB_WORKSPACE_ADD] = "INSERT INTO workspace (slug, tag, created_at) VALUES (?1, ?2, ?3)",
	[DB_WORKSPACE_FIND] = "SELECT id, slug, tag, created_at FROM workspace WHERE slug = ?1",
	[DB_WORKSPACE_LIST] = "SELECT id, slug, tag, created_at FROM workspace ORDER BY slug",
	[DB_KEY_ADD] = "INSERT INTO api_key (workspace_id, sha256, label, created_at)"
		       " VALUES (?1, ?2, ?3, ?4)",
	[DB_KEY_LIST] = "SELECT id, label, created_at, revoked_at FROM api_key"
			" WHERE workspace_id = ?1 ORDER BY id",
	[DB_KEY_REVOKE] = "UPDATE api_key SET revoked_at = ?2 WHERE id = ?1 AND revoked_at IS NULL",
	[DB_KEY_GET] = "SELECT revoked_at FROM api_key WHERE id = ?1",
	[DB_KEY_FIND] = "SELECT k.id, w.id, w.slug, w.tag, w.created_at FROM api_key AS k"
			" JOIN workspace AS w ON w.id = k.workspace_id"
			" WHERE k.sha256 = ?1 AND k.revoked_at IS NULL",
	[DB_CONTAINER_TOUCH] =
		"INSERT INTO container (workspace_id, id, created_at, last_active_at,"
		" sleep_after_seconds) VALUES (?1, ?2, ?3, ?3, ?4)"
		" ON CONFLICT (workspace_id, id) DO UPDATE SET"
		" last_active_at = max(last_active_at, excluded.last_active_at),"
		" sleep_after_seconds = excluded.sleep_after_seconds"
		" WHERE last_active_at < excluded.last_active_at"
		" OR sleep_after_seconds <> excluded.sleep_after_seconds",
	[DB_CONTAINER_FIND] = "SELECT id, name, image, created_at, last_active_at,"
			      " sleep_after_seconds FROM container"
			      " WHERE workspace_id = ?1 AND id = ?2",
	[DB_CHECK_READ] = "SELECT count(*) FROM (SELECT 1 FROM workspace LIMIT 1)",
};

int db_fail(const struct store *s, struct err *e)
{
	const char *text = s->db ? sqlite3_errmsg(s->db) : "out of memory";
	int code = s->db ? sqlite3_errcode(s->db) & 0xff : SQLITE_NOMEM;

	if (code == SQLITE_NOTADB || code == SQLITE_CORRUPT)
		return err_set(e, ERR_SERVER, NULL,
			"%s is damaged or no database of sandgate (%s): restore it from a backup",
			s->path, text);
	return err_set(e, ERR_SERVER, NULL, "database %s: %s", s->path, text);
}

int db_exec(struct store *s, const char *sql, struct err *e)
{
	if (sqlite3_exec(s->db, sql, NULL, NULL, NULL) != SQLITE_OK)
		return db_fail(s, e);
	return 0;
}

sqlite3_stmt *db_get(struct store *s, enum db_sql which, struct err *e)
{
	if (!s->kept[which] &&
		sqlite3_prepare_v3(s->db, db_texts[which], -1, SQLITE_PREPARE_PERSISTENT,
			&s->kept[which], NULL) != SQLITE_OK) {
		db_fail(s, e);
		return NULL;
	}
	return s->kept[which];
}

void db_put(sqlite3_stmt *q)
{
	if (!q)
		return;
	sqlite3_reset(q);
	sqlite3_clear_bindings(q);
}

const char *db_text(struct arena *a, sqlite3_stmt *q, int column)
{
	const char *text = (const char *)sqlite3_column_text(q, column);

	return text ? arena_strndup(a, text, (size_t)sqlite3_column_bytes(q, column)) : "";
}

int db_durable_begin(struct store *s, struct err *e)
{
	return db_exec(s, "PRAGMA synchronous = FULL", e);
}

void db_durable_end(struct store *s)
{
	db_exec(s, "PRAGMA synchronous = NORMAL", NULL);
}
