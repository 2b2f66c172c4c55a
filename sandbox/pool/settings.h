/* settings: the [boxd] section of the configuration. SPDX-License-Identifier: ISC */
#ifndef SANDBOX_POOL_SETTINGS_H
#define SANDBOX_POOL_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct settings {
	char *state; /* folder: homes/, run/ */
	char *user;  /* the service user: runs boxes, may connect */
	char *box_program, *init_program;
	uint64_t memory_limit, home_size, tmp_size; /* bytes */
	uint64_t home_files;
	uint64_t pids_limit;
	uint64_t max_containers, max_containers_per_workspace;
	uint64_t id_base;
	uint64_t sleep_after_seconds, stop_seconds;
	bool durable;
};

/*
 * The defaults, and over them what the file says. An unknown key, a bad value or a key twice: -1,
 * and err says "FILE:LINE: what was expected". Other sections are passed over.
 */
int settings_load(struct settings *s, const char *path, char *err, size_t err_size);
void settings_free(struct settings *s);

#endif
