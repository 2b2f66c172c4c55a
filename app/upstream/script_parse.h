/* script_parse: the commands in a message. SPDX-License-Identifier: ISC */
#ifndef APP_UPSTREAM_SCRIPT_PARSE_H
#define APP_UPSTREAM_SCRIPT_PARSE_H

#include <stddef.h>

#include "app/base/arena.h"

struct script_commands {
	const char **list;
	size_t n;
};
/* Every fenced block marked sh, bash or shell; if there is none, every inline code span outside of other blocks. Blank ones do not count. */
void script_parse(struct script_commands *out, struct arena *a, const char *text);

#endif
