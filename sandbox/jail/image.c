/* image: the read-only system that containers see. SPDX-License-Identifier: ISC */
#include "sandbox/jail/image.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "sandbox/jail/mounts.h"
#include "sandbox/sys/io.h"
#include "sandbox/sys/log.h"

#define COPY_MAX ((size_t)4 << 20)

static const struct folder {
	const char *path;
	mode_t mode;
} folders[] = {
	{"usr", 0755},
	{"etc", 0755},
	{"etc/ssl", 0755},
	{"dev", 0755},
	{"dev/pts", 0755},
	{"dev/shm", 0755},
	{"home", 0755},
	{"home/" IMAGE_USER, 0755},
	{"workspace", 0755},
	{"proc", 0755},
	{"run", 0755},
	{"tmp", 0755},
	{"var", 0755},
	{"var/lib", 0755},
	{"var/cache", 0755},
	{"root", 0755},
	{"mnt", 0755},
	{"opt", 0755},
	{"srv", 0755},
};

static const struct link {
	const char *path, *target;
} links[] = {
	{"bin", "usr/bin"},
	{"sbin", "usr/sbin"},
	{"lib", "usr/lib"},
	{"workspace/home", IMAGE_HOME},
	{"var/tmp", "/tmp"},
	{"var/run", "/run"},
	{"etc/mtab", "/proc/self/mounts"},
	{"etc/os-release", "../usr/lib/os-release"},
	{"dev/fd", "/proc/self/fd"},
	{"dev/stdin", "/proc/self/fd/0"},
	{"dev/stdout", "/proc/self/fd/1"},
	{"dev/stderr", "/proc/self/fd/2"},
	{"dev/ptmx", "pts/ptmx"},
};

/* On hosts that have them: 32-bit libraries and such. */
static const char *const lib_links[] = {"lib32", "lib64", "libx32"};

static const struct text {
	const char *path, *text;
} texts[] = {
	{"etc/passwd",
		"root:x:0:0:root:/root:/bin/bash\n" IMAGE_USER ":x:1000:1000:" IMAGE_USER
		":" IMAGE_HOME ":/bin/bash\nnobody:x:65534:65534:nobody:/nonexistent:"
		"/usr/sbin/nologin\n"},
	{"etc/group", "root:x:0:\ntty:x:5:\n" IMAGE_USER ":x:1000:\nnogroup:x:65534:\n"},
	{"etc/hosts", "127.0.0.1 localhost " IMAGE_USER "\n::1 localhost ip6-localhost\n"},
	{"etc/hostname", IMAGE_USER "\n"},
	{"etc/nsswitch.conf",
		"passwd: files\ngroup: files\nshadow: files\nhosts: files dns\n"
		"networks: files\nprotocols: files\nservices: files\n"},
	{"etc/resolv.conf", ""},
	{"etc/host.conf", "multi on\n"},
	{"etc/shells", "/bin/sh\n/bin/bash\n/usr/bin/bash\n"},
};

/* Small files of the host's /etc that programs of /usr read; absent ones are left out. */
static const char *const copies[] = {"etc/ld.so.cache", "etc/ld.so.conf", "etc/localtime",
	"etc/timezone", "etc/mime.types", "etc/protocols", "etc/services", "etc/debian_version",
	"etc/magic", "etc/magic.mime", "etc/locale.alias", "etc/ssl/openssl.cnf", "etc/papersize"};

/* Folders of the host's /etc that /usr leads into; absent ones are left out. */
static const char *const binds[] = {"etc/alternatives", "etc/ssl/certs", "etc/fonts", "etc/perl",
	"etc/python3", "etc/python3.11", "etc/python3.13", "etc/java-17-openjdk",
	"etc/java-21-openjdk", "etc/ImageMagick-6", "etc/ImageMagick-7", "etc/X11"};

static const struct device {
	const char *name;
	unsigned major, minor;
} devices[] = {
	{"null", 1, 3},
	{"zero", 1, 5},
	{"full", 1, 7},
	{"random", 1, 8},
	{"urandom", 1, 9},
	{"tty", 5, 0},
};

static int write_new(int root, const char *path, const void *p, size_t n)
{
	int fd = openat(root, path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644), r;

	if (fd < 0)
		return -1;
	r = io_write_full(fd, p, n);
	io_close(&fd);
	return r;
}

static int make_plain(int root)
{
	for (size_t k = 0; k < sizeof folders / sizeof *folders; k++) {
		if (mkdirat(root, folders[k].path, folders[k].mode) < 0)
			return -1;
	}
	for (size_t k = 0; k < sizeof links / sizeof *links; k++) {
		if (symlinkat(links[k].target, root, links[k].path) < 0)
			return -1;
	}
	for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
		if (write_new(root, texts[k].path, texts[k].text, strlen(texts[k].text)) < 0)
			return -1;
	}
	return 0;
}

static int make_lib_links(int root, int host)
{
	char target[64];
	struct stat st;

	for (size_t k = 0; k < sizeof lib_links / sizeof *lib_links; k++) {
		(void)snprintf(target, sizeof target, "usr/%s", lib_links[k]);
		if (fstatat(host, target, &st, 0) == 0 && symlinkat(target, root, lib_links[k]) < 0)
			return -1;
	}
	return 0;
}

static int copy_files(int root, int host)
{
	for (size_t k = 0; k < sizeof copies / sizeof *copies; k++) {
		size_t n;
		char *text = io_read_file(host, copies[k], COPY_MAX, &n);
		if (!text)
			continue;
		int r = write_new(root, copies[k], text, n);
		free(text);
		if (r < 0)
			return -1;
	}
	return 0;
}

static int bind_folder(int root, int host, const char *path)
{
	int fd = mounts_copy(host, path, MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV),
	    r;

	if (fd < 0)
		return -1;
	r = mounts_attach(fd, root, path);
	io_close(&fd);
	return r;
}

static int bind_folders(int root, int host)
{
	struct stat st;

	for (size_t k = 0; k < sizeof binds / sizeof *binds; k++) {
		if (fstatat(host, binds[k], &st, 0) < 0 || !S_ISDIR(st.st_mode))
			continue;
		if (mkdirat(root, binds[k], 0755) < 0 || bind_folder(root, host, binds[k]) < 0)
			return -1;
	}
	return bind_folder(root, host, "usr");
}

/* The mount is made first and then looked at, so that what was checked is what is attached. */
static int bind_device(int root, const struct device *d)
{
	char path[32];
	struct stat st;
	int fd, r = -1;

	(void)snprintf(path, sizeof path, "dev/%s", d->name);
	fd = mounts_copy_device(d->name);
	if (fd < 0)
		return -1;
	if (fstat(fd, &st) < 0 || !S_ISCHR(st.st_mode) ||
		st.st_rdev != makedev(d->major, d->minor)) {
		log_error("image: /dev/%s is not the device %u:%u", d->name, d->major, d->minor);
		errno = ENODEV;
	} else if (mknodat(root, path, S_IFCHR | 0666, st.st_rdev) == 0) {
		/* What lies below shows in listings; it cannot be opened, as the root is nodev. */
		r = mounts_attach(fd, root, path);
	}
	io_close(&fd);
	return r;
}

static int bind_devices(int root)
{
	for (size_t k = 0; k < sizeof devices / sizeof *devices; k++) {
		if (bind_device(root, &devices[k]) < 0)
			return -1;
	}
	return 0;
}

int image_build(int at)
{
	static const struct mounts_option options[] = {
		{"size", "16m"}, {"nr_inodes", "1k"}, {"mode", "0755"}, {NULL, NULL}};
	int host = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC), root = -1;
	const char *step = "tmpfs";
	mode_t old = umask(0);

	if (host >= 0)
		root = mounts_new("tmpfs", options, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
	/* Attached before it is filled: older kernels mount nothing on a detached tree. */
	if (root < 0 || mounts_attach(root, at, "") < 0)
		goto fail;
	step = "folders and files of its own";
	if (make_plain(root) < 0 || make_lib_links(root, host) < 0)
		goto fail;
	step = "files of the host";
	if (copy_files(root, host) < 0)
		goto fail;
	step = "folders of the host";
	if (bind_folders(root, host) < 0)
		goto fail;
	step = "devices";
	if (bind_devices(root) < 0)
		goto fail;
	step = "read-only";
	if (mounts_set(root, MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV) < 0)
		goto fail;
	goto done;
fail:
	log_error("image: %s: %s", step, strerror(errno));
	io_close(&root);
done:
	umask(old);
	io_close(&host);
	return root;
}

int image_clone(int image)
{
	return open_tree(
		image, "", AT_EMPTY_PATH | AT_RECURSIVE | OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
}
