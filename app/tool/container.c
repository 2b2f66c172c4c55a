/* container: which container a request's commands run in. SPDX-License-Identifier: ISC */
#include "app/tool/container.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "app/base/id.h"
#include "app/tool/tool.h"

#define CONTAINER_ID_MAX 40
#define SESSION_TAIL     20
#define GENERATED_HEX    12
#define NONCE            6

static bool good_characters(const char *s)
{
	return *s != '\0' &&
		s[strspn(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-")] ==
		'\0';
}

char *tool_container_id(struct arena *a, const struct environment *env, const char *request_id)
{
	const char *key = env->session_key;
	char digest[65];

	if (env->container_id)
		return arena_strdup(a, env->container_id);
	if (key && good_characters(key)) {
		size_t n = strlen(key);

		return arena_printf(a, "sess_%s", n > SESSION_TAIL ? key + n - SESSION_TAIL : key);
	}
	if (env->replayed_id && good_characters(env->replayed_id) &&
		strlen(env->replayed_id) <= CONTAINER_ID_MAX)
		return arena_strdup(a, env->replayed_id);
	id_sha256(digest, request_id, strlen(request_id));
	return arena_printf(a, "gen_%.*s", GENERATED_HEX, digest);
}

char *container_restart_id(struct arena *a, const char *id)
{
	const size_t room = CONTAINER_ID_MAX - strlen("-r") - NONCE;
	char *nonce = id_new(a, "", NONCE);
	size_t n = strlen(id);

	for (char *c = nonce; *c; c++)
		*c = (char)tolower((unsigned char)*c);
	/* The tail is what tells ids apart: sess_ and gen_ are in front. */
	return arena_printf(a, "%s-r%s", n > room ? id + n - room : id, nonce);
}
