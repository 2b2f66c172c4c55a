/* chat_halves: characters that a provider cut in two. SPDX-License-Identifier: ISC */
#ifndef APP_DIALECT_CHAT_HALVES_H
#define APP_DIALECT_CHAT_HALVES_H

#include <stddef.h>
#include <stdint.h>

#include "app/base/arena.h"

/*
 * Servers that cut text by UTF-16 units send an emoji as "\ud83d" in one frame and "\ude00" in the
 * next. No strict parser takes that, so halves travel as characters of a private use area.
 */
struct chat_halves {
	uint32_t high; /* the half that the last piece ended with, 0 if none */
};

/*
 * JSON text in which lone halves are marked, and NUL escapes and invalid UTF-8 are U+FFFD; in the
 * arena, *len bytes.
 */
const char *chat_halves_mark(struct arena *a, const char *json, size_t n, size_t *len);
/* The next piece of one text: marked halves joined, or U+FFFD where the other one is missing. s itself, or in the arena. */
const char *chat_halves_join(struct chat_halves *h, struct arena *a, const char *s);

#endif
