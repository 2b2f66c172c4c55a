/* box: starting sandgate-box. SPDX-License-Identifier: ISC */
#ifndef SANDBOX_POOL_BOX_H
#define SANDBOX_POOL_BOX_H

#include <sys/types.h>

struct box_spec {
	int program; /* descriptor */
	int control; /* the box's end of its control channel; becomes descriptor 3 */
	int cgroup;  /* folder of its group */
	uid_t uid;
	gid_t gid;
};
/*
 * A child that runs the program as the service user: no capability, no_new_privs, nothing open but
 * /dev/null, the log and the control channel, an environment built from nothing. The pid, or -1 with errno.
 */
pid_t box_start(const struct box_spec *s);

#endif
