/* response: status, headers and body back to the web server. SPDX-License-Identifier: ISC */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "app/base/json.h"
#include "app/http/http.h"
#include "app/http/io.h"
#include "sandbox/sys/buf.h"
#include "sandbox/sys/io.h"
#include "sandbox/sys/log.h"

enum { HEAD_MAX_BYTES = 65536, MEMBERS_MAX_BYTES = 2048, PATH_LOGGED_MAX = 256 };

static const struct {
	int status;
	const char *reason;
} reasons[] = {
	{200, "OK"},
	{206, "Partial Content"},
	{304, "Not Modified"},
	{400, "Bad Request"},
	{401, "Unauthorized"},
	{402, "Payment Required"},
	{403, "Forbidden"},
	{404, "Not Found"},
	{405, "Method Not Allowed"},
	{409, "Conflict"},
	{413, "Content Too Large"},
	{415, "Unsupported Media Type"},
	{416, "Range Not Satisfiable"},
	{422, "Unprocessable Content"},
	{429, "Too Many Requests"},
	{500, "Internal Server Error"},
	{502, "Bad Gateway"},
	{503, "Service Unavailable"},
	{504, "Gateway Timeout"},
};

static const char *reason_of(int status)
{
	size_t i;

	for (i = 0; i < sizeof reasons / sizeof reasons[0]; i++)
		if (reasons[i].status == status)
			return reasons[i].reason;
	return "Unknown";
}

/* RFC 9110: a token of letters, digits and dashes is all that we ever name; a value is printable or blank. */
static bool field_is_sound(const char *name, const char *value)
{
	const char *c;

	if (name[0] == '\0' ||
		strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-") != strlen(name))
		return false;
	for (c = value; *c; c++)
		if (((unsigned char)*c < 0x20 && *c != '\t') || *c == 0x7F)
			return false;
	return true;
}

void http_set_header(struct req *r, const char *name, const char *value)
{
	struct http_field **at = &r->io->fields;
	char *lower = arena_strdup(r->arena, name), *c;

	for (c = lower; *c; c++)
		if (*c >= 'A' && *c <= 'Z')
			*c = (char)(*c - 'A' + 'a');
	if (r->io->status != 0 || !field_is_sound(lower, value)) {
		log_error("header %s is not sent: %s", name,
			r->io->status != 0 ? "the answer has begun"
					   : "its name or value is malformed");
		return;
	}
	while (*at && strcmp((*at)->name, lower) != 0)
		at = &(*at)->next;
	if (!*at) {
		*at = arena_new_of(r->arena, struct http_field);
		(*at)->name = lower;
	}
	(*at)->value = arena_strdup(r->arena, value);
}

bool http_begun(const struct req *r)
{
	return r->io->status != 0;
}

static int gone(struct req *r)
{
	r->io->gone = true;
	return ERR_CLIENT_GONE;
}

/* libfcgi may take bytes into its buffer after a failed write: only the stream's error tells. */
static int put(struct req *r, const void *p, size_t n)
{
	FCGX_Stream *out = r->io->fcgx->out;
	const char *at = p;
	int piece;

	while (n > 0 && !r->io->gone) {
		piece = n > INT_MAX ? INT_MAX : (int)n;
		if (FCGX_PutStr(at, piece, out) != piece || FCGX_GetError(out) != 0)
			return gone(r);
		at += piece;
		n -= (size_t)piece;
	}
	return r->io->gone ? ERR_CLIENT_GONE : 0;
}

int http_flush(struct req *r)
{
	FCGX_Stream *out = r->io->fcgx->out;

	if (r->io->gone)
		return ERR_CLIENT_GONE;
	if (FCGX_FFlush(out) < 0 || FCGX_GetError(out) != 0)
		return gone(r);
	return 0;
}

static int send_fields(struct req *r, int status)
{
	const struct http_field *f;
	struct buf b;
	int rc;

	http_set_header(r, "x-request-id", r->id);
	http_set_header(r, "request-id", r->id);
	buf_init(&b, HEAD_MAX_BYTES);
	buf_printf(&b, "Status: %d %s\r\n", status, reason_of(status));
	for (f = r->io->fields; f; f = f->next)
		buf_printf(&b, "%s: %s\r\n", f->name, f->value);
	buf_puts(&b, "\r\n");
	r->io->status = status;
	if (!buf_ok(&b)) {
		log_error("the headers of the answer are over %d bytes", HEAD_MAX_BYTES);
		rc = gone(r);
	} else {
		rc = put(r, b.data, b.len);
	}
	buf_free(&b);
	return rc;
}

int http_send_head(struct req *r, int status, const char *type, long long length)
{
	if (http_begun(r)) {
		log_error("a second answer (status %d) was tried", status);
		return ERR_SERVER;
	}
	if (type)
		http_set_header(r, "content-type", type);
	if (length >= 0)
		http_set_header(r, "content-length", arena_printf(r->arena, "%lld", length));
	r->io->length = length;
	return send_fields(r, status);
}

int http_write(struct req *r, const void *p, size_t n)
{
	struct http_io *io = r->io;
	int rc;

	if (io->head)
		return io->gone ? ERR_CLIENT_GONE : 0;
	if (io->length >= 0 && (unsigned long long)(io->length - io->written) < n) {
		log_error("more was written than the %lld bytes announced", io->length);
		n = (size_t)(io->length - io->written);
	}
	rc = put(r, p, n);
	if (rc == 0)
		io->written += (long long)n;
	if (rc == 0 && io->streaming)
		rc = http_flush(r);
	return rc;
}

static int send_whole(struct req *r, int status, const char *type, const char *text)
{
	size_t n = strlen(text);
	int rc = http_send_head(r, status, type, (long long)n);

	return rc < 0 ? rc : http_write(r, text, n);
}

int http_send_text(struct req *r, int status, const char *type, const char *text)
{
	return send_whole(r, status, type, text);
}

int http_send_json(struct req *r, int status, const cJSON *body)
{
	return send_whole(r, status, "application/json", json_print(r->arena, body));
}

int http_stream(struct req *r)
{
	int rc;

	http_set_header(r, "cache-control", "no-cache");
	http_set_header(r, "x-accel-buffering", "no");
	rc = http_send_head(r, 200, "text/event-stream; charset=utf-8", -1);
	r->io->streaming = true;
	return rc < 0 ? rc : http_flush(r);
}

/* Both envelopes name the canonical type, where OpenRouter's clients look for it. */
static cJSON *envelope(const struct req *r, const struct err *e)
{
	const struct err_info *info = err_info(e->code);
	cJSON *body = cJSON_CreateObject(), *error;

	if (r->api == HTTP_ANTHROPIC) {
		cJSON_AddStringToObject(body, "type", "error");
		error = cJSON_AddObjectToObject(body, "error");
		cJSON_AddStringToObject(error, "type", info->anthropic);
		json_add_text(error, "message", e->message, strlen(e->message));
		cJSON_AddStringToObject(error, "error_type", info->canonical);
		cJSON_AddStringToObject(body, "request_id", r->id);
		return body;
	}
	error = cJSON_AddObjectToObject(body, "error");
	cJSON_AddNumberToObject(error, "code", info->status);
	json_add_text(error, "message", e->message, strlen(e->message));
	cJSON_AddStringToObject(error, "type", info->openai);
	if (e->param[0] != '\0')
		json_add_text(error, "param", e->param, strlen(e->param));
	else
		cJSON_AddNullToObject(error, "param");
	cJSON_AddStringToObject(
		cJSON_AddObjectToObject(error, "metadata"), "error_type", info->canonical);
	return body;
}

int http_send_error(struct req *r, const struct err *e)
{
	cJSON *body;
	int rc;

	if (e->code == ERR_CLIENT_GONE || r->io->gone)
		return gone(r);
	if (http_begun(r)) {
		log_error("an error came after the answer had begun: %s", e->message);
		return ERR_SERVER;
	}
	if (e->retry_after > 0)
		http_set_header(r, "retry-after", arena_printf(r->arena, "%d", e->retry_after));
	body = envelope(r, e);
	rc = http_send_json(r, err_info(e->code)->status, body);
	cJSON_Delete(body);
	return rc;
}

static void log_access(const struct req *r, int status)
{
	double ms = (double)(io_now_us() - r->io->start_us) / 1000;
	struct buf b;

	buf_init(&b, MEMBERS_MAX_BYTES);
	buf_puts(&b, "\"method\":");
	buf_put_json(&b, r->method, strnlen(r->method, 32));
	buf_puts(&b, ",\"path\":");
	buf_put_json(&b, r->path, strnlen(r->path, PATH_LOGGED_MAX));
	buf_printf(&b, ",\"status\":%d,\"ms\":%.1f,\"bytes\":%lld,", status, ms, r->io->written);
	if (r->io->gone)
		buf_puts(&b, "\"client_gone\":true,");
	log_write_with(LOG_INFO, buf_str(&b), "request");
	buf_free(&b);
}

/* True if a plain close loses no answer: closing over unread bytes would make the kernel send a reset. */
static bool nothing_unread(int fd)
{
	char c;

	return recv(fd, &c, 1, MSG_PEEK | MSG_DONTWAIT) < 0 && errno == EAGAIN;
}

/* Without the record that ends a request, the web server knows that the answer is not whole. */
static void finish(struct http_io *io)
{
	if (io->length >= 0 && io->written < io->length && !io->head) {
		if (!io->gone)
			log_error(
				"%lld bytes were announced, %lld written", io->length, io->written);
		FCGX_Free(io->fcgx, 1);
		return;
	}
	/* Else libfcgi waits for the other side to close, and holds this thread meanwhile. */
	if (nothing_unread(io->fcgx->ipcFd))
		FCGX_Detach(io->fcgx);
	FCGX_Finish_r(io->fcgx);
}

void http_end(struct req *r)
{
	int status = r->io->status;

	if (status == 0 && r->io->gone) {
		status = err_info(ERR_CLIENT_GONE)->status;
	} else if (status == 0) {
		log_error("nothing was answered");
		http_send_head(r, 500, NULL, 0);
		status = 500;
	}
	finish(r->io);
	log_access(r, status);
	arena_free(r->arena);
	log_request(NULL);
}
