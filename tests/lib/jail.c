/* jail: a compute environment for tests, and the box's side of its channel. SPDX-License-Identifier: ISC */
#include "tests/lib/test.h"

#include "tests/lib/jail.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox/jail/cgroup.h"
#include "sandbox/jail/env.h"
#include "sandbox/jail/filter.h"
#include "sandbox/jail/image.h"
#include "sandbox/jail/mounts.h"
#include "sandbox/jail/userns.h"
#include "sandbox/sys/buf.h"
#include "sandbox/sys/io.h"

#define MIB UINT64_C(1048576)

static struct cgroup *groups;
static char groups_name[32];
static int image = -1, filter = -1, program = -1;
static unsigned next_block;
static struct wire_in in;
static struct wire_out out;
static struct jail_changes changes;
static char line_text[1 << 20];

static const char *init_path(void)
{
	const char *build = getenv("SANDGATE_BUILD");
	static char path[4096];

	/* Beside the test program: build/tests/unit/test_x and build/sandgate-init. */
	if (build) {
		(void)snprintf(path, sizeof path, "%s/sandgate-init", build);
		return path;
	}
	ssize_t n = readlink("/proc/self/exe", path, sizeof path - 64);
	assert_true(n > 0);
	path[n] = 0;
	for (int k = 0; k < 3; k++)
		*strrchr(path, '/') = 0;
	(void)strcat(path, "/sandgate-init");
	return path;
}

int jail_set_up(void **state)
{
	const struct cgroup_limits limits = {.memory = 256 * MIB, .pids = 128};
	char err[256], path[4096];
	int at;

	(void)state;
	(void)snprintf(path, sizeof path, "%s", init_path());
	program = open(path, O_RDONLY | O_CLOEXEC);
	filter = filter_build();
	(void)snprintf(groups_name, sizeof groups_name, "sandgate-t%07d", (int)getpid());
	if (cgroup_open(&groups, groups_name, &limits, err, sizeof err) < 0) {
		print_error("%s\n", err);
		return -1;
	}
	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) < 0)
		return -1;
	at = open(test_tmp(), O_PATH | O_DIRECTORY | O_CLOEXEC);
	image = image_build(at);
	io_close(&at);
	next_block = 20000 + (unsigned)getpid() % 8000;
	return program < 0 || filter < 0 || image < 0 ? -1 : 0;
}

int jail_tear_down(void **state)
{
	(void)state;
	for (size_t k = 0; k < changes.n; k++)
		free(changes.lines[k]);
	free(changes.lines);
	wire_close(&in);
	int r = cgroup_sweep(groups, 0);
	cgroup_close(groups);
	io_close(&image);
	io_close(&filter);
	io_close(&program);
	(void)umount2(test_tmp(), MNT_DETACH);
	test_tmp_remove();
	return r;
}

static bool receive_within(struct jail *e, int ms)
{
	struct pollfd f = {.fd = e->channel, .events = POLLIN};

	if (poll(&f, 1, ms) == 0)
		return false;
	assert_int_equal(wire_recv(e->channel, &in), 1);
	return true;
}

static void receive(struct jail *e, enum wire_type type)
{
	assert_true(receive_within(e, 20000));
	assert_int_equal(wire_type(&in), type);
}

static void ask(struct jail *e, enum wire_type type)
{
	wire_empty(&out, type);
	assert_int_equal(wire_send(e->channel, &out, NULL, 0), 0);
}

static void fill(struct env_spec *s, struct jail *e, int pair[2])
{
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	memset(s, 0, sizeof *s);
	s->program = program;
	s->filter = filter;
	s->channel = pair[1];
	s->base = e->base;
	s->image = s->home = -1;
	s->sizes = (struct mounts_sizes){.tmp = 32 * MIB, .shm = 8 * MIB, .run = 8 * MIB};
	e->channel = pair[0];
	e->next_id = 1;
}

void jail_open(struct jail *e)
{
	struct cgroup_at at;
	struct env_spec s;
	int pair[2];

	memset(e, 0, sizeof *e);
	do
		e->block = next_block++;
	while (cgroup_make(groups, e->block) < 0 && errno == EEXIST);
	e->base = e->block * USERNS_BLOCK;
	assert_int_equal(cgroup_delegate(groups, e->block, e->base), 0);
	assert_int_equal(cgroup_at(&at, groups, e->block), 0);
	fill(&s, e, pair);
	s.name = "shell";
	s.at = &at;
	s.image = image_clone(image);
	s.home = mounts_home(64 * MIB, 20000, e->base + USERNS_TENANT);
	assert_true(s.image >= 0 && s.home >= 0);
	e->pid = env_start(&s);
	assert_true(e->pid > 0);
	io_close(&s.image);
	io_close(&s.home);
	io_close(&pair[1]);
	cgroup_at_close(&at);
	receive(e, WIRE_READY);
}

void jail_open_beside(struct jail *e, struct jail *first)
{
	struct cgroup_at at;
	struct env_spec s;
	int pair[2];

	memset(e, 0, sizeof *e);
	e->first = first;
	e->block = first->block;
	e->base = first->base;
	assert_int_equal(cgroup_at(&at, groups, e->block), 0);
	fill(&s, e, pair);
	s.name = "bash";
	s.at = &at;
	e->pid = env_join(&s, first->pid);
	assert_true(e->pid > 0);
	io_close(&pair[1]);
	cgroup_at_close(&at);
	receive(e, WIRE_READY);
}

void jail_close(struct jail *e)
{
	int status;

	wire_close(&in);
	io_close(&e->channel);
	assert_int_equal(waitpid(e->pid, &status, 0), e->pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	if (e->first)
		return;
	for (int k = 0; cgroup_remove(groups, e->block) < 0; k++) {
		assert_int_equal(errno, EBUSY);
		assert_true(k < 1000);
		(void)usleep(1000);
	}
}

uint32_t jail_start_command(struct jail *e, const char *command, int fd)
{
	const struct wire_run m = {.id = e->next_id++, .command = command, .cwd = ""};
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC), fds[3] = {null, fd, fd};

	wire_run(&out, &m);
	assert_int_equal(wire_send(e->channel, &out, fds, 3), 0);
	io_close(&null);
	receive(e, WIRE_RUNNING);
	return m.id;
}

bool jail_wait(struct jail *e, uint32_t id, struct wire_exited *x, int ms)
{
	int64_t end = io_now_ms() + ms, left;

	while ((left = end - io_now_ms()) >= 0 && receive_within(e, (int)left)) {
		assert_int_equal(wire_exited_get(&in, x), 0);
		if (x->id == id)
			return true;
	}
	return false;
}

void jail_kill(struct jail *e, uint32_t id)
{
	uint32_t n;

	wire_number(&out, WIRE_KILL, id);
	assert_int_equal(wire_send(e->channel, &out, NULL, 0), 0);
	receive(e, WIRE_KILLED);
	assert_int_equal(wire_number_get(&in, &n), 0);
	assert_int_equal(n, id);
}

const struct jail_result *jail_run_ms(struct jail *e, const char *command, int ms)
{
	static struct jail_result r;
	int fd = memfd_create("output", MFD_CLOEXEC);
	int64_t start = io_now_ms();
	uint32_t id;
	ssize_t n;

	assert_true(fd >= 0);
	id = jail_start_command(e, command, fd);
	if (!jail_wait(e, id, &r.exited, ms)) {
		jail_kill(e, id);
		assert_true(jail_wait(e, id, &r.exited, 5000));
	}
	r.ms = io_now_ms() - start;
	n = pread(fd, r.out, sizeof r.out - 1, 0);
	assert_true(n >= 0);
	r.out[n] = 0;
	io_close(&fd);
	return &r;
}

const struct jail_result *jail_run(struct jail *e, const char *command)
{
	const struct jail_result *r = jail_run_ms(e, command, 20000);

	if (r->exited.how != WIRE_HOW_EXIT || r->exited.code != 0)
		print_message("how %u code %u: %s\n", r->exited.how, r->exited.code, r->out);
	return r;
}

static void line(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static void line(const char *fmt, ...)
{
	va_list ap;

	changes.lines = realloc(changes.lines, (changes.n + 1) * sizeof *changes.lines);
	assert_non_null(changes.lines);
	va_start(ap, fmt);
	assert_true(vasprintf(&changes.lines[changes.n++], fmt, ap) >= 0);
	va_end(ap);
}

static void note_file(const struct wire_change *c, int fd)
{
	char text[64];
	struct stat st;
	ssize_t n;

	assert_int_equal(fstat(fd, &st), 0);
	assert_true(S_ISREG(st.st_mode));
	assert_int_equal(st.st_size, c->size);
	assert_int_equal(fcntl(fd, F_GETFL) & O_ACCMODE, O_RDONLY);
	n = pread(fd, text, sizeof text - 1, 0);
	assert_true(n >= 0);
	text[n] = 0;
	line("file %03o %llu %s = %s", c->mode, (unsigned long long)c->size, c->path, text);
}

static void note(const struct wire_change *c, int fd)
{
	switch ((enum wire_change_kind)c->kind) {
	case WIRE_REMOVED:
		line("removed %s", c->path);
		break;
	case WIRE_FILE:
		note_file(c, fd);
		break;
	case WIRE_LINK:
		line("link %s -> %s", c->path, c->text);
		break;
	case WIRE_DIR:
		line("dir %03o%s %s", c->mode, c->empty ? " empty" : "", c->path);
		break;
	case WIRE_SKIPPED:
		line("skipped %s: %s", c->path, c->text);
		break;
	case WIRE_CHANGE__MAX:
		fail();
	}
}

static void note_frame(void)
{
	struct wire_change c;
	uint32_t count;
	size_t k = 0;
	int fd;

	assert_int_equal(wire_changes_get(&in, &count), 0);
	while (count-- > 0) {
		assert_int_equal(wire_change_get(&in, &c), 0);
		fd = c.has_fd ? wire_take_fd(&in, k++) : -1;
		note(&c, fd);
		io_close(&fd);
	}
	assert_true(wire_done(&in));
}

const struct jail_changes *jail_scan(struct jail *e, uint32_t flags)
{
	for (size_t k = 0; k < changes.n; k++)
		free(changes.lines[k]);
	changes.n = 0;
	ask(e, WIRE_FREEZE);
	receive(e, WIRE_FROZEN);
	wire_number(&out, WIRE_SCAN, flags);
	assert_int_equal(wire_send(e->channel, &out, NULL, 0), 0);
	for (;;) {
		assert_true(receive_within(e, 20000));
		if (wire_type(&in) != WIRE_CHANGES)
			break;
		note_frame();
	}
	assert_int_equal(wire_scanned_get(&in, &changes.seen, &changes.changed), 0);
	assert_int_equal(changes.changed, changes.n);
	ask(e, WIRE_THAW);
	receive(e, WIRE_THAWED);
	return &changes;
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

const char *jail_scan_text(struct jail *e)
{
	const struct jail_changes *c = jail_scan(e, 0);
	size_t n = 0;

	if (c->n > 1)
		qsort(c->lines, c->n, sizeof *c->lines, compare);
	line_text[0] = 0;
	for (size_t k = 0; k < c->n; k++)
		n += (size_t)snprintf(
			line_text + n, sizeof line_text - n, "%s%s", k ? "\n" : "", c->lines[k]);
	return line_text;
}

struct wire_loaded jail_load(struct jail *e, const void *archive, size_t n)
{
	struct wire_loaded m;
	int fds[2];
	pid_t pid;

	assert_int_equal(io_pipe(fds, false), 0);
	wire_empty(&out, WIRE_LOAD);
	assert_int_equal(wire_send(e->channel, &out, fds, 1), 0);
	io_close(&fds[0]);
	/* A writer of its own: the pipe is smaller than the archive, and init may stop reading. */
	pid = fork();
	if (pid == 0) {
		(void)signal(SIGPIPE, SIG_IGN);
		(void)io_write_full(fds[1], archive, n);
		_exit(0);
	}
	io_close(&fds[1]);
	receive(e, WIRE_LOADED);
	assert_int_equal(wire_loaded_get(&in, &m), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	return m;
}

void jail_archive_put(
	struct buf *b, char kind, unsigned mode, const char *path, const void *data, size_t n)
{
	uint8_t head[WIRE_ARCHIVE_HEAD];
	const struct wire_archive_head h = {.kind = kind,
		.mode = mode,
		.mtime = 1000000000,
		.path_len = (uint32_t)strlen(path),
		.data_len = n};

	wire_archive_pack(head, &h);
	buf_put(b, head, sizeof head);
	buf_puts(b, path);
	buf_put(b, data, n);
}

void jail_load_probe(struct jail *e)
{
	struct wire_loaded m;
	struct buf b;
	size_t n;
	char *self = io_read_file(AT_FDCWD, "/proc/self/exe", 64 * MIB, &n);

	assert_non_null(self);
	buf_init(&b, 65 * MIB);
	jail_archive_put(&b, 'f', 0755, "probe", self, n);
	jail_archive_put(&b, 'e', 0, "", NULL, 0);
	assert_true(buf_ok(&b));
	m = jail_load(e, b.data, b.len);
	assert_string_equal(m.text, "");
	buf_free(&b);
	free(self);
}

static size_t count_lines(const char *text)
{
	size_t n = 0;

	for (; text && *text; text++)
		n += *text == '\n';
	return n;
}

static size_t processes_in(int dir, const char *name)
{
	char path[512];
	char *text;
	size_t n;

	(void)snprintf(path, sizeof path, "%s/cgroup.procs", name);
	text = io_read_file(dir, path, 1 << 20, NULL);
	n = count_lines(text);
	free(text);
	return n;
}

size_t jail_processes(const struct jail *e)
{
	struct cgroup_at at;
	char name[32];
	size_t n;

	assert_int_equal(cgroup_at(&at, groups, e->block), 0);
	n = processes_in(at.init, ".");
	for (uint32_t id = 1; id < e->next_id; id++) {
		(void)snprintf(name, sizeof name, "s%u", id);
		n += processes_in(at.cmds, name);
	}
	cgroup_at_close(&at);
	return n;
}
