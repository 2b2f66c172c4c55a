/* rawpeer: an HTTP server that plays bytes and pauses, good and bad. SPDX-License-Identifier: ISC */
#include "tests/lib/rawpeer.h"

#include <arpa/inet.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sandbox/sys/io.h"
#include "tests/lib/test.h"

static int listen_somewhere(struct rawpeer *p)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	socklen_t len = sizeof(a);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&a, &len), 0);
	snprintf(p->url, sizeof(p->url), "http://127.0.0.1:%d/v1", ntohs(a.sin_port));
	return fd;
}

/* Reads a request with its body; false when the client closed instead. */
static bool read_request(int fd, struct rawpeer_seen *seen)
{
	static char text[1 << 20];
	size_t n = 0, need = 0;

	while (need == 0 || n < need) {
		ssize_t got = read(fd, text + n, sizeof(text) - 1 - n);
		if (got <= 0)
			return false;
		n += (size_t)got;
		text[n] = '\0';
		const char *end = strstr(text, "\r\n\r\n");
		const char *length = strcasestr(text, "\r\nContent-Length: ");
		if (end != NULL)
			need = (size_t)(end + 4 - text) +
				(length != NULL ? strtoul(length + 18, NULL, 10) : 0);
	}
	if (seen->requests < RAWPEER_REQUESTS)
		memcpy(seen->request[seen->requests], text, n < RAWPEER_MAX ? n : RAWPEER_MAX - 1);
	seen->requests++;
	return true;
}

static void wait_closed(int fd, int ms, struct rawpeer_seen *seen)
{
	struct pollfd f = {.fd = fd, .events = POLLIN | POLLRDHUP};
	if (poll(&f, 1, ms) > 0)
		seen->hung_up++;
}

static void fill(int fd, size_t n)
{
	static char block[1 << 16];
	memset(block, 'x', sizeof(block));
	while (n > 0) {
		const size_t part = n < sizeof(block) ? n : sizeof(block);
		if (io_write_full(fd, block, part) != 0)
			return;
		n -= part;
	}
}

/* True if the connection stays. */
static bool play(int fd, const char *const *steps, struct rawpeer_seen *seen)
{
	for (; *steps != NULL; steps++) {
		const char *s = *steps;
		if (strncmp(s, "@sleep ", 7) == 0)
			usleep((useconds_t)strtoul(s + 7, NULL, 10) * 1000);
		else if (strncmp(s, "@wait ", 6) == 0)
			wait_closed(fd, (int)strtol(s + 6, NULL, 10), seen);
		else if (strncmp(s, "@fill ", 6) == 0)
			fill(fd, strtoul(s + 6, NULL, 10));
		else if (strcmp(s, "@next") == 0)
			return true;
		else if (io_write_full(fd, s, strlen(s)) != 0)
			return false;
	}
	return false;
}

static _Noreturn void serve(int fd, const char *const *const *answers, struct rawpeer_seen *seen)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGPIPE, SIG_IGN);
	alarm(120);
	for (;;) {
		int c = accept(fd, NULL, NULL);
		if (c < 0)
			_exit(1);
		seen->connections++;
		bool stays = true;
		while (stays && read_request(c, seen)) {
			stays = play(c, *answers, seen);
			if (answers[1] != NULL)
				answers++;
		}
		shutdown(c, SHUT_WR);
		close(c);
	}
}

void rawpeer_start(struct rawpeer *p, const char *const *const *answers)
{
	int fd = listen_somewhere(p);

	p->seen = mmap(
		NULL, sizeof(*p->seen), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(p->seen != MAP_FAILED);
	assert_int_equal(listen(fd, 8), 0);
	p->pid = fork();
	assert_true(p->pid >= 0);
	if (p->pid == 0)
		serve(fd, answers, p->seen);
	close(fd);
}

void rawpeer_stop(struct rawpeer *p)
{
	if (p->pid > 0) {
		kill(p->pid, SIGKILL);
		waitpid(p->pid, NULL, 0);
	}
	if (p->seen != NULL)
		munmap(p->seen, sizeof(*p->seen));
	*p = (struct rawpeer){0};
}

void rawpeer_nowhere(struct rawpeer *p)
{
	close(listen_somewhere(p));
}
