/* agent: the loop of model turns and tool calls. SPDX-License-Identifier: ISC */
#include "app/agent/agent.h"

#include <string.h>

#include "app/agent/collect.h"
#include "app/upstream/upstream.h"
#include "sandbox/sys/log.h"

struct loop {
	const struct agent *ag;
	struct turn *turn;
	const struct sink *out;
	struct collect *turns;
	struct tool_context tools;
	struct usage total;
	int64_t calls_left;  /* server calls until tools are switched off */
	int64_t tokens_left; /* of max_tokens; -1: not limited */
	int broken;          /* what the sink failed with, 0 if it did not */
};

static bool is_server(const struct call *call)
{
	return call->tool != TOOL_CLIENT;
}

/* -- events of our own ------------------------------------------------------ */

static int emit(struct loop *l, const struct event *ev)
{
	int rc = sink_emit(l->out, ev);

	if (rc < 0)
		l->broken = rc;
	return rc;
}

/* A heartbeat while a command runs. */
static int tick(void *ctx)
{
	return emit(ctx, &(struct event){.type = EVENT_IDLE});
}

static struct usage usage_so_far(struct loop *l)
{
	struct usage u = l->total;

	u.server_tool_cost = tool_cost(&l->tools, NULL);
	return u;
}

static int finish(struct loop *l, enum finish how)
{
	struct event ev = {.type = EVENT_DONE, .finish = how, .usage = usage_so_far(l)};

	if (how == FINISH_STOP_SEQUENCE)
		ev.stop_sequence = collect_stop_sequence(l->turns);
	return emit(l, &ev);
}

/* The client has seen part of the answer already, so the error is its last event. */
static int fail(struct loop *l, const struct err *e)
{
	struct event ev = {.type = EVENT_FAILED, .err = e};

	/* A conversation that outgrew the model is an answer cut short, as with a single turn. */
	if (e->code == ERR_CONTEXT_LENGTH)
		return finish(l, FINISH_LENGTH);
	ev.usage = usage_so_far(l);
	return emit(l, &ev);
}

/* -- limits ------------------------------------------------------------------ */

static bool has_calls(const struct items *items)
{
	for (const struct item *it = items->first; it; it = it->next)
		if (it->kind == ITEM_CALL)
			return true;
	return false;
}

static bool offers_client_tool(const struct turn *t)
{
	for (const struct tool *tool = t->tools; tool; tool = tool->next)
		if (tool->kind == TOOL_CLIENT)
			return true;
	return false;
}

static void withdraw_server_tools(struct turn *t)
{
	struct tool **at = &t->tools;

	while (*at) {
		if ((*at)->kind == TOOL_CLIENT) {
			at = &(*at)->next;
			continue;
		}
		if (t->choice == CHOICE_TOOL && t->choice_name &&
			strcmp(t->choice_name, (*at)->name) == 0)
			t->choice = CHOICE_AUTO;
		*at = (*at)->next;
	}
}

/*
 * max_tool_calls 0: none of ours may be called, the client's own still may. Some upstreams refuse
 * calls in the history without the tools that they name.
 */
static void no_server_tools(struct turn *t)
{
	if (has_calls(&t->items) && !offers_client_tool(t))
		t->choice = CHOICE_NONE;
	else
		withdraw_server_tools(t);
	if (!t->tools)
		t->choice = CHOICE_AUTO;
}

static void spend(struct loop *l)
{
	const struct usage *u = collect_usage(l->turns);

	usage_add(&l->total, u);
	if (l->tokens_left >= 0 && u->output > 0)
		l->tokens_left = u->output < l->tokens_left ? l->tokens_left - u->output : 0;
}

/* After the first turn: a forced choice would never end, and the budget is smaller. */
static void prepare_next(struct loop *l)
{
	struct turn *t = l->turn;

	if (t->choice == CHOICE_REQUIRED || t->choice == CHOICE_TOOL)
		t->choice = CHOICE_AUTO;
	if (l->calls_left <= 0)
		t->choice = CHOICE_NONE;
	t->max_tokens = l->tokens_left;
}

/* -- tools ------------------------------------------------------------------- */

static int run_call(struct loop *l, const struct call *call, struct err *e)
{
	struct event ev = {.type = EVENT_RUNNING, .call = call};
	struct result *r;
	struct item *it;
	int rc;

	l->total.tools_used = true;
	rc = emit(l, &ev);
	if (rc < 0)
		return rc;
	rc = tool_run(&l->tools, call, &r, e);
	if (l->broken)
		return l->broken;
	if (rc < 0)
		return rc;
	l->calls_left--;
	if (!r->error)
		l->total.tool_calls_executed++;
	it = items_add(l->ag->arena, &l->turn->items, ITEM_RESULT);
	it->call_id = call->id;
	it->text = r->text;
	ev = (struct event){.type = EVENT_RESULT, .call = call, .result = r};
	return emit(l, &ev);
}

/* The server calls of the turn, in order, though the limit be passed: none stays without a result. */
static int run_calls(struct loop *l, bool *client_call, struct err *e)
{
	*client_call = false;
	for (const struct collected *k = collect_calls(l->turns); k; k = k->next) {
		int rc;

		if (!is_server(&k->call)) {
			*client_call = true;
			continue;
		}
		l->total.tool_calls_requested++;
		rc = run_call(l, &k->call, e);
		if (rc < 0)
			return rc;
	}
	return 0;
}

/* -- the loop ---------------------------------------------------------------- */

/* One turn and its calls. 1: another turn is due; 0: the answer has ended. */
static int step(struct loop *l, struct err *e)
{
	const struct sink s = {collect_emit, l->turns};
	bool client_call;
	int rc;

	collect_begin(l->turns, l->turn);
	rc = upstream_turn(l->ag->conf, l->turn, &s, l->ag->client_fd, e);
	if (collect_broken(l->turns)) {
		l->broken = collect_broken(l->turns);
		return l->broken;
	}
	if (rc < 0)
		return rc;
	spend(l);
	if (collect_finish(l->turns) != FINISH_CALLS)
		return finish(l, collect_finish(l->turns));
	collect_append(l->turns, &l->turn->items);
	rc = run_calls(l, &client_call, e);
	if (rc < 0)
		return rc;
	if (client_call)
		return finish(l, FINISH_CALLS);
	if (l->tokens_left == 0)
		return finish(l, FINISH_LENGTH);
	prepare_next(l);
	return 1;
}

/* The request says which of our tools it wants and under which name, app/tool what they are. */
static void describe_tools(struct turn *t)
{
	for (struct tool *tool = t->tools; tool; tool = tool->next) {
		const struct tool *offer = tool_offer(tool->kind);

		if (!offer)
			continue;
		tool->description = offer->description;
		tool->parameters = offer->parameters;
	}
}

static void loop_init(
	struct loop *l, const struct agent *ag, struct turn *turn, const struct sink *s)
{
	const int64_t most = ag->conf->max_tool_calls;

	*l = (struct loop){
		.ag = ag,
		.turn = turn,
		.out = s,
		.turns = collect_new(ag->arena, s),
		.tools =
			{
				.arena = ag->arena,
				.conf = ag->conf,
				.workspace = ag->workspace,
				.request_id = ag->request_id,
				.client_fd = ag->client_fd,
				.wait = tick,
				.wait_ctx = l,
				.used = ag->used,
				.used_ctx = ag->used_ctx,
			},
		.calls_left = turn->max_tool_calls >= 0 && turn->max_tool_calls < most
			? turn->max_tool_calls
			: most,
		.tokens_left = turn->max_tokens,
	};
	l->tools.container_id = tool_container_id(ag->arena, &turn->environment, ag->request_id);
	l->tools.sleep_after_seconds = tool_sleep_after(ag->conf, &turn->environment);
	describe_tools(turn);
	if (l->calls_left == 0)
		no_server_tools(turn);
}

int agent_run(const struct agent *ag, struct turn *turn, const struct sink *s, struct err *e)
{
	struct err why = {0};
	struct loop l;
	int rc;

	loop_init(&l, ag, turn, s);
	do {
		rc = step(&l, &why);
	} while (rc > 0);
	if (rc == 0)
		return 0;
	if (why.code == ERR_OK)
		err_set(&why, (enum err_code)rc, NULL, "the model's turn failed");
	if (rc != ERR_CLIENT_GONE && !l.broken && collect_emitted(l.turns)) {
		log_warn("request failed in its course: %s", why.message);
		rc = fail(&l, &why);
	}
	if (rc < 0 && e)
		*e = why;
	return rc;
}
