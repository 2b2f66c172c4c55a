/* listen: the socket that the web server connects to. SPDX-License-Identifier: ISC */
#ifndef APP_HTTP_LISTEN_H
#define APP_HTTP_LISTEN_H

#include <stddef.h>

/*
 * The listening socket of a `listen` setting ("" = descriptor 0, "unix:PATH", "HOST:PORT"); mode: permissions of a unix
 * socket. A socket file that nobody listens on any more is replaced. The descriptor (close-on-exec), or -1 and err says why.
 */
int http_listen(const char *spec, unsigned mode, char *err, size_t err_size);
/* Removes the file of a unix socket, if it is still the one that fd is bound to. */
void http_unlisten(const char *spec);

/* Where one thread waits for connections. */
struct http_door {
	int listener, epoll;
};
/* stop: a descriptor that becomes readable when no more connections are wanted. 0, or -1 with errno. */
int http_door_open(struct http_door *d, int listener, int stop);
/* The next connection, ready for http_accept; -1 once stopped. */
int http_door_wait(struct http_door *d);
void http_door_close(struct http_door *d);

/* Once a process, before http_accept. 0 or -1. */
int http_init(void);
/*
 * Reads a request's head from the connection fd into fcgx (an FCGX_Request, zeroed before its first use) for
 * http_begin. Takes fd over. 0; -1: it was no FastCGI request, fd is closed.
 */
int http_accept(void *fcgx_request, int fd);

#endif
