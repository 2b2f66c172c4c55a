/* names: how a path component of a home is spelled in a git tree. SPDX-License-Identifier: ISC */
#ifndef SANDBOX_HOME_NAMES_H
#define SANDBOX_HOME_NAMES_H

#include <stdbool.h>
#include <stddef.h>

/*
 * A name that git refuses is stored with the mark appended. That does not help where a backslash,
 * a colon or an invisible or malformed character ends what git looks at: there the name is stored
 * between NAMES_CODED and the mark, with every byte of those kinds, and the percent sign, as %hh.
 */
#define NAMES_META  "%sg-meta" /* the blob at the root that holds what git cannot express */
#define NAMES_MARK  "%sg"      /* ends a stored name that is not the real one */
#define NAMES_CODED "%sg="
#define NAMES_MAX   255 /* bytes of a real component */
/* Room for the stored form of n bytes and a NUL, and of the longest. */
#define NAMES_ROOM(n) (3 * (n) + sizeof NAMES_CODED + sizeof NAMES_MARK)
#define NAMES_LIMIT   NAMES_ROOM(NAMES_MAX)

enum names_class {
	NAMES_PLAIN, /* stored as it is */
	NAMES_ESCAPE, /* git refuses it, or it would be taken for one of ours: always stored with the mark */
	/* Files whose content git judges or whose kind it restricts: stored as they are only while git accepts them. */
	NAMES_GITMODULES,
	NAMES_GITATTRIBUTES,
	NAMES_GITIGNORE,
	NAMES_MAILMAP
};
enum names_class names_class(const char *name, size_t n);

/* Whether git accepts a regular file with this content (whole, n bytes) under a name of the class. */
bool names_content_ok(enum names_class c, const char *data, size_t n);

/* The stored form into out, NUL-terminated; escaped says that it may not be the name itself. Returns its length. n <= NAMES_MAX. */
size_t names_store(char out[NAMES_LIMIT], const char *name, size_t n, bool escaped);
/* The real name of a stored one into out, NUL-terminated. Returns its length; 0 if no file can have that name. */
size_t names_real(char out[NAMES_MAX + 1], const char *stored, size_t n);

#endif
