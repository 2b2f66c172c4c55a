/* privs: ids, capabilities, securebits, no_new_privs. SPDX-License-Identifier: ISC */
#ifndef SANDBOX_JAIL_PRIVS_H
#define SANDBOX_JAIL_PRIVS_H

#include <stdint.h>
#include <sys/types.h>

#define PRIVS_CAP(c) (UINT64_C(1) << (c))

/* For PID 1: cuts all capability sets and the bounding set down to keep (a mask of PRIVS_CAP). 0 or -1 with errno. */
int privs_keep(uint64_t keep);
/*
 * For good: these ids, no groups, every capability set empty, securebits locked, no_new_privs.
 * Needs CAP_SETUID, CAP_SETGID and CAP_SETPCAP. 0, or -1 with errno: the caller must then exit.
 */
int privs_drop(uid_t uid, gid_t gid);

#endif
