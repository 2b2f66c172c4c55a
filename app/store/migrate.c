/* migrate: the schema, one step a version. SPDX-License-Identifier: ISC */
#include <stdio.h>

#include "app/store/db.h"
#include "sandbox/sys/log.h"

/* Bytes 68–71 of the file, so that another program's database is not taken for ours: "SGDB". */
#define MIGRATE_APPLICATION_ID 0x53474442

/*
 * Step k brings version k to k + 1. A step that was released is never changed: what is to be
 * different is another step.
 */
static const char *const migrate_steps[] = {
	/* AUTOINCREMENT: a key's number is printed and typed by people, so it never comes back. */
	"CREATE TABLE workspace ("
	" id INTEGER PRIMARY KEY AUTOINCREMENT,"
	" slug TEXT NOT NULL UNIQUE,"
	" tag TEXT NOT NULL UNIQUE,"
	" created_at INTEGER NOT NULL"
	") STRICT;"
	"CREATE TABLE api_key ("
	" id INTEGER PRIMARY KEY AUTOINCREMENT,"
	" workspace_id INTEGER NOT NULL REFERENCES workspace (id),"
	" sha256 TEXT NOT NULL UNIQUE CHECK (length(sha256) = 64),"
	" label TEXT NOT NULL,"
	" created_at INTEGER NOT NULL,"
	" revoked_at INTEGER"
	") STRICT;"
	"CREATE INDEX api_key_workspace ON api_key (workspace_id);"
	"CREATE TABLE container ("
	" workspace_id INTEGER NOT NULL REFERENCES workspace (id),"
	" id TEXT NOT NULL,"
	" name TEXT NOT NULL DEFAULT '',"
	" image TEXT NOT NULL DEFAULT 'default',"
	" created_at INTEGER NOT NULL,"
	" last_active_at INTEGER NOT NULL,"
	" sleep_after_seconds INTEGER NOT NULL,"
	" PRIMARY KEY (workspace_id, id)"
	") STRICT, WITHOUT ROWID;",
};
#define MIGRATE_NEWEST ((long)(sizeof(migrate_steps) / sizeof(migrate_steps[0])))

/* One integer, for the few questions that are asked only here. */
static int ask(struct store *s, const char *sql, long *out, struct err *e)
{
	sqlite3_stmt *q = NULL;
	int rc = 0;

	if (sqlite3_prepare_v2(s->db, sql, -1, &q, NULL) != SQLITE_OK ||
		sqlite3_step(q) != SQLITE_ROW)
		rc = db_fail(s, e);
	else
		*out = (long)sqlite3_column_int64(q, 0);
	sqlite3_finalize(q);
	return rc;
}

static int version(struct store *s, long *out, struct err *e)
{
	long application, tables;

	if (ask(s, "PRAGMA user_version", out, e) < 0 ||
		ask(s, "PRAGMA application_id", &application, e) < 0 ||
		ask(s, "SELECT count(*) FROM sqlite_schema", &tables, e) < 0)
		return ERR_SERVER;
	if (application != MIGRATE_APPLICATION_ID && (application != 0 || *out != 0 || tables != 0))
		return err_set(e, ERR_SERVER, NULL, "%s is a database of another program", s->path);
	if (*out > MIGRATE_NEWEST)
		return err_set(e, ERR_SERVER, NULL,
			"%s was written by a newer version of sandgate (schema %ld, this one knows "
			"%ld)",
			s->path, *out, MIGRATE_NEWEST);
	return 0;
}

static int step(struct store *s, long from, struct err *e)
{
	char mark[96];

	snprintf(mark, sizeof(mark), "PRAGMA application_id = %d; PRAGMA user_version = %ld",
		MIGRATE_APPLICATION_ID, from + 1);
	if (db_exec(s, migrate_steps[from], e) < 0)
		return ERR_SERVER;
	return db_exec(s, mark, e);
}

int migrate_run(struct store *s, struct err *e)
{
	long at = 0, from;

	if (version(s, &at, e) < 0)
		return ERR_SERVER;
	if (at == MIGRATE_NEWEST)
		return 0;
	if (db_exec(s, "BEGIN IMMEDIATE", e) < 0)
		return ERR_SERVER;
	/* Asked again: another process may have done it while this one waited for the lock. */
	if (version(s, &at, e) < 0)
		goto fail;
	for (from = at; at < MIGRATE_NEWEST; at++)
		if (step(s, at, e) < 0)
			goto fail;
	if (db_exec(s, "COMMIT", e) < 0)
		goto fail;
	if (from != at)
		log_info("database %s: schema %ld is now %ld", s->path, from, at);
	return 0;
fail:
	/* A statement that failed may have rolled back already. */
	if (!sqlite3_get_autocommit(s->db))
		db_exec(s, "ROLLBACK", NULL);
	return ERR_SERVER;
}
