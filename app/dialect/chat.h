/* chat: OpenAI Chat Completions, as consumed from a provider. SPDX-License-Identifier: ISC */
#ifndef APP_DIALECT_CHAT_H
#define APP_DIALECT_CHAT_H

#include "app/core/event.h"
#include "app/core/turn.h"

/* The request body for the provider (always streamed), in the arena. model: as the provider knows it. */
char *chat_encode(struct arena *a, const struct turn *t, const char *model);

/*
 * Assembler of one streamed answer, whatever the provider's quirks (contract upstream-chat-completions.md
 * section 4). Calls are minted with fresh ids. Feed takes any split of the bytes.
 */
struct chat_in;
struct chat_in *chat_in_new(struct arena *a, const struct turn *t, const struct sink *s);
/* 0, or an err_code: the sink's, or the provider's error from mid-stream (e filled). */
int chat_in_feed(struct chat_in *c, const char *bytes, size_t n, struct err *e);
/* End of the bytes: emits TURN_END; ERR_PROVIDER_UNAVAILABLE if the stream was cut before a finish reason. A whole JSON body instead of a stream is accepted too. */
int chat_in_end(struct chat_in *c, struct err *e);
/* An error body of the provider, with its HTTP status, as our error. */
int chat_error(struct err *e, int status, const char *body, size_t n);

#endif
