/* models: GET /api/v1/models, in each SDK family's shape. SPDX-License-Identifier: ISC */
#include <string.h>

#include "app/api/api.h"
#include "app/api/query.h"
#include "app/upstream/upstream.h"

/* A chat provider does not say what it can do; these are what our dialects pass on to it. */
static const char *const models_parameters[] = {"tools", "tool_choice", "max_tokens", "temperature",
	"top_p", "stop", "presence_penalty", "frequency_penalty", "response_format"};

struct model {
	const char *id;
	const char *owner; /* the provider's name in the configuration */
	struct model *next;
};

/* All of them, in the configuration's order. */
struct models {
	struct arena *arena;
	struct model *first, **last;
	size_t n;
};

static void collect(void *ctx, const char *id, const struct conf_provider *p)
{
	struct models *all = ctx;
	struct model *m = arena_new_of(all->arena, struct model);

	m->id = arena_strdup(all->arena, id);
	m->owner = p->name;
	*all->last = m;
	all->last = &m->next;
	all->n++;
}

static void collect_all(struct models *all, struct arena *a)
{
	*all = (struct models){.arena = a, .last = &all->first};
	upstream_models(api_env()->conf, collect, all);
}

static cJSON *strings(const char *const *list, size_t n)
{
	cJSON *v = cJSON_CreateArray();

	for (size_t i = 0; i < n; i++)
		cJSON_AddItemToArray(v, cJSON_CreateString(list[i]));
	return v;
}

/* Text in, text out; which images a model reads, nobody has told us. */
static cJSON *architecture(void)
{
	static const char *const text[] = {"text"};
	cJSON *v = cJSON_CreateObject();

	cJSON_AddStringToObject(v, "modality", "text->text");
	cJSON_AddItemToObject(v, "input_modalities", strings(text, 1));
	cJSON_AddItemToObject(v, "output_modalities", strings(text, 1));
	cJSON_AddStringToObject(v, "tokenizer", "Other");
	cJSON_AddNullToObject(v, "instruct_type");
	return v;
}

static cJSON *pricing(void)
{
	static const char *const keys[] = {"prompt", "completion", "request", "image"};
	cJSON *v = cJSON_CreateObject();

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		cJSON_AddStringToObject(v, keys[i], "0");
	return v;
}

static cJSON *top_provider(void)
{
	cJSON *v = cJSON_CreateObject();

	cJSON_AddNullToObject(v, "context_length");
	cJSON_AddNullToObject(v, "max_completion_tokens");
	cJSON_AddFalseToObject(v, "is_moderated");
	return v;
}

/*
 * What OpenRouter's and OpenAI's clients require, in one object. created is the epoch, which is
 * what the APIs say when a release date is not known.
 */
static cJSON *encode_openai(const struct model *m, const char *details)
{
	static const char *const unknown[] = {"context_length", "per_request_limits",
		"supported_voices", "default_parameters", "expiration_date", "knowledge_cutoff"};
	cJSON *v = cJSON_CreateObject(), *links = cJSON_CreateObject();

	cJSON_AddStringToObject(v, "id", m->id);
	cJSON_AddStringToObject(v, "object", "model");
	cJSON_AddNumberToObject(v, "created", 0);
	cJSON_AddStringToObject(v, "owned_by", m->owner);
	cJSON_AddStringToObject(v, "canonical_slug", m->id);
	cJSON_AddStringToObject(v, "name", m->id);
	cJSON_AddItemToObject(v, "architecture", architecture());
	cJSON_AddItemToObject(v, "pricing", pricing());
	cJSON_AddItemToObject(v, "top_provider", top_provider());
	cJSON_AddItemToObject(v, "supported_parameters",
		strings(models_parameters,
			sizeof(models_parameters) / sizeof(models_parameters[0])));
	for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++)
		cJSON_AddNullToObject(v, unknown[i]);
	cJSON_AddStringToObject(links, "details", details);
	cJSON_AddItemToObject(v, "links", links);
	return v;
}

static cJSON *encode_anthropic(const struct model *m)
{
	cJSON *v = cJSON_CreateObject();

	cJSON_AddStringToObject(v, "type", "model");
	cJSON_AddStringToObject(v, "id", m->id);
	cJSON_AddStringToObject(v, "display_name", m->id);
	cJSON_AddStringToObject(v, "created_at", "1970-01-01T00:00:00Z");
	return v;
}

/* details: the path of this one model. */
static cJSON *encode(const struct req *r, const struct model *m, const char *details)
{
	return r->api == HTTP_ANTHROPIC ? encode_anthropic(m) : encode_openai(m, details);
}

/* A part of the list: at most limit models from offset on. */
struct page {
	int64_t offset, limit;
};

/* Anthropic's clients name the model that they have seen last, OpenRouter's count. */
static int read_page(struct page *out, struct req *r, const struct models *all, struct err *e)
{
	const char *after = r->api == HTTP_ANTHROPIC ? http_query(r, "after_id") : NULL;
	int rc = query_int(&out->offset, r, "offset", (struct query_range){0, 0, INT32_MAX}, e);

	if (rc == 0)
		rc = query_int(&out->limit, r, "limit", (struct query_range){1000, 1, 1000}, e);
	if (rc < 0 || !after)
		return rc;
	out->offset = 0;
	for (const struct model *m = all->first; m; m = m->next) {
		out->offset++;
		if (strcmp(m->id, after) == 0)
			return 0;
	}
	return err_set(
		e, ERR_INVALID_REQUEST, "after_id", "after_id: expected a model of this list");
}

static void add_or_null(cJSON *o, const char *key, const char *text)
{
	if (text)
		cJSON_AddStringToObject(o, key, text);
	else
		cJSON_AddNullToObject(o, key);
}

/* Where the list goes on; next: the offset of the first model that is not on the page. */
static void add_links(cJSON *list, struct req *r, const struct page *p, size_t next, size_t n)
{
	cJSON *links = cJSON_CreateObject();

	add_or_null(links, "next",
		next >= n ? NULL
			  : arena_printf(r->arena, "%s?offset=%zu&limit=%lld", r->path, next,
				    (long long)p->limit));
	cJSON_AddStringToObject(list, "object", "list");
	cJSON_AddItemToObject(list, "links", links);
	cJSON_AddNumberToObject(list, "total_count", (double)n);
}

int api_models_list(struct req *r, struct err *e)
{
	const char *first = NULL, *last = NULL;
	struct models all;
	struct page p;
	cJSON *list, *data;
	size_t at = 0, end;
	int rc;

	collect_all(&all, r->arena);
	rc = read_page(&p, r, &all, e);
	if (rc < 0)
		return rc;
	end = (size_t)(p.offset + p.limit);
	list = cJSON_CreateObject();
	data = cJSON_AddArrayToObject(list, "data");
	for (const struct model *m = all.first; m && at < end; m = m->next, at++) {
		if (at < (size_t)p.offset)
			continue;
		cJSON_AddItemToArray(
			data, encode(r, m, arena_printf(r->arena, "%s/%s", r->path, m->id)));
		first = first ? first : m->id;
		last = m->id;
	}
	cJSON_AddBoolToObject(list, "has_more", at < all.n);
	add_or_null(list, "first_id", first);
	add_or_null(list, "last_id", last);
	if (r->api == HTTP_OPENAI)
		add_links(list, r, &p, at, all.n);
	rc = http_send_json(r, 200, list);
	cJSON_Delete(list);
	return rc;
}

/* A name has a slash in it as often as not, plain or encoded: one placeholder or two. */
int api_models_get(struct req *r, struct err *e)
{
	const char *id =
		r->args[1] ? arena_printf(r->arena, "%s/%s", r->args[0], r->args[1]) : r->args[0];
	struct models all;
	cJSON *v;
	int rc;

	collect_all(&all, r->arena);
	for (const struct model *m = all.first; m; m = m->next) {
		if (strcmp(m->id, id) != 0)
			continue;
		v = encode(r, m, r->path);
		rc = http_send_json(r, 200, v);
		cJSON_Delete(v);
		return rc;
	}
	return err_set(e, ERR_NOT_FOUND, "model", "No model %.200s here", id);
}
