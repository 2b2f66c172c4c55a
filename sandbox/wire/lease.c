/* lease: app and boxd. SPDX-License-Identifier: ISC */
#include "sandbox/wire/lease.h"

#include <string.h>

bool wire_name_ok(const char *s)
{
	static const char legal[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
	size_t n = strnlen(s, WIRE_NAME_MAX + 1);

	return n >= 1 && n <= WIRE_NAME_MAX && strspn(s, legal) == n;
}

void wire_lease(struct wire_out *o, const struct wire_lease *m)
{
	wire_begin(o, WIRE_LEASE);
	wire_put_str(o, m->workspace);
	wire_put_str(o, m->container);
}

int wire_lease_get(struct wire_in *i, struct wire_lease *m)
{
	if (!wire_expect(i, WIRE_LEASE))
		return -1;
	m->workspace = wire_get_str(i, WIRE_NAME_MAX);
	m->container = wire_get_str(i, WIRE_NAME_MAX);
	return wire_done(i) && wire_name_ok(m->workspace) && wire_name_ok(m->container) ? 0 : -1;
}

void wire_leased(struct wire_out *o)
{
	wire_begin(o, WIRE_LEASED);
}

void wire_refused(struct wire_out *o, const struct wire_refused *m)
{
	wire_begin(o, WIRE_REFUSED);
	wire_put_u32(o, m->why);
	wire_put_text(o, m->text);
}

int wire_refused_get(struct wire_in *i, struct wire_refused *m)
{
	if (!wire_expect(i, WIRE_REFUSED))
		return -1;
	m->why = wire_get_within(i, WIRE_REFUSED_BAD, WIRE_REFUSED_STOPPING);
	m->text = wire_get_str(i, WIRE_TEXT_MAX);
	return wire_done(i) ? 0 : -1;
}
