/* chat_message: a conversation as Chat Completions messages. SPDX-License-Identifier: ISC */
#ifndef APP_DIALECT_CHAT_MESSAGE_H
#define APP_DIALECT_CHAT_MESSAGE_H

#include "app/base/arena.h"
#include "app/core/turn.h"
#include "app/dialect/chat_tool.h"
#include "sandbox/sys/buf.h"

/*
 * The elements of "messages", in an order that strict providers and templates take: one system
 * message, first; neighbours of one role merged; all calls of a turn in one message, and at once
 * after it one tool message for each ("(no result)" if it has none); results of unknown calls left out.
 */
void chat_message_all(
	struct buf *b, struct arena *a, const struct turn *t, const struct chat_tool_names *names);

#endif
