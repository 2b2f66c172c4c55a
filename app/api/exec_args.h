/* exec_args: what a person may put into the body of an exec. SPDX-License-Identifier: ISC */
#ifndef APP_API_EXEC_ARGS_H
#define APP_API_EXEC_ARGS_H

#include <stddef.h>

#include "app/base/arena.h"
#include "app/base/conf.h"
#include "app/base/err.h"
#include "app/core/item.h"

struct exec_args {
	enum tool_kind tool; /* TOOL_SHELL or TOOL_BASH */
	const char *const *commands;
	size_t ncommands;
	const char *input; /* standard input of each command; NULL = none */
	size_t input_len;
	const char *const *env; /* NAME=value, NULL-terminated; NULL = none */
	const char *cwd;        /* relative to the home; NULL = the home */
	int timeout_ms, max_output, sleep_after_seconds; /* in force: defaulted and clamped */
};

/*
 * Reads and checks the whole body, n bytes. ERR_INVALID_REQUEST names the field and what was
 * expected. Strings live in the arena. Unlike a model's call, nothing is guessed.
 */
int exec_args_read(struct exec_args *out, struct arena *a, const struct conf *conf,
	const char *body, size_t n, struct err *e);

#endif
