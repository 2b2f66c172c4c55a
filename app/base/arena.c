/* arena: memory and clean-up of one request. SPDX-License-Identifier: ISC */
#include "app/base/arena.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sandbox/sys/log.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ARENA_APART 1
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define ARENA_APART 1
#endif

/* Under ASan every allocation is a block of its own, so that running over its end is seen. */
#ifdef ARENA_APART
enum { APART = 1 };
#else
enum { APART = 0 };
#endif
enum { FIRST_BLOCK = 4096, LARGEST_BLOCK = 65536 };

#define ALIGN _Alignof(max_align_t)

struct block {
	struct block *next;
	size_t used, size;
	max_align_t data[];
};

struct deferred {
	struct deferred *next;
	void (*fn)(void *);
	void *p;
};

struct arena {
	struct block *blocks; /* the one that is being filled first */
	struct deferred *deferred;
	size_t next_size;
};

static _Noreturn void out_of_memory(void)
{
	log_error("out of memory");
	abort();
}

struct arena *arena_new(void)
{
	struct arena *a = calloc(1, sizeof *a);

	if (!a)
		out_of_memory();
	a->next_size = FIRST_BLOCK;
	return a;
}

void arena_free(struct arena *a)
{
	struct block *b;
	struct deferred *d;

	if (!a)
		return;
	/* A clean-up may itself allocate and defer. */
	while ((d = a->deferred) != NULL) {
		a->deferred = d->next;
		d->fn(d->p);
	}
	while ((b = a->blocks) != NULL) {
		a->blocks = b->next;
		free(b);
	}
	free(a);
}

static struct block *block_add(struct arena *a, size_t n)
{
	size_t size = APART || n > a->next_size ? n : a->next_size;
	struct block *b = calloc(1, sizeof *b + size);

	if (!b)
		out_of_memory();
	b->size = size;
	if (n > a->next_size / 2 && a->blocks) {
		/* A large piece stands behind the current block, whose rest stays in use. */
		b->next = a->blocks->next;
		a->blocks->next = b;
		return b;
	}
	if (a->next_size < LARGEST_BLOCK)
		a->next_size *= 2;
	b->next = a->blocks;
	a->blocks = b;
	return b;
}

void *arena_alloc(struct arena *a, size_t n)
{
	struct block *b = a->blocks;
	void *p;

	if (n > SIZE_MAX / 2)
		out_of_memory();
	if (n == 0)
		n = 1;
	if (!APART)
		n = (n + ALIGN - 1) / ALIGN * ALIGN;
	if (APART || !b || n > b->size - b->used)
		b = block_add(a, n);
	p = (char *)b->data + b->used;
	b->used += n;
	return p;
}

void *arena_calloc(struct arena *a, size_t count, size_t size)
{
	size_t n;

	if (__builtin_mul_overflow(count, size, &n))
		out_of_memory();
	return arena_alloc(a, n);
}

char *arena_strndup(struct arena *a, const char *s, size_t n)
{
	char *copy = arena_alloc(a, n + 1);

	if (n > 0)
		memcpy(copy, s, n);
	copy[n] = '\0';
	return copy;
}

char *arena_strdup(struct arena *a, const char *s)
{
	return s ? arena_strndup(a, s, strlen(s)) : NULL;
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
	va_list ap;
	char *text;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n < 0)
		out_of_memory();
	text = arena_alloc(a, (size_t)n + 1);
	va_start(ap, fmt);
	vsnprintf(text, (size_t)n + 1, fmt, ap);
	va_end(ap);
	return text;
}

void arena_defer(struct arena *a, void (*fn)(void *), void *p)
{
	struct deferred *d = arena_new_of(a, struct deferred);

	d->fn = fn;
	d->p = p;
	d->next = a->deferred;
	a->deferred = d;
}
