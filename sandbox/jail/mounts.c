/* mounts: the mount table of a container, by file descriptor. SPDX-License-Identifier: ISC */
#include "sandbox/jail/mounts.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sandbox/jail/image.h"
#include "sandbox/sys/io.h"

int mounts_new(const char *type, const struct mounts_option *options, uint64_t attributes)
{
	int context = fsopen(type, FSOPEN_CLOEXEC), fd = -1;

	if (context < 0)
		return -1;
	for (const struct mounts_option *o = options; o && o->key; o++) {
		unsigned how = o->value ? FSCONFIG_SET_STRING : FSCONFIG_SET_FLAG;
		if (fsconfig(context, how, o->key, o->value, 0) < 0)
			goto done;
	}
	if (fsconfig(context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) == 0)
		fd = fsmount(context, FSMOUNT_CLOEXEC, (unsigned)attributes);
done:
	io_close(&context);
	return fd;
}

static int copy(int dirfd, const char *path, unsigned flags, uint64_t attributes)
{
	struct mount_attr set = {.attr_set = attributes, .propagation = MS_PRIVATE};
	int fd = open_tree(dirfd, path, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | flags);

	if (fd < 0)
		return -1;
	if (mount_setattr(fd, "", AT_EMPTY_PATH | flags, &set, sizeof set) < 0)
		io_close(&fd);
	return fd;
}

int mounts_copy(int dirfd, const char *path, uint64_t attributes)
{
	return copy(dirfd, path, AT_RECURSIVE, attributes);
}

int mounts_copy_device(const char *name)
{
	char path[64];

	(void)snprintf(path, sizeof path, "/dev/%s", name);
	return copy(AT_FDCWD, path, 0, MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC);
}

int mounts_attach(int mount, int dirfd, const char *path)
{
	unsigned flags = MOVE_MOUNT_F_EMPTY_PATH | (*path ? 0 : MOVE_MOUNT_T_EMPTY_PATH);

	return move_mount(mount, "", dirfd, path, flags);
}

int mounts_set(int mount, uint64_t attributes)
{
	struct mount_attr set = {.attr_set = attributes};

	return mount_setattr(mount, "", AT_EMPTY_PATH, &set, sizeof set);
}

int mounts_home(uint64_t bytes, uint64_t inodes, uid_t uid)
{
	char size[32], count[32], id[32];
	const struct mounts_option options[] = {{"size", size}, {"nr_inodes", count}, {"uid", id},
		{"gid", id}, {"mode", "0755"}, {NULL, NULL}};

	(void)snprintf(size, sizeof size, "%" PRIu64, bytes);
	(void)snprintf(count, sizeof count, "%" PRIu64, inodes);
	(void)snprintf(id, sizeof id, "%u", (unsigned)uid);
	return mounts_new("tmpfs", options, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
}

int mounts_proc(void)
{
	/* A tenant sees the processes of its own user, not PID 1. */
	static const struct mounts_option options[] = {{"hidepid", "invisible"}, {NULL, NULL}};

	return mounts_new(
		"proc", options, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);
}

/*
 * What of /proc speaks of the host, or acts on it, and is open to more than the host's root. Absent
 * ones are passed over.
 */
static const struct mask {
	const char *path;
	enum { HIDE_FILE, HIDE_FOLDER, READ_ONLY } how;
} masks[] = {
	{"/proc/kcore", HIDE_FILE},
	{"/proc/keys", HIDE_FILE},
	{"/proc/latency_stats", HIDE_FILE},
	{"/proc/timer_list", HIDE_FILE},
	{"/proc/timer_stats", HIDE_FILE},
	{"/proc/sched_debug", HIDE_FILE},
	{"/proc/interrupts", HIDE_FILE},
	{"/proc/sysrq-trigger", HIDE_FILE},
	{"/proc/acpi", HIDE_FOLDER},
	{"/proc/asound", HIDE_FOLDER},
	{"/proc/scsi", HIDE_FOLDER},
	{"/proc/bus", READ_ONLY},
	{"/proc/fs", READ_ONLY},
	{"/proc/irq", READ_ONLY},
	{"/proc/sys", READ_ONLY},
};

static int mask_one(const struct mask *m)
{
	static const char *const sources[] = {"/dev/null", "/srv", NULL};
	const char *source = sources[m->how] ? sources[m->how] : m->path;
	int fd = copy(
		    AT_FDCWD, source, 0, MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC),
	    r;

	if (fd < 0)
		return -1;
	r = mounts_attach(fd, AT_FDCWD, m->path);
	io_close(&fd);
	return r;
}

static int attach_proc(int proc)
{
	if (mounts_attach(proc, AT_FDCWD, "/proc") < 0)
		return -1;
	for (size_t k = 0; k < sizeof masks / sizeof *masks; k++) {
		if (faccessat(AT_FDCWD, masks[k].path, F_OK, 0) == 0 && mask_one(&masks[k]) < 0)
			return -1;
	}
	return 0;
}

static int attach_new(
	const char *type, const struct mounts_option *options, uint64_t more, const char *path)
{
	int fd = mounts_new(type, options, MOUNT_ATTR_NOSUID | more), r;

	if (fd < 0)
		return -1;
	r = mounts_attach(fd, AT_FDCWD, path);
	io_close(&fd);
	return r;
}

static int attach_tmpfs(const char *path, uint64_t bytes, const char *mode)
{
	char size[32];
	const struct mounts_option options[] = {
		{"size", size}, {"nr_inodes", "64k"}, {"mode", mode}, {NULL, NULL}};

	(void)snprintf(size, sizeof size, "%" PRIu64, bytes);
	return attach_new("tmpfs", options, MOUNT_ATTR_NODEV, path);
}

static int attach_fresh(int proc, const struct mounts_sizes *s)
{
	/* Group 5 is tty; a terminal is opened through /dev/ptmx, which leads here. */
	static const struct mounts_option pts[] = {{"newinstance", NULL}, {"ptmxmode", "0666"},
		{"mode", "0620"}, {"gid", "5"}, {NULL, NULL}};

	if (attach_proc(proc) < 0 || attach_tmpfs("/tmp", s->tmp, "1777") < 0 ||
		attach_tmpfs("/dev/shm", s->shm, "1777") < 0 ||
		attach_tmpfs("/run", s->run, "1777") < 0)
		return -1;
	return attach_new("devpts", pts, MOUNT_ATTR_NOEXEC, "/dev/pts");
}

/* Any folder that surely exists will do to hang the new root on; /usr was copied before. */
static int switch_root(int image)
{
	int fd, r = -1;

	if (mounts_attach(image, AT_FDCWD, "/usr") < 0)
		return -1;
	fd = open("/usr", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	/* Onto itself: the old root then lies on top of the new one, and is taken off. */
	if (fchdir(fd) == 0 && syscall(SYS_pivot_root, ".", ".") == 0 &&
		umount2(".", MNT_DETACH) == 0)
		r = chdir("/");
	io_close(&fd);
	return r;
}

int mounts_enter(int image, int home, int proc, const struct mounts_sizes *s)
{
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 || switch_root(image) < 0)
		return -1;
	if (mounts_attach(home, AT_FDCWD, IMAGE_HOME) < 0)
		return -1;
	return attach_fresh(proc, s);
}

int mounts_again(int proc, const struct mounts_sizes *s)
{
	static const char *const old[] = {"/proc", "/tmp", "/dev/shm", "/run", "/dev/pts"};

	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return -1;
	for (size_t k = 0; k < sizeof old / sizeof *old; k++) {
		if (umount2(old[k], MNT_DETACH) < 0)
			return -1;
	}
	return attach_fresh(proc, s);
}
