/* init: box and init. SPDX-License-Identifier: ISC */
#include "sandbox/wire/init.h"

#include <limits.h>
#include <string.h>

#define MODE_MAX 07777u

static void store_le(uint8_t *p, uint64_t v, int n)
{
	for (int k = 0; k < n; k++)
		p[k] = (uint8_t)(v >> 8 * k);
}

static uint64_t load_le(const uint8_t *p, int n)
{
	uint64_t v = 0;

	for (int k = 0; k < n; k++)
		v |= (uint64_t)p[k] << 8 * k;
	return v;
}

void wire_archive_pack(uint8_t out[WIRE_ARCHIVE_HEAD], const struct wire_archive_head *h)
{
	out[0] = (uint8_t)h->kind;
	store_le(out + 1, h->mode, 4);
	store_le(out + 5, h->mtime, 8);
	store_le(out + 13, h->path_len, 4);
	store_le(out + 17, h->data_len, 8);
}

int wire_archive_unpack(const uint8_t in[WIRE_ARCHIVE_HEAD], struct wire_archive_head *h)
{
	h->kind = (char)in[0];
	h->mode = (uint32_t)load_le(in + 1, 4);
	h->mtime = load_le(in + 5, 8);
	h->path_len = (uint32_t)load_le(in + 13, 4);
	h->data_len = load_le(in + 17, 8);
	if (h->mode > MODE_MAX || h->path_len > WIRE_PATH_MAX || h->mtime > INT64_MAX ||
		h->data_len > INT64_MAX)
		return -1;
	switch (h->kind) {
	case 'd':
		return h->path_len && !h->data_len ? 0 : -1;
	case 'f':
		return h->path_len ? 0 : -1;
	case 'l':
		return h->path_len && h->data_len && h->data_len < PATH_MAX ? 0 : -1;
	case 'e':
		return !h->path_len && !h->data_len ? 0 : -1;
	default:
		return -1;
	}
}

void wire_loaded(struct wire_out *o, const struct wire_loaded *m)
{
	wire_begin(o, WIRE_LOADED);
	wire_put_u32(o, m->failed);
	wire_put_text(o, m->text);
}

int wire_loaded_get(struct wire_in *i, struct wire_loaded *m)
{
	if (!wire_expect(i, WIRE_LOADED))
		return -1;
	m->failed = wire_get_u32(i);
	m->text = wire_get_str(i, WIRE_TEXT_MAX);
	return wire_done(i) ? 0 : -1;
}

void wire_run(struct wire_out *o, const struct wire_run *m)
{
	wire_begin(o, WIRE_RUN);
	wire_put_u32(o, m->id);
	wire_put_str(o, m->command);
	wire_put_str(o, m->cwd);
	wire_put_u32(o, m->nenv);
	if (m->nenv > WIRE_ENV_MAX)
		o->bad = true;
	for (uint32_t k = 0; !o->bad && k < m->nenv; k++)
		wire_put_str(o, m->envp[k]);
}

int wire_run_get(struct wire_in *i, struct wire_run *m)
{
	memset(m, 0, sizeof(*m));
	if (!wire_expect(i, WIRE_RUN))
		return -1;
	m->id = wire_get_u32(i);
	m->command = wire_get_str(i, WIRE_COMMAND_MAX);
	m->cwd = wire_get_str(i, PATH_MAX - 1);
	m->nenv = wire_get_within(i, 0, WIRE_ENV_MAX);
	for (uint32_t k = 0; k < m->nenv; k++) {
		m->envp[k] = wire_get_str(i, WIRE_MAX_FRAME);
		if (!strchr(m->envp[k], '=') || m->envp[k][0] == '=')
			return -1;
	}
	return wire_done(i) ? 0 : -1;
}

void wire_exited(struct wire_out *o, const struct wire_exited *m)
{
	wire_begin(o, WIRE_EXITED);
	wire_put_u32(o, m->id);
	wire_put_u32(o, m->how);
	wire_put_u32(o, m->code);
	wire_put_u32(o, m->out_of_memory);
}

int wire_exited_get(struct wire_in *i, struct wire_exited *m)
{
	if (!wire_expect(i, WIRE_EXITED))
		return -1;
	m->id = wire_get_u32(i);
	m->how = wire_get_within(i, WIRE_HOW_EXIT, WIRE_HOW_ERROR);
	m->code = wire_get_u32(i);
	m->out_of_memory = wire_get_within(i, 0, 1);
	if (!wire_done(i))
		return -1;
	switch ((enum wire_exit_how)m->how) {
	case WIRE_HOW_EXIT:
		return m->code <= 255 ? 0 : -1;
	case WIRE_HOW_SIGNAL:
		return m->code >= 1 && m->code <= 64 ? 0 : -1;
	case WIRE_HOW_ERROR:
		return m->code >= 1 && m->code <= 4095 ? 0 : -1;
	}
	return -1;
}

void wire_number(struct wire_out *o, enum wire_type type, uint32_t n)
{
	wire_begin(o, type);
	wire_put_u32(o, n);
}

int wire_number_get(struct wire_in *i, uint32_t *n)
{
	enum wire_type t = wire_type(i);

	if (t != WIRE_KILL && t != WIRE_KILLED && t != WIRE_RUNNING && t != WIRE_SCAN)
		return -1;
	*n = t == WIRE_SCAN ? wire_get_within(i, 0, WIRE_SCAN_FILES) : wire_get_u32(i);
	return wire_done(i) ? 0 : -1;
}

void wire_empty(struct wire_out *o, enum wire_type type)
{
	wire_begin(o, type);
}

/* The two counts are kept in the frame itself, behind its type. */
#define COUNT_AT 4
#define FDS_AT   8
#define FIRST_AT 12

void wire_changes_begin(struct wire_out *o)
{
	wire_begin(o, WIRE_CHANGES);
	wire_put_u32(o, 0);
	wire_put_u32(o, 0);
}

bool wire_changes_add(struct wire_out *o, const struct wire_change *c)
{
	size_t before = o->len;
	uint64_t nfds = load_le(o->data + FDS_AT, 4);

	if (o->bad || (c->has_fd && nfds == WIRE_MAX_FDS))
		return false;
	wire_put_u32(o, c->kind);
	wire_put_u32(o, c->mode);
	wire_put_u32(o, c->empty);
	wire_put_u32(o, c->has_fd);
	wire_put_u64(o, c->size);
	wire_put_u64(o, c->mtime_ns);
	wire_put_str(o, c->path);
	wire_put_str(o, c->text);
	if (o->bad) {
		o->bad = before == FIRST_AT;
		o->len = before;
		return false;
	}
	store_le(o->data + COUNT_AT, load_le(o->data + COUNT_AT, 4) + 1, 4);
	store_le(o->data + FDS_AT, nfds + (c->has_fd ? 1 : 0), 4);
	return true;
}

int wire_changes_get(struct wire_in *i, uint32_t *count)
{
	/* Each change has eight numbers and lengths and two NULs at least. */
	const uint32_t smallest = 42;

	if (!wire_expect(i, WIRE_CHANGES))
		return -1;
	*count = wire_get_within(i, 1, WIRE_MAX_FRAME / smallest);
	if (wire_get_within(i, 0, WIRE_MAX_FDS) != i->nfds)
		i->bad = true;
	return i->bad ? -1 : 0;
}

int wire_change_get(struct wire_in *i, struct wire_change *c)
{
	bool text;

	c->kind = wire_get_within(i, WIRE_REMOVED, WIRE_CHANGE__MAX - 1);
	c->mode = wire_get_within(i, 0, MODE_MAX);
	c->empty = wire_get_within(i, 0, 1);
	c->has_fd = wire_get_within(i, 0, 1);
	c->size = wire_get_u64(i);
	c->mtime_ns = wire_get_u64(i);
	c->path = wire_get_str(i, WIRE_PATH_MAX);
	c->text = wire_get_str(i, PATH_MAX - 1);
	text = c->kind == WIRE_LINK || c->kind == WIRE_SKIPPED;
	if (!*c->path || text != (*c->text != 0) || c->has_fd != (c->kind == WIRE_FILE) ||
		c->size > INT64_MAX || (c->empty && c->kind != WIRE_DIR))
		i->bad = true;
	return i->bad ? -1 : 0;
}

void wire_scanned(struct wire_out *o, uint32_t seen, uint32_t changed)
{
	wire_begin(o, WIRE_SCANNED);
	wire_put_u32(o, seen);
	wire_put_u32(o, changed);
}

int wire_scanned_get(struct wire_in *i, uint32_t *seen, uint32_t *changed)
{
	if (!wire_expect(i, WIRE_SCANNED))
		return -1;
	*seen = wire_get_u32(i);
	*changed = wire_get_u32(i);
	return wire_done(i) ? 0 : -1;
}
