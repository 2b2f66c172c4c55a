/* test: what every unit test includes. SPDX-License-Identifier: ISC */
#ifndef TESTS_LIB_TEST_H
#define TESTS_LIB_TEST_H

/* cmocka wants these four before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* A fresh folder below /tmp, for this process; test_tmp_remove removes it and all in it. The path is static. */
const char *test_tmp(void);
void test_tmp_remove(void);
/* Writes a file below the fresh folder (name may hold slashes); its path, static until the next call. */
const char *test_tmp_file(const char *name, const void *p, size_t n);
/* Reads a file of the tree, e.g. "tests/unit/golden/x.json"; fails the test if it is not there. free() it. */
char *test_read(const char *path, size_t *n);

/* Runs fn with descriptor 2 going to a file and returns what was written to it; free() it. */
char *test_stderr_of(void (*fn)(void *), void *p);

#endif
