/* key: the credentials of workspaces. SPDX-License-Identifier: ISC */
#include <string.h>
#include <time.h>

#include "app/base/id.h"
#include "app/store/db.h"

#define KEY_PREFIX       "sk-sg-"
#define KEY_TAG_LEN      8
#define KEY_SECRET_BYTES 32
#define KEY_SECRET_LEN   43
#define KEY_LABEL_MAX    200

/* Whatever does not look like a key is refused before it costs a query. */
static bool looks_like_key(const char *key)
{
	const char *tag = key + strlen(KEY_PREFIX), *secret = tag + KEY_TAG_LEN + 1;

	if (strlen(key) != strlen(KEY_PREFIX) + KEY_TAG_LEN + 1 + KEY_SECRET_LEN ||
		strncmp(key, KEY_PREFIX, strlen(KEY_PREFIX)) != 0)
		return false;
	return strspn(tag, "abcdefghijklmnopqrstuvwxyz234567") == KEY_TAG_LEN &&
		secret[-1] == '-' &&
		strspn(secret,
			"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-") ==
		KEY_SECRET_LEN;
}

int store_key_add(struct store *s, struct arena *a, const struct workspace *w, const char *label,
	char **key, struct err *e)
{
	char *text, sha256[65];
	sqlite3_stmt *q;
	int rc;

	if (strlen(label) > KEY_LABEL_MAX)
		return err_set(e, ERR_INVALID_REQUEST, "label", "label: expected at most %d bytes",
			KEY_LABEL_MAX);
	for (const unsigned char *c = (const unsigned char *)label; *c; c++)
		if (*c < ' ' || *c == 0x7f)
			return err_set(e, ERR_INVALID_REQUEST, "label",
				"label: expected no control characters");
	text = arena_printf(a, KEY_PREFIX "%s-%s", w->tag, id_secret(a, KEY_SECRET_BYTES));
	id_sha256(sha256, text, strlen(text));

	rc = db_durable_begin(s, e);
	if (rc < 0)
		return rc;
	q = db_get(s, DB_KEY_ADD, e);
	if (!q) {
		rc = ERR_SERVER;
		goto end;
	}
	sqlite3_bind_int64(q, 1, w->id);
	sqlite3_bind_text(q, 2, sha256, -1, SQLITE_STATIC);
	sqlite3_bind_text(q, 3, label, -1, SQLITE_STATIC);
	sqlite3_bind_int64(q, 4, (int64_t)time(NULL));
	rc = sqlite3_step(q) == SQLITE_DONE ? 0 : db_fail(s, e);
	db_put(q);
	if (rc == 0)
		*key = text;
end:
	db_durable_end(s);
	return rc;
}

int store_key_list(struct store *s, struct arena *a, int64_t workspace, struct key **out, size_t *n,
	struct err *e)
{
	sqlite3_stmt *q = db_get(s, DB_KEY_LIST, e);
	struct key *list = NULL;
	size_t count = 0, cap = 0;
	int rc;

	if (!q)
		return ERR_SERVER;
	sqlite3_bind_int64(q, 1, workspace);
	while ((rc = sqlite3_step(q)) == SQLITE_ROW) {
		if (count == cap) {
			struct key *grown = arena_calloc(a, cap ? cap * 2 : 16, sizeof(*list));

			if (count)
				memcpy(grown, list, count * sizeof(*list));
			list = grown;
			cap = cap ? cap * 2 : 16;
		}
		list[count++] = (struct key){
			.id = sqlite3_column_int64(q, 0),
			.label = db_text(a, q, 1),
			.created_at = sqlite3_column_int64(q, 2),
			.revoked_at = sqlite3_column_int64(q, 3),
		};
	}
	rc = rc == SQLITE_DONE ? 0 : db_fail(s, e);
	db_put(q);
	*out = list;
	*n = count;
	return rc;
}

/* Why a key could not be revoked. */
static int not_revoked(struct store *s, int64_t key_id, struct err *e)
{
	sqlite3_stmt *q = db_get(s, DB_KEY_GET, e);
	int rc;

	if (!q)
		return ERR_SERVER;
	sqlite3_bind_int64(q, 1, key_id);
	rc = sqlite3_step(q);
	if (rc == SQLITE_ROW)
		rc = err_set(
			e, ERR_CONFLICT, "key", "key %lld is revoked already", (long long)key_id);
	else if (rc == SQLITE_DONE)
		rc = err_set(e, ERR_NOT_FOUND, "key", "no key %lld", (long long)key_id);
	else
		rc = db_fail(s, e);
	db_put(q);
	return rc;
}

int store_key_revoke(struct store *s, int64_t key_id, struct err *e)
{
	sqlite3_stmt *q;
	int rc = db_durable_begin(s, e);

	if (rc < 0)
		return rc;
	q = db_get(s, DB_KEY_REVOKE, e);
	if (!q) {
		rc = ERR_SERVER;
		goto end;
	}
	sqlite3_bind_int64(q, 1, key_id);
	sqlite3_bind_int64(q, 2, (int64_t)time(NULL));
	rc = sqlite3_step(q) == SQLITE_DONE ? 0 : db_fail(s, e);
	db_put(q);
	if (rc == 0 && sqlite3_changes(s->db) == 0)
		rc = not_revoked(s, key_id, e);
end:
	db_durable_end(s);
	return rc;
}

int store_key_find(
	struct store *s, struct arena *a, const char *key, struct principal *out, struct err *e)
{
	char sha256[65];
	sqlite3_stmt *q;
	int rc;

	if (!looks_like_key(key))
		return err_set(e, ERR_AUTHENTICATION, NULL, "Invalid API key");
	id_sha256(sha256, key, strlen(key));
	q = db_get(s, DB_KEY_FIND, e);
	if (!q)
		return ERR_SERVER;
	sqlite3_bind_text(q, 1, sha256, -1, SQLITE_STATIC);
	rc = sqlite3_step(q);
	if (rc == SQLITE_ROW) {
		out->key_id = sqlite3_column_int64(q, 0);
		out->workspace = (struct workspace){
			.id = sqlite3_column_int64(q, 1),
			.slug = db_text(a, q, 2),
			.tag = db_text(a, q, 3),
			.created_at = sqlite3_column_int64(q, 4),
		};
		rc = 0;
	} else {
		rc = rc == SQLITE_DONE ? err_set(e, ERR_AUTHENTICATION, NULL, "Invalid API key")
				       : db_fail(s, e);
	}
	db_put(q);
	return rc;
}
