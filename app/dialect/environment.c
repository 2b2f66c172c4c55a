/* environment: the parameters of a server tool. SPDX-License-Identifier: ISC */
#include "app/dialect/environment.h"

#include <string.h>

#define CONTAINER_ID_MAX 40
#define SESSION_ID_MAX   256
#define FILE_IDS_MAX     20

static bool is_container_id(const char *id)
{
	size_t n = strspn(id, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-");
	return n > 0 && n <= CONTAINER_ID_MAX && id[n] == '\0';
}

static int read_file_ids(const struct place *env, struct err *e)
{
	struct place ids;
	int rc = place_array(&ids, env, "file_ids", e);
	if (rc != 0)
		return rc < 0 ? rc : 0;
	const cJSON *v;
	size_t n = 0;
	cJSON_ArrayForEach(v, ids.v)
	{
		struct place id = place_item(&ids, n++, v);
		if (!cJSON_IsString(v))
			return place_fail(&id, NULL, e, "expected a string");
	}
	if (n > FILE_IDS_MAX)
		return place_fail(&ids, NULL, e, "expected at most %d ids", FILE_IDS_MAX);
	if (n > 0)
		return place_fail(&ids, NULL, e, "attaching files is not offered yet");
	return 0;
}

static int read_network_policy(const struct place *env, struct err *e)
{
	static const char *const types[] = {"disabled", "allowlist", NULL};
	struct place policy, domains;
	size_t type = 0;
	int rc = place_object(&policy, env, "network_policy", e);
	if (rc != 0)
		return rc < 0 ? rc : 0;
	rc = place_word(&type, &policy, "type", types, e);
	if (rc != 0)
		return rc < 0 ? rc : place_fail(&policy, "type", e, "required");
	if (type == 0)
		return 0;
	rc = place_need_array(&domains, &policy, "allowed_domains", e);
	if (rc < 0)
		return rc;
	/* An empty list allows nothing, which is what there is. */
	if (cJSON_GetArraySize(domains.v) == 0)
		return 0;
	return place_fail(&policy, NULL, e,
		"network access is not offered yet: leave network_policy out or use "
		"{\"type\":\"disabled\"}");
}

/* *id: of container_reference, else NULL. */
static int read_environment(const char **id, const struct place *parameters, struct err *e)
{
	static const char *const types[] = {"container_auto", "container_reference", NULL};
	struct place env;
	size_t type = 0;
	*id = NULL;
	int rc = place_object(&env, parameters, "environment", e);
	if (rc != 0)
		return rc < 0 ? rc : 0;
	rc = place_word(&type, &env, "type", types, e);
	if (rc != 0)
		return rc < 0 ? rc : place_fail(&env, "type", e, "required");
	if (type == 1) {
		rc = place_need_string(id, &env, "container_id", e);
		if (rc < 0)
			return rc;
		if (!is_container_id(*id))
			return place_fail(&env, "container_id", e,
				"expected 1 to 40 characters of A-Z, a-z, 0-9, \"_\" and \"-\"");
	}
	rc = read_file_ids(&env, e);
	return rc < 0 ? rc : read_network_policy(&env, e);
}

int environment_decode(struct environment *env, bool *here, const struct place *tool,
	enum tool_kind kind, struct err *e)
{
	static const char *const shell[] = {"auto", "openrouter", NULL};
	static const char *const bash[] = {"auto", "openrouter", "native", NULL};
	struct place parameters;
	const char *id = NULL;
	size_t engine = 0;
	int64_t sleep_after = 0;
	int rc = place_object(&parameters, tool, "parameters", e);
	if (rc == 0) {
		rc = place_word(
			&engine, &parameters, "engine", kind == TOOL_BASH ? bash : shell, e);
		if (rc >= 0)
			rc = place_int(&sleep_after, &parameters, "sleep_after_seconds",
				(struct place_range){1, PLACE_INT_MAX}, e);
		if (rc >= 0)
			rc = read_environment(&id, &parameters, e);
	}
	if (rc < 0)
		return rc;
	*here = kind == TOOL_SHELL || engine == 1;
	if (!*here)
		return 0;
	if (env->present) {
		if (id && (!env->container_id || strcmp(id, env->container_id) != 0))
			return place_fail(&parameters, "environment", e,
				"another tool of this request has a different environment; one "
				"request has one container");
		return 0;
	}
	env->present = true;
	env->container_id = id;
	env->sleep_after_seconds = sleep_after;
	return 0;
}

int environment_session(
	struct environment *env, const struct place *body, const char *header, struct err *e)
{
	const char *session = NULL, *cache = NULL;
	int rc = place_string(&session, body, "session_id", e);
	if (rc < 0)
		return rc;
	if (session && strlen(session) > SESSION_ID_MAX)
		return place_fail(
			body, "session_id", e, "expected at most %d characters", SESSION_ID_MAX);
	rc = place_string(&cache, body, "prompt_cache_key", e);
	if (rc < 0)
		return rc;
	const char *const sources[] = {session, header, cache};
	for (size_t i = 0; i < 3 && !env->session_key; i++)
		if (sources[i] && *sources[i])
			env->session_key = sources[i];
	return 0;
}

void environment_replayed(struct environment *env, const char *container_id)
{
	if (container_id && is_container_id(container_id))
		env->replayed_id = container_id;
}
