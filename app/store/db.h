/* db: the connection and its statements, shared by the files of this folder. SPDX-License-Identifier: ISC */
#ifndef APP_STORE_DB_H
#define APP_STORE_DB_H

#include <sqlite3.h>

#include "app/store/store.h"

/* Every statement that is kept, by number; the texts stand in one table in store/db.c. */
enum db_sql {
	DB_WORKSPACE_ADD,
	DB_WORKSPACE_FIND,
	DB_WORKSPACE_LIST,
	DB_KEY_ADD,
	DB_KEY_LIST,
	DB_KEY_REVOKE,
	DB_KEY_GET,
	DB_KEY_FIND,
	DB_CONTAINER_TOUCH,
	DB_CONTAINER_FIND,
	DB_CHECK_READ,
	DB_SQL__MAX
};

struct store {
	sqlite3 *db;
	char *path;
	sqlite3_stmt *kept[DB_SQL__MAX];
};

/* The statement, prepared and reset, without bindings. NULL with e filled. */
sqlite3_stmt *db_get(struct store *s, enum db_sql which, struct err *e);
/* Gives it back: reset and bindings cleared, so that no read transaction stays open. NULL is fine. */
void db_put(sqlite3_stmt *q);
/* A row's column as a string in the arena, "" for NULL. */
const char *db_text(struct arena *a, sqlite3_stmt *q, int column);
/* Runs statements without results. */
int db_exec(struct store *s, const char *sql, struct err *e);
/* SQLite's last error as ERR_SERVER, with a text for the operator. */
int db_fail(const struct store *s, struct err *e);

/* What is committed between the two is synced before the commit returns. */
int db_durable_begin(struct store *s, struct err *e);
void db_durable_end(struct store *s);

/* store/migrate.c: brings the schema to the newest version. Several processes may do it at once. */
int migrate_run(struct store *s, struct err *e);

#endif
