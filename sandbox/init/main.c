/* sandgate-init: PID 1 of a compute environment. SPDX-License-Identifier: ISC */

/*
 * How it works. boxd starts this program, static and without any library of the image, as PID 1 of
 * the namespaces that it has made (sandbox/jail/env.c), as root of the container's user namespace
 * with the few capabilities that are needed here. It serves one box over descriptor 3
 * (sandbox/wire/init.h): it starts commands as the tenant, locked down (spawn.c), reaps whatever
 * ends, kills and freezes through the cgroup folder on descriptor 4 (command.c), walks the home and
 * opens what changed (scan.c, report.c), and unpacks an archive into it (load.c). Commands get the
 * seccomp filter of descriptor 5; descriptor 6 counts out-of-memory kills.
 *
 * One thread, one loop over two descriptors: the channel, and a signalfd that says that a child has
 * ended. Messages are answered in order. What the tenant does cannot reach this process: it has
 * another user id, is not dumpable, and is PID 1. When the channel closes it exits, and the kernel
 * ends all that is in its pid namespace.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <linux/keyctl.h>

#include "sandbox/init/command.h"
#include "sandbox/init/init.h"
#include "sandbox/init/load.h"
#include "sandbox/init/scan.h"
#include "sandbox/jail/env.h"
#include "sandbox/jail/filter.h"
#include "sandbox/jail/image.h"
#include "sandbox/jail/rlimits.h"
#include "sandbox/sys/io.h"
#include "sandbox/sys/log.h"

/*
 * What boxd, or whoever started it, ignores would stay ignored in every command. The kernel is asked
 * itself, because the C library keeps two real-time signals from its callers.
 */
static void default_signals(void)
{
	const struct {
		void (*handler)(int);
		unsigned long flags;
		void (*restorer)(void);
		unsigned long mask;
	} dfl = {0};

	for (int sig = 1; sig <= 64; sig++)
		(void)syscall(SYS_rt_sigaction, sig, &dfl, NULL, sizeof dfl.mask);
}

void init_send(struct init *i, const int *fds, size_t nfds)
{
	const struct timespec pause = {.tv_nsec = 500000};

	/* Too many descriptors in flight: the box has not taken the last ones yet. */
	while (wire_send(i->channel, &i->out, fds, nfds) < 0) {
		if (errno != ETOOMANYREFS) {
			if (errno != EPIPE && errno != ECONNRESET)
				log_error("send: %s", strerror(errno));
			exit(errno == EPIPE || errno == ECONNRESET ? 0 : 1);
		}
		(void)nanosleep(&pause, NULL);
	}
}

static void answer(struct init *i, enum wire_type type)
{
	wire_empty(&i->out, type);
	init_send(i, NULL, 0);
}

static int on_load(struct init *i)
{
	int fd = wire_take_fd(&i->in, 0);
	struct load_result r;
	struct wire_loaded m;

	if (fd < 0 || !wire_done(&i->in)) {
		io_close(&fd);
		return -1;
	}
	load(&r, i->home, fd);
	io_close(&fd);
	scan_accept(i);
	m.failed = r.failed;
	m.text = r.text;
	wire_loaded(&i->out, &m);
	init_send(i, NULL, 0);
	return 0;
}

static int on_run(struct init *i)
{
	struct wire_run run;
	int fds[3], r = 0;

	for (size_t k = 0; k < 3; k++) {
		fds[k] = wire_take_fd(&i->in, k);
		if (fds[k] < 0)
			r = -1;
	}
	if (r == 0)
		r = wire_run_get(&i->in, &run);
	if (r == 0)
		command_run(i, &run, fds);
	for (size_t k = 0; k < 3; k++)
		io_close(&fds[k]);
	return r;
}

static int on_kill(struct init *i)
{
	uint32_t id;

	if (wire_number_get(&i->in, &id) < 0)
		return -1;
	command_kill(i, id);
	return 0;
}

static int on_freeze(struct init *i)
{
	if (!wire_done(&i->in))
		return -1;
	command_freeze(i, true);
	answer(i, WIRE_FROZEN);
	return 0;
}

static int on_thaw(struct init *i)
{
	if (!wire_done(&i->in))
		return -1;
	command_freeze(i, false);
	answer(i, WIRE_THAWED);
	return 0;
}

static int on_scan(struct init *i)
{
	uint32_t flags;

	if (wire_number_get(&i->in, &flags) < 0)
		return -1;
	scan_run(i, flags);
	return 0;
}

/* What a box may ask; all else ends the conversation. */
static int (*const ops[WIRE__MAX])(struct init *) = {
	[WIRE_LOAD] = on_load,
	[WIRE_RUN] = on_run,
	[WIRE_KILL] = on_kill,
	[WIRE_FREEZE] = on_freeze,
	[WIRE_THAW] = on_thaw,
	[WIRE_SCAN] = on_scan,
};

static void serve_one(struct init *i)
{
	int r = wire_recv(i->channel, &i->in);
	enum wire_type type;

	if (r == 0 || (r < 0 && errno == ECONNRESET))
		exit(0);
	if (r < 0) {
		log_error("receive: %s", strerror(errno));
		exit(1);
	}
	type = wire_type(&i->in);
	if (!ops[type] || ops[type](i) < 0) {
		log_error("bad message of type %d", (int)type);
		exit(1);
	}
	wire_close(&i->in);
}

static _Noreturn void serve(struct init *i)
{
	struct pollfd fds[2] = {
		{.fd = i->channel, .events = POLLIN}, {.fd = i->signals, .events = POLLIN}};
	struct signalfd_siginfo info;

	for (;;) {
		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			log_die("poll: %s", strerror(errno));
		if (fds[1].revents) {
			(void)!read(i->signals, &info, sizeof info);
			command_reap(i);
		}
		if (fds[0].revents)
			serve_one(i);
	}
}

static void take_filter(struct init *i)
{
	struct stat st;
	void *p;

	if (fstat(ENV_FD_FILTER, &st) < 0 || st.st_size <= 0 || st.st_size > FILTER_MAX)
		log_die("no seccomp filter");
	p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, ENV_FD_FILTER, 0);
	if (p == MAP_FAILED)
		log_die("seccomp filter: %s", strerror(errno));
	i->filter = p;
	i->filter_len = (size_t)st.st_size;
	(void)close(ENV_FD_FILTER);
}

static void prepare(struct init *i, const char *name)
{
	sigset_t child;

	/* A session keyring of the container's own: nothing of boxd's is in reach. */
	(void)syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL);
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		log_die("dumpable: %s", strerror(errno));
	i->channel = ENV_FD_CHANNEL;
	i->cmds = ENV_FD_CMDS;
	i->events = ENV_FD_EVENTS;
	i->prefix = name[0];
	for (int fd = ENV_FD_CHANNEL; fd < ENV_FD__END; fd++) {
		if (fcntl(fd, F_SETFD, FD_CLOEXEC) < 0)
			log_die("descriptor %d: %s", fd, strerror(errno));
	}
	take_filter(i);
	i->home = open(IMAGE_HOME, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (i->home < 0)
		log_die("%s: %s", IMAGE_HOME, strerror(errno));
	default_signals();
	(void)umask(022);
	if (rlimits_init() < 0)
		log_die("limits: %s", strerror(errno));
	(void)sigemptyset(&i->no_signals);
	(void)sigemptyset(&child);
	(void)sigaddset(&child, SIGCHLD);
	if (sigprocmask(SIG_BLOCK, &child, NULL) < 0)
		log_die("signals: %s", strerror(errno));
	i->signals = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
	if (i->signals < 0)
		log_die("signalfd: %s", strerror(errno));
	i->scan = scan_new(i->home);
	if (!i->scan)
		log_die("out of memory");
}

int main(int argc, char **argv)
{
	static struct init init;

	/* Started by descriptor, it would be called by a number in lists of processes. */
	(void)prctl(PR_SET_NAME, "sandgate-init", 0, 0, 0);
	log_open("sandgate-init", LOG_INFO);
	if (argc != 2 || !argv[1][0])
		log_die("started by sandgate-boxd only");
	prepare(&init, argv[1]);
	answer(&init, WIRE_READY);
	serve(&init);
}
