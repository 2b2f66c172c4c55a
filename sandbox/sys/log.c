/* log: one JSON object a line on stderr, for every program. SPDX-License-Identifier: ISC */
#include "sandbox/sys/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "sandbox/sys/utf8.h"

#define LINE_MAX_BYTES    4096 /* PIPE_BUF: a pipe takes a line whole */
#define MEMBERS_MAX_BYTES 3072

/* The line is built in place: no allocation, so that it works out of memory and after fork. */
struct line {
	char text[LINE_MAX_BYTES];
	size_t len;
};

static const char *program_name = "sandgate";
static enum log_level least_level = LOG_INFO;
static _Thread_local const char *request_id;

void log_open(const char *program, enum log_level least)
{
	program_name = program;
	least_level = least;
}

void log_request(const char *id)
{
	request_id = id;
}

static void put_raw(struct line *l, const char *s)
{
	size_t n = strlen(s);

	if (n > sizeof l->text - 4 - l->len)
		return;
	memcpy(l->text + l->len, s, n);
	l->len += n;
}

/* As a JSON string. What does not fit is cut between characters; `"}` and the newline always have room. */
static void put_string(struct line *l, const char *s)
{
	size_t n = strlen(s), i = 0, used, out_len;
	char out[8];

	put_raw(l, "\"");
	while (i < n) {
		used = utf8_escape(out, &out_len, s + i, n - i);
		if (out_len > sizeof l->text - 8 - l->len)
			break;
		memcpy(l->text + l->len, out, out_len);
		l->len += out_len;
		i += used;
	}
	put_raw(l, "\"");
}

static void put_time(struct line *l)
{
	struct timespec now;
	struct tm tm;
	char text[64];
	size_t n;

	clock_gettime(CLOCK_REALTIME, &now);
	gmtime_r(&now.tv_sec, &tm);
	n = strftime(text, sizeof text, "{\"time\":\"%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(text + n, sizeof text - n, ".%03ldZ\"", now.tv_nsec / 1000000);
	put_raw(l, text);
}

__attribute__((format(printf, 3, 0))) static void write_line(
	enum log_level level, const char *members, const char *fmt, va_list ap)
{
	static const char *const names[] = {"debug", "info", "warn", "error"};
	char message[LINE_MAX_BYTES];
	struct line l;
	int saved = errno;
	ssize_t put;

	vsnprintf(message, sizeof message, fmt, ap);
	l.len = 0;
	put_time(&l);
	put_raw(&l, ",\"level\":\"");
	put_raw(&l, names[level]);
	put_raw(&l, "\",\"program\":");
	put_string(&l, program_name);
	if (request_id) {
		put_raw(&l, ",\"request\":");
		put_string(&l, request_id);
	}
	put_raw(&l, ",");
	if (strlen(members) <= MEMBERS_MAX_BYTES)
		put_raw(&l, members);
	put_raw(&l, "\"message\":");
	put_string(&l, message);
	memcpy(l.text + l.len, "}\n", 2);
	l.len += 2;
	do
		put = write(STDERR_FILENO, l.text, l.len);
	while (put < 0 && errno == EINTR);
	errno = saved;
}

void log_write(enum log_level level, const char *fmt, ...)
{
	va_list ap;

	if (level < least_level)
		return;
	va_start(ap, fmt);
	write_line(level, "", fmt, ap);
	va_end(ap);
}

void log_write_with(enum log_level level, const char *members, const char *fmt, ...)
{
	va_list ap;

	if (level < least_level)
		return;
	va_start(ap, fmt);
	write_line(level, members, fmt, ap);
	va_end(ap);
}

void log_die(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	write_line(LOG_ERROR, "", fmt, ap);
	va_end(ap);
	_exit(1);
}
