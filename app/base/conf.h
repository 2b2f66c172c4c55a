/* conf: the settings of conf/sandgate.conf. SPDX-License-Identifier: ISC */
#ifndef APP_BASE_CONF_H
#define APP_BASE_CONF_H

#include <stdbool.h>
#include <stddef.h>

/* A [provider NAME] section. */
struct conf_provider {
	char *name;
	char *protocol; /* "chat", or "script" for the built-in one */
	char *base_url; /* without /chat/completions */
	char *api_key;  /* read from api_key_env or api_key_file at start; NULL: none is sent */
	char **models;  /* globs of model names as the provider knows them, NULL-terminated */
	char *prefix;   /* what clients put before the name ("acme/"), "" if nothing */
	struct conf_provider *next;
};

/* Read-only after start, shared by all threads. Units are in the names. */
struct conf {
	char *state;          /* folder: sandgate.db, homes/, cache/, run/ */
	char *listen;         /* "" = descriptor 0; "unix:PATH" or "HOST:PORT" */
	unsigned listen_mode; /* permission bits of a unix socket */
	char *boxd;           /* path of boxd's socket; STATE/run/boxd.sock if not said */
	char *user;           /* the service user, dropped to when started as root */
	int processes, threads;
	int drain_seconds;
	long long body_limit_bytes;
	int command_timeout_ms_default, command_timeout_ms_max;
	int output_chars_default, output_chars_max;
	int sleep_after_seconds_default, sleep_after_seconds_max;
	int max_tool_calls;
	int upstream_connect_timeout_ms, upstream_idle_timeout_ms, upstream_total_timeout_ms;
	int heartbeat_ms;
	double sandbox_price_per_second;
	int sandbox_minimum_seconds;
	/* In the order of the file; the built-in one is always last. */
	struct conf_provider *providers;
};

/*
 * Reads the file; what it does not say takes its default (table in conf.c, conf/sandgate.conf). An unknown section or key, a bad value, a key twice: -1, and err says
 * "FILE:LINE: what was found, what was expected". Sections of other programs ([boxd]) are passed over.
 */
int conf_load(struct conf **out, const char *path, char *err, size_t err_size);
void conf_free(struct conf *c);

#endif
