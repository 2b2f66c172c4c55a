/* store: opening, closing and checking the database. SPDX-License-Identifier: ISC */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "app/store/db.h"
#include "sandbox/sys/io.h"
#include "sandbox/sys/log.h"

#define STORE_BUSY_MS 5000

/*
 * The file is made here, not by SQLite, for its mode (SQLite gives its log and index files the same)
 * and so that its name in the folder is synced. mknod, because opening and closing the file would
 * drop the locks that other connections of this process hold on it (POSIX locks belong to the process).
 */
static int make_file(const char *state, const char *path, struct err *e)
{
	int dir;

	if (mknod(path, S_IFREG | 0600, 0) < 0) {
		if (errno == EEXIST)
			return 0;
		return err_set(e, ERR_SERVER, NULL, "cannot make %s: %s", path, strerror(errno));
	}
	dir = open(state, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0 || fsync(dir) < 0)
		log_warn("cannot sync %s: %s", state, strerror(errno));
	io_close(&dir);
	return 0;
}

/* SQLite does not wait for another process that is switching to WAL at the same moment. */
static int use_wal(struct store *s, struct err *e)
{
	const struct timespec pause = {.tv_nsec = 20 * 1000 * 1000};
	int64_t end = io_now_ms() + STORE_BUSY_MS;

	while (sqlite3_exec(s->db, "PRAGMA journal_mode = WAL", NULL, NULL, NULL) != SQLITE_OK) {
		if ((sqlite3_errcode(s->db) & 0xff) != SQLITE_BUSY || io_now_ms() > end)
			return db_fail(s, e);
		nanosleep(&pause, NULL);
	}
	return 0;
}

static int set_up(struct store *s, struct err *e)
{
	sqlite3_busy_timeout(s->db, STORE_BUSY_MS);
	sqlite3_db_config(s->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(s->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_db_config(s->db, SQLITE_DBCONFIG_DQS_DML, 0, NULL);
	sqlite3_db_config(s->db, SQLITE_DBCONFIG_DQS_DDL, 0, NULL);
	if (use_wal(s, e) < 0)
		return ERR_SERVER;
	/* A small page cache: there is one connection a thread, and each asks for a few rows. */
	if (db_exec(s, "PRAGMA foreign_keys = ON; PRAGMA cache_size = -256", e) < 0)
		return ERR_SERVER;
	if (migrate_run(s, e) < 0)
		return ERR_SERVER;
	return db_exec(s, "PRAGMA synchronous = NORMAL", e);
}

int store_open(struct store **out, const char *state, struct err *e)
{
	struct store *s = calloc(1, sizeof(*s));
	int rc;

	*out = NULL;
	if (!s || asprintf(&s->path, "%s/sandgate.db", state) < 0) {
		free(s);
		return err_set(e, ERR_SERVER, NULL, "out of memory");
	}
	rc = make_file(state, s->path, e);
	if (rc < 0)
		goto fail;
	rc = sqlite3_open_v2(s->path, &s->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
	if (rc != SQLITE_OK) {
		int why = s->db ? sqlite3_system_errno(s->db) : 0;

		rc = err_set(e, ERR_SERVER, NULL, "cannot open %s: %s", s->path,
			why ? strerror(why) : sqlite3_errstr(rc));
		goto fail;
	}
	rc = set_up(s, e);
	if (rc < 0)
		goto fail;
	*out = s;
	return 0;
fail:
	store_close(s);
	return rc;
}

void store_close(struct store *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < DB_SQL__MAX; i++)
		sqlite3_finalize(s->kept[i]);
	sqlite3_close(s->db);
	free(s->path);
	free(s);
}

int store_check(struct store *s, struct err *e)
{
	sqlite3_stmt *q = db_get(s, DB_CHECK_READ, e);
	int rc = 0;

	if (!q)
		return ERR_SERVER;
	if (sqlite3_step(q) != SQLITE_ROW)
		rc = db_fail(s, e);
	db_put(q);
	if (rc < 0)
		return rc;
	if (db_exec(s, "BEGIN IMMEDIATE", e) < 0)
		return ERR_SERVER;
	return db_exec(s, "ROLLBACK", e);
}

bool store_name_ok(const char *s)
{
	size_t n = strspn(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-");

	return n >= 1 && n <= 40 && s[n] == '\0';
}
