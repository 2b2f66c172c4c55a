/* listen: the socket that the web server connects to. SPDX-License-Identifier: ISC */
#include "app/http/listen.h"

#include <errno.h>
#include <fcgiapp.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "sandbox/sys/io.h"
#include "sandbox/sys/log.h"

enum { BACKLOG = 4096, SILENCE_SECONDS = 30, STUCK_SECONDS = 120, PAUSE_US = 50000 };

static const char unix_prefix[] = "unix:";
/* The file that we made, so that its successor's is not removed. */
static struct stat made;

__attribute__((format(printf, 3, 4))) static int fail(char *err, size_t size, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(err, size, fmt, ap);
	va_end(ap);
	return -1;
}

static int inherited(char *err, size_t size)
{
	int on = 0;
	socklen_t len = sizeof on;

	if (getsockopt(STDIN_FILENO, SOL_SOCKET, SO_ACCEPTCONN, &on, &len) < 0 || !on)
		return fail(err, size,
			"descriptor 0 is no listening socket: set listen in the configuration");
	return STDIN_FILENO;
}

/* True if the path is a socket whose owner has gone. */
static bool is_stale(const struct sockaddr_un *sa)
{
	struct stat st;
	bool stale;
	int fd;

	if (lstat(sa->sun_path, &st) < 0 || !S_ISSOCK(st.st_mode))
		return false;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return false;
	stale = connect(fd, (const struct sockaddr *)sa, sizeof *sa) < 0 && errno == ECONNREFUSED;
	io_close(&fd);
	return stale;
}

static int open_unix(const char *path, unsigned mode, char *err, size_t size)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX};
	mode_t old;
	int fd, rc;

	if (strlen(path) >= sizeof sa.sun_path)
		return fail(err, size, "%s: the path of a socket may have %zu bytes", path,
			sizeof sa.sun_path - 1);
	snprintf(sa.sun_path, sizeof sa.sun_path, "%s", path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return fail(err, size, "socket: %s", strerror(errno));
	if (is_stale(&sa))
		unlink(path);
	/* The mode must hold from the first moment on. */
	old = umask(~mode & 0777);
	rc = bind(fd, (const struct sockaddr *)&sa, sizeof sa);
	umask(old);
	if (rc < 0 || listen(fd, BACKLOG) < 0 || lstat(path, &made) < 0) {
		fail(err, size, "%s: %s", path, strerror(errno));
		io_close(&fd);
	}
	return fd;
}

static int bind_tcp(const struct addrinfo *ai)
{
	int on = 1, fd = socket(ai->ai_family, ai->ai_socktype | SOCK_CLOEXEC, ai->ai_protocol);

	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
	if (bind(fd, ai->ai_addr, ai->ai_addrlen) < 0 || listen(fd, BACKLOG) < 0)
		io_close(&fd);
	return fd;
}

/* HOST:PORT; an IPv6 address stands in brackets. */
static int open_tcp(const char *spec, char *err, size_t size)
{
	const struct addrinfo hints = {
		.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
	const char *whole = spec, *colon = strrchr(spec, ':');
	struct addrinfo *list;
	char host[256], *end = NULL;
	size_t n;
	int rc, fd;

	n = colon ? (size_t)(colon - spec) : 0;
	if (n > 1 && spec[0] == '[' && spec[n - 1] == ']') {
		spec++;
		n -= 2;
	}
	/* getaddrinfo takes any number and cuts it. */
	if (n == 0 || n >= sizeof host || colon[1] < '0' || colon[1] > '9' ||
		strtoul(colon + 1, &end, 10) > 65535 || *end != '\0')
		return fail(err, size, "%s: expected HOST:PORT", whole);
	memcpy(host, spec, n);
	host[n] = '\0';
	rc = getaddrinfo(host, colon + 1, &hints, &list);
	if (rc != 0)
		return fail(err, size, "%s: %s", host, gai_strerror(rc));
	fd = bind_tcp(list);
	if (fd < 0)
		fail(err, size, "%s%s: %s", host, colon, strerror(errno));
	freeaddrinfo(list);
	return fd;
}

int http_listen(const char *spec, unsigned mode, char *err, size_t err_size)
{
	int fd;

	if (spec[0] == '\0')
		fd = inherited(err, err_size);
	else if (strncmp(spec, unix_prefix, sizeof unix_prefix - 1) == 0)
		fd = open_unix(spec + sizeof unix_prefix - 1, mode, err, err_size);
	else
		fd = open_tcp(spec, err, err_size);
	/* Several threads may wake for one connection: those that come late must not wait in accept. */
	if (fd >= 0 && io_set_nonblocking(fd, true) < 0)
		return fail(err, err_size, "listening socket: %s", strerror(errno));
	return fd;
}

void http_unlisten(const char *spec)
{
	const char *path = spec + sizeof unix_prefix - 1;
	struct stat st;

	if (strncmp(spec, unix_prefix, sizeof unix_prefix - 1) == 0 && lstat(path, &st) == 0 &&
		st.st_dev == made.st_dev && st.st_ino == made.st_ino)
		unlink(path);
}

/*
 * Each thread has an epoll of its own, exclusive on the socket: a connection wakes one thread, not
 * all of them as poll would, and unlike a blocking accept it can be told to stop.
 */
int http_door_open(struct http_door *d, int listener, int stop)
{
	struct epoll_event in = {.events = EPOLLIN | EPOLLEXCLUSIVE, .data.fd = listener};
	struct epoll_event end = {.events = EPOLLIN, .data.fd = stop};

	d->listener = listener;
	d->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (d->epoll < 0)
		return -1;
	if (epoll_ctl(d->epoll, EPOLL_CTL_ADD, listener, &in) == 0 &&
		epoll_ctl(d->epoll, EPOLL_CTL_ADD, stop, &end) == 0)
		return 0;
	io_close(&d->epoll);
	return -1;
}

void http_door_close(struct http_door *d)
{
	io_close(&d->epoll);
}

/* -1: nothing to take at the moment. */
static int take(struct http_door *d)
{
	int fd = accept4(d->listener, NULL, NULL, SOCK_CLOEXEC);

	if (fd >= 0 || errno == EAGAIN || errno == EINTR || errno == ECONNABORTED)
		return fd;
	/* Out of descriptors or memory: the connection stays in the queue, trying at once would spin. */
	log_warn("accept: %s", strerror(errno));
	usleep(PAUSE_US);
	return -1;
}

int http_door_wait(struct http_door *d)
{
	struct epoll_event ev[2];
	int fd, n, i;

	for (;;) {
		n = epoll_wait(d->epoll, ev, 2, -1);
		if (n < 0) {
			if (errno == EINTR)
				continue;
			log_error("epoll_wait: %s", strerror(errno));
			return -1;
		}
		for (i = 0; i < n; i++)
			if (ev[i].data.fd != d->listener)
				return -1;
		fd = take(d);
		if (fd >= 0)
			return fd;
	}
}

int http_init(void)
{
	return FCGX_Init() == 0 ? 0 : -1;
}

int http_accept(void *fcgx_request, int fd)
{
	const struct timeval silence = {.tv_sec = SILENCE_SECONDS},
			     stuck = {.tv_sec = STUCK_SECONDS};
	FCGX_Request *f = fcgx_request;
	int on = 1;

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &silence, sizeof silence);
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &stuck, sizeof stuck);
	/* On a unix socket it fails, and need not succeed. */
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
	/*
	 * FCGX_Accept_r first finishes the request before this one, which closes the connection unless
	 * it is to be kept; then it reads from ipcFd, if there is one. When that is no request it
	 * would accept another itself: without a socket to do so it returns.
	 */
	FCGX_InitRequest(f, -1, 0);
	f->ipcFd = fd;
	f->keepConnection = 1;
	if (FCGX_Accept_r(f) < 0)
		return -1;
	f->keepConnection = 0;
	return 0;
}
