/* pump: reading the output pipes of commands. SPDX-License-Identifier: ISC */
#include "sandbox/box/pump.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sandbox/sys/io.h"

#define PIECE   (64 * 1024) /* a pipe's size */
#define SHARE   16          /* pieces in a row before others have their turn */
#define REST_MS 100

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
	if (read_piece(l->at[k].fd) == 0)
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
