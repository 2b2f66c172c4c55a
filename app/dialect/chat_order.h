/* chat_order: which result answers which call. SPDX-License-Identifier: ISC */
#ifndef APP_DIALECT_CHAT_ORDER_H
#define APP_DIALECT_CHAT_ORDER_H

#include <stdint.h>

#include "app/base/arena.h"
#include "app/core/item.h"

#define CHAT_ORDER_NONE SIZE_MAX

/* An item, and its mate's position: of a call its result, of a result its call, else CHAT_ORDER_NONE. */
struct chat_order {
	const struct item *item;
	size_t mate;
};
/*
 * All items of l, in the arena. A result answers the first unanswered call of its id that stands
 * before it. Takes n log n, whatever the ids.
 */
struct chat_order *chat_order(struct arena *a, const struct items *l, size_t *n);

#endif
