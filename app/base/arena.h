/* arena: memory and clean-up of one request. SPDX-License-Identifier: ISC */
#ifndef APP_BASE_ARENA_H
#define APP_BASE_ARENA_H

#include <stdarg.h>
#include <stddef.h>

/*
 * What a request allocates lives in its arena and ends with it, in one place. Allocation never
 * returns NULL: sizes that come from outside are bounded before they get here (body limit, buffer
 * maxima), so running out means that the machine is out of memory; then the process aborts and
 * the supervisor starts another one. Not thread-safe: one thread, one arena.
 */
struct arena;
struct arena *arena_new(void);
/* Runs the deferred clean-ups, newest first, then frees everything. NULL is fine. */
void arena_free(struct arena *a);
/* Zeroed, aligned for any type. */
void *arena_alloc(struct arena *a, size_t n);
void *arena_calloc(struct arena *a, size_t count, size_t size);
char *arena_strdup(struct arena *a, const char *s); /* NULL gives NULL */
char *arena_strndup(struct arena *a, const char *s, size_t n);
char *arena_printf(struct arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* fn(p) when the arena ends. */
void arena_defer(struct arena *a, void (*fn)(void *), void *p);

#define arena_new_of(a, type) ((type *)arena_alloc((a), sizeof(type)))

#endif
