/* err: one way to say what went wrong. SPDX-License-Identifier: ISC */
#ifndef APP_BASE_ERR_H
#define APP_BASE_ERR_H

/* Canonical types: contract openrouter.md section 2.3. Functions return 0 or one of these (negative). */
enum err_code {
	ERR_OK = 0,
	ERR_INVALID_REQUEST = -1,
	ERR_AUTHENTICATION = -2,
	ERR_PAYMENT_REQUIRED = -3,
	ERR_PERMISSION_DENIED = -4,
	ERR_NOT_FOUND = -5,
	ERR_METHOD_NOT_ALLOWED = -6,
	ERR_CONFLICT = -7,
	ERR_PAYLOAD_TOO_LARGE = -8,
	ERR_UNPROCESSABLE = -9,
	ERR_RATE_LIMITED = -10,
	ERR_SERVER = -11,
	ERR_PROVIDER_UNAVAILABLE = -12,
	ERR_PROVIDER_OVERLOADED = -13,
	ERR_TIMEOUT = -14,
	ERR_CONTEXT_LENGTH = -15,
	ERR_UNSUPPORTED_MEDIA = -16,
	ERR_CLIENT_GONE = -17, /* nobody is left to tell */
};

struct err {
	enum err_code code;
	int retry_after;   /* seconds, 0 = not said */
	char param[64];    /* the field at fault, "" if none */
	char message[512]; /* for people: names the field and what was expected */
};

/* Fills e (NULL is fine) and returns code: return err_set(e, ERR_NOT_FOUND, "file_id", "no such …"). param may be NULL. */
int err_set(struct err *e, enum err_code code, const char *param, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* One row of the table that maps a code to each API's words. */
struct err_info {
	int status;            /* HTTP */
	const char *canonical; /* error_type: "invalid_request" … */
	const char *openai;    /* error.type: "invalid_request_error" … */
	const char *anthropic; /* error.type on /messages */
	const char *response;  /* response.error.code in a Responses stream */
};
const struct err_info *err_info(enum err_code code);

#endif
