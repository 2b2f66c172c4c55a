/* names: how a path component of a home is spelled in a git tree. SPDX-License-Identifier: ISC */
#ifndef SANDBOX_HOME_NAMES_H
#define SANDBOX_HOME_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#define NAMES_META  "%sg-meta" /* the blob at the root that holds what git cannot express */
#define NAMES_MARK  "%sg"      /* ends a stored name that is not the real one */
#define NAMES_MAX   255        /* bytes of a real component */
#define NAMES_LIMIT (NAMES_MAX + sizeof NAMES_MARK) /* room for a stored one and its NUL */

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

/* The stored form into out; escaped adds the mark. Returns its length. n <= NAMES_MAX. */
size_t names_store(char out[NAMES_LIMIT], const char *name, size_t n, bool escaped);
/* Length of the real name at the start of a stored one; 0 if no file can have that name. */
size_t names_real(const char *stored, size_t n);

#endif
