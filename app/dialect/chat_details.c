/* chat_details: reasoning_details, gathered to be sent back. SPDX-License-Identifier: ISC */
#include "app/dialect/chat_details.h"

#include <string.h>

#include "app/base/json.h"

void chat_details_init(struct chat_details *d, size_t max)
{
	*d = (struct chat_details){0};
	buf_init(&d->text, max);
}

void chat_details_free(struct chat_details *d)
{
	cJSON_Delete(d->list);
	d->list = d->open = NULL;
	buf_free(&d->text);
}

/* The member that comes in pieces, NULL if the entry is always whole. */
static const char *text_key(const cJSON *entry)
{
	const char *type = json_text(entry, "type");
	if (type == NULL)
		return NULL;
	if (strcmp(type, "reasoning.text") == 0)
		return "text";
	return strcmp(type, "reasoning.summary") == 0 ? "summary" : NULL;
}

const char *chat_details_text(const cJSON *entry)
{
	const char *key = text_key(entry);
	return key != NULL ? json_text(entry, key) : NULL;
}

static void close_entry(struct chat_details *d)
{
	if (d->open == NULL)
		return;
	cJSON_DeleteItemFromObjectCaseSensitive(d->open, d->key);
	json_add_text(d->open, d->key, buf_str(&d->text), d->text.len);
	buf_reset(&d->text);
	d->open = NULL;
}

static bool same_index(const cJSON *a, const cJSON *b)
{
	const cJSON *x = json_member(a, "index"), *y = json_member(b, "index");
	if (!cJSON_IsNumber(x) || !cJSON_IsNumber(y))
		return !cJSON_IsNumber(x) && !cJSON_IsNumber(y);
	return x->valueint == y->valueint;
}

/* These may come with any piece. */
static void merge(cJSON *into, const cJSON *entry)
{
	static const char *const keys[] = {"signature", "id", "format"};
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		const char *value = json_text(entry, keys[i]);
		if (value == NULL || json_text(into, keys[i]) != NULL)
			continue;
		cJSON_DeleteItemFromObjectCaseSensitive(into, keys[i]);
		cJSON_AddStringToObject(into, keys[i], value);
	}
}

static size_t add(struct chat_details *d, const cJSON *entry)
{
	const char *key = text_key(entry);
	const char *text = key != NULL ? json_text(entry, key) : NULL;
	size_t fresh = 0;

	if (d->open != NULL && key != NULL && strcmp(key, d->key) == 0 &&
		same_index(d->open, entry)) {
		merge(d->open, entry);
	} else {
		close_entry(d);
		cJSON *copy = cJSON_Duplicate(entry, true);
		cJSON_AddItemToArray(d->list, copy);
		d->open = key != NULL ? copy : NULL;
		d->key = key;
		fresh = 1;
	}
	if (d->open != NULL && text != NULL)
		buf_puts(&d->text, text);
	return fresh;
}

size_t chat_details_add(struct chat_details *d, const cJSON *entries)
{
	const cJSON *entry;
	size_t fresh = 0;
	if (!cJSON_IsArray(entries))
		return 0;
	cJSON_ArrayForEach(entry, entries)
	{
		if (!cJSON_IsObject(entry))
			continue;
		if (d->list == NULL)
			d->list = cJSON_CreateArray();
		fresh += add(d, entry);
	}
	return fresh;
}

const char *chat_details_end(struct chat_details *d, struct arena *a)
{
	close_entry(d);
	return d->list != NULL ? json_print(a, d->list) : NULL;
}
