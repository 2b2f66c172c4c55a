/* chat_order: which result answers which call. SPDX-License-Identifier: ISC */
#include "app/dialect/chat_order.h"

#include <stdlib.h>
#include <string.h>

/* A result by id; the first of each id keeps where the search for the next free one starts. */
struct entry {
	const char *id;
	size_t pos;
	size_t cursor;
};

static int compare(const void *va, const void *vb)
{
	const struct entry *a = va, *b = vb;
	int c = strcmp(a->id, b->id);
	if (c != 0)
		return c;
	return a->pos < b->pos ? -1 : a->pos > b->pos;
}

static size_t first_of(const struct entry *e, size_t n, const char *id)
{
	size_t lo = 0, hi = n;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		if (strcmp(e[mid].id, id) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* Calls come in ascending order, so a cursor never has to go back. */
static size_t take(struct entry *e, size_t n, const char *id, size_t after)
{
	size_t head = first_of(e, n, id);
	if (head == n || strcmp(e[head].id, id) != 0)
		return CHAT_ORDER_NONE;
	size_t i = e[head].cursor;
	while (i < n && e[i].pos < after && strcmp(e[i].id, id) == 0)
		i++;
	if (i == n || strcmp(e[i].id, id) != 0) {
		e[head].cursor = i;
		return CHAT_ORDER_NONE;
	}
	e[head].cursor = i + 1;
	return e[i].pos;
}

struct chat_order *chat_order(struct arena *a, const struct items *l, size_t *n)
{
	size_t count = 0, results = 0;
	for (const struct item *it = l->first; it != NULL; it = it->next) {
		count++;
		results += it->kind == ITEM_RESULT;
	}
	struct chat_order *out = arena_calloc(a, count + 1, sizeof(*out));
	struct entry *e = arena_calloc(a, results + 1, sizeof(*e));
	size_t pos = 0, k = 0;
	for (const struct item *it = l->first; it != NULL; it = it->next, pos++) {
		out[pos] = (struct chat_order){.item = it, .mate = CHAT_ORDER_NONE};
		if (it->kind == ITEM_RESULT)
			e[k++] = (struct entry){
				.id = it->call_id != NULL ? it->call_id : "", .pos = pos};
	}
	qsort(e, results, sizeof(*e), compare);
	for (k = 0; k < results; k++)
		e[k].cursor = k;
	for (pos = 0; pos < count; pos++) {
		if (out[pos].item->kind != ITEM_CALL || out[pos].item->call.id == NULL)
			continue;
		size_t mate = take(e, results, out[pos].item->call.id, pos);
		out[pos].mate = mate;
		if (mate != CHAT_ORDER_NONE)
			out[mate].mate = pos;
	}
	*n = count;
	return out;
}
