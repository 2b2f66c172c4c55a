/* script_parse: the commands in a message. SPDX-License-Identifier: ISC */
#include "app/upstream/script_parse.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

/* A fenced block: where it begins and ends with its fences, and what is between them. */
struct fence {
	const char *begin, *end;
	const char *text;
	size_t len;
	bool shell;
};

/* Looking for the ends of spans takes more than linear time, and nobody writes that much by hand. */
#define SPANS_MAX ((size_t)256 << 10)

static size_t run_length(const char *s, char c)
{
	size_t n = 0;
	while (s[n] == c)
		n++;
	return n;
}

static const char *line_end(const char *s)
{
	return s + strcspn(s, "\n");
}

static bool is_shell(const char *info, size_t n)
{
	static const char *const names[] = {"sh", "bash", "shell"};
	while (n > 0 && isspace((unsigned char)*info)) {
		info++;
		n--;
	}
	size_t word = 0;
	while (word < n && !isspace((unsigned char)info[word]))
		word++;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strlen(names[i]) == word && strncasecmp(info, names[i], word) == 0)
			return true;
	return false;
}

/* The closing fence: a line of at least n of c and nothing else; the text's end closes too. */
static const char *closing(const char *s, char c, size_t n, const char **after)
{
	for (;;) {
		const char *end = line_end(s);
		const char *p = s + strspn(s, " ");
		const size_t have = run_length(p, c);
		if (have >= n && p + have + strspn(p + have, " \t\r") == end) {
			*after = end;
			return s;
		}
		if (*end == '\0') {
			*after = end;
			return end;
		}
		s = end + 1;
	}
}

/*
 * The next block at or after s. A fence of backticks may also stand behind other words of its line,
 * as people type it; one whose line has further backticks is an inline span.
 */
static bool next_fence(struct fence *f, const char *text, const char *s)
{
	for (; *s != '\0'; s++) {
		if (*s != '`' && *s != '~')
			continue;
		const char mark = *s;
		const size_t n = run_length(s, mark);
		const bool at_line_start = s == text || s[-1] == '\n';
		const char *info = s + n;
		s = info - 1;
		if (n < 3 || (mark == '~' && !at_line_start))
			continue;
		const char *end = info + strcspn(info, mark == '`' ? "`\n" : "\n");
		if (*end != '\n')
			continue;
		f->begin = info - n;
		f->shell = is_shell(info, (size_t)(end - info));
		f->text = end + 1;
		const char *stop = closing(f->text, mark, n, &f->end);
		f->len = (size_t)(stop - f->text);
		return true;
	}
	return false;
}

static void add(struct script_commands *out, struct arena *a, const char *s, size_t n)
{
	while (n > 0 && (s[n - 1] == '\n' || s[n - 1] == '\r'))
		n--;
	size_t blank = 0;
	while (blank < n && isspace((unsigned char)s[blank]))
		blank++;
	if (blank < n)
		out->list[out->n++] = arena_strndup(a, s, n);
}

static void fenced(struct script_commands *out, struct arena *a, const char *text)
{
	struct fence f;
	for (const char *s = text; next_fence(&f, text, s); s = f.end)
		if (f.shell)
			add(out, a, f.text, f.len);
}

/* Spans in n bytes: as many backticks close as opened. */
static void spans(struct script_commands *out, struct arena *a, const char *s, size_t n)
{
	const char *end = s + (n < SPANS_MAX ? n : SPANS_MAX);
	while (s < end) {
		const char *open = memchr(s, '`', (size_t)(end - s));
		if (open == NULL)
			return;
		const size_t ticks = run_length(open, '`');
		const char *text = open + ticks;
		const char *close = text;
		size_t have = 0;
		while (close < end) {
			close = memchr(close, '`', (size_t)(end - close));
			if (close == NULL)
				break;
			have = run_length(close, '`');
			if (have == ticks)
				break;
			close += have;
		}
		if (close == NULL || close >= end) {
			s = text;
			continue;
		}
		size_t len = (size_t)(close - text);
		s = close + have;
		/* The spaces of `` `date` `` are not part of it. */
		if (len > 2 && text[0] == ' ' && text[len - 1] == ' ') {
			text++;
			len -= 2;
		}
		add(out, a, text, len);
	}
}

static size_t count_ticks(const char *text)
{
	size_t n = 0;
	for (; *text != '\0'; text++)
		n += *text == '`' || *text == '~';
	return n;
}

void script_parse(struct script_commands *out, struct arena *a, const char *text)
{
	struct fence f;
	const char *s = text;

	/* Each command takes at least two marks. */
	out->list = arena_calloc(a, count_ticks(text) / 2 + 1, sizeof(*out->list));
	out->n = 0;
	fenced(out, a, text);
	if (out->n > 0)
		return;
	for (; next_fence(&f, text, s); s = f.end)
		spans(out, a, s, (size_t)(f.begin - s));
	spans(out, a, s, strlen(s));
}
