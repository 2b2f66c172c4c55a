/* command: reaping, killing and freezing what the tenant runs. SPDX-License-Identifier: ISC */
#include "sandbox/init/command.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sandbox/init/spawn.h"
#include "sandbox/sys/io.h"
#include "sandbox/sys/log.h"

#define KILL_MS   5000
#define FREEZE_MS 1000

/* Kept as long as its leaf of the cgroup tree: until the last process that it started has gone. */
struct command {
	struct command *next;
	uint32_t id;
	pid_t pid;          /* main process; 0 once it has ended */
	uint64_t oom_kills; /* count when it started */
	char leaf[16];
};

/* "name N" of a cgroup file, read anew; 0 if it is not there. */
static uint64_t counter(int fd, const char *name)
{
	char text[1024];
	ssize_t n = pread(fd, text, sizeof text - 1, 0);
	size_t len = strlen(name);

	if (n <= 0)
		return 0;
	text[n] = 0;
	for (char *line = text, *end; line && *line; line = end ? end + 1 : NULL) {
		end = strchr(line, '\n');
		if (strncmp(line, name, len) == 0 && line[len] == ' ')
			return strtoull(line + len + 1, NULL, 10);
	}
	return 0;
}

static uint64_t oom_kills(const struct init *i)
{
	return counter(i->events, "oom_kill");
}

static void exited(struct init *i, uint32_t id, enum wire_exit_how how, unsigned code, bool oom)
{
	const struct wire_exited m = {.id = id, .how = how, .code = code, .out_of_memory = oom};

	wire_exited(&i->out, &m);
	init_send(i, NULL, 0);
}

static struct command *find(struct init *i, uint32_t id)
{
	struct command *c = i->commands;

	while (c && c->id != id)
		c = c->next;
	return c;
}

static void kill_leaf(struct init *i, const char *leaf)
{
	char path[32];

	(void)snprintf(path, sizeof path, "%s/cgroup.kill", leaf);
	if (io_write_file(i->cmds, path, "1") < 0 && errno != ENOENT)
		log_warn("kill of %s: %s", leaf, strerror(errno));
}

/* One command's main process has ended. */
static void finish(struct init *i, struct command *c, int status)
{
	bool oom = oom_kills(i) > c->oom_kills;

	c->pid = 0;
	/* Where the kernel does not end a group as a whole for want of memory, we do. */
	if (oom)
		kill_leaf(i, c->leaf);
	if (WIFSIGNALED(status))
		exited(i, c->id, WIRE_HOW_SIGNAL, (unsigned)WTERMSIG(status), oom);
	else
		exited(i, c->id, WIRE_HOW_EXIT, (unsigned)WEXITSTATUS(status), oom);
}

static bool reap_zombies(struct init *i)
{
	bool any = false;
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		any = true;
		for (struct command *c = i->commands; c; c = c->next) {
			if (c->pid == pid) {
				finish(i, c, status);
				break;
			}
		}
	}
	return any;
}

/* The kernel refuses to remove a leaf with processes in it, and so tells which are over. */
static void remove_leaves(struct init *i)
{
	struct command **at = &i->commands, *c;

	while ((c = *at)) {
		if (c->pid == 0 &&
			(unlinkat(i->cmds, c->leaf, AT_REMOVEDIR) == 0 || errno == ENOENT)) {
			*at = c->next;
			free(c);
		} else {
			at = &c->next;
		}
	}
}

void command_reap(struct init *i)
{
	if (reap_zombies(i))
		remove_leaves(i);
}

/* Whether a key of a group's events file reads as wanted, waiting for it. */
static bool await_event(struct init *i, const char *group, const char *key, uint64_t wanted, int ms)
{
	/* Read again and again: the kernel's notification comes up to 10 ms late, the state itself at once. */
	const struct timespec pause = {.tv_nsec = 50000};
	int64_t start = io_now_us(), now = start;
	char path[32];
	bool met = false;
	int fd;

	(void)snprintf(path, sizeof path, "%s/cgroup.events", group);
	fd = openat(i->cmds, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT;
	while (!(met = counter(fd, key) == wanted) && now - start < (int64_t)ms * 1000) {
		if (now - start > 200)
			(void)nanosleep(&pause, NULL);
		now = io_now_us();
	}
	io_close(&fd);
	return met;
}

/* A leaf for the command; the folder, open, or -1 with errno. */
static int make_leaf(struct init *i, struct command *c)
{
	(void)snprintf(c->leaf, sizeof c->leaf, "%c%u", i->prefix, c->id);
	if (mkdirat(i->cmds, c->leaf, 0755) < 0)
		return -1;
	return openat(i->cmds, c->leaf, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* Ends what commands that are over left behind. */
static void kill_leftovers(struct init *i)
{
	for (struct command *c = i->commands; c; c = c->next) {
		if (c->pid != 0)
			continue;
		kill_leaf(i, c->leaf);
		(void)await_event(i, c->leaf, "populated", 0, KILL_MS);
	}
	command_reap(i);
}

/* The command's process, in a leaf of its own; -1 with errno, and then there is no leaf. */
static pid_t start(struct init *i, struct command *c, const struct wire_run *run, const int fds[3])
{
	int leaf = make_leaf(i, c), saved;
	pid_t pid;

	if (leaf < 0)
		return -1;
	pid = spawn(i, run, fds, leaf);
	if (pid < 0 && errno == EAGAIN) {
		/* The container is full of them: a tenant could not even look at what it has done. */
		log_info("no process can be made: ending what earlier commands left");
		kill_leftovers(i);
		pid = spawn(i, run, fds, leaf);
	}
	saved = errno;
	io_close(&leaf);
	if (pid < 0)
		(void)unlinkat(i->cmds, c->leaf, AT_REMOVEDIR);
	errno = saved;
	return pid;
}

void command_run(struct init *i, const struct wire_run *run, const int fds[3])
{
	struct command *c = NULL;

	remove_leaves(i);
	errno = EEXIST;
	if (!find(i, run->id))
		c = calloc(1, sizeof *c);
	if (c) {
		c->id = run->id;
		c->oom_kills = oom_kills(i);
		c->pid = start(i, c, run, fds);
	}
	if (!c || c->pid < 0) {
		int error = errno;
		free(c);
		exited(i, run->id, WIRE_HOW_ERROR,
			error > 0 && error < 4096 ? (unsigned)error : EIO, false);
		return;
	}
	c->next = i->commands;
	i->commands = c;
	wire_number(&i->out, WIRE_RUNNING, c->id);
	init_send(i, NULL, 0);
}

void command_kill(struct init *i, uint32_t id)
{
	struct command *c = find(i, id);

	if (c) {
		kill_leaf(i, c->leaf);
		if (!await_event(i, c->leaf, "populated", 0, KILL_MS))
			log_error("command %u: processes are left after SIGKILL", id);
	}
	wire_number(&i->out, WIRE_KILLED, id);
	init_send(i, NULL, 0);
	command_reap(i);
}

void command_freeze(struct init *i, bool on)
{
	if (io_write_file(i->cmds, "cgroup.freeze", on ? "1" : "0") < 0)
		log_error("cgroup.freeze: %s", strerror(errno));
	else if (on && !await_event(i, ".", "frozen", 1, FREEZE_MS))
		log_warn("a process does not freeze");
}
