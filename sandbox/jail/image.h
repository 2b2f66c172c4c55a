/* image: the read-only system that containers see. SPDX-License-Identifier: ISC */
#ifndef SANDBOX_JAIL_IMAGE_H
#define SANDBOX_JAIL_IMAGE_H

#define IMAGE_USER "sandbox" /* name of the tenant's user and of the machine */
#define IMAGE_HOME "/home/" IMAGE_USER

/*
 * Assembles the tree once, in the calling process's mount namespace (which must be its own), on the
 * empty folder `at` (descriptor): a tmpfs with a made-up /etc, the host's /usr, and device nodes, all
 * of it nosuid and read-only. A descriptor of its root, or -1 after logging why.
 */
int image_build(int at);
/* A detached copy of the whole tree for one container. The descriptor, or -1 with errno. */
int image_clone(int image);

#endif
