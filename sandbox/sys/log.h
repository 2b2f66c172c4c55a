/* log: one JSON object a line on stderr, for every program. SPDX-License-Identifier: ISC */
#ifndef SANDBOX_SYS_LOG_H
#define SANDBOX_SYS_LOG_H

/*
 * {"time":"2026-01-02T03:04:05.678Z","level":"error","program":"sandgate-box","request":"req_…","message":"…"}
 * One write(2) a line, so that lines of several processes do not mix; longer than 4 KiB is cut.
 * Whatever is in the message (newlines, ANSI escapes, quotes) is escaped: a tenant cannot forge a line.
 */
enum log_level { LOG_DEBUG, LOG_INFO, LOG_WARN, LOG_ERROR };

/* Set once at start: the program's name (borrowed) and the least level that is written. */
void log_open(const char *program, enum log_level least);
/* Names the request that this thread works for, in later lines of this thread; NULL ends it. Borrowed. */
void log_request(const char *id);
void log_write(enum log_level level, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The same line with members of one's own before the message: JSON text that ends with a comma, e.g. "\"status\":200,". */
void log_write_with(enum log_level level, const char *members, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#define log_debug(...) log_write(LOG_DEBUG, __VA_ARGS__)
#define log_info(...)  log_write(LOG_INFO, __VA_ARGS__)
#define log_warn(...)  log_write(LOG_WARN, __VA_ARGS__)
#define log_error(...) log_write(LOG_ERROR, __VA_ARGS__)

/* Logs at LOG_ERROR and exits with status 1. Only before serving starts, or between fork and exec. */
void log_die(const char *fmt, ...) __attribute__((noreturn, format(printf, 1, 2)));

#endif
