/* responses_object: the response object and what it is made of. SPDX-License-Identifier: ISC */
#include "app/dialect/responses_object.h"

#include <string.h>
#include <time.h>

#include "app/base/json.h"
#include "app/core/result.h"

static void delete_object(void *p)
{
	cJSON_Delete(p);
}

void responses_object_set(cJSON *o, const char *key, cJSON *v)
{
	cJSON_ReplaceItemInObjectCaseSensitive(o, key, v);
}

/* The request's value of key, or null. */
static void echo(cJSON *o, const cJSON *body, const char *key)
{
	const cJSON *v = json_member(body, key);
	cJSON_AddItemToObject(o, key, v ? cJSON_Duplicate(v, true) : cJSON_CreateNull());
}

/* The same, with a word for what was not said. */
static void echo_or(cJSON *o, const cJSON *body, const char *key, const char *word)
{
	const cJSON *v = json_member(body, key);
	bool said = v && !cJSON_IsNull(v);
	cJSON_AddItemToObject(o, key, said ? cJSON_Duplicate(v, true) : cJSON_CreateString(word));
}

static void add_text(cJSON *o, const cJSON *body)
{
	const cJSON *said = json_member(body, "text");
	const cJSON *format = json_member(said, "format");
	cJSON *text = cJSON_AddObjectToObject(o, "text");
	if (cJSON_IsObject(format))
		cJSON_AddItemToObject(text, "format", cJSON_Duplicate(format, true));
	else
		cJSON_AddStringToObject(cJSON_AddObjectToObject(text, "format"), "type", "text");
	echo_or(text, said, "verbosity", "medium");
}

/* Clients' types want a function's nullable keys; secrets in an environment are not for echoing. */
static cJSON *echo_tool(const cJSON *tool)
{
	static const char *const nullable[] = {"parameters", "strict"};
	cJSON *copy = cJSON_Duplicate(tool, true);
	const char *type = json_text(copy, "type");
	if (type && strcmp(type, "function") == 0) {
		for (size_t i = 0; i < 2; i++)
			if (!json_member(copy, nullable[i]))
				cJSON_AddNullToObject(copy, nullable[i]);
		return copy;
	}
	cJSON *parameters = cJSON_GetObjectItemCaseSensitive(copy, "parameters");
	cJSON *env = cJSON_GetObjectItemCaseSensitive(parameters, "environment");
	cJSON_DeleteItemFromObjectCaseSensitive(
		cJSON_GetObjectItemCaseSensitive(env, "network_policy"), "domain_secrets");
	return copy;
}

static void add_tools(cJSON *o, const cJSON *body)
{
	cJSON *tools = cJSON_AddArrayToObject(o, "tools");
	const cJSON *tool;
	cJSON_ArrayForEach(tool, json_member(body, "tools"))
	{
		cJSON_AddItemToArray(tools, echo_tool(tool));
	}
}

static void add_reasoning(cJSON *o, const cJSON *body)
{
	const cJSON *said = json_member(body, "reasoning");
	cJSON *reasoning = cJSON_AddObjectToObject(o, "reasoning");
	echo(reasoning, said, "effort");
	echo(reasoning, said, "summary");
}

cJSON *responses_object_new(struct arena *a, const struct responses_request *rq, const char *id)
{
	const cJSON *body = rq->body;
	cJSON *o = cJSON_CreateObject();
	arena_defer(a, delete_object, o);
	cJSON_AddStringToObject(o, "id", id);
	cJSON_AddStringToObject(o, "object", "response");
	cJSON_AddNumberToObject(o, "created_at", (double)time(NULL));
	cJSON_AddNullToObject(o, "completed_at");
	cJSON_AddStringToObject(o, "status", "in_progress");
	cJSON_AddFalseToObject(o, "background");
	cJSON_AddNullToObject(o, "error");
	cJSON_AddNullToObject(o, "incomplete_details");
	echo(o, body, "instructions");
	echo(o, body, "max_output_tokens");
	echo(o, body, "max_tool_calls");
	cJSON_AddStringToObject(o, "model", rq->turn.model);
	cJSON_AddArrayToObject(o, "output");
	cJSON_AddBoolToObject(o, "parallel_tool_calls", rq->turn.parallel_tool_calls != 0);
	echo(o, body, "presence_penalty");
	echo(o, body, "frequency_penalty");
	cJSON_AddNullToObject(o, "previous_response_id");
	echo(o, body, "prompt_cache_key");
	add_reasoning(o, body);
	echo(o, body, "safety_identifier");
	cJSON_AddStringToObject(o, "service_tier", "default");
	cJSON_AddFalseToObject(o, "store");
	echo(o, body, "temperature");
	add_text(o, body);
	echo_or(o, body, "tool_choice", "auto");
	add_tools(o, body);
	cJSON_AddNumberToObject(o, "top_logprobs", 0);
	echo(o, body, "top_p");
	cJSON_AddStringToObject(o, "truncation", "disabled");
	cJSON_AddNullToObject(o, "usage");
	echo(o, body, "user");
	const cJSON *metadata = json_member(body, "metadata");
	cJSON_AddItemToObject(o, "metadata",
		cJSON_IsObject(metadata) ? cJSON_Duplicate(metadata, true) : cJSON_CreateObject());
	cJSON_AddNullToObject(o, "access_programs");
	return o;
}

static void add_count(cJSON *o, const char *key, int64_t n)
{
	cJSON_AddNumberToObject(o, key, (double)n);
}

/* Providers tell the price of a whole turn only, so that the split in two stays zero. */
static void add_cost(cJSON *o, const struct usage *u)
{
	cJSON_AddNumberToObject(o, "cost", u->upstream_cost + u->server_tool_cost);
	cJSON_AddFalseToObject(o, "is_byok");
	cJSON *details = cJSON_AddObjectToObject(o, "cost_details");
	if (u->upstream_cost > 0)
		cJSON_AddNumberToObject(details, "upstream_inference_cost", u->upstream_cost);
	else
		cJSON_AddNullToObject(details, "upstream_inference_cost");
	cJSON_AddNumberToObject(details, "upstream_inference_input_cost", 0);
	cJSON_AddNumberToObject(details, "upstream_inference_output_cost", 0);
	if (!u->tools_used)
		return;
	cJSON_AddNumberToObject(details, "server_tool_cost", u->server_tool_cost);
	cJSON *use = cJSON_AddObjectToObject(o, "server_tool_use_details");
	add_count(use, "tool_calls_requested", u->tool_calls_requested);
	add_count(use, "tool_calls_executed", u->tool_calls_executed);
	cJSON_AddNumberToObject(use, "web_search_requests", 0);
}

static cJSON *usage_object(const struct usage *u)
{
	cJSON *o = cJSON_CreateObject();
	add_count(o, "input_tokens", u->input);
	cJSON *input = cJSON_AddObjectToObject(o, "input_tokens_details");
	add_count(input, "cached_tokens", u->cached);
	add_count(input, "cache_write_tokens", u->cache_write);
	add_count(o, "output_tokens", u->output);
	add_count(cJSON_AddObjectToObject(o, "output_tokens_details"), "reasoning_tokens",
		u->reasoning);
	add_count(o, "total_tokens", u->input + u->output);
	add_cost(o, u);
	return o;
}

const char *responses_object_finish(cJSON *response, enum finish finish, const struct usage *u)
{
	bool cut = finish == FINISH_LENGTH || finish == FINISH_CONTENT_FILTER;
	const char *status = cut ? "incomplete" : "completed";
	responses_object_set(response, "status", cJSON_CreateString(status));
	responses_object_set(response, "usage", usage_object(u));
	if (!cut) {
		responses_object_set(
			response, "completed_at", cJSON_CreateNumber((double)time(NULL)));
		return status;
	}
	cJSON *details = cJSON_CreateObject();
	cJSON_AddStringToObject(details, "reason",
		finish == FINISH_LENGTH ? "max_output_tokens" : "content_filter");
	responses_object_set(response, "incomplete_details", details);
	return status;
}

void responses_object_fail(cJSON *response, const struct err *e, const struct usage *u)
{
	const struct err_info *info = err_info(e->code);
	cJSON *error = cJSON_CreateObject();
	cJSON_AddStringToObject(error, "code", info->response);
	/* What failed inside is for the log, which has it. */
	const char *message = e->code == ERR_SERVER ? "Internal error" : e->message;
	json_add_text(error, "message", message, strlen(message));
	responses_object_set(response, "status", cJSON_CreateString("failed"));
	responses_object_set(response, "error", error);
	responses_object_set(response, "usage", usage_object(u));
	cJSON_AddStringToObject(response, "error_type", info->canonical);
}

/* What the call asks for, if its arguments say it in the usual way; the result has the last word. */
static void add_asked_action(cJSON *item, const char *arguments)
{
	cJSON *asked = cJSON_Parse(arguments);
	const cJSON *commands = json_member(asked, "commands"), *v;
	bool usual = cJSON_IsArray(commands);
	cJSON_ArrayForEach(v, commands)
	{
		usual = usual && cJSON_IsString(v);
	}
	if (usual) {
		const struct result none = {.timeout_ms = -1, .max_output_length = -1};
		cJSON *action = result_action(&none);
		responses_object_set(action, "commands", cJSON_Duplicate(commands, true));
		cJSON_AddItemToObject(item, "action", action);
	}
	cJSON_Delete(asked);
}

cJSON *responses_object_shell(const struct call *call, const char *id)
{
	cJSON *item = cJSON_CreateObject();
	cJSON_AddStringToObject(item, "id", id);
	cJSON_AddStringToObject(item, "type", "openrouter:shell");
	cJSON_AddStringToObject(item, "status", "in_progress");
	cJSON_AddStringToObject(item, "call_id", call->id);
	json_add_text(item, "arguments", call->arguments, strlen(call->arguments));
	add_asked_action(item, call->arguments);
	return item;
}

void responses_object_ran(cJSON *item, const struct result *r)
{
	responses_object_set(item, "status", cJSON_CreateString(r->error ? "failed" : "completed"));
	cJSON_DeleteItemFromObjectCaseSensitive(item, "action");
	cJSON_AddItemToObject(item, "action", result_action(r));
	if (!r->error)
		cJSON_AddItemToObject(item, "output", result_outputs(r));
	if (r->container_id)
		cJSON_AddStringToObject(item, "container_id", r->container_id);
	if (!r->error || r->files)
		cJSON_AddItemToObject(item, "files", result_citations(r));
	if (r->error)
		json_add_text(item, "error", r->error, strlen(r->error));
}
