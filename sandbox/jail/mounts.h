/* mounts: the mount table of a container, by file descriptor. SPDX-License-Identifier: ISC */
#ifndef SANDBOX_JAIL_MOUNTS_H
#define SANDBOX_JAIL_MOUNTS_H

#include <stdint.h>
#include <sys/types.h>

/* All give a descriptor or 0, or -1 with errno. Attributes are MOUNT_ATTR_* of mount_setattr(2). */
struct mounts_option {
	const char *key, *value; /* value NULL: a flag; key NULL ends the list */
};
/* A new file system, mounted nowhere yet. */
int mounts_new(const char *type, const struct mounts_option *options, uint64_t attributes);
/* A detached copy of what is mounted at path below dirfd and of all that is mounted in it. */
int mounts_copy(int dirfd, const char *path, uint64_t attributes);
/* A detached copy of one node of the host's /dev: nosuid, noexec, read-only (which does not keep it from being written to). */
int mounts_copy_device(const char *name);
/* Mounts a detached mount at path below dirfd ("" is dirfd itself). */
int mounts_attach(int mount, int dirfd, const char *path);
/* Adds attributes to one attached mount. */
int mounts_set(int mount, uint64_t attributes);

/* A detached tmpfs for a home, owned by uid on the host; nosuid, nodev. */
int mounts_home(uint64_t bytes, uint64_t inodes, uid_t uid);

struct mounts_sizes {
	uint64_t tmp, shm, run; /* bytes */
};
/*
 * In the child of a first environment, as root of its user namespace: turns the detached trees
 * image and home into its file system, with fresh /proc, /tmp, /dev/shm, /run and /dev/pts, and
 * lets go of the host's. proc is a fresh proc mount (mounts_proc), made while the host's was in sight.
 */
int mounts_enter(int image, int home, int proc, const struct mounts_sizes *s);
/* In the child of a second one, in a copy of the first's mount namespace: everything fresh again but image and home. */
int mounts_again(int proc, const struct mounts_sizes *s);
int mounts_proc(void);

#endif
