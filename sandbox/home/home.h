/* home: a container's home directory as a bare git repository. SPDX-License-Identifier: ISC */
#ifndef SANDBOX_HOME_HOME_H
#define SANDBOX_HOME_HOME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * One repository, one branch main, one commit for each command that changed something; the form is
 * described in sandbox/README.md. Paths are bytes relative to the home, without leading slash,
 * '/' between components; they need not be UTF-8. An id is 40 lower-case hex digits.
 */
#define HOME_ID_LEN 40
typedef char home_id[HOME_ID_LEN + 1];

enum home_error {
	HOME_OK = 0,
	HOME_NOT_FOUND = -1, /* no such repository, commit or path */
	HOME_EXISTS = -2,
	HOME_BUSY = -3,  /* head moved under us */
	HOME_FULL = -4,  /* no space */
	HOME_BAD = -5,   /* malformed argument (path, id) */
	HOME_BROKEN = -6 /* anything else: git or the file system failed; home_error() tells */
};
/* Text of this thread's last failure, never NULL. */
const char *home_error(void);

struct home;
/* Once a process, before any other call (libgit2 is told to forget caches, owners and system settings). */
int home_global_init(void);
/* An existing repository; HOME_NOT_FOUND if there is none. Threads must not share one. */
int home_open(struct home **out, const char *path);
/* Makes an empty bare repository with its parents' missing folder (one level); opens it if it exists. */
int home_create(struct home **out, const char *path);
void home_close(struct home *h);
/* Id of the newest commit; "" and HOME_OK if there is none yet. */
int home_head(struct home *h, home_id head);

/* HOME_OK if path is legal: non-empty, relative, no empty, "." or ".." component, no NUL (n bytes), at most 4095 bytes. */
int home_path_check(const char *path, size_t n);

#endif
