/* decode: a request of either API while it is read. SPDX-License-Identifier: ISC */
#include "app/dialect/decode.h"

#include <math.h>

#include "app/dialect/offer.h"

void decode_begin(struct decode *d, struct arena *a, struct turn *t)
{
	*t = (struct turn){
		.arena = a,
		.parallel_tool_calls = -1,
		.max_tokens = -1,
		.temperature = NAN,
		.top_p = NAN,
		.top_k = -1,
		.presence_penalty = NAN,
		.frequency_penalty = NAN,
		.max_tool_calls = -1,
	};
	items_init(&t->items);
	*d = (struct decode){.arena = a, .turn = t, .replay = replay_new(a, t)};
	items_init(&d->system);
}

int decode_tools(struct decode *d, const struct place *body,
	int (*add)(struct decode *d, const struct place *at, struct err *e), struct err *e)
{
	struct place tools;
	const cJSON *v;
	size_t i = 0;
	int rc = place_array(&tools, body, "tools", e);

	if (rc != 0)
		return rc < 0 ? rc : 0;
	cJSON_ArrayForEach(v, tools.v)
	{
		struct place at = place_item(&tools, i++, v);
		rc = add(d, &at, e);
		if (rc < 0)
			return rc;
	}
	offer_name(d->turn);
	return 0;
}

void decode_end(struct decode *d)
{
	replay_finish(d->replay);
	if (!d->system.first)
		return;
	*d->system.last = d->turn->items.first;
	if (d->turn->items.first)
		d->system.last = d->turn->items.last;
	d->turn->items = d->system;
}
