/* turn: what a model is asked. SPDX-License-Identifier: ISC */
#ifndef APP_CORE_TURN_H
#define APP_CORE_TURN_H

#include "app/core/item.h"

/* A tool that is offered. Ours are described by app/tool. */
struct tool {
	enum tool_kind kind;
	const char *name;
	const char *description; /* NULL if none */
	const char *parameters;  /* JSON Schema text; NULL = no parameters */
	int strict;              /* -1 not said, 0, 1 */
	struct tool *next;
};

enum choice { CHOICE_AUTO, CHOICE_NONE, CHOICE_REQUIRED, CHOICE_TOOL };

/* Where a request's server tools run: environment of the tool entry. */
struct environment {
	bool present;             /* a server tool was offered */
	const char *container_id; /* container_reference; NULL: container_auto */
	const char *
		session_key; /* of container_auto: first present of session_id, x-session-id, prompt_cache_key; NULL */
	const char *replayed_id;     /* newest container_id found in replayed items; NULL */
	int64_t sleep_after_seconds; /* 0 = the server's default */
};

/* One call of a model, and, for the agent loop, the conversation so far. */
struct turn {
	struct arena *arena;
	const char *model;  /* as the client named it */
	struct items items; /* system messages first */
	struct tool *tools;
	enum choice choice;
	const char *choice_name;                    /* CHOICE_TOOL: as offered */
	int parallel_tool_calls;                    /* -1 not said, 0, 1 */
	int64_t max_tokens;                         /* -1 not said */
	double temperature, top_p;                  /* NaN: not said */
	int64_t top_k;                              /* -1 not said */
	double presence_penalty, frequency_penalty; /* NaN: not said */
	const char *const *stop;                    /* NULL-terminated or NULL */
	const char *response_format;  /* JSON text of chat's response_format, or NULL */
	const char *reasoning_effort; /* or NULL */
	const char *user;
	int64_t max_tool_calls; /* of the whole request; -1 not said */
	struct environment environment;
};

#endif
