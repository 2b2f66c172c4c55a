/* chat_put: writing JSON objects straight into a buffer. SPDX-License-Identifier: ISC */
#ifndef APP_DIALECT_CHAT_PUT_H
#define APP_DIALECT_CHAT_PUT_H

#include <stdbool.h>

#include "sandbox/sys/buf.h"

/* A comma, unless an object or array has just been opened. */
void chat_put_sep(struct buf *b);
/* The separator and "key":. */
void chat_put_key(struct buf *b, const char *key);
void chat_put_string(struct buf *b, const char *key, const char *value);
void chat_put_bool(struct buf *b, const char *key, bool value);
/* A member whose value is JSON text already, if that is sound and of the type (cJSON_Object …); else false, and nothing is put. */
bool chat_put_raw(struct buf *b, const char *key, const char *json, int type);

#endif
