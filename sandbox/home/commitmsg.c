/* commitmsg: the commit object of a command. SPDX-License-Identifier: ISC */
#include "sandbox/home/commitmsg.h"

#include <string.h>

#include "sandbox/home/meta.h"

#define COLUMNS   72
#define VALUE_MAX 400 /* bytes of a trailer's value */
#define INDENT    "    "

/* A name or address as git's check wants it: without what delimits it, and not empty. */
static void put_name(struct buf *out, const char *s)
{
	size_t n = 0;

	for (; s && *s && n < 200; s++)
		if ((unsigned char)*s > 0x20 && *s != 0x7f && *s != '<' && *s != '>') {
			buf_putc(out, *s);
			n++;
		}
	if (n == 0)
		buf_puts(out, "unknown");
}

static void put_person(struct buf *out, const char *role, const struct home_commit_info *info)
{
	buf_printf(out, "%s ", role);
	put_name(out, info->tool);
	buf_puts(out, " <");
	put_name(out, info->email);
	buf_printf(out, "> %lld +0000\n", (long long)(info->time > 0 ? info->time : 0));
}

static bool blank(const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if ((unsigned char)s[i] > ' ' && s[i] != 0x7f)
			return false;
	return true;
}

/* Columns are counted as code points; control characters would disturb a log of one line each. */
static void put_subject(struct buf *out, const char *command, const char *tool)
{
	const char *s = command ? command : "";
	size_t n = strcspn(s, "\n"), columns = 0;

	while (blank(s, n) && s[n]) {
		s += n + 1;
		n = strcspn(s, "\n");
	}
	if (blank(s, n)) {
		s = tool && *tool ? tool : "unknown";
		n = strcspn(s, "\n");
	}
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)s[i];

		if ((c & 0xc0) != 0x80 && ++columns > COLUMNS)
			break;
		buf_putc(out, c < 0x20 || c == 0x7f ? ' ' : (char)c);
	}
	buf_putc(out, '\n');
}

static void put_body(struct buf *out, const char *command)
{
	size_t n;

	buf_putc(out, '\n');
	for (const char *s = command; *s; s += n) {
		n = strcspn(s, "\n");
		if (n > 0)
			buf_puts(out, INDENT);
		n += s[n] == '\n';
		buf_put(out, s, n);
	}
	if (out->len > 0 && out->data[out->len - 1] != '\n')
		buf_putc(out, '\n');
}

static void put_trailer(struct buf *out, const char *name, const char *value)
{
	buf_printf(out, "%s: ", name);
	meta_escape(out, value, strnlen(value, VALUE_MAX));
	buf_putc(out, '\n');
}

void commitmsg_put(struct buf *out, const struct home_commit_info *info, const git_oid *tree,
	const git_oid *parent, const struct home_skip *skips, size_t nlisted, size_t nskips)
{
	buf_printf(out, "tree %s\n", git_oid_tostr_s(tree));
	if (parent)
		buf_printf(out, "parent %s\n", git_oid_tostr_s(parent));
	put_person(out, "author", info);
	put_person(out, "committer", info);
	buf_putc(out, '\n');
	put_subject(out, info->command, info->tool);
	if (info->command && *info->command)
		put_body(out, info->command);
	buf_putc(out, '\n');
	if (info->request_id)
		put_trailer(out, "Request-Id", info->request_id);
	put_trailer(out, "Tool", info->tool ? info->tool : "unknown");
	if (info->outcome)
		put_trailer(out, "Outcome", info->outcome);
	if (info->duration_ms >= 0)
		buf_printf(out, "Duration-Ms: %lld\n", (long long)info->duration_ms);
	buf_printf(out, "Skipped: %zu\n", nskips);
	for (size_t i = 0; i < nlisted; i++) {
		buf_puts(out, "Skipped-File: ");
		meta_escape(out, skips[i].path, strlen(skips[i].path));
		buf_puts(out, " (");
		meta_escape(out, skips[i].reason, strnlen(skips[i].reason, VALUE_MAX));
		buf_puts(out, ")\n");
	}
}
