/* routes: every URL that is served. SPDX-License-Identifier: ISC */
#include "app/api/api.h"

#define MIB (1024u * 1024u)
/* 100 commands of 16,384 characters and the environment, and beside them standard input. */
#define EXEC_BODY (2 * MIB + 8 * MIB)

const struct route api_routes[] = {
	{"POST", "/api/v1/responses", api_responses, 32 * MIB, 0},
	{"POST", "/api/v1/messages", api_messages, 32 * MIB, ROUTE_ANTHROPIC},
	{"GET", "/api/v1/models", api_models_list, 0, 0},
	{"GET", "/api/v1/models/{model}", api_models_get, 0, 0},
	{"GET", "/api/v1/models/{author}/{slug}", api_models_get, 0, 0},
	{"POST", "/api/v1/containers/{container_id}/exec", api_exec, EXEC_BODY, 0},
	{"GET", "/api/v1/containers/{container_id}/files", api_files_list, 0, 0},
	{"GET", "/api/v1/containers/{container_id}/files/{file_id}", api_files_get, 0, 0},
	{"GET", "/api/v1/containers/{container_id}/files/{file_id}/content", api_files_content, 0,
		0},
	{"GET", "/healthz", api_health, 0, ROUTE_OPEN},
};
const size_t api_nroutes = sizeof(api_routes) / sizeof(api_routes[0]);
