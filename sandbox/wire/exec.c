/* exec: app and box. SPDX-License-Identifier: ISC */
#include "sandbox/wire/exec.h"

#include <limits.h>
#include <string.h>

#define OUTPUT_MAX (WIRE_OUTPUT_MAX * 4) /* bytes of one stream */

static bool tool_ok(const char *s)
{
	size_t n = strlen(s);

	return n >= 1 && n <= 16 && strspn(s, "abcdefghijklmnopqrstuvwxyz") == n;
}

/* It becomes a line of a commit: no blanks, no controls. */
static bool visible(const char *s)
{
	for (; *s; s++) {
		if (*s <= ' ' || *s > '~')
			return false;
	}
	return true;
}

static bool variable_ok(const char *s)
{
	const char *eq = strchr(s, '=');

	return eq && eq != s;
}

void wire_exec(struct wire_out *o, const struct wire_exec *m)
{
	wire_begin(o, WIRE_EXEC);
	wire_put_u32(o, m->env);
	wire_put_u32(o, m->timeout_ms);
	wire_put_u32(o, m->max_output);
	wire_put_u32(o, m->sleep_after);
	wire_put_u32(o, m->stream);
	wire_put_str(o, m->tool);
	wire_put_str(o, m->request_id);
	wire_put_str(o, m->command);
	wire_put_str(o, m->cwd);
	wire_put_u32(o, m->nenv);
	if (m->nenv > WIRE_ENV_MAX)
		o->bad = true;
	for (uint32_t k = 0; !o->bad && k < m->nenv; k++)
		wire_put_str(o, m->envp[k]);
}

int wire_exec_get(struct wire_in *i, struct wire_exec *m)
{
	memset(m, 0, sizeof(*m));
	if (!wire_expect(i, WIRE_EXEC))
		return -1;
	m->env = wire_get_within(i, 0, WIRE_ENV__MAX - 1);
	m->timeout_ms = wire_get_within(i, 1, WIRE_TIMEOUT_MAX_MS);
	m->max_output = wire_get_within(i, 1, WIRE_OUTPUT_MAX);
	m->sleep_after = wire_get_within(i, 1, INT_MAX);
	m->stream = wire_get_within(i, 0, 1);
	m->tool = wire_get_str(i, 16);
	m->request_id = wire_get_str(i, 128);
	m->command = wire_get_str(i, WIRE_COMMAND_MAX);
	m->cwd = wire_get_str(i, PATH_MAX - 1);
	m->nenv = wire_get_within(i, 0, WIRE_ENV_MAX);
	for (uint32_t k = 0; k < m->nenv; k++) {
		m->envp[k] = wire_get_str(i, WIRE_MAX_FRAME);
		if (!variable_ok(m->envp[k]))
			return -1;
	}
	return wire_done(i) && tool_ok(m->tool) && visible(m->request_id) ? 0 : -1;
}

void wire_exec_done(struct wire_out *o, const struct wire_done *m)
{
	wire_begin(o, WIRE_DONE);
	wire_put_u32(o, m->found);
	wire_put_u32(o, m->outcome);
	wire_put_u32(o, m->code);
	wire_put_u64(o, m->duration_us);
	wire_put_u64(o, m->out_len);
	wire_put_u64(o, m->err_len);
	wire_put_u64(o, m->out_omitted);
	wire_put_u64(o, m->err_omitted);
	wire_put_u32(o, m->background_output_open);
	wire_put_str(o, m->commit);
	wire_put_text(o, m->error);
	wire_put_u32(o, m->nskipped);
	wire_put_u32(o, m->nskips);
	if (m->nskips > WIRE_FILES_MAX || m->nfiles > WIRE_FILES_MAX)
		o->bad = true;
	for (uint32_t k = 0; !o->bad && k < m->nskips; k++) {
		wire_put_str(o, m->skips[k].path);
		wire_put_text(o, m->skips[k].reason);
	}
	wire_put_u32(o, m->nfiles);
	for (uint32_t k = 0; !o->bad && k < m->nfiles; k++) {
		wire_put_str(o, m->files[k].path);
		wire_put_u64(o, m->files[k].bytes);
	}
}

static bool code_ok(const struct wire_done *m)
{
	switch ((enum wire_outcome)m->outcome) {
	case WIRE_EXIT:
		return m->code <= 255;
	case WIRE_SIGNAL:
		return m->code >= 1 && m->code <= 64;
	case WIRE_FAILED:
		return m->code <= 4095;
	case WIRE_TIMEOUT:
	case WIRE_OUT_OF_MEMORY:
		return m->code == 0;
	case WIRE_OUTCOME__MAX:
		break;
	}
	return false;
}

/* "" or an id: 40 lower-case hex digits. */
static bool commit_ok(const char *s)
{
	return !*s || (strlen(s) == 40 && strspn(s, "0123456789abcdef") == 40);
}

static uint64_t get_len(struct wire_in *i)
{
	uint64_t n = wire_get_u64(i);

	if (n > OUTPUT_MAX)
		i->bad = true;
	return i->bad ? 0 : n;
}

static const char *get_path(struct wire_in *i)
{
	const char *s = wire_get_str(i, PATH_MAX - 1);

	if (!*s)
		i->bad = true;
	return s;
}

int wire_exec_done_get(struct wire_in *i, struct wire_done *m)
{
	memset(m, 0, sizeof(*m));
	if (!wire_expect(i, WIRE_DONE))
		return -1;
	m->found = wire_get_within(i, 0, WIRE_FOUND__MAX - 1);
	m->outcome = wire_get_within(i, 0, WIRE_OUTCOME__MAX - 1);
	m->code = wire_get_u32(i);
	m->duration_us = wire_get_u64(i);
	m->out_len = get_len(i);
	m->err_len = get_len(i);
	m->out_omitted = wire_get_u64(i);
	m->err_omitted = wire_get_u64(i);
	m->background_output_open = wire_get_within(i, 0, 1);
	m->commit = wire_get_str(i, 40);
	m->error = wire_get_str(i, WIRE_TEXT_MAX);
	m->nskipped = wire_get_u32(i);
	m->nskips = wire_get_within(i, 0, WIRE_FILES_MAX);
	for (uint32_t k = 0; k < m->nskips; k++) {
		m->skips[k].path = get_path(i);
		m->skips[k].reason = wire_get_str(i, WIRE_TEXT_MAX);
	}
	m->nfiles = wire_get_within(i, 0, WIRE_FILES_MAX);
	for (uint32_t k = 0; k < m->nfiles; k++) {
		m->files[k].path = get_path(i);
		m->files[k].bytes = wire_get_u64(i);
	}
	if (!wire_done(i) || !code_ok(m) || !commit_ok(m->commit))
		return -1;
	return m->nskips <= m->nskipped ? 0 : -1;
}
