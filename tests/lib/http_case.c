/* http_case: one server that runs http_app, and one request at a time to it. SPDX-License-Identifier: ISC */
#include "tests/lib/http_case.h"

#include "tests/lib/http_app.h"
#include "tests/lib/test.h"

struct fcgi_server http_case_server;
struct fcgi_client http_case;

int http_case_start(void **state)
{
	struct worker w = {
		.processes = 1, .threads = 4, .drain_seconds = 2, .serve = http_app_serve};

	(void)state;
	fcgi_server_start(&http_case_server, &w);
	return 0;
}

int http_case_stop(void **state)
{
	(void)state;
	assert_int_equal(fcgi_server_stop(&http_case_server), 0);
	test_tmp_remove();
	return 0;
}

void http_case_get(const char *uri)
{
	fcgi_request(&http_case, http_case_server.where, "GET", uri, NULL);
	assert_true(http_case.ended);
}

static cJSON *parsed;

const cJSON *http_case_member(const char *name)
{
	if (!parsed)
		parsed = cJSON_Parse(fcgi_body(&http_case));
	if (!parsed)
		fail_msg("no JSON: %s", buf_str(&http_case.out));
	return cJSON_GetObjectItemCaseSensitive(parsed, name);
}

const char *http_case_text(const char *name)
{
	const char *s = cJSON_GetStringValue(http_case_member(name));

	return s ? s : "(none)";
}

void http_case_done(void)
{
	cJSON_Delete(parsed);
	parsed = NULL;
	fcgi_close(&http_case);
}
