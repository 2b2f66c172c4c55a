/* reply: what a box answers, checked and copied into the arena. SPDX-License-Identifier: ISC */
#include "app/box/reply.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/base/id.h"
#include "sandbox/sys/io.h"
#include "sandbox/sys/log.h"
#include "sandbox/sys/utf8.h"
#include "sandbox/wire/exec.h"

/* Text that may go into JSON: invalid sequences become U+FFFD. */
static const char *text(struct arena *a, const char *s)
{
	size_t n = strlen(s), used;
	char *out, *to;
	uint32_t cp;

	if (utf8_valid(s, n))
		return arena_strdup(a, s);
	to = out = arena_alloc(a, 3 * n + 1);
	for (size_t k = 0; k < n; k += used) {
		used = utf8_next(&cp, s + k, n - k);
		if (cp == UTF8_INVALID) {
			memcpy(to, "\xEF\xBF\xBD", 3);
			to += 3;
		} else {
			memcpy(to, s + k, used);
			to += used;
		}
	}
	*to = 0;
	return out;
}

/*
 * The box is less trusted than we are, and could cut the file while it is read: so it is copied by
 * pread, which then comes up short, and not mapped.
 */
static int read_output(struct output *o, struct arena *a, int fd)
{
	size_t n = o->out_len + o->err_len, at = 0;
	char *data = arena_alloc(a, n + 1);
	struct stat st;

	o->out = data;
	o->err = data + o->out_len;
	if (n == 0)
		return 0;
	if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode))
		return -1;
	while (at < n) {
		ssize_t got = pread(fd, data + at, n - at, (off_t)at);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return -1;
		at += (size_t)got;
	}
	return utf8_valid(o->out, o->out_len) && utf8_valid(o->err, o->err_len) ? 0 : -1;
}

static int failed(const struct wire_done *d, const struct box_command *c, struct err *e)
{
	switch (d->code) {
	case ENOENT:
	case ENOTDIR:
	case EACCES:
	case ELOOP:
	case ENAMETOOLONG:
		if (c->cwd)
			return err_set(e, ERR_INVALID_REQUEST, "cwd",
				"cwd: '%s' is no folder that can be entered: %s.", c->cwd,
				strerror((int)d->code));
		break;
	case E2BIG:
		return err_set(e, ERR_INVALID_REQUEST, "command",
			"command: too long together with its environment.");
	default:
		break;
	}
	return err_set(e, ERR_SERVER, NULL, "%s", d->error);
}

static enum outcome_kind outcome(uint32_t o)
{
	switch ((enum wire_outcome)o) {
	case WIRE_SIGNAL:
		return OUTCOME_SIGNAL;
	case WIRE_TIMEOUT:
		return OUTCOME_TIMEOUT;
	case WIRE_OUT_OF_MEMORY:
		return OUTCOME_OUT_OF_MEMORY;
	case WIRE_EXIT:
	case WIRE_FAILED:
	case WIRE_OUTCOME__MAX:
		break;
	}
	return OUTCOME_EXIT;
}

static struct citation *cite(struct arena *a, const struct wire_done *d, const char *container)
{
	struct citation *first = NULL, **last = &first;

	for (uint32_t k = 0; k < d->nfiles; k++) {
		const char *path = d->files[k].path;
		struct citation *c = arena_new_of(a, struct citation);
		c->container_id = container;
		c->file_id = id_file(a, path, strlen(path));
		c->filename = text(a, path);
		*last = c;
		last = &c->next;
	}
	return first;
}

/* That files were not saved at all is told in the same place as that one was not. */
static struct skipped *skips(struct arena *a, const struct wire_done *d)
{
	struct skipped *first = NULL, **last = &first, *s;

	for (uint32_t k = 0; k < d->nskips; k++) {
		s = arena_new_of(a, struct skipped);
		s->path = text(a, d->skips[k].path);
		s->reason = text(a, d->skips[k].reason);
		*last = s;
		last = &s->next;
	}
	if (*d->error) {
		log_error("%s", d->error);
		s = arena_new_of(a, struct skipped);
		s->path = ".";
		s->reason = text(a, d->error);
		*last = s;
	}
	return first;
}

int reply_read(struct box_reply *out, struct arena *a, struct wire_in *in, const char *container,
	const struct box_command *c, struct err *e)
{
	struct wire_done d;
	struct output *o = &out->output;
	int fd, rc;

	if (wire_exec_done_get(in, &d))
		return err_set(e, ERR_SERVER, NULL, "The sandbox gave a malformed answer.");
	if (d.outcome == WIRE_FAILED)
		return failed(&d, c, e);
	*o = (struct output){.command = c->command,
		.out_len = d.out_len,
		.err_len = d.err_len,
		.out_omitted = d.out_omitted,
		.err_omitted = d.err_omitted,
		.outcome = outcome(d.outcome),
		.code = (int)d.code,
		.duration_ms = (double)d.duration_us / 1000,
		.background_output_open = d.background_output_open,
		.commit = *d.commit ? arena_strdup(a, d.commit) : NULL};
	fd = wire_take_fd(in, 0);
	rc = read_output(o, a, fd);
	io_close(&fd);
	if (rc)
		return err_set(e, ERR_SERVER, NULL, "The sandbox gave a malformed output.");
	out->found = d.found == WIRE_NEW ? BOX_NEW : d.found == WIRE_WOKEN ? BOX_WOKEN : BOX_WARM;
	out->files = cite(a, &d, container);
	out->skipped = skips(a, &d);
	return 0;
}
