/* reply: what a box answers, checked and copied into the arena. SPDX-License-Identifier: ISC */
#ifndef APP_BOX_REPLY_H
#define APP_BOX_REPLY_H

#include "app/box/box.h"
#include "sandbox/wire/frame.h"

/*
 * Fills out from the message in, which should be WIRE_DONE. ERR_SERVER when it is not, or when the
 * command could not be run; ERR_INVALID_REQUEST when its folder or its size was at fault.
 */
int reply_read(struct box_reply *out, struct arena *a, struct wire_in *in, const char *container,
	const struct box_command *c, struct err *e);

#endif
