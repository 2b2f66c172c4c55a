/* privs: ids, capabilities, securebits, no_new_privs. SPDX-License-Identifier: ISC */
#include "sandbox/jail/privs.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CAPS_MAX 64
#define SECUREBITS                                                                                 \
	(SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP_LOCKED |                    \
		SECBIT_KEEP_CAPS_LOCKED | SECBIT_NO_CAP_AMBIENT_RAISE |                            \
		SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED)

static int set_caps(uint64_t permitted)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct sets[2] = {0};

	for (int k = 0; k < 2; k++)
		sets[k].effective = sets[k].permitted = (uint32_t)(permitted >> 32 * k);
	return (int)syscall(SYS_capset, &head, sets);
}

static int cut_bounding(uint64_t keep)
{
	for (unsigned long c = 0; c < CAPS_MAX; c++) {
		int in = prctl(PR_CAPBSET_READ, c, 0, 0, 0);
		if (in < 0) /* beyond the last one that this kernel knows */
			break;
		if (in && !(keep & PRIVS_CAP(c)) && prctl(PR_CAPBSET_DROP, c, 0, 0, 0) < 0)
			return -1;
	}
	return 0;
}

int privs_keep(uint64_t keep)
{
	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0 || cut_bounding(keep) < 0)
		return -1;
	return set_caps(keep);
}

int privs_drop(uid_t uid, gid_t gid)
{
	if (cut_bounding(0) < 0 || prctl(PR_SET_SECUREBITS, SECUREBITS, 0, 0, 0) < 0)
		return -1;
	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0)
		return -1;
	if (setgroups(0, NULL) < 0 || setresgid(gid, gid, gid) < 0 || setresuid(uid, uid, uid) < 0)
		return -1;
	if (set_caps(0) < 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -1;
	/* Believe nothing: the way back must be closed. */
	if (uid != 0 && (setresuid((uid_t)-1, 0, (uid_t)-1) == 0 || geteuid() != uid)) {
		errno = EPERM;
		return -1;
	}
	return 0;
}
