/* proc: finding processes that a test started, by what they have open. SPDX-License-Identifier: ISC */
#ifndef TESTS_LIB_PROC_H
#define TESTS_LIB_PROC_H

#include <stddef.h>
#include <sys/types.h>

/*
 * How many processes have the file err as descriptor 2 and, if exe is not NULL, a program whose path
 * ends so; one of them into *found if that is not NULL. The process `but` is left out.
 */
size_t proc_count(const char *err, const char *exe, pid_t but, pid_t *found);

#endif
