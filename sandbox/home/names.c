/* names: how a path component of a home is spelled in a git tree. SPDX-License-Identifier: ISC */
#include "sandbox/home/names.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

/*
 * Git refuses not only ".git" but every name that some file system takes for it: HFS+ leaves out
 * invisible code points and ignores case, NTFS cuts trailing spaces, periods and streams, knows
 * short names ("git~1"), and takes a backslash for a slash. The same holds for the files that git
 * reads by name. The rules here are a superset of git's: a name that only looks like one is
 * escaped as well, which costs nothing, as reading strips the mark.
 */
struct special {
	const char *name;   /* without the leading dot */
	const char *abbrev; /* start of NTFS's fall-back short name */
	enum names_class exact;
};
static const struct special specials[] = {
	{"gitmodules", "gi7eba", NAMES_GITMODULES},
	{"gitattributes", "gi7d29", NAMES_GITATTRIBUTES},
	{"gitignore", "gi250a", NAMES_GITIGNORE},
	{"mailmap", "maba30", NAMES_MAILMAP},
};
#define NSPECIALS (sizeof specials / sizeof specials[0])

/* Length of the code point at s that HFS+ leaves out of names, or 0. */
static size_t invisible(const char *s, size_t n)
{
	const unsigned char *p = (const unsigned char *)s;

	if (n < 3)
		return 0;
	if (p[0] == 0xe2 && p[1] == 0x80)
		return (p[2] >= 0x8c && p[2] <= 0x8f) || (p[2] >= 0xaa && p[2] <= 0xae) ? 3 : 0;
	if (p[0] == 0xe2 && p[1] == 0x81)
		return p[2] >= 0xaa && p[2] <= 0xaf ? 3 : 0;
	return p[0] == 0xef && p[1] == 0xbb && p[2] == 0xbf ? 3 : 0;
}

/*
 * What the file systems above may see in a name: without invisible code points, lower case, up to
 * a stream's colon or the first other non-ASCII byte (git takes malformed UTF-8 for the end), and
 * without trailing spaces and periods.
 */
static size_t fold(char *out, const char *s, size_t n)
{
	size_t len = 0;

	for (size_t i = 0, skip; i < n; i += skip ? skip : 1) {
		skip = invisible(s + i, n - i);
		if (skip)
			continue;
		if (s[i] == ':' || (s[i] & 0x80))
			break;
		out[len++] = (char)tolower((unsigned char)s[i]);
	}
	while (len > 0 && (out[len - 1] == ' ' || out[len - 1] == '.'))
		len--;
	out[len] = '\0';
	return len;
}

/* NTFS's short names: six letters and ~1 to ~4, or part of the hashed form, a tilde and a number, eight in all. */
static bool short_name(const struct special *sp, const char *f, size_t n)
{
	const char *tilde = memchr(f, '~', n);
	size_t at;

	if (!tilde)
		return false;
	at = (size_t)(tilde - f);
	if (n == 8 && at == 6 && f[7] >= '1' && f[7] <= '4' && strncmp(f, sp->name, 6) == 0)
		return true;
	if (n != 8 || at > 6 || f[at + 1] < '1' || f[at + 1] > '9' ||
		strncmp(f, sp->abbrev, at) != 0)
		return false;
	for (size_t i = at + 1; i < n; i++)
		if (f[i] < '0' || f[i] > '9')
			return false;
	return true;
}

/* One part of a name, between backslashes. */
static bool part_is_gits(const char *s, size_t n)
{
	char f[NAMES_LIMIT];

	n = fold(f, s, n);
	if (strcmp(f, ".git") == 0 || strcmp(f, "git~1") == 0)
		return true;
	for (size_t i = 0; i < NSPECIALS; i++)
		if ((f[0] == '.' && strcmp(f + 1, specials[i].name) == 0) ||
			short_name(&specials[i], f, n))
			return true;
	return false;
}

static bool is_gits(const char *name, size_t n)
{
	for (const char *s = name, *end = name + n; s <= end;) {
		const char *back = memchr(s, '\\', (size_t)(end - s));
		size_t len = back ? (size_t)(back - s) : (size_t)(end - s);

		if (part_is_gits(s, len))
			return true;
		s += len + 1;
	}
	return false;
}

enum names_class names_class(const char *name, size_t n)
{
	size_t mark = sizeof NAMES_MARK - 1;

	if (n >= mark && memcmp(name + n - mark, NAMES_MARK, mark) == 0)
		return NAMES_ESCAPE;
	if (n == sizeof NAMES_META - 1 && memcmp(name, NAMES_META, n) == 0)
		return NAMES_ESCAPE;
	/* Nearly every name ends here. */
	if (!memchr(name, '.', n) && !memchr(name, '~', n))
		return NAMES_PLAIN;
	for (size_t i = 0; i < NSPECIALS; i++)
		if (name[0] == '.' && n == strlen(specials[i].name) + 1 &&
			memcmp(name + 1, specials[i].name, n - 1) == 0)
			return specials[i].exact;
	return is_gits(name, n) ? NAMES_ESCAPE : NAMES_PLAIN;
}

/* -- content ---------------------------------------------------------------- */

static bool only(const char *s, size_t n, const char *extra)
{
	for (size_t i = 0; i < n; i++)
		if (!isalnum((unsigned char)s[i]) && !(s[i] && strchr(extra, s[i])))
			return false;
	return true;
}

/* [submodule "NAME"] with a name that git's check cannot mind. */
static bool section_ok(const char *s, size_t n)
{
	static const char head[] = "[submodule \"";
	size_t h = sizeof head - 1;

	if (n < h + 3 || memcmp(s, head, h) != 0 || memcmp(s + n - 2, "\"]", 2) != 0)
		return false;
	s += h;
	n -= h + 2;
	return only(s, n, "._/-") && isalnum((unsigned char)s[0]) && !memmem(s, n, "..", 2);
}

static bool setting_ok(const char *s, size_t n)
{
	static const char *const keys[] = {
		"path = ", "url = https://", "branch = ", "shallow = ", "ignore = "};

	for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
		size_t k = strlen(keys[i]);

		if (n > k && memcmp(s, keys[i], k) == 0)
			return isalnum((unsigned char)s[k]) && only(s + k, n - k, "._/-") &&
				!memmem(s + k, n - k, "..", 2);
	}
	return false;
}

/*
 * Git parses the file and refuses names, paths and addresses that have been used for attacks. A
 * few plain forms are known to pass; whatever else there is gets the file escaped.
 */
static bool gitmodules_ok(const char *s, size_t n)
{
	bool section = false;

	for (const char *end = s + n; s < end;) {
		const char *eol = memchr(s, '\n', (size_t)(end - s));
		size_t len;

		while (s < end && (*s == ' ' || *s == '\t'))
			s++;
		if (!eol)
			return s ==
				end; /* a last line without its end is not among the plain forms */
		len = (size_t)(eol - s);
		if (section_ok(s, len))
			section = true;
		else if (len > 0 && !(section && setting_ok(s, len)))
			return false;
		s = eol + 1;
	}
	return true;
}

/* Git gives up on lines of 2,048 bytes and more. */
static bool gitattributes_ok(const char *s, size_t n)
{
	for (const char *end = s + n; s < end;) {
		const char *eol = memchr(s, '\n', (size_t)(end - s));

		if ((size_t)((eol ? eol : end) - s) >= 2048)
			return false;
		s = eol ? eol + 1 : end;
	}
	return true;
}

bool names_content_ok(enum names_class c, const char *data, size_t n)
{
	switch (c) {
	case NAMES_PLAIN:
	case NAMES_GITIGNORE:
	case NAMES_MAILMAP:
		return true;
	case NAMES_GITMODULES:
		return gitmodules_ok(data, n);
	case NAMES_GITATTRIBUTES:
		return gitattributes_ok(data, n);
	case NAMES_ESCAPE:
		break;
	}
	return false;
}

/* -- spelling --------------------------------------------------------------- */

#define MARK_LEN  (sizeof NAMES_MARK - 1)
#define CODED_LEN (sizeof NAMES_CODED - 1)

static bool begins_coded(const char *s, size_t n)
{
	return n >= CODED_LEN && memcmp(s, NAMES_CODED, CODED_LEN) == 0;
}

static size_t store_coded(char *out, const char *name, size_t n)
{
	static const char digits[] = "0123456789abcdef";
	size_t len = CODED_LEN;

	memcpy(out, NAMES_CODED, CODED_LEN);
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)name[i];

		if (c == '%' || c == ':' || c == '\\' || c >= 0x80) {
			out[len++] = '%';
			out[len++] = digits[c >> 4];
			out[len++] = digits[c & 15];
		} else {
			out[len++] = (char)c;
		}
	}
	memcpy(out + len, NAMES_MARK, sizeof NAMES_MARK);
	return len + MARK_LEN;
}

size_t names_store(char out[NAMES_LIMIT], const char *name, size_t n, bool escaped)
{
	memcpy(out, name, n);
	out[n] = '\0';
	if (!escaped)
		return n;
	memcpy(out + n, NAMES_MARK, sizeof NAMES_MARK);
	n += MARK_LEN;
	if (!begins_coded(name, n - MARK_LEN) && !is_gits(out, n))
		return n;
	return store_coded(out, name, n - MARK_LEN);
}

static int hex(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static size_t real_coded(char *out, const char *s, size_t n)
{
	size_t len = 0;

	for (size_t i = 0; i < n && len < NAMES_MAX; i++) {
		if (s[i] != '%') {
			out[len++] = s[i];
			continue;
		}
		if (n - i < 3 || hex(s[i + 1]) < 0 || hex(s[i + 2]) < 0)
			return 0;
		out[len++] = (char)(hex(s[i + 1]) * 16 + hex(s[i + 2]));
		i += 2;
	}
	return len;
}

size_t names_real(char out[NAMES_MAX + 1], const char *stored, size_t n)
{
	if (n >= NAMES_LIMIT)
		return 0;
	if (n >= MARK_LEN && memcmp(stored + n - MARK_LEN, NAMES_MARK, MARK_LEN) == 0) {
		n -= MARK_LEN;
		if (begins_coded(stored, n)) {
			n = real_coded(out, stored + CODED_LEN, n - CODED_LEN);
			stored = out;
		}
	}
	if (n == 0 || n > NAMES_MAX || memchr(stored, '/', n) || memchr(stored, '\0', n))
		return 0;
	if (stored[0] == '.' && (n == 1 || (n == 2 && stored[1] == '.')))
		return 0;
	memmove(out, stored, n);
	out[n] = '\0';
	return n;
}
