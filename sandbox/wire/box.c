/* box: boxd and box. SPDX-License-Identifier: ISC */
#include "sandbox/wire/box.h"

#include <limits.h>

#include "sandbox/wire/lease.h"

void wire_start(struct wire_out *o, const struct wire_start *m)
{
	wire_begin(o, WIRE_START);
	wire_put_str(o, m->workspace);
	wire_put_str(o, m->container);
	wire_put_str(o, m->repository);
	wire_put_u32(o, m->sleep_after);
	wire_put_u32(o, m->durable);
}

int wire_start_get(struct wire_in *i, struct wire_start *m)
{
	if (!wire_expect(i, WIRE_START))
		return -1;
	m->workspace = wire_get_str(i, WIRE_NAME_MAX);
	m->container = wire_get_str(i, WIRE_NAME_MAX);
	m->repository = wire_get_str(i, PATH_MAX - 1);
	m->sleep_after = wire_get_within(i, 1, INT_MAX);
	m->durable = wire_get_within(i, 0, 1);
	if (!wire_done(i) || !wire_name_ok(m->workspace) || !wire_name_ok(m->container))
		return -1;
	return m->repository[0] == '/' ? 0 : -1;
}

void wire_attach(struct wire_out *o)
{
	wire_begin(o, WIRE_ATTACH);
}

void wire_env(struct wire_out *o)
{
	wire_begin(o, WIRE_ENV);
}

void wire_stop(struct wire_out *o)
{
	wire_begin(o, WIRE_STOP);
}

void wire_want_env(struct wire_out *o)
{
	wire_begin(o, WIRE_WANT_ENV);
}

void wire_idle(struct wire_out *o, uint32_t seen)
{
	wire_begin(o, WIRE_IDLE);
	wire_put_u32(o, seen);
}

int wire_idle_get(struct wire_in *i, uint32_t *seen)
{
	if (!wire_expect(i, WIRE_IDLE))
		return -1;
	*seen = wire_get_u32(i);
	return wire_done(i) ? 0 : -1;
}
