/* chat_details: reasoning_details, gathered to be sent back. SPDX-License-Identifier: ISC */
#ifndef APP_DIALECT_CHAT_DETAILS_H
#define APP_DIALECT_CHAT_DETAILS_H

#include <cjson/cJSON.h>

#include "app/base/arena.h"
#include "sandbox/sys/buf.h"

/* Pieces of one text or summary become one entry; everything else stays as it came. */
struct chat_details {
	cJSON *list; /* NULL until something came */
	cJSON *open; /* the entry that pieces are added to, in list */
	const char *key;
	struct buf text;
};

void chat_details_init(struct chat_details *d, size_t max);
void chat_details_free(struct chat_details *d);
/* The reasoning_details of one delta; what is no array of objects is passed over. Returns how many new entries that made. */
size_t chat_details_add(struct chat_details *d, const cJSON *entries);
/* The text of an entry that people may read, NULL if it has none. */
const char *chat_details_text(const cJSON *entry);
/* The whole array as JSON text in the arena, NULL if nothing came. */
const char *chat_details_end(struct chat_details *d, struct arena *a);

#endif
