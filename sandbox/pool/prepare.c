/* prepare: all that boxd does before it serves. SPDX-License-Identifier: ISC */
#include "sandbox/pool/prepare.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pwd.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "sandbox/jail/filter.h"
#include "sandbox/jail/host.h"
#include "sandbox/jail/image.h"
#include "sandbox/jail/rlimits.h"
#include "sandbox/jail/userns.h"
#include "sandbox/pool/slot.h"
#include "sandbox/sys/io.h"
#include "sandbox/sys/log.h"

#define GRACE_MS  1500 /* for boxes of an earlier boxd, which end by themselves */
#define TRIAL_MS  10000
#define INIT_MAX  ((size_t)32 << 20)
#define ID_BLOCKS 4096u /* that this boxd takes in turn */
#define SOCKET    "run/boxd.sock"
#define IMAGE_AT  "run/image"

#ifndef MFD_EXEC
#define MFD_EXEC 0x0010u
#endif

static void check_host(void)
{
	const char *problem;
	size_t k = 0, missing = 0;

	for (; (problem = host_missing(&k)); missing++)
		log_error("host: %s", problem);
	if (missing)
		exit(1);
}

static void find_user(struct pool *p)
{
	const struct passwd *pw = getpwnam(p->settings.user);

	if (!pw)
		log_die("no user %s: adduser --system --group %s", p->settings.user,
			p->settings.user);
	if (pw->pw_uid == 0)
		log_die("user = %s: expected one that is not root", p->settings.user);
	p->uid = pw->pw_uid;
	p->gid = pw->pw_gid;
}

static void make_folder(struct pool *p, const char *path)
{
	if (mkdirat(p->state, path, 0755) == 0) {
		if (fchownat(p->state, path, p->uid, p->gid, AT_SYMLINK_NOFOLLOW) < 0)
			log_die("%s/%s: %s", p->settings.state, path, strerror(errno));
	} else if (errno != EEXIST) {
		log_die("%s/%s: %s", p->settings.state, path, strerror(errno));
	}
}

/* The folder, open for good, and the lock that says that it is ours. */
static void take_state(struct pool *p)
{
	p->state = open(p->settings.state, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (p->state < 0)
		log_die("state = %s: %s", p->settings.state, strerror(errno));
	make_folder(p, "run");
	make_folder(p, "homes");
	p->lock =
		openat(p->state, "run/boxd.lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (p->lock < 0)
		log_die("%s/run/boxd.lock: %s", p->settings.state, strerror(errno));
	if (flock(p->lock, LOCK_EX | LOCK_NB) < 0)
		log_die("another boxd serves %s", p->settings.state);
}

/*
 * The tree is named for the folder, not for its path: several stacks may each see theirs as
 * /var/lib/sandgate.
 */
static uint32_t state_hash(const struct pool *p)
{
	struct stat st;
	uint64_t h;

	if (fstat(p->state, &st) < 0)
		log_die("%s: %s", p->settings.state, strerror(errno));
	h = ((uint64_t)st.st_dev * 0x9e3779b97f4a7c15u) ^ st.st_ino;
	h = (h ^ h >> 29) * 0xbf58476d1ce4e5b9u;
	return (uint32_t)(h >> 32);
}

static void open_cgroup(struct pool *p)
{
	const struct cgroup_limits limits = {
		.memory = p->settings.memory_limit, .pids = (unsigned)p->settings.pids_limit};
	uint32_t hash = state_hash(p);
	char name[32], err[256];

	(void)snprintf(name, sizeof name, "sandgate-%08x", (unsigned)hash);
	if (cgroup_open(&p->cgroup, name, &limits, err, sizeof err) < 0)
		log_die("%s", err);
	if (cgroup_sweep(p->cgroup, GRACE_MS) < 0)
		log_die("cgroup %s: what an earlier boxd left cannot be removed: %s", name,
			strerror(errno));
	/* Stacks begin at different blocks, so that they seldom meet when they look for a free one. */
	p->next_block = (uint32_t)(p->settings.id_base / USERNS_BLOCK) + hash % ID_BLOCKS;
}

/* A copy in memory that nothing can write to: what runs as PID 1 stays what was checked at start. */
static int seal_program(const char *path)
{
	size_t n;
	char *data = io_read_file(AT_FDCWD, path, INIT_MAX, &n);
	int fd;

	if (!data)
		log_die("init_program = %s: %s", path, strerror(errno));
	fd = memfd_create("sandgate-init", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_EXEC);
	if (fd < 0 && errno == EINVAL) /* before Linux 6.3 */
		fd = memfd_create("sandgate-init", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0 || io_write_full(fd, data, n) < 0 || fchmod(fd, 0555) < 0 ||
		fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) <
			0)
		log_die("init_program: %s", strerror(errno));
	free(data);
	return fd;
}

static void open_programs(struct pool *p)
{
	struct stat st;

	p->box = open(p->settings.box_program, O_RDONLY | O_CLOEXEC);
	if (p->box < 0 || fstat(p->box, &st) < 0)
		log_die("box_program = %s: %s", p->settings.box_program, strerror(errno));
	if (!S_ISREG(st.st_mode) || !(st.st_mode & S_IXOTH))
		log_die("box_program = %s: expected a program that all may run",
			p->settings.box_program);
	p->init = seal_program(p->settings.init_program);
}

/* So that the host does not see what we mount, and it goes when we go. Before any folder is opened. */
static void own_mounts(void)
{
	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) < 0)
		log_die("mount namespace: %s", strerror(errno));
}

static void make_image(struct pool *p)
{
	int at;

	if (mkdirat(p->state, IMAGE_AT, 0700) < 0 && errno != EEXIST)
		log_die("%s/%s: %s", p->settings.state, IMAGE_AT, strerror(errno));
	at = openat(p->state, IMAGE_AT, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (at < 0)
		log_die("%s/%s: %s", p->settings.state, IMAGE_AT, strerror(errno));
	p->image = image_build(at);
	io_close(&at);
	if (p->image < 0)
		exit(1);
}

/* A container is made and thrown away: what the host lacks shows now and not at the first request. */
static void try_one(struct pool *p)
{
	char why[WIRE_TEXT_MAX];

	if (slot_trial(p, TRIAL_MS, why, sizeof why) == 0)
		return;
	prepare_undo(p);
	log_die("a container cannot be made on this host: %s", why);
}

void prepare(struct pool *p)
{
	sigset_t set;

	p->state = p->lock = p->listen = p->signals = p->image = p->filter = p->init = p->box = -1;
	check_host();
	own_mounts();
	rlimits_files();
	(void)umask(022);
	(void)signal(SIGPIPE, SIG_IGN);
	find_user(p);
	take_state(p);
	open_programs(p);
	make_image(p);
	p->filter = filter_build();
	if (p->filter < 0)
		log_die("seccomp filter: %s", strerror(errno));
	open_cgroup(p);
	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGCHLD);
	(void)sigaddset(&set, SIGTERM);
	(void)sigaddset(&set, SIGINT);
	if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
		log_die("signals: %s", strerror(errno));
	p->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (p->signals < 0)
		log_die("signalfd: %s", strerror(errno));
	try_one(p);
}

void prepare_listen(struct pool *p)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int n = snprintf(a.sun_path, sizeof a.sun_path, "%s/%s", p->settings.state, SOCKET), r;
	mode_t old;

	if (n < 0 || (size_t)n >= sizeof a.sun_path)
		log_die("state = %s: too long for a socket's path", p->settings.state);
	p->listen = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (p->listen < 0)
		log_die("socket: %s", strerror(errno));
	(void)unlinkat(p->state, SOCKET, 0);
	old = umask(0177);
	r = bind(p->listen, (struct sockaddr *)&a, sizeof a);
	umask(old);
	if (r < 0 || fchownat(p->state, SOCKET, p->uid, p->gid, AT_SYMLINK_NOFOLLOW) < 0 ||
		listen(p->listen, 256) < 0)
		log_die("%s: %s", a.sun_path, strerror(errno));
}

void prepare_undo(struct pool *p)
{
	char path[PATH_MAX];

	io_close(&p->listen);
	(void)unlinkat(p->state, SOCKET, 0);
	cgroup_close(p->cgroup);
	p->cgroup = NULL;
	io_close(&p->image);
	(void)snprintf(path, sizeof path, "%s/%s", p->settings.state, IMAGE_AT);
	if (umount2(path, MNT_DETACH) == 0)
		(void)unlinkat(p->state, IMAGE_AT, AT_REMOVEDIR);
	io_close(&p->filter);
	io_close(&p->init);
	io_close(&p->box);
	io_close(&p->signals);
	io_close(&p->lock);
	io_close(&p->state);
	settings_free(&p->settings);
}
