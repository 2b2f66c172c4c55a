/* chat_put: writing JSON objects straight into a buffer. SPDX-License-Identifier: ISC */
#include "app/dialect/chat_put.h"

#include <string.h>

#include "app/base/json.h"

void chat_put_sep(struct buf *b)
{
	if (b->len > 0 && b->data[b->len - 1] != '{' && b->data[b->len - 1] != '[')
		buf_putc(b, ',');
}

void chat_put_key(struct buf *b, const char *key)
{
	chat_put_sep(b);
	buf_put_json(b, key, strlen(key));
	buf_putc(b, ':');
}

void chat_put_string(struct buf *b, const char *key, const char *value)
{
	chat_put_key(b, key);
	buf_put_json(b, value, strlen(value));
}

void chat_put_bool(struct buf *b, const char *key, bool value)
{
	chat_put_key(b, key);
	buf_puts(b, value ? "true" : "false");
}

bool chat_put_raw(struct buf *b, const char *key, const char *json, int type)
{
	if (json == NULL)
		return false;
	struct arena *scratch = arena_new();
	cJSON *v;
	bool fits =
		json_parse(&v, scratch, json, strlen(json), NULL) == 0 && (v->type & 0xff) == type;
	arena_free(scratch);
	if (!fits)
		return false;
	chat_put_key(b, key);
	buf_puts(b, json);
	return true;
}
