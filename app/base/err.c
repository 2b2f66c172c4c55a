/* err: one way to say what went wrong. SPDX-License-Identifier: ISC */
#include "app/base/err.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "sandbox/sys/utf8.h"

/* Indexed by the negated code. */
static const struct err_info table[] = {
	[-ERR_OK] = {200, "", "", "", ""},
	[-ERR_INVALID_REQUEST] = {400, "invalid_request", "invalid_request_error",
		"invalid_request_error", "invalid_prompt"},
	[-ERR_AUTHENTICATION] = {401, "authentication", "authentication_error",
		"authentication_error", "server_error"},
	[-ERR_PAYMENT_REQUIRED] = {402, "payment_required", "billing_error", "billing_error",
		"server_error"},
	[-ERR_PERMISSION_DENIED] = {403, "permission_denied", "permission_error",
		"permission_error", "server_error"},
	[-ERR_NOT_FOUND] = {404, "not_found", "not_found_error", "not_found_error", "server_error"},
	[-ERR_METHOD_NOT_ALLOWED] = {405, "invalid_request", "invalid_request_error",
		"invalid_request_error", "invalid_prompt"},
	[-ERR_CONFLICT] = {409, "invalid_request", "invalid_request_error", "conflict_error",
		"server_error"},
	[-ERR_PAYLOAD_TOO_LARGE] = {413, "payload_too_large", "invalid_request_error",
		"invalid_request_error", "server_error"},
	[-ERR_UNPROCESSABLE] = {422, "unprocessable", "invalid_request_error",
		"invalid_request_error", "server_error"},
	[-ERR_RATE_LIMITED] = {429, "rate_limit_exceeded", "rate_limit_error", "rate_limit_error",
		"rate_limit_exceeded"},
	[-ERR_SERVER] = {500, "server", "server_error", "api_error", "server_error"},
	[-ERR_PROVIDER_UNAVAILABLE] = {502, "provider_unavailable", "server_error", "api_error",
		"server_error"},
	[-ERR_PROVIDER_OVERLOADED] = {503, "provider_overloaded", "server_error",
		"overloaded_error", "server_error"},
	[-ERR_TIMEOUT] = {504, "timeout", "server_error", "timeout_error", "server_error"},
	[-ERR_CONTEXT_LENGTH] = {400, "context_length_exceeded", "invalid_request_error",
		"invalid_request_error", "invalid_prompt"},
	[-ERR_UNSUPPORTED_MEDIA] = {415, "invalid_request", "invalid_request_error",
		"invalid_request_error", "invalid_prompt"},
	/* No client sees it: the status is nginx's, for the log. */
	[-ERR_CLIENT_GONE] = {499, "server", "server_error", "api_error", "server_error"},
};

/* A cut must not leave half a character behind. */
static void trim(char *s, size_t size)
{
	size_t n = strlen(s), i = 0, used;
	uint32_t cp;

	if (n < size - 1)
		return;
	while (i < n) {
		used = utf8_next(&cp, s + i, n - i);
		if (cp == UTF8_INVALID && i + used == n) {
			s[i] = '\0';
			return;
		}
		i += used;
	}
}

int err_set(struct err *e, enum err_code code, const char *param, const char *fmt, ...)
{
	va_list ap;

	if (!e)
		return code;
	e->code = code;
	e->retry_after = 0;
	snprintf(e->param, sizeof e->param, "%s", param ? param : "");
	trim(e->param, sizeof e->param);
	va_start(ap, fmt);
	vsnprintf(e->message, sizeof e->message, fmt, ap);
	va_end(ap);
	trim(e->message, sizeof e->message);
	return code;
}

const struct err_info *err_info(enum err_code code)
{
	int i = -(int)code;

	if (i < 0 || i >= (int)(sizeof table / sizeof table[0]) || table[i].status == 0)
		i = -ERR_SERVER;
	return &table[i];
}
