/* store: all that is kept in SQLite. SPDX-License-Identifier: ISC */
#ifndef APP_STORE_STORE_H
#define APP_STORE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "app/base/arena.h"
#include "app/base/err.h"

/*
 * One connection a thread (WAL, foreign keys, busy timeout); statements are prepared once and kept.
 * Functions return 0 or an err_code and never leave a statement open. Schema: store/migrate.c.
 * Workspaces and keys are on disk (synced) when their function returns; what is noted of
 * containers may lose its last seconds with the power, never its consistency.
 */
struct store;
/*
 * Opens STATE/sandgate.db (made if it is not there, mode 0600) and brings its schema up to date.
 * ERR_SERVER with a text for the operator: no folder, no permission, damaged, not ours, too new.
 */
int store_open(struct store **out, const char *state, struct err *e);
void store_close(struct store *s);
/* A trivial read and write-lock test, for /healthz. */
int store_check(struct store *s, struct err *e);

/* The rule of workspace slugs and container ids: ^[A-Za-z0-9_-]{1,40}$. */
bool store_name_ok(const char *s);

/* store/workspace.c. Strings of results lie in the arena. */
struct workspace {
	int64_t id;
	const char *slug; /* ^[A-Za-z0-9_-]{1,40}$ */
	const char *tag;  /* 8 of [a-z2-7], the middle of its keys */
	int64_t created_at;
};
/* ERR_INVALID_REQUEST: bad slug; ERR_CONFLICT: it exists. */
int store_workspace_add(
	struct store *s, struct arena *a, const char *slug, struct workspace *out, struct err *e);
/* ERR_NOT_FOUND. */
int store_workspace_find(
	struct store *s, struct arena *a, const char *slug, struct workspace *out, struct err *e);
/* In the order of their slugs. */
int store_workspace_list(
	struct store *s, struct arena *a, struct workspace **out, size_t *n, struct err *e);

/* store/key.c. Keys are sk-sg-<tag>-<43 base64url characters>. */
/* A new key of a workspace: the text is returned once and only its SHA-256 is kept. */
int store_key_add(struct store *s, struct arena *a, const struct workspace *w, const char *label,
	char **key, struct err *e);
struct key {
	int64_t id;
	const char *label;
	int64_t created_at;
	int64_t revoked_at; /* 0 = in use */
};
/* Of one workspace, oldest first. */
int store_key_list(struct store *s, struct arena *a, int64_t workspace, struct key **out, size_t *n,
	struct err *e);
/* ERR_NOT_FOUND: no such key; ERR_CONFLICT: it is revoked already. */
int store_key_revoke(struct store *s, int64_t key_id, struct err *e);
/* ERR_AUTHENTICATION if unknown or revoked. */
struct principal {
	int64_t key_id;
	struct workspace workspace;
};
int store_key_find(
	struct store *s, struct arena *a, const char *key, struct principal *out, struct err *e);

/* store/container.c: what is known of a container beside its files. */
struct container {
	const char *id, *name, *image;
	int64_t created_at, last_active_at, sleep_after_seconds;
};
/* Makes the row if it is not there and notes that it is used now. */
int store_container_touch(
	struct store *s, int64_t workspace, const char *id, int64_t sleep_after, struct err *e);
int store_container_find(struct store *s, struct arena *a, int64_t workspace, const char *id,
	struct container *out, struct err *e);

#endif
