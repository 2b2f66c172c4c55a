/* chatpeer: a Chat Completions server that says what a test scripted. SPDX-License-Identifier: ISC */
#include "tests/lib/chatpeer.h"

#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sandbox/sys/io.h"

#define ANSWERS_MAX 64
#define REQUEST_MAX ((size_t)4 << 20)

struct answer {
	int status;
	int hang_ms;
	struct buf body;
};

struct chatpeer {
	int listener;
	int quit[2];
	char url[64];
	pthread_t thread;
	pthread_mutex_t lock;
	struct answer answers[ANSWERS_MAX];
	size_t nanswers;
	char *requests[ANSWERS_MAX];
	size_t nrequests;
};

static struct buf *body(struct chatpeer *p)
{
	return &p->answers[p->nanswers - 1].body;
}

void chatpeer_answer(struct chatpeer *p)
{
	struct answer *an = &p->answers[p->nanswers++];

	an->status = 200;
	buf_init(&an->body, REQUEST_MAX);
}

static void head(struct chatpeer *p)
{
	buf_puts(body(p),
		"data: {\"id\":\"x\",\"object\":\"chat.completion.chunk\",\"created\":1,"
		"\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":");
}

void chatpeer_text(struct chatpeer *p, const char *text)
{
	head(p);
	buf_puts(body(p), "{\"content\":");
	buf_put_json(body(p), text, strlen(text));
	buf_puts(body(p), "},\"finish_reason\":null}]}\n\n");
}

void chatpeer_call(
	struct chatpeer *p, int index, const char *id, const char *name, const char *arguments)
{
	head(p);
	buf_printf(body(p),
		"{\"tool_calls\":[{\"index\":%d,\"id\":\"%s\",\"type\":\"function\","
		"\"function\":{\"name\":\"%s\",\"arguments\":",
		index, id, name);
	buf_put_json(body(p), arguments, strlen(arguments));
	buf_puts(body(p), "}}]},\"finish_reason\":null}]}\n\n");
}

void chatpeer_finish(struct chatpeer *p, const char *finish, int prompt, int completion)
{
	if (!finish)
		return;
	head(p);
	buf_printf(body(p), "{},\"finish_reason\":\"%s\"}]}\n\n", finish);
	buf_printf(body(p),
		"data: {\"id\":\"x\",\"choices\":[],\"usage\":{\"prompt_tokens\":%d,"
		"\"completion_tokens\":%d,\"total_tokens\":%d}}\n\ndata: [DONE]\n\n",
		prompt, completion, prompt + completion);
}

void chatpeer_error(struct chatpeer *p, int status, const char *text)
{
	chatpeer_answer(p);
	p->answers[p->nanswers - 1].status = status;
	buf_puts(body(p), text);
}

void chatpeer_hang(struct chatpeer *p, int ms)
{
	p->answers[p->nanswers - 1].hang_ms = ms;
}

/* The length that the headers promise, once they are whole; -1 before. */
static long body_length(const struct buf *in, size_t *start)
{
	const char *end = strstr(buf_str(in), "\r\n\r\n");
	const char *at;

	if (!end)
		return -1;
	*start = (size_t)(end - in->data) + 4;
	at = strcasestr(in->data, "content-length:");
	return at && at < end ? strtol(at + 15, NULL, 10) : 0;
}

static bool read_request(struct chatpeer *p, int sock, struct buf *in, size_t *start)
{
	char piece[4096];

	for (;;) {
		struct pollfd fds[] = {{sock, POLLIN, 0}, {p->quit[0], POLLIN, 0}};
		long length = body_length(in, start);
		ssize_t n;

		if (length >= 0 && in->len >= *start + (size_t)length)
			return true;
		poll(fds, 2, -1);
		if (fds[1].revents)
			return false;
		n = read(sock, piece, sizeof(piece));
		if (n <= 0)
			return false;
		buf_put(in, piece, (size_t)n);
	}
}

static void answer(struct chatpeer *p, int sock, const struct answer *an)
{
	struct buf out;

	buf_init(&out, REQUEST_MAX + 1024);
	buf_printf(&out, "HTTP/1.1 %d x\r\nContent-Type: %s\r\nConnection: close\r\n\r\n",
		an ? an->status : 500,
		an && an->status == 200 ? "text/event-stream" : "application/json");
	if (an)
		buf_put(&out, an->body.data, an->body.len);
	if (send(sock, out.data, out.len, MSG_NOSIGNAL) >= 0 && an && an->hang_ms > 0) {
		struct pollfd fds[] = {{sock, POLLIN, 0}, {p->quit[0], POLLIN, 0}};

		poll(fds, 2, an->hang_ms);
	}
	buf_free(&out);
}

static void *serve(void *arg)
{
	struct chatpeer *p = arg;

	for (;;) {
		struct pollfd fds[] = {{p->listener, POLLIN, 0}, {p->quit[0], POLLIN, 0}};
		const struct answer *an = NULL;
		struct buf in;
		size_t start = 0;
		int sock;

		poll(fds, 2, -1);
		if (fds[1].revents)
			return NULL;
		sock = accept4(p->listener, NULL, NULL, SOCK_CLOEXEC);
		if (sock < 0)
			continue;
		buf_init(&in, REQUEST_MAX);
		if (read_request(p, sock, &in, &start)) {
			pthread_mutex_lock(&p->lock);
			if (p->nrequests < ANSWERS_MAX) {
				if (p->nrequests < p->nanswers)
					an = &p->answers[p->nrequests];
				p->requests[p->nrequests++] = strdup(in.data + start);
			}
			pthread_mutex_unlock(&p->lock);
			answer(p, sock, an);
		}
		buf_free(&in);
		io_close(&sock);
	}
}

struct chatpeer *chatpeer_listen(void)
{
	struct chatpeer *p = calloc(1, sizeof(*p));
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(at);

	if (!p)
		abort();
	pthread_mutex_init(&p->lock, NULL);
	p->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (p->listener < 0 || bind(p->listener, (struct sockaddr *)&at, size) < 0 ||
		listen(p->listener, 16) < 0 ||
		getsockname(p->listener, (struct sockaddr *)&at, &size) < 0 ||
		io_pipe(p->quit, false) < 0)
		abort();
	snprintf(p->url, sizeof(p->url), "http://127.0.0.1:%d/v1", ntohs(at.sin_port));
	return p;
}

void chatpeer_serve(struct chatpeer *p)
{
	if (pthread_create(&p->thread, NULL, serve, p) != 0)
		abort();
}

struct chatpeer *chatpeer_start(void)
{
	struct chatpeer *p = chatpeer_listen();

	chatpeer_serve(p);
	return p;
}

void chatpeer_stop(struct chatpeer *p)
{
	if (write(p->quit[1], "x", 1) != 1)
		abort();
	pthread_join(p->thread, NULL);
	for (size_t i = 0; i < p->nrequests; i++)
		free(p->requests[i]);
	for (size_t i = 0; i < p->nanswers; i++)
		buf_free(&p->answers[i].body);
	io_close(&p->listener);
	io_close(&p->quit[0]);
	io_close(&p->quit[1]);
	pthread_mutex_destroy(&p->lock);
	free(p);
}

const char *chatpeer_url(const struct chatpeer *p)
{
	return p->url;
}

size_t chatpeer_requests(struct chatpeer *p)
{
	size_t n;

	pthread_mutex_lock(&p->lock);
	n = p->nrequests;
	pthread_mutex_unlock(&p->lock);
	return n;
}

const char *chatpeer_request(struct chatpeer *p, size_t k)
{
	const char *text;

	pthread_mutex_lock(&p->lock);
	text = k < p->nrequests ? p->requests[k] : NULL;
	pthread_mutex_unlock(&p->lock);
	return text;
}
