/* transfer: one HTTP exchange with a provider. SPDX-License-Identifier: ISC */
#include "app/upstream/transfer.h"

#include <curl/curl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "sandbox/sys/io.h"
#include "sandbox/sys/log.h"

#define URL_MAX     2048
#define WAIT_MAX_MS 10000 /* between two looks at the clock */
#define LINGER_MS                                                                                  \
	500 /* for the connection's end after the answer's, so that it can be used again */
#define CONNECTIONS 4 /* kept a thread */

/* A transfer that runs. */
struct running {
	struct transfer *t;
	struct err *e;
	CURL *easy;
	CURLM *multi;
	struct curl_slist *headers;
	size_t header_bytes;
	int64_t last_byte;   /* CLOCK_MONOTONIC */
	int64_t complete_at; /* when the answer said that it was over; 0: not yet */
	curl_off_t uploaded;
	int code; /* of a callback; it ends the transfer */
};

static pthread_key_t multi_key;

static void close_multi(void *p)
{
	curl_multi_cleanup(p);
}

int transfer_global_init(void)
{
	if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
		log_error("libcurl does not start");
		return -1;
	}
	/* Else a slow name server would hold up a thread that has a client to watch. */
	if ((curl_version_info(CURLVERSION_NOW)->features & CURL_VERSION_ASYNCHDNS) == 0) {
		log_error("this libcurl cannot look names up in the background");
		return -1;
	}
	if (pthread_key_create(&multi_key, close_multi) != 0) {
		log_error("no thread-specific data left");
		return -1;
	}
	return 0;
}

/* This thread's, with its open connections. */
static CURLM *thread_multi(void)
{
	CURLM *m = pthread_getspecific(multi_key);
	if (m != NULL)
		return m;
	m = curl_multi_init();
	if (m == NULL)
		return NULL;
	if (pthread_setspecific(multi_key, m) != 0) {
		curl_multi_cleanup(m);
		return NULL;
	}
	curl_multi_setopt(m, CURLMOPT_MAXCONNECTS, (long)CONNECTIONS);
	return m;
}

static int unavailable(struct err *e, const char *what)
{
	return err_set(e, ERR_PROVIDER_UNAVAILABLE, NULL, "the model provider %s", what);
}

/* -- callbacks --------------------------------------------------------------- */

static long status_of(CURL *easy)
{
	long status = 0;
	curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
	return status;
}

static size_t on_header(char *p, size_t size, size_t n, void *ctx)
{
	struct running *r = ctx;
	(void)p;
	r->last_byte = io_now_ms();
	r->header_bytes += size * n;
	if (r->header_bytes <= TRANSFER_HEADER_MAX)
		return size * n;
	r->code = unavailable(r->e, "sent headers of unreasonable length");
	return 0;
}

static size_t on_body(char *p, size_t size, size_t n, void *ctx)
{
	struct running *r = ctx;
	const long status = status_of(r->easy);

	n *= size;
	r->last_byte = io_now_ms();
	if (status < 200 || status > 299) {
		/* The rest of a long error page is of no use. */
		const size_t room = TRANSFER_ERROR_MAX - r->t->failed.len;
		buf_put(&r->t->failed, p, n < room ? n : room);
		return n <= room ? n : 0;
	}
	r->code = r->t->receive(r->t->ctx, p, n);
	/* A client that reads slowly is no fault of the provider's. */
	r->last_byte = io_now_ms();
	if (r->code != 0)
		return 0;
	if (r->complete_at == 0 && r->t->complete(r->t->ctx))
		r->complete_at = r->last_byte;
	return n;
}

/* -- setting up -------------------------------------------------------------- */

static bool is_loopback(const char *url)
{
	return strstr(url, "://127.") != NULL || strstr(url, "://localhost") != NULL ||
		strstr(url, "://[::1]") != NULL;
}

static int make_headers(struct running *r)
{
	const char *key = r->t->provider->api_key;
	const char *const fixed[] = {"Content-Type: application/json", "Accept: text/event-stream",
		"Expect:", "User-Agent: sandgate"};
	char line[8192];

	for (size_t i = 0; i < sizeof(fixed) / sizeof(*fixed); i++) {
		struct curl_slist *l = curl_slist_append(r->headers, fixed[i]);
		if (l == NULL)
			return -1;
		r->headers = l;
	}
	if (key == NULL)
		return 0;
	int n = snprintf(line, sizeof(line), "Authorization: Bearer %s", key);
	if (n < 0 || (size_t)n >= sizeof(line) || strpbrk(key, "\r\n") != NULL)
		return -1;
	struct curl_slist *l = curl_slist_append(r->headers, line);
	explicit_bzero(line, sizeof(line));
	if (l == NULL)
		return -1;
	r->headers = l;
	return 0;
}

static CURLcode set_up(struct running *r, const char *url)
{
	CURL *c = r->easy;
	const struct conf *conf = r->t->conf;
	CURLcode rc = CURLE_OK;

#define SET(option, value)                                                                         \
	do {                                                                                       \
		if (rc == CURLE_OK)                                                                \
			rc = curl_easy_setopt(c, option, value);                                   \
	} while (0)
	SET(CURLOPT_URL, url);
	SET(CURLOPT_PROTOCOLS_STR, "http,https");
	SET(CURLOPT_FOLLOWLOCATION, 0L);
	SET(CURLOPT_SSL_VERIFYPEER, 1L);
	SET(CURLOPT_SSL_VERIFYHOST, 2L);
	SET(CURLOPT_NOSIGNAL, 1L);
	SET(CURLOPT_TCP_KEEPALIVE, 1L);
	SET(CURLOPT_CONNECTTIMEOUT_MS, (long)conf->upstream_connect_timeout_ms);
	SET(CURLOPT_HTTPHEADER, r->headers);
	SET(CURLOPT_POSTFIELDS, r->t->body);
	SET(CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)r->t->body_len);
	SET(CURLOPT_HEADERFUNCTION, on_header);
	SET(CURLOPT_HEADERDATA, r);
	SET(CURLOPT_WRITEFUNCTION, on_body);
	SET(CURLOPT_WRITEDATA, r);
	/* A proxy from the environment is for hosts out there. */
	if (is_loopback(url))
		SET(CURLOPT_PROXY, "");
#undef SET
	return rc;
}

/* -- running ----------------------------------------------------------------- */

static bool client_gone(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN | POLLRDHUP};
	return fd >= 0 && poll(&p, 1, 0) > 0;
}

static int64_t earlier(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* The client, the heartbeat and the deadline; until becomes the time of the next look, at the latest. */
static int look(struct transfer *t, int64_t *until, struct err *e)
{
	const int64_t now = io_now_ms();
	const int64_t beat = t->conf->heartbeat_ms;

	*until = now + WAIT_MAX_MS;
	if (client_gone(t->client_fd))
		return err_set(e, ERR_CLIENT_GONE, NULL, "the client has gone");
	if (t->deadline_ms != 0 && now >= t->deadline_ms)
		return err_set(e, ERR_TIMEOUT, NULL, "the model did not finish its answer in time");
	if (t->deadline_ms != 0)
		*until = earlier(*until, t->deadline_ms);
	if (beat <= 0)
		return 0;
	if (now - t->quiet_since >= beat) {
		t->quiet_since = now;
		int rc = t->idle(t->ctx);
		if (rc != 0)
			return rc;
	}
	*until = earlier(*until, t->quiet_since + beat);
	return 0;
}

/* Bytes that go out are a sign of life as well: a long conversation takes a while to send. */
static int check_idle(struct running *r, int64_t *until)
{
	const int64_t limit = r->t->conf->upstream_idle_timeout_ms;
	const int64_t now = io_now_ms();
	curl_off_t up = 0;

	curl_easy_getinfo(r->easy, CURLINFO_SIZE_UPLOAD_T, &up);
	if (up != r->uploaded)
		r->last_byte = now;
	r->uploaded = up;
	if (limit <= 0)
		return 0;
	if (now - r->last_byte >= limit)
		return err_set(r->e, ERR_TIMEOUT, NULL,
			"the model provider sent nothing for %lld ms", (long long)limit);
	*until = earlier(*until, r->last_byte + limit);
	return 0;
}

/* 0 once the transfer is over, and how in *result; else the code that ends it. */
static int drive(struct running *r, CURLcode *result)
{
	struct transfer *t = r->t;
	struct curl_waitfd client = {.fd = t->client_fd, .events = CURL_WAIT_POLLIN};
	int64_t until;

	for (;;) {
		int alive, left;
		if (curl_multi_perform(r->multi, &alive) != CURLM_OK)
			return unavailable(r->e, "could not be asked");
		if (r->code != 0)
			return r->code;
		const CURLMsg *m = curl_multi_info_read(r->multi, &left);
		if (m != NULL && m->msg == CURLMSG_DONE) {
			*result = m->data.result;
			return 0;
		}
		int rc = look(t, &until, r->e);
		if (rc == 0)
			rc = check_idle(r, &until);
		if (rc != 0)
			return rc;
		const int64_t now = io_now_ms();
		if (r->complete_at != 0) {
			if (now >= r->complete_at + LINGER_MS) {
				*result = CURLE_OK;
				return 0;
			}
			until = earlier(until, r->complete_at + LINGER_MS);
		}
		curl_multi_poll(r->multi, &client, t->client_fd >= 0,
			until > now ? (int)(until - now) : 0, NULL);
	}
}

/* What curl's result means; 0 if there is an answer to look at. */
static int judge(struct running *r, CURLcode result)
{
	struct transfer *t = r->t;
	curl_off_t connected = 0;

	t->status = (int)status_of(r->easy);
	if (result == CURLE_OK || (t->status != 0 && r->header_bytes > 0)) {
		curl_off_t after = 0;
		curl_easy_getinfo(r->easy, CURLINFO_RETRY_AFTER, &after);
		t->retry_after = after > 86400 ? 86400 : (int)after;
		return 0;
	}
	curl_easy_getinfo(r->easy, CURLINFO_CONNECT_TIME_T, &connected);
	switch ((int)result) {
	case CURLE_COULDNT_RESOLVE_HOST:
	case CURLE_COULDNT_RESOLVE_PROXY:
	case CURLE_COULDNT_CONNECT:
		t->unconnected = true;
		return unavailable(r->e, "cannot be reached");
	case CURLE_SSL_CONNECT_ERROR:
		t->unconnected = true;
		return unavailable(r->e, "cannot be reached: TLS failed");
	case CURLE_PEER_FAILED_VERIFICATION:
	case CURLE_SSL_CACERT_BADFILE:
		return unavailable(r->e, "has no valid certificate");
	case CURLE_OPERATION_TIMEDOUT:
		return err_set(r->e, ERR_TIMEOUT, NULL, "the model provider %s",
			connected == 0 ? "does not take connections" : "took too long");
	default:
		return unavailable(r->e, "closed the connection without an answer");
	}
}

int transfer_run(struct transfer *t, struct err *e)
{
	struct running r = {.t = t, .e = e, .last_byte = io_now_ms()};
	const char *base = t->provider->base_url;
	char url[URL_MAX];
	CURLcode result = CURLE_OK;
	int rc = ERR_SERVER;

	size_t len = strlen(base);
	while (len > 0 && base[len - 1] == '/')
		len--;
	int n = snprintf(url, sizeof(url), "%.*s/chat/completions", (int)len, base);
	if (n < 0 || (size_t)n >= sizeof(url))
		return err_set(e, ERR_SERVER, NULL, "the provider's address is too long");
	r.multi = thread_multi();
	r.easy = curl_easy_init();
	if (r.multi == NULL || r.easy == NULL || make_headers(&r) != 0 ||
		set_up(&r, url) != CURLE_OK) {
		err_set(e, ERR_SERVER, NULL, "the request to the model provider cannot be made");
		goto out;
	}
	if (curl_multi_add_handle(r.multi, r.easy) != CURLM_OK) {
		err_set(e, ERR_SERVER, NULL, "the request to the model provider cannot be made");
		goto out;
	}
	rc = drive(&r, &result);
	if (rc == 0)
		rc = judge(&r, result);
	if (rc != 0 && result != CURLE_OK)
		log_debug("provider %s: %s", t->provider->name, curl_easy_strerror(result));
	curl_multi_remove_handle(r.multi, r.easy);
out:
	curl_easy_cleanup(r.easy);
	curl_slist_free_all(r.headers);
	return rc;
}

int transfer_pause(struct transfer *t, int64_t ms, struct err *e)
{
	const int64_t end = io_now_ms() + ms;
	int64_t until;

	for (;;) {
		int rc = look(t, &until, e);
		const int64_t now = io_now_ms();
		if (rc != 0 || now >= end)
			return rc;
		struct pollfd p = {.fd = t->client_fd, .events = POLLIN | POLLRDHUP};
		poll(&p, 1, (int)(earlier(until, end) - now));
	}
}
