/* decode: a request of either API while it is read. SPDX-License-Identifier: ISC */
#include "app/dialect/decode.h"

#include <math.h>

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
