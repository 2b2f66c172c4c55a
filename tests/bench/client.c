/* client: a plain HTTP/1.1 client that keeps its connection, for measuring. SPDX-License-Identifier: ISC */
#include "tests/bench/client.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sandbox/sys/io.h"

#define ANSWER_MAX (1 << 20)

void client_init(struct client *c, int port, const char *key)
{
	*c = (struct client){.port = port, .fd = -1, .key = key};
	buf_init(&c->in, ANSWER_MAX);
}

void client_free(struct client *c)
{
	io_close(&c->fd);
	buf_free(&c->in);
}

static int dial(struct client *c)
{
	struct sockaddr_in to = {.sin_family = AF_INET,
		.sin_port = htons((uint16_t)c->port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int on = 1;

	c->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (c->fd < 0 || connect(c->fd, (struct sockaddr *)&to, sizeof to) < 0)
		return -1;
	return setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

/* Headers and a body of the length that they tell; the body stays in c->in. */
static int receive(struct client *c)
{
	const char *end = NULL, *length;
	size_t want = 0;
	char chunk[8192];
	int status = -1;

	buf_reset(&c->in);
	while (!end || c->in.len < want) {
		ssize_t n = read(c->fd, chunk, sizeof chunk);
		if (n <= 0)
			return -1;
		buf_put(&c->in, chunk, (size_t)n);
		if (end || !(end = strstr(buf_str(&c->in), "\r\n\r\n")))
			continue;
		status = (int)strtol(buf_str(&c->in) + sizeof "HTTP/1.1", NULL, 10);
		length = strcasestr(buf_str(&c->in), "\r\nContent-Length:");
		if (!length || length > end)
			return -1;
		want = (size_t)(end + 4 - buf_str(&c->in)) +
			strtoul(length + sizeof "\r\nContent-Length:" - 1, NULL, 10);
	}
	buf_consume(&c->in, (size_t)(strstr(buf_str(&c->in), "\r\n\r\n") + 4 - buf_str(&c->in)));
	return status;
}

int client_exec(struct client *c, const char *id, const char *command, const char *more)
{
	struct buf out, body;
	int status = -1;

	if (c->fd < 0 && dial(c) < 0)
		return -1;
	buf_init(&body, ANSWER_MAX);
	buf_init(&out, ANSWER_MAX);
	buf_puts(&body, "{\"command\":");
	buf_put_json(&body, command, strlen(command));
	buf_printf(&body, "%s}", more);
	buf_printf(&out,
		"POST /api/v1/containers/%s/exec HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer "
		"%s\r\n"
		"Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
		id, c->key, body.len, buf_str(&body));
	if (io_write_full(c->fd, out.data, out.len) == 0)
		status = receive(c);
	if (status < 0)
		io_close(&c->fd);
	buf_free(&body);
	buf_free(&out);
	return status;
}
