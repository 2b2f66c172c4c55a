/* filter_load: puts a compiled filter on a process, without libseccomp. SPDX-License-Identifier: ISC */
#include "sandbox/jail/filter.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

int filter_load(const void *program, size_t n)
{
	struct sock_fprog f = {.filter = (struct sock_filter *)(uintptr_t)program};

	if (n == 0 || n % sizeof *f.filter || n > FILTER_MAX) {
		errno = EINVAL;
		return -1;
	}
	f.len = (unsigned short)(n / sizeof *f.filter);
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &f);
}
