/* pump: reading the output pipes of commands. SPDX-License-Identifier: ISC */
#include "sandbox/box/pump.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sandbox/sys/io.h"

#define PIECE (64 * 1024) /* a pipe's size */
#define SHARE 16          /* pieces in a row before others have their turn */

static char piece[PIECE];

int pump_open(struct pump *p, int *write_end, uint32_t max_output)
{
	int fds[2];

	if (io_pipe(fds, true))
		return -1;
	/* The pipe is ours; without this a command could not open /dev/stdout by name. */
	(void)fchmod(fds[1], 0666);
	p->fd = fds[0];
	*write_end = fds[1];
	capture_init(&p->capture, max_output);
	return 0;
}

/* Bytes read, 0 at the end, -1 when there is nothing now. */
static ssize_t read_piece(int fd)
{
	ssize_t n;

	do
		n = read(fd, piece, sizeof(piece));
	while (n < 0 && errno == EINTR);
	return n < 0 && errno != EAGAIN ? 0 : n;
}

bool pump_read(struct pump *p)
{
	bool came = false;

	for (int k = 0; p->fd >= 0 && k < SHARE; k++) {
		ssize_t n = read_piece(p->fd);
		if (n < 0)
			break;
		came = true;
		if (n == 0)
			io_close(&p->fd);
		else
			capture_put(&p->capture, piece, (size_t)n);
	}
	return came;
}

void pump_close(struct pump *p)
{
	io_close(&p->fd);
	capture_free(&p->capture);
}
