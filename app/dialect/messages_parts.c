/* messages_parts: blocks that are content in themselves. SPDX-License-Identifier: ISC */
#include <string.h>
#include <strings.h>

#include "app/base/json.h"
#include "app/dialect/messages_in.h"
#include "sandbox/sys/buf.h"

/* Far above any body limit; what is joined is part of the body. */
#define JOINED_MAX ((size_t)1 << 30)

/* What stands before, and the text of the member key: a string or an array of text blocks. */
static int read_texts(const char **out, struct arena *a, const char *before, const struct place *at,
	struct err *e)
{
	const cJSON *v = place_member(at, "content");
	const struct place list = {.up = at, .key = "content", .v = v};
	struct buf b;
	size_t i = 0;
	int rc = 0;
	if (!cJSON_IsString(v) && !cJSON_IsArray(v))
		return place_fail(at, "content", e, "expected a string or an array of text blocks");
	buf_init(&b, JOINED_MAX);
	buf_puts(&b, before);
	if (cJSON_IsString(v))
		buf_printf(&b, "%s%s", b.len > 0 ? "\n" : "", v->valuestring);
	cJSON_ArrayForEach(v, list.v)
	{
		struct place block = place_item(&list, i++, v);
		const char *type = json_text(v, "type"), *text = json_text(v, "text");
		if (!type || strcmp(type, "text") != 0 || !text) {
			rc = place_fail(&block, NULL, e, "expected a text block");
			break;
		}
		buf_printf(&b, "%s%s", b.len > 0 ? "\n" : "", text);
	}
	*out = arena_strndup(a, buf_str(&b), b.len);
	buf_free(&b);
	return rc;
}

static int no_uploads(const struct place *source, struct err *e)
{
	return place_fail(source, "type", e,
		"attaching files is not offered yet; send the bytes as \"base64\"");
}

static int read_image(struct part *p, struct arena *a, const struct place *block, struct err *e)
{
	static const char *const types[] = {"base64", "url", "file", NULL};
	static const char *const media[] = {
		"image/jpeg", "image/png", "image/gif", "image/webp", NULL};
	struct place source;
	const char *data = NULL;
	size_t type = 0, m = 0;
	p->kind = PART_IMAGE;
	int rc = place_need_object(&source, block, "source", e);
	if (rc >= 0)
		rc = place_word(&type, &source, "type", types, e);
	if (rc != 0)
		return rc < 0 ? rc : place_fail(&source, "type", e, "required");
	if (type == 2)
		return no_uploads(&source, e);
	if (type == 1) {
		rc = place_need_string(&p->url, &source, "url", e);
		if (rc == 0 && strncasecmp(p->url, "https:", 6) != 0)
			rc = place_fail(&source, "url", e, "expected an https: URL");
		return rc;
	}
	rc = place_word(&m, &source, "media_type", media, e);
	if (rc != 0)
		return rc < 0 ? rc : place_fail(&source, "media_type", e, "required");
	rc = place_need_string(&data, &source, "data", e);
	if (rc == 0)
		p->url = arena_printf(a, "data:%s;base64,%s", media[m], data);
	return rc;
}

static int read_pdf(struct part *p, struct arena *a, const struct place *source, const char *title,
	struct err *e)
{
	static const char *const media[] = {"application/pdf", NULL};
	const char *data = NULL;
	size_t m = 0;
	int rc = place_word(&m, source, "media_type", media, e);
	if (rc >= 0)
		rc = place_need_string(&data, source, "data", e);
	if (rc < 0)
		return rc;
	p->kind = PART_FILE;
	p->url = arena_printf(a, "data:application/pdf;base64,%s", data);
	p->filename = title && *title ? title : "document.pdf";
	return 0;
}

static int read_document(struct part *p, struct arena *a, const struct place *block, struct err *e)
{
	static const char *const types[] = {"base64", "text", "content", "url", "file", NULL};
	const char *title = NULL, *context = NULL, *data = NULL;
	struct place source;
	size_t type = 0;
	int rc = place_string(&title, block, "title", e);
	if (rc >= 0)
		rc = place_string(&context, block, "context", e);
	if (rc >= 0)
		rc = place_need_object(&source, block, "source", e);
	if (rc >= 0)
		rc = place_word(&type, &source, "type", types, e);
	if (rc != 0)
		return rc < 0 ? rc : place_fail(&source, "type", e, "required");
	if (type == 0)
		return read_pdf(p, a, &source, title, e);
	if (type >= 3)
		return no_uploads(&source, e);
	p->kind = PART_TEXT;
	const char *before = arena_printf(a, "%s%s%s", title ? title : "",
		title && context ? "\n" : "", context ? context : "");
	if (type == 2)
		return read_texts(&p->text, a, before, &source, e);
	rc = place_need_string(&data, &source, "data", e);
	if (rc == 0)
		p->text = arena_printf(a, "%s%s%s", before, *before ? "\n" : "", data);
	return rc;
}

static int read_search_result(
	struct part *p, struct arena *a, const struct place *block, struct err *e)
{
	const char *title = NULL, *source = NULL;
	int rc = place_need_string(&title, block, "title", e);
	if (rc >= 0)
		rc = place_need_string(&source, block, "source", e);
	if (rc < 0)
		return rc;
	p->kind = PART_TEXT;
	return read_texts(&p->text, a, arena_printf(a, "%s\n%s", title, source), block, e);
}

int messages_in_part(struct part **out, struct arena *a, const struct place *block, struct err *e)
{
	struct part *p = arena_new_of(a, struct part);
	const char *type = NULL;
	*out = p;
	if (!cJSON_IsObject(block->v))
		return place_fail(block, NULL, e, "expected an object");
	int rc = place_need_string(&type, block, "type", e);
	if (rc < 0)
		return rc;
	if (strcmp(type, "text") == 0)
		return place_need_string(&p->text, block, "text", e); /* kind 0 is text */
	if (strcmp(type, "image") == 0)
		return read_image(p, a, block, e);
	if (strcmp(type, "document") == 0)
		return read_document(p, a, block, e);
	if (strcmp(type, "search_result") == 0)
		return read_search_result(p, a, block, e);
	return 1;
}

int messages_in_parts(
	struct part **out, struct arena *a, const struct place *at, const char *key, struct err *e)
{
	const cJSON *v = place_member(at, key);
	struct part **last = out;
	size_t i = 0;
	*out = NULL;
	if (!v)
		return 0;
	if (cJSON_IsString(v)) {
		*out = arena_new_of(a, struct part);
		(*out)->text = v->valuestring;
		return 0;
	}
	if (!cJSON_IsArray(v))
		return place_fail(at, key, e, "expected a string or an array of blocks");
	const struct place list = {.up = at, .key = key, .v = v};
	cJSON_ArrayForEach(v, list.v)
	{
		struct place block = place_item(&list, i++, v);
		int rc = messages_in_part(last, a, &block, e);
		if (rc == 1)
			rc = place_fail(&block, "type", e,
				"expected \"text\", \"image\", \"document\" or "
				"\"search_result\"");
		if (rc < 0)
			return rc;
		last = &(*last)->next;
	}
	return 0;
}
