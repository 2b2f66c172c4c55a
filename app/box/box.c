/* box: client of boxd and of the boxes that it leases. SPDX-License-Identifier: ISC */
#include "app/box/box.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "app/box/reply.h"
#include "sandbox/sys/io.h"
#include "sandbox/sys/log.h"
#include "sandbox/wire/exec.h"
#include "sandbox/wire/lease.h"

#define RESTART_MS 3000    /* for a boxd that is restarting */
#define PAUSE_MS   20      /* between two tries */
#define LEASE_MS   60000   /* for the lease: a container that falls asleep is waited for */
#define QUEUE_MS   3600000 /* before other requests' commands are done */
#define SAVE_MS    120000  /* for a commit, after the command's own time */

struct box {
	struct arena *arena;
	const char *socket, *workspace, *container, *request_id;
	int fd; /* to the box, -1: none */
	struct wire_in in;
	struct wire_out out;
};

/* Beside an err_code, which is negative, and 0. */
enum { AGAIN = 1 };

static void box_close(void *p)
{
	struct box *b = p;

	io_close(&b->fd);
	wire_close(&b->in);
	free(b);
}

/* -- the lease -------------------------------------------------------------------- */

/* A connection to boxd, or -1 with errno. */
static int dial(const char *path)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	size_t n = strlen(path);
	int fd;

	if (n >= sizeof(at.sun_path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	memcpy(at.sun_path, path, n);
	/* Non-blocking, as otherwise a boxd with a full backlog would be waited for without end. */
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd >= 0 && connect(fd, (struct sockaddr *)&at, sizeof(at)))
		io_close(&fd);
	return fd;
}

static int readable(int fd, int timeout_ms)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	int64_t until = io_now_ms() + timeout_ms;
	int rc;

	while ((rc = poll(&p, 1, timeout_ms)) < 0 && errno == EINTR) {
		int64_t left = until - io_now_ms();
		timeout_ms = left > 0 ? (int)left : 0;
	}
	return rc;
}

static int refused(struct box *b, struct err *e)
{
	struct wire_refused m;

	if (wire_refused_get(&b->in, &m))
		return err_set(e, ERR_SERVER, NULL, "The sandbox service gave a malformed answer.");
	switch ((enum wire_refusal)m.why) {
	case WIRE_REFUSED_STOPPING:
		return AGAIN;
	case WIRE_REFUSED_LIMIT:
		return err_set(e, ERR_RATE_LIMITED, NULL, "%s", m.text);
	case WIRE_REFUSED_BAD:
		return err_set(e, ERR_INVALID_REQUEST, NULL, "%s", m.text);
	case WIRE_REFUSED_FAILED:
		break;
	}
	return err_set(e, ERR_SERVER, NULL, "%s", m.text);
}

/* One try. AGAIN with errno: boxd is not there, or went away. */
static int ask(struct box *b, struct err *e)
{
	struct wire_lease m = {.workspace = b->workspace, .container = b->container};
	int fd = dial(b->socket), rc = AGAIN;

	if (fd < 0) {
		if (errno == ECONNREFUSED || errno == ENOENT || errno == EAGAIN)
			return AGAIN;
		return err_set(e, ERR_SERVER, NULL, "The sandbox service cannot be reached: %s.",
			strerror(errno));
	}
	wire_lease(&b->out, &m);
	if (wire_send(fd, &b->out, NULL, 0))
		goto out;
	if (!readable(fd, LEASE_MS)) {
		rc = err_set(e, ERR_SERVER, NULL, "The sandbox service does not answer.");
		goto out;
	}
	if (wire_recv(fd, &b->in) <= 0)
		goto out;
	if (wire_type(&b->in) == WIRE_LEASED && wire_done(&b->in) && b->in.nfds == 1) {
		b->fd = wire_take_fd(&b->in, 0);
		rc = io_set_nonblocking(b->fd, true) ? AGAIN : 0;
	} else {
		rc = refused(b, e);
	}
out:
	io_close(&fd);
	return rc;
}

static void pause_a_little(void)
{
	const struct timespec t = {.tv_nsec = PAUSE_MS * 1000000L};

	(void)nanosleep(&t, NULL);
}

static int lease(struct box *b, struct err *e)
{
	int64_t until = io_now_ms() + RESTART_MS;
	int rc;

	while ((rc = ask(b, e)) == AGAIN && io_now_ms() < until)
		pause_a_little();
	if (rc == AGAIN) {
		log_error("no lease of %s/%s: boxd is not there", b->workspace, b->container);
		rc = err_set(e, ERR_SERVER, NULL, "The sandbox service is not running.");
	}
	return rc;
}

int box_lease(struct box **out, struct arena *a, const char *socket, const char *workspace,
	const char *container, const char *request_id, struct err *e)
{
	/* Not from the arena, which would touch all of its quarter of a megabyte. */
	struct box *b = calloc(1, sizeof(*b));
	int rc;

	if (!b)
		return err_set(e, ERR_SERVER, NULL, "Out of memory.");
	arena_defer(a, box_close, b);
	b->arena = a;
	b->socket = arena_strdup(a, socket);
	b->workspace = arena_strdup(a, workspace);
	b->container = arena_strdup(a, container);
	b->request_id = arena_strdup(a, request_id);
	b->fd = -1;
	rc = lease(b, e);
	if (!rc)
		*out = b;
	return rc;
}

/* -- a command ------------------------------------------------------------------------ */

/* What a wait watches besides the box. */
struct patience {
	int client_fd, heartbeat_ms;
	box_wait_fn *wait;
	void *ctx;
	int64_t beat_at, until; /* io_now_ms */
};

static int gone(struct err *e)
{
	return err_set(e, ERR_CLIENT_GONE, NULL, "The client closed the connection.");
}

/* Until the box has something to say: 0, or an err_code. */
static int await(struct box *b, struct patience *p, struct err *e)
{
	const short over = POLLRDHUP | POLLHUP | POLLERR | POLLNVAL;
	struct pollfd fds[2] = {
		{.fd = b->fd, .events = POLLIN}, {.fd = p->client_fd, .events = POLLRDHUP}};

	for (;;) {
		int64_t now = io_now_ms();
		int64_t next = p->beat_at < p->until ? p->beat_at : p->until;
		int rc = poll(fds, 2, next > now ? (int)(next - now) : 0);
		if (rc > 0 && fds[1].revents & over)
			return gone(e);
		if (rc > 0 && fds[0].revents)
			return 0;
		now = io_now_ms();
		if (now >= p->until)
			return err_set(e, ERR_SERVER, NULL, "The sandbox does not answer.");
		if (now < p->beat_at)
			continue;
		p->beat_at = now + p->heartbeat_ms;
		rc = p->wait ? p->wait(p->ctx) : 0;
		if (rc)
			return err_set(e, rc < 0 ? (enum err_code)rc : ERR_CLIENT_GONE, NULL,
				"The command was given up.");
	}
}

static int send_command(struct box *b, const struct box_command *c, struct err *e)
{
	struct wire_exec m = {.env = c->tool == TOOL_BASH ? WIRE_ENV_BASH : WIRE_ENV_SHELL,
		.timeout_ms = (uint32_t)c->timeout_ms,
		.max_output = (uint32_t)c->max_output,
		.sleep_after = (uint32_t)c->sleep_after_seconds,
		.tool = c->author,
		.request_id = b->request_id,
		.command = c->command,
		.cwd = c->cwd};
	int input = -1, rc;

	for (const char *const *v = c->env; v && *v; v++) {
		if (m.nenv == WIRE_ENV_MAX)
			return err_set(e, ERR_INVALID_REQUEST, "env",
				"env: at most %d variables are possible.", WIRE_ENV_MAX);
		m.envp[m.nenv++] = *v;
	}
	if (strlen(c->command) > WIRE_COMMAND_MAX)
		return err_set(
			e, ERR_INVALID_REQUEST, "command", "command: longer than is possible.");
	wire_exec(&b->out, &m);
	if (b->out.bad)
		return err_set(e, ERR_INVALID_REQUEST, "env",
			"env: longer than is possible together with the command.");
	if (c->input) {
		input = io_memfd("stdin", c->input, c->input_len);
		if (input < 0)
			return err_set(e, ERR_SERVER, NULL, "No memory for the command's input.");
	}
	rc = wire_send(b->fd, &b->out, &input, input >= 0 ? 1 : 0) ? AGAIN : 0;
	io_close(&input);
	return rc;
}

/* One try. AGAIN: the box was lost before the command began. */
static int attempt(struct box *b, const struct box_command *c, struct box_reply *out,
	struct patience *p, struct err *e)
{
	bool started = false;
	int rc = send_command(b, c, e);

	if (rc)
		return rc;
	p->until = io_now_ms() + QUEUE_MS;
	for (;;) {
		rc = await(b, p, e);
		if (rc)
			return rc;
		rc = wire_recv(b->fd, &b->in);
		if (rc < 0 && errno == EAGAIN)
			continue;
		if (rc <= 0)
			break;
		if (wire_type(&b->in) == WIRE_STARTED && !started && wire_done(&b->in)) {
			started = true;
			p->until = io_now_ms() + c->timeout_ms + SAVE_MS;
			continue;
		}
		return reply_read(out, b->arena, &b->in, b->container, c, e);
	}
	if (!started)
		return AGAIN;
	return err_set(e, ERR_SERVER, NULL, "The sandbox was lost while the command ran.");
}

int box_run(struct box *b, const struct box_command *c, struct box_reply *out, int client_fd,
	int heartbeat_ms, box_wait_fn *wait, void *ctx, struct err *e)
{
	struct patience p = {client_fd, heartbeat_ms > 0 ? heartbeat_ms : 1000, wait, ctx, 0, 0};
	int64_t until = 0;
	int rc;

	p.beat_at = io_now_ms() + p.heartbeat_ms;
	/*
	 * The box may have gone to sleep since it was leased; and one that has just died can be
	 * leased once more, until boxd has noticed. The command did not begin: no harm in asking again.
	 */
	do {
		if (until)
			pause_a_little();
		rc = b->fd < 0 ? lease(b, e) : 0;
		if (!rc)
			rc = attempt(b, c, out, &p, e);
		if (rc && rc != ERR_INVALID_REQUEST)
			io_close(&b->fd);
		if (!until)
			until = io_now_ms() + RESTART_MS;
	} while (rc == AGAIN && io_now_ms() < until);
	if (rc == AGAIN)
		rc = err_set(e, ERR_SERVER, NULL, "The sandbox was lost before the command began.");
	if (rc == ERR_SERVER)
		log_error("a command in %s/%s failed: %s", b->workspace, b->container,
			e ? e->message : "");
	return rc;
}
