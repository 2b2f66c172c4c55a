/* leftovers: pipes that outlive their command. SPDX-License-Identifier: ISC */
#include "sandbox/box/leftovers.h"

#include <errno.h>
#include <unistd.h>

#include "sandbox/sys/io.h"

#define REST_MS 100

void leftovers_add(struct leftovers *l, int fd)
{
	if (l->n == LEFTOVERS_MAX) {
		io_close(&l->at[0].fd);
		leftovers_sweep(l);
	}
	l->at[l->n++] = (struct leftover){.fd = fd};
}

void leftovers_read(struct leftovers *l, unsigned k, int64_t now)
{
	static char nowhere[64 * 1024];
	ssize_t n = read(l->at[k].fd, nowhere, sizeof(nowhere));

	if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
		io_close(&l->at[k].fd);
	l->at[k].rest_until = now + REST_MS;
}

void leftovers_sweep(struct leftovers *l)
{
	unsigned kept = 0;

	for (unsigned k = 0; k < l->n; k++) {
		if (l->at[k].fd >= 0)
			l->at[kept++] = l->at[k];
	}
	l->n = kept;
}
