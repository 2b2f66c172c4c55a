/* chat: OpenAI Chat Completions, as consumed from a provider. SPDX-License-Identifier: ISC */
#ifndef APP_DIALECT_CHAT_H
#define APP_DIALECT_CHAT_H

#include <cjson/cJSON.h>

#include "app/core/event.h"
#include "app/core/turn.h"

#define CHAT_REQUEST_MAX ((size_t)64 << 20)  /* bytes of a request body */
#define CHAT_STREAM_MAX  ((size_t)256 << 20) /* bytes of a streamed answer, framing included */
#define CHAT_ANSWER_MAX                                                                            \
	((size_t)32 << 20) /* bytes of its texts and arguments; of a whole JSON body */
#define CHAT_FRAME_MAX ((size_t)8 << 20) /* bytes of one frame */
#define CHAT_CALLS_MAX 128               /* calls a turn */

/*
 * The request body for the provider (always streamed), in the arena; NULL if it would be larger
 * than CHAT_REQUEST_MAX. model: as the provider knows it. Only what the client said is sent.
 */
char *chat_encode(struct arena *a, const struct turn *t, const char *model);

/*
 * Assembler of one streamed answer, whatever the provider's quirks (contract
 * upstream-chat-completions.md section 4). It lives in a, which may end before the turn's arena;
 * calls (with fresh ids) and the text of TURN_END live in the turn's.
 *
 * Calls do not overlap: CALL_START … CALL_END of one, then of the next, and text that comes after
 * the first call is held until the last one has ended. A call that the model could not finish
 * (FINISH_LENGTH, FINISH_CONTENT_FILTER) has no CALL_END. Calls are dropped when none was asked for
 * (CHOICE_NONE, or no tools).
 *
 * TURN_END's text goes into the reasoning item's raw: a JSON array (reasoning_details), or an
 * object naming the field in which this provider takes its reasoning back.
 */
struct chat_in;
struct chat_in *chat_in_new(struct arena *a, const struct turn *t, const struct sink *s);
/* Any split of the bytes gives the same events. 0, or an err_code: the sink's, or the provider's error from mid-stream (e filled). */
int chat_in_feed(struct chat_in *c, const char *bytes, size_t n, struct err *e);
/* True once the provider announced the end ([DONE]); what would follow is passed over. */
bool chat_in_done(const struct chat_in *c);
/* End of the bytes: emits TURN_END; ERR_PROVIDER_UNAVAILABLE if the stream was cut before a finish reason. A whole JSON body instead of a stream is accepted too. */
int chat_in_end(struct chat_in *c, struct err *e);

/* An error body of the provider, with its HTTP status, as our error. Returns its code. */
int chat_error(struct err *e, int status, const char *body, size_t n);
/* The same for a parsed body; status 0: the one that it names, else 502. */
int chat_error_json(struct err *e, int status, const cJSON *body);

#endif
