/* Which provider serves a model: upstream_find, upstream_models. SPDX-License-Identifier: ISC */
#include <string.h>

#include "app/base/arena.h"
#include "app/upstream/upstream.h"
#include "sandbox/sys/buf.h"
#include "tests/lib/test.h"

static char acme[] = "acme", prefix[] = "acme/", local[] = "local", none[] = "",
	    sandgate[] = "sandgate/";
static char lumen[] = "lumen-9b", gpt[] = "gpt-*", any[] = "*", script[] = "script",
	    chat[] = "chat";
static char *acme_models[] = {lumen, gpt, NULL};
static char *local_models[] = {lumen, any, NULL};
static char *script_models[] = {script, NULL};

static struct conf_provider builtin = {
	.name = script, .protocol = script, .models = script_models, .prefix = sandgate};
static struct conf_provider second = {
	.name = local, .protocol = chat, .models = local_models, .prefix = none, .next = &builtin};
static struct conf_provider first = {
	.name = acme, .protocol = chat, .models = acme_models, .prefix = prefix, .next = &second};
static struct conf_provider alone = {
	.name = acme, .protocol = chat, .models = acme_models, .prefix = prefix, .next = &builtin};

/* model is served by that provider under that name; NULL: by none. */
static void serves(
	struct conf_provider *list, const char *model, const char *provider, const char *as)
{
	struct arena *a = arena_new();
	struct conf c = {.providers = list};
	struct err e = {0};
	const char *name;
	const struct conf_provider *p = upstream_find(&c, model, &name, a, &e);
	if (provider == NULL) {
		assert_null(p);
		assert_null(name);
		assert_int_equal(e.code, ERR_NOT_FOUND);
		assert_string_equal(e.param, "model");
	} else {
		assert_non_null(p);
		assert_string_equal(p->name, provider);
		assert_string_equal(name, as);
	}
	arena_free(a);
}

static void the_prefix_is_taken_off(void **state)
{
	(void)state;
	serves(&first, "acme/lumen-9b", "acme", "lumen-9b");
	serves(&first, "acme/gpt-x/y", "acme", "gpt-x/y");
}

static void the_first_that_fits_serves(void **state)
{
	(void)state;
	serves(&first, "acme/other", "local", "acme/other");
	serves(&first, "lumen-9b", "local", "lumen-9b");
	serves(&first, "sandgate/other", "local", "sandgate/other");
	serves(&alone, "sandgate/script", "script", "script");
}

static void no_catch_all_takes_the_built_in_models_name(void **state)
{
	(void)state;
	serves(&first, "sandgate/script", "script", "script");
}

static void what_nobody_serves_is_not_found(void **state)
{
	(void)state;
	char longest[1000];
	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	serves(&alone, "lumen-9b", NULL, NULL);
	serves(&alone, "acme/", NULL, NULL);
	serves(&alone, "acme/lumen-9b2", NULL, NULL);
	serves(&alone, "sandgate/Script", NULL, NULL);
	serves(&first, longest, NULL, NULL);
}

static void no_name_is_a_bad_request(void **state)
{
	(void)state;
	struct conf c = {.providers = &first};
	struct err e = {0};
	const char *name;
	assert_null(upstream_find(&c, "", &name, NULL, &e));
	assert_int_equal(e.code, ERR_INVALID_REQUEST);
	assert_null(upstream_find(&c, NULL, &name, NULL, &e));
	assert_int_equal(e.code, ERR_INVALID_REQUEST);
}

static void note(void *ctx, const char *model, const struct conf_provider *p)
{
	buf_printf(ctx, "%s=%s ", model, p->name);
}

static void models_are_listed_under_the_names_that_reach_them(void **state)
{
	(void)state;
	struct buf b;
	buf_init(&b, 1024);
	upstream_models(&(struct conf){.providers = &first}, note, &b);
	assert_string_equal(
		buf_str(&b), "acme/lumen-9b=acme lumen-9b=local sandgate/script=script ");
	buf_reset(&b);
	upstream_models(&(struct conf){.providers = &alone}, note, &b);
	assert_string_equal(buf_str(&b), "acme/lumen-9b=acme sandgate/script=script ");
	buf_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_prefix_is_taken_off),
		cmocka_unit_test(the_first_that_fits_serves),
		cmocka_unit_test(no_catch_all_takes_the_built_in_models_name),
		cmocka_unit_test(what_nobody_serves_is_not_found),
		cmocka_unit_test(no_name_is_a_bad_request),
		cmocka_unit_test(models_are_listed_under_the_names_that_reach_them),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
