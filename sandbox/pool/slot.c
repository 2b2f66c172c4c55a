/* slot: one awake container: its box, its environments, its groups. SPDX-License-Identifier: ISC */
#include "sandbox/pool/slot.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox/jail/env.h"
#include "sandbox/jail/image.h"
#include "sandbox/jail/mounts.h"
#include "sandbox/jail/userns.h"
#include "sandbox/pool/box.h"
#include "sandbox/sys/io.h"
#include "sandbox/sys/log.h"

#define BLOCKS_TRIED 64
#define SLEEP_MS     120000 /* for the last snapshot of a container that goes to sleep */
#define ENDING_MS    10000  /* for a box whose end has begun without our asking */
#define DYING_MS     10000  /* for processes after SIGKILL */
#define RETRY_MS     5      /* between attempts to remove groups */
#define SHELL        0
#define BASH         1

static const char *const env_names[SLOT_ENVS] = {"shell", "bash"};

struct slot *slot_find(struct pool *p, const char *workspace, const char *container)
{
	struct slot *s = p->slots;

	while (s && (strcmp(s->workspace, workspace) != 0 || strcmp(s->container, container) != 0))
		s = s->next;
	return s;
}

size_t slot_count(const struct pool *p, const char *workspace)
{
	size_t n = 0;

	for (const struct slot *s = p->slots; s; s = s->next)
		n += strcmp(s->workspace, workspace) == 0;
	return n;
}

static uint32_t base_of(uint32_t block)
{
	return block * USERNS_BLOCK;
}

/* The groups of a container, under a block that no boxd of this host uses. */
static int take_block(struct pool *p, uint32_t *block)
{
	const uint32_t first = (uint32_t)(p->settings.id_base / USERNS_BLOCK), end = 0x7fff;

	for (int k = 0; k < BLOCKS_TRIED; k++) {
		if (p->next_block < first || p->next_block >= end)
			p->next_block = first;
		*block = p->next_block++;
		if (cgroup_make(p->cgroup, *block) == 0)
			return cgroup_delegate(p->cgroup, *block, base_of(*block));
		if (errno != EEXIST)
			return -1;
	}
	return -1;
}

static int channel(int fds[2])
{
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) < 0) {
		fds[0] = fds[1] = -1;
		return -1;
	}
	return 0;
}

static void fill(struct env_spec *e, const struct pool *p, const struct slot *s, int which)
{
	const uint64_t small = p->settings.tmp_size / 4;

	memset(e, 0, sizeof *e);
	e->name = env_names[which];
	e->program = p->init;
	e->filter = p->filter;
	e->base = base_of(s->block);
	e->image = e->home = e->channel = -1;
	e->sizes = (struct mounts_sizes){.tmp = p->settings.tmp_size, .shm = small, .run = small};
}

/* The first environment; *ours is our end of init's channel, for the box. 0 or -1 with errno. */
static int start_shell(struct pool *p, struct slot *s, const struct cgroup_at *at, int *ours)
{
	struct env_spec e;
	int pair[2];

	fill(&e, p, s, SHELL);
	e.at = at;
	*ours = -1;
	if (channel(pair) < 0)
		return -1;
	e.channel = pair[1];
	e.image = image_clone(p->image);
	e.home = mounts_home(p->settings.home_size, p->settings.home_files, e.base + USERNS_TENANT);
	if (e.image >= 0 && e.home >= 0)
		s->inits[SHELL] = env_start(&e);
	else
		s->inits[SHELL] = -1;
	io_close(&e.image);
	io_close(&e.home);
	io_close(&pair[1]);
	if (s->inits[SHELL] < 0) {
		s->inits[SHELL] = 0;
		io_close(&pair[0]);
		return -1;
	}
	*ours = pair[0];
	return 0;
}

/* The second one; our end of its channel, or -1. */
static int start_bash(struct pool *p, struct slot *s)
{
	struct cgroup_at at;
	struct env_spec e;
	int pair[2];

	if (s->inits[BASH] != 0 || s->inits[SHELL] == 0 || channel(pair) < 0)
		return -1;
	fill(&e, p, s, BASH);
	e.at = &at;
	e.channel = pair[1];
	if (cgroup_at(&at, p->cgroup, s->block) == 0) {
		s->inits[BASH] = env_join(&e, s->inits[SHELL]);
		cgroup_at_close(&at);
	} else {
		s->inits[BASH] = -1;
	}
	io_close(&pair[1]);
	if (s->inits[BASH] < 0) {
		log_error("container %s: second environment: %s", s->container, strerror(errno));
		s->inits[BASH] = 0;
		io_close(&pair[0]);
	}
	return pair[0];
}

static int start_box(struct pool *p, struct slot *s, const struct cgroup_at *at)
{
	struct box_spec b = {.program = p->box, .cgroup = at->box, .uid = p->uid, .gid = p->gid};
	int pair[2];

	if (channel(pair) < 0)
		return -1;
	b.control = pair[1];
	s->box = box_start(&b);
	io_close(&pair[1]);
	/* A box that does not read must not stop us. */
	if (s->box < 0 || io_set_nonblocking(pair[0], true) < 0) {
		s->box = s->box < 0 ? 0 : s->box;
		io_close(&pair[0]);
		return -1;
	}
	s->control = pair[0];
	return 0;
}

static int send_start(struct pool *p, struct slot *s, int init)
{
	char repository[512];
	const struct wire_start m = {.workspace = s->workspace,
		.container = s->container,
		.repository = repository,
		.sleep_after = (uint32_t)p->settings.sleep_after_seconds,
		.durable = p->settings.durable};

	(void)snprintf(repository, sizeof repository, "%s/homes/%s/%s.git", p->settings.state,
		s->workspace, s->container);
	wire_start(&p->out, &m);
	return wire_send(s->control, &p->out, &init, 1);
}

static struct slot *add(struct pool *p, const char *workspace, const char *container)
{
	struct slot *s = calloc(1, sizeof *s);

	if (!s)
		return NULL;
	(void)snprintf(s->workspace, sizeof s->workspace, "%s", workspace);
	(void)snprintf(s->container, sizeof s->container, "%s", container);
	s->control = -1;
	s->next = p->slots;
	p->slots = s;
	p->nslots++;
	return s;
}

static void drop(struct pool *p, struct slot *s)
{
	struct slot **at = &p->slots;

	while (*at != s)
		at = &(*at)->next;
	*at = s->next;
	p->nslots--;
	io_close(&s->control);
	free(s);
}

static bool has_children(const struct slot *s)
{
	return s->box || s->inits[SHELL] || s->inits[BASH];
}

/* Removes a slot whose processes are gone. False if its groups cannot be removed yet. */
static bool remove_if_over(struct pool *p, struct slot *s)
{
	if (has_children(s))
		return false;
	if (s->block && cgroup_remove(p->cgroup, s->block) < 0) {
		if (io_now_ms() < s->deadline)
			return false;
		log_error("container %s: its groups cannot be removed: %s", s->container,
			strerror(errno));
	}
	drop(p, s);
	return true;
}

void slot_kill(struct pool *p, struct slot *s)
{
	s->state = SLOT_DYING;
	s->deadline = io_now_ms() + DYING_MS;
	io_close(&s->control);
	if (s->block && cgroup_kill(p->cgroup, s->block) < 0)
		log_error("container %s: kill: %s", s->container, strerror(errno));
}

struct slot *slot_new(
	struct pool *p, const char *workspace, const char *container, char *why, size_t why_size)
{
	struct slot *s = add(p, workspace, container);
	const char *step = "memory";
	struct cgroup_at at;
	int init = -1;

	if (!s)
		goto fail;
	step = "control groups";
	if (take_block(p, &s->block) < 0) {
		s->block = 0;
		goto fail;
	}
	if (cgroup_at(&at, p->cgroup, s->block) < 0)
		goto fail;
	step = "environment";
	if (start_shell(p, s, &at, &init) < 0)
		goto fail_at;
	step = "box";
	if (start_box(p, s, &at) < 0 || send_start(p, s, init) < 0)
		goto fail_at;
	io_close(&init);
	cgroup_at_close(&at);
	return s;
fail_at:
	cgroup_at_close(&at);
fail:
	(void)snprintf(why, why_size, "the container could not be started (%s: %s)", step,
		strerror(errno));
	log_error("container %s: %s", container, why);
	io_close(&init);
	if (s) {
		slot_kill(p, s);
		(void)remove_if_over(p, s);
	}
	return NULL;
}

/* The box has ended its side, or does not take what we send: it will exit, and is killed if not. */
static void ends(struct slot *s)
{
	io_close(&s->control);
	if (s->state == SLOT_LIVE) {
		s->state = SLOT_STOPPING;
		s->deadline = io_now_ms() + ENDING_MS;
	}
}

int slot_attach(struct pool *p, struct slot *s)
{
	int pair[2];

	if (channel(pair) < 0)
		return -1;
	wire_attach(&p->out);
	if (wire_send(s->control, &p->out, &pair[0], 1) < 0) {
		log_error("container %s: attach: %s", s->container, strerror(errno));
		io_close(&pair[1]);
		ends(s);
	} else {
		s->attaches++;
	}
	io_close(&pair[0]);
	return pair[1];
}

static void on_want_env(struct pool *p, struct slot *s)
{
	int fd = start_bash(p, s);

	wire_env(&p->out);
	if (wire_send(s->control, &p->out, &fd, fd >= 0 ? 1 : 0) < 0)
		ends(s);
	io_close(&fd);
}

void slot_stop(struct pool *p, struct slot *s, int ms)
{
	if (s->state == SLOT_DYING)
		return;
	if (s->state == SLOT_LIVE) {
		s->state = SLOT_STOPPING;
		wire_stop(&p->out);
		if (wire_send(s->control, &p->out, NULL, 0) < 0)
			io_close(&s->control);
	}
	s->deadline = io_now_ms() + ms;
}

static int on_message(struct pool *p, struct slot *s)
{
	uint32_t seen;

	switch ((int)wire_type(&p->in)) {
	case WIRE_WANT_ENV:
		if (!wire_done(&p->in))
			return -1;
		if (s->state == SLOT_LIVE)
			on_want_env(p, s);
		return 0;
	case WIRE_IDLE:
		if (wire_idle_get(&p->in, &seen) < 0)
			return -1;
		/* One that crossed an app on its way to the box is not meant any more. */
		if (s->state == SLOT_LIVE && seen == s->attaches)
			slot_stop(p, s, SLEEP_MS);
		return 0;
	default:
		return -1;
	}
}

void slot_on_control(struct pool *p, struct slot *s)
{
	int r = wire_recv(s->control, &p->in);

	if (r < 0 && errno == EAGAIN)
		return;
	if (r > 0 && on_message(p, s) < 0) {
		log_error("container %s: bad message of type %d from its box", s->container,
			(int)wire_type(&p->in));
		slot_kill(p, s);
	} else if (r <= 0) {
		ends(s);
	}
	wire_close(&p->in);
}

static void on_child(struct pool *p, pid_t pid, int status)
{
	for (struct slot *s = p->slots; s; s = s->next) {
		if (s->box == pid) {
			s->box = 0;
			if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
				log_warn("container %s: its box ended with status %#x",
					s->container, (unsigned)status);
			slot_kill(p, s);
			return;
		}
		for (int k = 0; k < SLOT_ENVS; k++) {
			if (s->inits[k] != pid)
				continue;
			s->inits[k] = 0;
			/* Without its first environment a box has nothing to do and exits by itself. */
			if (k == SHELL && s->state == SLOT_LIVE) {
				s->state = SLOT_STOPPING;
				s->deadline = io_now_ms() + ENDING_MS;
			}
			return;
		}
	}
}

void slot_reap(struct pool *p)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		on_child(p, pid, status);
	for (struct slot *s = p->slots, *next; s; s = next) {
		next = s->next;
		if (s->state == SLOT_DYING)
			(void)remove_if_over(p, s);
	}
}

int slot_tick(struct pool *p)
{
	int64_t now = io_now_ms(), left, least = -1;

	for (struct slot *s = p->slots, *next; s; s = next) {
		next = s->next;
		left = -1;
		if (s->state == SLOT_STOPPING) {
			left = s->deadline - now;
			if (left <= 0) {
				log_warn("container %s: killed, as its box did not end",
					s->container);
				slot_kill(p, s);
				left = DYING_MS;
			}
		} else if (s->state == SLOT_DYING) {
			if (remove_if_over(p, s))
				continue;
			left = has_children(s) ? s->deadline - now : RETRY_MS;
			if (left <= 0) {
				/* Stuck in the kernel. Its block stays taken, and nobody waits for it any longer. */
				log_error("container %s: processes are left after SIGKILL",
					s->container);
				drop(p, s);
				continue;
			}
		}
		if (left >= 0 && (least < 0 || left < least))
			least = left;
	}
	return least > 60000 ? 60000 : (int)least;
}

/* Until the trial's init says that it is ready: 0, or -1 with errno. */
static int await_ready(struct pool *p, int fd, int ms)
{
	struct pollfd f = {.fd = fd, .events = POLLIN};
	int r = poll(&f, 1, ms);

	if (r == 0)
		errno = ETIMEDOUT;
	if (r <= 0)
		return -1;
	r = wire_recv(fd, &p->in);
	if (r > 0 && wire_type(&p->in) == WIRE_READY)
		return 0;
	if (r >= 0)
		errno = EPROTO;
	return -1;
}

int slot_trial(struct pool *p, int ms, char *why, size_t why_size)
{
	struct slot *s = add(p, "trial", "trial");
	struct cgroup_at at;
	int fd = -1, r = -1;

	if (!s)
		return -1;
	if (take_block(p, &s->block) < 0) {
		(void)snprintf(why, why_size, "control groups: %s", strerror(errno));
		s->block = 0;
	} else if (cgroup_at(&at, p->cgroup, s->block) < 0) {
		(void)snprintf(why, why_size, "control groups: %s", strerror(errno));
	} else {
		r = start_shell(p, s, &at, &fd);
		cgroup_at_close(&at);
		if (r < 0 || (r = await_ready(p, fd, ms)) < 0)
			(void)snprintf(why, why_size, "environment: %s%s", strerror(errno),
				errno == EPROTO ? " (its line is above)" : "");
		io_close(&fd);
	}
	slot_kill(p, s);
	for (int64_t end = io_now_ms() + DYING_MS; p->slots && io_now_ms() < end;) {
		slot_reap(p);
		(void)poll(NULL, 0, p->slots ? 2 : 0);
	}
	if (p->slots)
		drop(p, s);
	return r;
}
