/* health: whether this server can do its work. SPDX-License-Identifier: ISC */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "app/api/api.h"
#include "app/base/version.h"
#include "sandbox/sys/io.h"
#include "sandbox/sys/log.h"

static bool database_ok(void)
{
	struct err e = {0};

	if (store_check(api_env()->store, &e) == 0)
		return true;
	log_error("%s", e.message);
	return false;
}

/* Somebody listens. A full queue (EAGAIN) is a busy boxd, not a missing one. */
static bool boxd_ok(void)
{
	const char *path = api_env()->conf->boxd;
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd;
	bool ok;

	if (strlen(path) >= sizeof(address.sun_path))
		return false;
	memcpy(address.sun_path, path, strlen(path) + 1);
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return false;
	ok = connect(fd, (const struct sockaddr *)&address, sizeof(address)) == 0 ||
		errno == EAGAIN;
	if (!ok)
		log_warn("boxd at %s: %s", path, strerror(errno));
	io_close(&fd);
	return ok;
}

static const struct {
	const char *name;
	bool (*ok)(void);
} health_checks[] = {
	{"database", database_ok},
	{"boxd", boxd_ok},
};

int api_health(struct req *r, struct err *e)
{
	cJSON *body = cJSON_CreateObject(), *checks = cJSON_CreateObject();
	bool all = true;
	int rc;

	(void)e;
	for (size_t i = 0; i < sizeof(health_checks) / sizeof(health_checks[0]); i++) {
		bool ok = health_checks[i].ok();

		cJSON_AddStringToObject(checks, health_checks[i].name, ok ? "ok" : "failed");
		all = all && ok;
	}
	cJSON_AddStringToObject(body, "status", all ? "ok" : "failed");
	cJSON_AddStringToObject(body, "version", SANDGATE_VERSION);
	cJSON_AddItemToObject(body, "checks", checks);
	http_set_header(r, "Cache-Control", "no-store");
	rc = http_send_json(r, all ? 200 : 503, body);
	cJSON_Delete(body);
	return rc;
}
