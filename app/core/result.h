/* result: a tool result as JSON, in the shapes that clients and models see. SPDX-License-Identifier: ISC */
#ifndef APP_CORE_RESULT_H
#define APP_CORE_RESULT_H

#include <cjson/cJSON.h>

#include "app/core/item.h"

/* [{"stdout","stderr","outcome"}…]: signals as exit 128+n, out of memory as exit 137 with a line on stderr. Owned by the caller. */
cJSON *result_outputs(const struct result *r);
/* {"command","stdout","stderr","exitCode"}: of a bash call; several commands are joined. A timeout is exit code 124 with a line on stderr. */
cJSON *result_bash(const struct result *r);
/* [container_file_citation…]. */
cJSON *result_citations(const struct result *r);
/* {"commands","timeout_ms","max_output_length"}. */
cJSON *result_action(const struct result *r);

#endif
