/* args: what a model put into a call of ours. SPDX-License-Identifier: ISC */
#ifndef APP_TOOL_ARGS_H
#define APP_TOOL_ARGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "app/base/arena.h"
#include "app/base/conf.h"
#include "app/base/err.h"
#include "app/core/item.h"

struct args {
	const char *const *commands;
	size_t ncommands;
	int64_t timeout_asked, output_asked; /* as sent, -1 if not; for the echo */
	int timeout_ms, max_output;          /* in force: defaulted, clamped to conf's maximum */
	bool restart;                        /* bash only */
};

/*
 * Reads call->arguments. Models are sloppy, so "commands" may be one string, "command" and "cmd"
 * do as well, and numbers may be strings or fractions; numbers below 1 mean the default. Everything
 * lives in the arena. ERR_INVALID_REQUEST with a text for the model: no JSON, no command, a command
 * that is no string, more than TOOL_COMMANDS_MAX, one longer than TOOL_COMMAND_CHARS. What was read
 * until then stands in out, for the echo.
 */
int args_parse(struct args *out, struct arena *a, const struct conf *conf, const struct call *call,
	struct err *e);

#endif
