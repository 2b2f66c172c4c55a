/* chat_think: reasoning written into the text as <think>…</think>. SPDX-License-Identifier: ISC */
#ifndef APP_DIALECT_CHAT_THINK_H
#define APP_DIALECT_CHAT_THINK_H

#include <stdbool.h>

#include "sandbox/sys/buf.h"

/* A piece of text or of reasoning, NUL-terminated; non-zero stops. */
typedef int chat_think_fn(void *ctx, bool reasoning, const char *s, size_t n);

/* Only a block at the very beginning of the text is reasoning. */
struct chat_think {
	enum { CHAT_THINK_START, CHAT_THINK_INSIDE, CHAT_THINK_AFTER, CHAT_THINK_TEXT } state;
	struct buf held; /* what may turn out to be a tag */
	chat_think_fn *fn;
	void *ctx;
};

void chat_think_init(struct chat_think *th, size_t max, chat_think_fn *fn, void *ctx);
void chat_think_free(struct chat_think *th);
/* s is NUL-terminated. 0 or fn's non-zero value. */
int chat_think_put(struct chat_think *th, const char *s, size_t n);
/* No more will come: passes on what is held. */
int chat_think_end(struct chat_think *th);

#endif
