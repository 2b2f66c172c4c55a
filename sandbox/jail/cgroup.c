/* cgroup: the control groups of one boxd, on v2 or with controllers on v1. SPDX-License-Identifier: ISC */
#include "sandbox/jail/cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "sandbox/jail/cgroup_find.h"
#include "sandbox/sys/io.h"
#include "sandbox/sys/log.h"

#define NAME_MAX_BYTES 32
#define PREFIX         "sandgate-"
#define DEPTH_MAX      8
#define KILL_MS        5000
#define FOLDER         (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

enum { MEMORY, PIDS, CONTROLLERS };

struct cgroup {
	char name[NAME_MAX_BYTES];
	struct cgroup_limits limits;
	int top;                 /* where v2 is mounted */
	int tree;                /* our tree there */
	int v1_top[CONTROLLERS]; /* where a controller is mounted when it is on v1, else -1 */
	int v1_tree[CONTROLLERS];
};

static int open_folder(int at, const char *path)
{
	return openat(at, path, FOLDER);
}

/* Makes a group if it is not there and opens it. */
static int make_folder(int at, const char *path)
{
	if (mkdirat(at, path, 0755) < 0 && errno != EEXIST)
		return -1;
	return open_folder(at, path);
}

static int enable(int group, const char *controllers)
{
	return io_write_file(group, "cgroup.subtree_control", controllers);
}

static bool has_v1(const struct cgroup *g, int controller)
{
	return g->v1_top[controller] >= 0;
}

/* "+memory +pids", without what is on v1. */
static const char *to_enable(const struct cgroup *g)
{
	if (has_v1(g, MEMORY))
		return has_v1(g, PIDS) ? NULL : "+pids";
	return has_v1(g, PIDS) ? "+memory" : "+memory +pids";
}

/*
 * In a container whose cgroup namespace begins at its own group, everything that runs there sits in
 * the top group, which then cannot have controllers for its children. It moves down by one.
 */
static int make_room(const struct cgroup *g)
{
	char *list = io_read_file(g->top, "cgroup.procs", (size_t)1 << 20, NULL), *end;
	int rest = make_folder(g->top, PREFIX "rest"), r = list && rest >= 0 ? 0 : -1;

	for (char *pid = list; r == 0 && *pid; pid = end + 1) {
		end = strchr(pid, '\n');
		if (!end)
			break;
		*end = 0;
		/* Kernel threads and what has just ended cannot be moved, and need not be. */
		(void)io_write_file(rest, "cgroup.procs", pid);
	}
	io_close(&rest);
	free(list);
	return r;
}

static int enable_at_top(const struct cgroup *g, const char *controllers)
{
	if (enable(g->top, controllers) == 0)
		return 0;
	return errno == EBUSY && make_room(g) == 0 ? enable(g->top, controllers) : -1;
}

static int make_trees(struct cgroup *g, char *err, size_t err_size)
{
	const char *controllers = to_enable(g);

	if (controllers && enable_at_top(g, controllers) < 0) {
		(void)snprintf(err, err_size, "cgroup: cannot enable the controllers %s: %s",
			controllers, strerror(errno));
		return -1;
	}
	g->tree = make_folder(g->top, g->name);
	if (g->tree < 0 || faccessat(g->tree, "cgroup.kill", F_OK, 0) < 0) {
		(void)snprintf(err, err_size, "cgroup: %s",
			g->tree < 0 ? strerror(errno)
				    : "no cgroup.kill: Linux 5.14 or newer is needed");
		return -1;
	}
	if (controllers && enable(g->tree, controllers) < 0) {
		(void)snprintf(err, err_size, "cgroup: cannot enable %s in %s: %s", controllers,
			g->name, strerror(errno));
		return -1;
	}
	for (int k = 0; k < CONTROLLERS; k++) {
		if (!has_v1(g, k))
			continue;
		g->v1_tree[k] = make_folder(g->v1_top[k], g->name);
		if (g->v1_tree[k] < 0) {
			(void)snprintf(err, err_size, "cgroup: cannot make %s on v1: %s", g->name,
				strerror(errno));
			return -1;
		}
	}
	return 0;
}

int cgroup_open(struct cgroup **out, const char *name, const struct cgroup_limits *l, char *err,
	size_t err_size)
{
	struct cgroup *g = calloc(1, sizeof *g);

	*out = NULL;
	if (!g || strlen(name) >= sizeof g->name) {
		(void)snprintf(err, err_size, "cgroup: out of memory");
		free(g);
		return -1;
	}
	memcpy(g->name, name, strlen(name) + 1);
	g->limits = *l;
	g->tree = g->v1_tree[MEMORY] = g->v1_tree[PIDS] = -1;
	g->top = cgroup_find_v2();
	g->v1_top[MEMORY] = cgroup_find_v1("memory");
	g->v1_top[PIDS] = cgroup_find_v1("pids");
	if (g->top < 0) {
		(void)snprintf(err, err_size,
			"cgroup: version 2 is not mounted: mount -t cgroup2 none "
			"/sys/fs/cgroup/unified");
	} else if (make_trees(g, err, err_size) == 0) {
		*out = g;
		return 0;
	}
	cgroup_close(g);
	return -1;
}

/* Removes the groups in and below name. Depth is bounded by DEPTH_MAX: init makes two levels. */
static int remove_below(int at, const char *name, int depth)
{
	int fd = open_folder(at, name);
	struct dirent *e;
	DIR *d;

	if (fd < 0)
		return errno == ENOENT ? 0 : -1;
	d = fdopendir(fd);
	if (!d) {
		io_close(&fd);
		return -1;
	}
	while (depth < DEPTH_MAX && (e = readdir(d))) {
		if (e->d_type == DT_DIR && e->d_name[0] != '.')
			(void)remove_below(fd, e->d_name, depth + 1);
	}
	(void)closedir(d);
	return unlinkat(at, name, AT_REMOVEDIR) < 0 && errno != ENOENT ? -1 : 0;
}

static bool populated(int group)
{
	char *text = io_read_file(group, "cgroup.events", 4096, NULL);
	bool yes = text && strstr(text, "populated 1");

	free(text);
	return yes;
}

static bool wait_empty(int group, int ms)
{
	const struct timespec pause = {.tv_nsec = 2000000};

	for (int64_t until = io_now_ms() + ms; populated(group);) {
		if (io_now_ms() >= until)
			return false;
		(void)nanosleep(&pause, NULL);
	}
	return true;
}

/* All groups below tree, but not tree itself. */
static int remove_all(int tree)
{
	int fd = open_folder(tree, "."), r = 0;
	struct dirent *e;
	DIR *d = fd < 0 ? NULL : fdopendir(fd);

	if (!d) {
		io_close(&fd);
		return -1;
	}
	while ((e = readdir(d))) {
		if (e->d_type == DT_DIR && e->d_name[0] != '.' &&
			remove_below(tree, e->d_name, 0) < 0)
			r = -1;
	}
	(void)closedir(d);
	return r;
}

int cgroup_sweep(struct cgroup *g, int grace_ms)
{
	int r;

	if (!wait_empty(g->tree, grace_ms)) {
		log_warn("cgroup %s: killing what an earlier boxd left", g->name);
		if (io_write_file(g->tree, "cgroup.kill", "1") < 0 || !wait_empty(g->tree, KILL_MS))
			return -1;
	}
	r = remove_all(g->tree);
	for (int k = 0; k < CONTROLLERS; k++) {
		if (has_v1(g, k) && remove_all(g->v1_tree[k]) < 0)
			r = -1;
	}
	return r;
}

void cgroup_close(struct cgroup *g)
{
	if (!g)
		return;
	if (g->tree >= 0)
		(void)unlinkat(g->top, g->name, AT_REMOVEDIR);
	io_close(&g->tree);
	io_close(&g->top);
	for (int k = 0; k < CONTROLLERS; k++) {
		if (g->v1_tree[k] >= 0)
			(void)unlinkat(g->v1_top[k], g->name, AT_REMOVEDIR);
		io_close(&g->v1_tree[k]);
		io_close(&g->v1_top[k]);
	}
	free(g);
}

static const char *path_of(char out[64], unsigned block, const char *below)
{
	(void)snprintf(out, 64, "b%u%s%s", block, *below ? "/" : "", below);
	return out;
}

/* Whether a tree of another boxd of this host has the block. */
static bool used_by_other(struct cgroup *g, unsigned block)
{
	int fd = open_folder(g->top, ".");
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;
	char path[NAME_MAX + 64];
	bool used = false;

	if (!d) {
		io_close(&fd);
		return true;
	}
	while (!used && (e = readdir(d))) {
		if (strncmp(e->d_name, PREFIX, sizeof PREFIX - 1) != 0 ||
			strcmp(e->d_name, g->name) == 0)
			continue;
		(void)snprintf(path, sizeof path, "%s/b%u", e->d_name, block);
		used = faccessat(g->top, path, F_OK, 0) == 0;
	}
	(void)closedir(d);
	return used;
}

static int set(int group, const char *path, const char *file, uint64_t value)
{
	char name[128], text[32];

	(void)snprintf(name, sizeof name, "%s/%s", path, file);
	(void)snprintf(text, sizeof text, "%" PRIu64, value);
	return io_write_file(group, name, text);
}

/* Swap files are absent where swap is switched off or not counted. */
static int set_if_there(int group, const char *path, const char *file, uint64_t value)
{
	return set(group, path, file, value) < 0 && errno != ENOENT ? -1 : 0;
}

static int limit_v1(struct cgroup *g, unsigned block)
{
	char p[64];

	path_of(p, block, "");
	for (int k = 0; k < CONTROLLERS; k++) {
		if (has_v1(g, k) && mkdirat(g->v1_tree[k], p, 0755) < 0)
			return -1;
	}
	if (has_v1(g, MEMORY) &&
		(set(g->v1_tree[MEMORY], p, "memory.limit_in_bytes", g->limits.memory) < 0 ||
			set_if_there(g->v1_tree[MEMORY], p, "memory.memsw.limit_in_bytes",
				g->limits.memory) < 0))
		return -1;
	return has_v1(g, PIDS) ? set(g->v1_tree[PIDS], p, "pids.max", g->limits.pids) : 0;
}

static int limit_v2(struct cgroup *g, unsigned block)
{
	char env[64], cmds[64];

	path_of(env, block, "env");
	path_of(cmds, block, "env/cmds");
	if (!has_v1(g, PIDS) && set(g->tree, env, "pids.max", g->limits.pids) < 0)
		return -1;
	if (has_v1(g, MEMORY))
		return 0;
	if (set(g->tree, env, "memory.max", g->limits.memory) < 0 ||
		set_if_there(g->tree, env, "memory.swap.max", 0) < 0)
		return -1;
	/* All of the commands end together, and init lives to tell. */
	return set(g->tree, cmds, "memory.oom.group", 1);
}

static int make_v2(struct cgroup *g, unsigned block)
{
	static const char *const groups[] = {"box", "env", "env/init", "env/cmds"};
	const char *controllers = to_enable(g);
	char p[64], control[96];

	for (size_t k = 0; k < sizeof groups / sizeof *groups; k++) {
		if (mkdirat(g->tree, path_of(p, block, groups[k]), 0755) < 0)
			return -1;
		if (k != 0 && k != 1)
			continue;
		/* A group's controllers are enabled in its parent, before it has groups with processes. */
		if (controllers && k == 0) {
			(void)snprintf(
				control, sizeof control, "b%u/cgroup.subtree_control", block);
			if (io_write_file(g->tree, control, controllers) < 0)
				return -1;
		}
		if (!has_v1(g, MEMORY) && k == 1) {
			(void)snprintf(
				control, sizeof control, "b%u/env/cgroup.subtree_control", block);
			if (io_write_file(g->tree, control, "+memory") < 0)
				return -1;
		}
	}
	return limit_v2(g, block);
}

int cgroup_make(struct cgroup *g, unsigned block)
{
	char p[64];
	int saved;

	if (mkdirat(g->tree, path_of(p, block, ""), 0755) < 0)
		return -1;
	/* Looked at after ours is there: of two that take a block at once, at least one sees the other. */
	if (used_by_other(g, block)) {
		(void)unlinkat(g->tree, p, AT_REMOVEDIR);
		errno = EEXIST;
		return -1;
	}
	if (make_v2(g, block) == 0 && limit_v1(g, block) == 0)
		return 0;
	saved = errno == EEXIST ? EIO : errno;
	(void)cgroup_remove(g, block);
	errno = saved;
	return -1;
}

int cgroup_delegate(struct cgroup *g, unsigned block, uid_t uid)
{
	/* Moving between two groups takes the right to write to what is above both, too. */
	static const char *const files[] = {"env/cgroup.procs", "env/cmds", "env/cmds/cgroup.procs",
		"env/cmds/cgroup.freeze", "env/cmds/cgroup.kill"};
	char p[64];

	for (size_t k = 0; k < sizeof files / sizeof *files; k++) {
		if (fchownat(g->tree, path_of(p, block, files[k]), uid, uid, AT_SYMLINK_NOFOLLOW) <
			0)
			return -1;
	}
	return 0;
}

int cgroup_kill(struct cgroup *g, unsigned block)
{
	char p[64];

	return io_write_file(g->tree, path_of(p, block, "cgroup.kill"), "1");
}

int cgroup_remove(struct cgroup *g, unsigned block)
{
	char p[64];
	int r, saved;

	path_of(p, block, "");
	r = remove_below(g->tree, p, 0);
	saved = errno;
	for (int k = 0; k < CONTROLLERS; k++) {
		if (has_v1(g, k) && unlinkat(g->v1_tree[k], p, AT_REMOVEDIR) < 0 &&
			errno != ENOENT) {
			r = -1;
			saved = errno;
		}
	}
	errno = saved;
	return r;
}

int cgroup_at(struct cgroup_at *out, struct cgroup *g, unsigned block)
{
	char p[64];
	bool v1 = has_v1(g, MEMORY);

	out->join[0] = out->join[1] = -1;
	out->box = open_folder(g->tree, path_of(p, block, "box"));
	out->init = open_folder(g->tree, path_of(p, block, "env/init"));
	out->cmds = open_folder(g->tree, path_of(p, block, "env/cmds"));
	out->events = openat(v1 ? g->v1_tree[MEMORY] : g->tree,
		path_of(p, block, v1 ? "memory.oom_control" : "env/memory.events"),
		O_RDONLY | O_CLOEXEC);
	for (int k = 0; k < CONTROLLERS; k++) {
		if (!has_v1(g, k))
			continue;
		out->join[k] = openat(
			g->v1_tree[k], path_of(p, block, "cgroup.procs"), O_WRONLY | O_CLOEXEC);
		if (out->join[k] < 0)
			goto fail;
	}
	if (out->box >= 0 && out->init >= 0 && out->cmds >= 0 && out->events >= 0)
		return 0;
fail:
	cgroup_at_close(out);
	return -1;
}

void cgroup_at_close(struct cgroup_at *a)
{
	io_close(&a->box);
	io_close(&a->init);
	io_close(&a->cmds);
	io_close(&a->events);
	io_close(&a->join[0]);
	io_close(&a->join[1]);
}
