/* responses_parts: the content of messages and of tools' results. SPDX-License-Identifier: ISC */
#include <string.h>
#include <strings.h>

#include "app/dialect/responses_in.h"

static int need_upload(const struct place *at, const char *instead, struct err *e)
{
	if (!place_member(at, "file_id"))
		return place_fail(at, instead, e, "required");
	return place_fail(at, "file_id", e,
		"attaching files is not offered yet; send the bytes in %s", instead);
}

static int read_image(struct part *p, const struct place *at, struct err *e)
{
	static const char *const details[] = {"auto", "low", "high", "original", NULL};
	size_t detail = 0;
	int rc = place_string(&p->url, at, "image_url", e);
	if (rc != 0)
		return rc < 0 ? rc : need_upload(at, "image_url", e);
	if (strncasecmp(p->url, "https:", 6) != 0 && strncasecmp(p->url, "data:", 5) != 0)
		return place_fail(at, "image_url", e, "expected an https: or data: URL");
	rc = place_word(&detail, at, "detail", details, e);
	if (rc == 0)
		p->detail = detail == 3 ? "high" : details[detail];
	p->kind = PART_IMAGE;
	return rc < 0 ? rc : 0;
}

static int read_file(struct part *p, const struct place *at, struct err *e)
{
	int rc = place_string(&p->filename, at, "filename", e);
	if (rc >= 0)
		rc = place_refuse(at, "file_url",
			"fetching files is not offered; send the bytes in file_data", e);
	if (rc >= 0)
		rc = place_string(&p->url, at, "file_data", e);
	if (rc != 0)
		return rc < 0 ? rc : need_upload(at, "file_data", e);
	if (strncasecmp(p->url, "data:", 5) != 0)
		return place_fail(at, "file_data", e, "expected a data: URL");
	p->kind = PART_FILE;
	return 0;
}

static int read_part(struct part *p, const struct place *at, struct err *e)
{
	const char *type = NULL;
	if (!cJSON_IsObject(at->v))
		return place_fail(at, NULL, e, "expected an object");
	int rc = place_need_string(&type, at, "type", e);
	if (rc < 0)
		return rc;
	if (strcmp(type, "input_text") == 0 || strcmp(type, "output_text") == 0) {
		p->kind = PART_TEXT;
		return place_need_string(&p->text, at, "text", e);
	}
	if (strcmp(type, "refusal") == 0) {
		p->kind = PART_REFUSAL;
		return place_need_string(&p->text, at, "refusal", e);
	}
	if (strcmp(type, "input_image") == 0)
		return read_image(p, at, e);
	if (strcmp(type, "input_file") == 0)
		return read_file(p, at, e);
	return place_fail(at, "type", e,
		"expected \"input_text\", \"input_image\", \"input_file\", \"output_text\" or "
		"\"refusal\"");
}

int responses_in_parts(struct part **out, struct decode *d, const struct place *item,
	const char *key, struct err *e)
{
	const cJSON *v = place_member(item, key);
	struct part **last = out;
	size_t i = 0;
	*out = NULL;
	if (cJSON_IsString(v)) {
		*out = arena_new_of(d->arena, struct part);
		(*out)->kind = PART_TEXT;
		(*out)->text = v->valuestring;
		return 0;
	}
	if (!v)
		return place_fail(item, key, e, "required");
	if (!cJSON_IsArray(v))
		return place_fail(item, key, e, "expected a string or an array");
	struct place list = {.up = item, .key = key, .v = v};
	cJSON_ArrayForEach(v, list.v)
	{
		struct place at = place_item(&list, i++, v);
		struct part *p = arena_new_of(d->arena, struct part);
		int rc = read_part(p, &at, e);
		if (rc < 0)
			return rc;
		*last = p;
		last = &p->next;
	}
	return 0;
}

int responses_in_output(const char **out, struct decode *d, const struct place *item,
	const char *key, struct err *e)
{
	struct part *parts;
	int rc = responses_in_parts(&parts, d, item, key, e);
	if (rc == 0)
		*out = replay_text(d->replay, parts);
	return rc;
}
