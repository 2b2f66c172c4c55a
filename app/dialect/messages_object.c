/* messages_object: the message object and what it is made of. SPDX-License-Identifier: ISC */
#include "app/dialect/messages_object.h"

#include <string.h>

#include "app/base/json.h"
#include "app/core/result.h"

static void delete_object(void *p)
{
	cJSON_Delete(p);
}

static void add_count(cJSON *o, const char *key, int64_t n)
{
	cJSON_AddNumberToObject(o, key, n > 0 ? (double)n : 0);
}

static void add_cache_creation(cJSON *o, int64_t written)
{
	cJSON *v = cJSON_AddObjectToObject(o, "cache_creation");
	add_count(v, "ephemeral_5m_input_tokens", written);
	add_count(v, "ephemeral_1h_input_tokens", 0);
}

static void add_server_tool_use(cJSON *o, const struct usage *u)
{
	if (!u->tools_used) {
		cJSON_AddNullToObject(o, "server_tool_use");
		return;
	}
	cJSON *v = cJSON_AddObjectToObject(o, "server_tool_use");
	add_count(v, "web_search_requests", 0);
	add_count(v, "web_fetch_requests", 0);
	add_count(v, "tool_calls_requested", u->tool_calls_requested);
	add_count(v, "tool_calls_executed", u->tool_calls_executed);
}

/* Providers tell the price of a whole turn only, so that the split in two stays zero. */
static void add_cost(cJSON *o, const struct usage *u)
{
	cJSON_AddNumberToObject(o, "cost", u->upstream_cost + u->server_tool_cost);
	cJSON_AddFalseToObject(o, "is_byok");
	cJSON *v = cJSON_AddObjectToObject(o, "cost_details");
	if (u->upstream_cost > 0)
		cJSON_AddNumberToObject(v, "upstream_inference_cost", u->upstream_cost);
	else
		cJSON_AddNullToObject(v, "upstream_inference_cost");
	cJSON_AddNumberToObject(v, "upstream_inference_prompt_cost", 0);
	cJSON_AddNumberToObject(v, "upstream_inference_completions_cost", 0);
	if (u->tools_used)
		cJSON_AddNumberToObject(v, "server_tool_cost", u->server_tool_cost);
}

/* Here input_tokens are those that no cache was asked about. */
cJSON *messages_object_usage(const struct usage *u)
{
	cJSON *o = cJSON_CreateObject();
	add_count(o, "input_tokens", u->input - u->cached - u->cache_write);
	add_count(o, "cache_creation_input_tokens", u->cache_write);
	add_count(o, "cache_read_input_tokens", u->cached);
	add_cache_creation(o, u->cache_write);
	add_count(o, "output_tokens", u->output);
	if (u->reasoning > 0)
		add_count(cJSON_AddObjectToObject(o, "output_tokens_details"), "thinking_tokens",
			u->reasoning);
	else
		cJSON_AddNullToObject(o, "output_tokens_details");
	add_server_tool_use(o, u);
	cJSON_AddStringToObject(o, "service_tier", "standard");
	cJSON_AddNullToObject(o, "inference_geo");
	cJSON_AddNullToObject(o, "speed");
	add_cost(o, u);
	return o;
}

cJSON *messages_object_new(struct arena *a, const char *id, const char *model)
{
	const struct usage none = {0};
	cJSON *o = cJSON_CreateObject();
	arena_defer(a, delete_object, o);
	cJSON_AddStringToObject(o, "id", id);
	cJSON_AddStringToObject(o, "type", "message");
	cJSON_AddStringToObject(o, "role", "assistant");
	cJSON_AddStringToObject(o, "model", model);
	cJSON_AddArrayToObject(o, "content");
	cJSON_AddNullToObject(o, "container");
	cJSON_AddNullToObject(o, "diagnostics");
	cJSON_AddNullToObject(o, "stop_reason");
	cJSON_AddNullToObject(o, "stop_sequence");
	cJSON_AddNullToObject(o, "stop_details");
	cJSON *usage = messages_object_usage(&none);
	cJSON_ReplaceItemInObjectCaseSensitive(usage, "cost", cJSON_CreateNull());
	cJSON_ReplaceItemInObjectCaseSensitive(usage, "cost_details", cJSON_CreateNull());
	cJSON_AddItemToObject(o, "usage", usage);
	return o;
}

cJSON *messages_object_delta(const char *stop_reason, const char *stop_sequence)
{
	cJSON *o = cJSON_CreateObject();
	cJSON_AddStringToObject(o, "stop_reason", stop_reason);
	if (stop_sequence)
		json_add_text(o, "stop_sequence", stop_sequence, strlen(stop_sequence));
	else
		cJSON_AddNullToObject(o, "stop_sequence");
	if (strcmp(stop_reason, "refusal") == 0) {
		cJSON *details = cJSON_AddObjectToObject(o, "stop_details");
		cJSON_AddStringToObject(details, "type", "refusal");
		cJSON_AddNullToObject(details, "category");
		cJSON_AddNullToObject(details, "explanation");
	} else {
		cJSON_AddNullToObject(o, "stop_details");
	}
	cJSON_AddNullToObject(o, "container");
	return o;
}

void messages_object_end(cJSON *message, const cJSON *delta, const cJSON *usage)
{
	const cJSON *v;
	cJSON_ArrayForEach(v, delta)
	{
		cJSON_ReplaceItemInObjectCaseSensitive(
			message, v->string, cJSON_Duplicate(v, true));
	}
	cJSON_ReplaceItemInObjectCaseSensitive(message, "usage", cJSON_Duplicate(usage, true));
}

const char *messages_object_call_id(struct arena *a, const struct call *call)
{
	const char *rest = strncmp(call->id, "call_", 5) == 0 ? call->id + 5 : call->id;
	return arena_printf(a, "%s_%s", call->tool == TOOL_CLIENT ? "toolu" : "srvtoolu", rest);
}

cJSON *messages_object_call(struct arena *a, const struct call *call)
{
	bool client = call->tool == TOOL_CLIENT;
	const char *ours = call->tool == TOOL_BASH ? "openrouter:bash" : "openrouter:shell";
	const char *name = client ? call->name : ours;
	cJSON *o = cJSON_CreateObject();
	cJSON_AddStringToObject(o, "type", client ? "tool_use" : "server_tool_use");
	cJSON_AddStringToObject(o, "id", messages_object_call_id(a, call));
	json_add_text(o, "name", name, strlen(name));
	cJSON_AddObjectToObject(o, "input");
	cJSON_AddStringToObject(cJSON_AddObjectToObject(o, "caller"), "type", "direct");
	return o;
}

const char *messages_object_input(struct arena *a, const char *arguments)
{
	size_t n = strlen(arguments);
	cJSON *v;
	if (json_parse(&v, a, arguments, n, NULL) == 0 && cJSON_IsObject(v))
		return arguments;
	v = cJSON_CreateObject();
	json_add_text(v, "raw_arguments", arguments, n);
	const char *text = json_print(a, v);
	cJSON_Delete(v);
	return text;
}

cJSON *messages_object_result(
	struct arena *a, const struct call *call, const struct result *r, const char *error)
{
	bool bash = call->tool == TOOL_BASH;
	cJSON *o = cJSON_CreateObject();
	if (r)
		error = r->error;
	cJSON_AddStringToObject(
		o, "type", bash ? "openrouter_bash_tool_result" : "openrouter_shell_tool_result");
	cJSON_AddStringToObject(o, "tool_use_id", messages_object_call_id(a, call));
	if (r && r->container_id)
		cJSON_AddStringToObject(o, "container_id", r->container_id);
	if (error) {
		json_add_text(cJSON_AddObjectToObject(o, "content"), "error", error, strlen(error));
	} else if (bash) {
		cJSON_AddItemToObject(o, "content", result_bash(r));
	} else {
		cJSON *content = cJSON_AddObjectToObject(o, "content");
		cJSON_AddItemToObject(content, "output", result_outputs(r));
	}
	if (r && (!error || r->files))
		cJSON_AddItemToObject(o, "files", result_citations(r));
	return o;
}
