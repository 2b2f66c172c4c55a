/* item: the neutral parts of a conversation. SPDX-License-Identifier: ISC */
#ifndef APP_CORE_ITEM_H
#define APP_CORE_ITEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Everything here lives in the request's arena. Lists are linked through next, in order. */

enum role { ROLE_SYSTEM, ROLE_USER, ROLE_ASSISTANT };
enum part_kind { PART_TEXT, PART_REFUSAL, PART_IMAGE, PART_FILE };

struct part {
	enum part_kind kind;
	const char *text;     /* TEXT, REFUSAL */
	const char *url;      /* IMAGE: https: or data: URL; FILE: data: URL */
	const char *detail;   /* IMAGE: auto low high, or NULL */
	const char *filename; /* FILE, or NULL */
	struct part *next;
};

/* Who runs a call. */
enum tool_kind { TOOL_CLIENT, TOOL_SHELL, TOOL_BASH };

struct call {
	enum tool_kind tool;
	const char *id;   /* unique in the response; minted by us */
	const char *name; /* of a client's tool: as the client named it; of ours: "shell", "bash" */
	const char *arguments; /* raw JSON text as the model produced it; "{}" at least */
};

enum outcome_kind { OUTCOME_EXIT, OUTCOME_SIGNAL, OUTCOME_TIMEOUT, OUTCOME_OUT_OF_MEMORY };

/* What one command gave. Texts are valid UTF-8 without NUL-termination promised: use the lengths. */
struct output {
	const char *command;
	const char *out, *err;
	size_t out_len, err_len;
	uint64_t out_omitted, err_omitted; /* code points */
	enum outcome_kind outcome;
	int code; /* exit status or signal number */
	double duration_ms;
	bool background_output_open;
	const char *commit; /* NULL if nothing changed */
	struct output *next;
};

/* A file that a command wrote; at most 10 a result, newest first. */
struct citation {
	const char *container_id;
	const char *file_id;
	const char *filename;
	struct citation *next;
};

struct skipped {
	const char *path, *reason;
	struct skipped *next;
};

/* The result of a server tool call. */
struct result {
	const struct call *call;
	const char *error;           /* not NULL: the call failed, there is no output */
	const char *const *commands; /* as parsed from the arguments */
	size_t ncommands;
	int64_t timeout_ms, max_output_length; /* as the model sent them, -1 if it did not */
	struct output *outputs;
	const char *container_id; /* NULL if none was reached */
	struct citation *files;
	struct skipped *skipped;
	bool cold;        /* it started a new or sleeping container */
	const char *text; /* what the model is told: JSON */
};

enum item_kind { ITEM_MESSAGE, ITEM_REASONING, ITEM_CALL, ITEM_RESULT };

struct item {
	enum item_kind kind;
	/* MESSAGE */
	enum role role;
	struct part *parts;
	/* REASONING: plain text; raw = reasoning_details JSON to send back unchanged, or NULL */
	const char *reasoning;
	const char *raw;
	/* CALL */
	struct call call;
	/* RESULT of the call with this id */
	const char *call_id;
	const char *text;
	struct item *next;
};

/* A list that is appended to. */
struct items {
	struct item *first, **last;
};
struct arena;
void items_init(struct items *l);
/* A zeroed item at the end. */
struct item *items_add(struct arena *a, struct items *l, enum item_kind kind);
/* Appends a part to an item's parts. */
struct part *item_add_part(struct arena *a, struct item *it, enum part_kind kind);
/* A message with one text part. */
struct item *items_add_text(struct arena *a, struct items *l, enum role role, const char *text);

#endif
