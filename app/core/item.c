/* item: lists of the neutral conversation. SPDX-License-Identifier: ISC */
#include "app/core/item.h"

#include "app/base/arena.h"

void items_init(struct items *l)
{
	l->first = NULL;
	l->last = &l->first;
}

struct item *items_add(struct arena *a, struct items *l, enum item_kind kind)
{
	struct item *it = arena_new_of(a, struct item);

	/* A zeroed list is an empty one too: callers that make a turn by {0} need no init. */
	if (!l->last)
		items_init(l);
	it->kind = kind;
	*l->last = it;
	l->last = &it->next;
	return it;
}

struct part *item_add_part(struct arena *a, struct item *it, enum part_kind kind)
{
	struct part *p = arena_new_of(a, struct part);
	struct part **last = &it->parts;

	while (*last)
		last = &(*last)->next;
	p->kind = kind;
	*last = p;
	return p;
}

struct item *items_add_text(struct arena *a, struct items *l, enum role role, const char *text)
{
	struct item *it = items_add(a, l, ITEM_MESSAGE);

	it->role = role;
	item_add_part(a, it, PART_TEXT)->text = arena_strdup(a, text);
	return it;
}
