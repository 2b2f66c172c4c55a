/* loopback: the only network interface of a container. SPDX-License-Identifier: ISC */
#include "sandbox/jail/loopback.h"

#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "sandbox/sys/io.h"

int loopback_up(void)
{
	struct ifreq lo = {.ifr_name = "lo"};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), r;

	if (fd < 0)
		return -1;
	lo.ifr_flags = IFF_UP | IFF_RUNNING;
	r = ioctl(fd, SIOCSIFFLAGS, &lo);
	io_close(&fd);
	return r;
}
