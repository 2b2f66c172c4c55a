/* loopback: the only network interface of a container. SPDX-License-Identifier: ISC */
#ifndef SANDBOX_JAIL_LOOPBACK_H
#define SANDBOX_JAIL_LOOPBACK_H

/* Brings lo up in the calling process's network namespace. 0 or -1 with errno. */
int loopback_up(void);

#endif
