/* blocks: a model's events as blocks, one after the other. SPDX-License-Identifier: ISC */
#ifndef APP_DIALECT_BLOCKS_H
#define APP_DIALECT_BLOCKS_H

#include <stdbool.h>

#include "app/base/arena.h"
#include "app/core/event.h"
#include "sandbox/sys/buf.h"

/*
 * Models may mix text, reasoning and several calls as they like; clients want one block open at a
 * time, and calls that they run themselves behind those that run here. This puts events into that
 * order: what comes out of turn is kept until the block before it has ended.
 */
enum block_kind { BLOCK_TEXT, BLOCK_REFUSAL, BLOCK_REASONING, BLOCK_CALL };

struct block {
	enum block_kind kind;
	const struct call *call; /* BLOCK_CALL */
	struct buf text;         /* so far; a call's: its arguments */
	size_t told;             /* of text, in pieces */
	bool begun, ended;
	bool whole; /* once it has ended: it was not cut short */
	void *own;  /* the encoder's */
	struct block *next;
};

/* Called in the order begin, piece…, end, a block at a time. 0 or an err_code, which is passed on. */
struct blocks_fn {
	int (*begin)(void *ctx, struct block *b);
	int (*piece)(void *ctx, struct block *b, const char *s, size_t n);
	int (*end)(void *ctx, struct block *b);
};

struct blocks;
/* hold: keep the client's calls until the server calls of their turn have their results. */
struct blocks *blocks_new(struct arena *a, bool hold, const struct blocks_fn *fn, void *ctx);
/*
 * Feeds TEXT to TURN_END; RESULT, DONE and FAILED release or drop what is kept, so that RESULT comes
 * here after its own frames, the other two before. ERR_PROVIDER_UNAVAILABLE when it is too much.
 */
int blocks_event(struct blocks *l, const struct event *ev);

#endif
