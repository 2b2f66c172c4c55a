/* offer: the server tools as a model sees them. SPDX-License-Identifier: ISC */
#include <stddef.h>

#include "app/tool/tool.h"

static const struct tool shell_offer = {
	.kind = TOOL_SHELL,
	.name = "shell",
	.description = "Runs commands in a Linux container and returns the standard output, "
		       "standard error "
		       "and exit status of each. The commands run one after the other, each in a "
		       "bash of its "
		       "own that starts in the home directory, so a cd or a variable does not "
		       "reach the next "
		       "one, but files do; files in the home directory also last between requests. "
		       "A failing "
		       "command does not stop those after it. Standard input is empty.",
	.parameters = "{\"type\":\"object\",\"properties\":{"
		      "\"commands\":{\"type\":\"array\",\"items\":{\"type\":\"string\"},"
		      "\"description\":\"The commands, in order: 1 to 100, each at most 16384 "
		      "characters.\"},"
		      "\"timeout_ms\":{\"type\":\"integer\","
		      "\"description\":\"Milliseconds that each command may take.\"},"
		      "\"max_output_length\":{\"type\":\"integer\","
		      "\"description\":\"Characters kept of each command's standard output and of "
		      "its standard "
		      "error; the middle of longer ones is left out.\"}},"
		      "\"required\":[\"commands\"]}",
	.strict = -1,
};

static const struct tool bash_offer = {
	.kind = TOOL_BASH,
	.name = "bash",
	.description = "Runs a bash command in a Linux container and returns its standard output, "
		       "standard "
		       "error and exit code. Every command starts in the home directory in a bash "
		       "of its own, "
		       "so a cd or a variable does not reach the next one, but files do; files in "
		       "the home "
		       "directory also last between requests. Standard input is empty.",
	.parameters = "{\"type\":\"object\",\"properties\":{"
		      "\"command\":{\"type\":\"string\","
		      "\"description\":\"The command, at most 16384 characters.\"},"
		      "\"restart\":{\"type\":\"boolean\","
		      "\"description\":\"true goes on in a new, empty container.\"}},"
		      "\"required\":[\"command\"]}",
	.strict = -1,
};

const struct tool *tool_offer(enum tool_kind kind)
{
	switch (kind) {
	case TOOL_SHELL:
		return &shell_offer;
	case TOOL_BASH:
		return &bash_offer;
	case TOOL_CLIENT:
		break;
	}
	return NULL;
}
