/* test_files: listing and reading a container's files over a real repository. SPDX-License-Identifier: ISC */
#include "tests/lib/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "app/base/id.h"
#include "app/base/json.h"
#include "sandbox/home/browse.h"
#include "sandbox/home/snapshot.h"
#include "sandbox/sys/io.h"
#include "tests/lib/apiworld.h"

#define CSV_ID "cfile_b3V0L3JlcG9ydC5jc3Y" /* out/report.csv */

/* -- writing a home, as a box does -------------------------------------------------- */

struct writing {
	struct home *home;
	struct home_snapshot *snapshot;
};

static struct writing begin_in(struct apiworld *w, const char *workspace, const char *container)
{
	struct writing wr;

	mkdir(arena_printf(w->arena, "%s/homes", w->conf.state), 0700);
	mkdir(arena_printf(w->arena, "%s/homes/%s", w->conf.state, workspace), 0700);
	assert_int_equal(home_create(&wr.home,
				 arena_printf(w->arena, "%s/homes/%s/%s.git", w->conf.state,
					 workspace, container)),
		HOME_OK);
	assert_int_equal(home_snapshot_begin(&wr.snapshot, wr.home), HOME_OK);
	return wr;
}

static struct writing begin(struct apiworld *w)
{
	return begin_in(w, "one", "c");
}

static void put_bytes(struct writing *wr, const char *path, unsigned mode, const void *p, size_t n)
{
	int fd = io_memfd("file", p, n);

	assert_true(fd >= 0);
	assert_int_equal(home_snapshot_file(wr->snapshot, path, mode, fd, n), HOME_OK);
	io_close(&fd);
}

static void put_text(struct writing *wr, const char *path, const char *text)
{
	put_bytes(wr, path, 0644, text, strlen(text));
}

/* The commit's id. */
static const char *commit(struct apiworld *w, struct writing *wr, int64_t time)
{
	const struct home_commit_info info = {
		.tool = "exec",
		.email = "c@one",
		.command = "test",
		.duration_ms = -1,
		.time = time,
	};
	home_id id;

	assert_int_equal(home_snapshot_commit(wr->snapshot, &info, id), HOME_OK);
	home_snapshot_free(wr->snapshot);
	home_close(wr->home);
	return arena_strdup(w->arena, id);
}

static int once(void **state)
{
	(void)state;
	return home_global_init();
}

/* -- asking ---------------------------------------------------------------------------- */

static struct reply get(struct apiworld *w, const char *rest, const char *headers)
{
	return apiworld_ask(w, "GET", arena_printf(w->arena, "/api/v1/containers/c/files%s", rest),
		headers, NULL);
}

static const cJSON *data(struct apiworld *w, const struct reply *r)
{
	return json_member(apiworld_json(w, r), "data");
}

static const char *path_at(struct apiworld *w, const struct reply *r, int i)
{
	return json_text(cJSON_GetArrayItem(data(w, r), i), "path");
}

static void assert_error(struct apiworld *w, const struct reply *r, int status, const char *param)
{
	assert_int_equal(r->status, status);
	assert_string_equal(apiworld_text(w, r, "error.param"), param);
}

static const char *id_of(struct apiworld *w, const char *path)
{
	return id_file(w->arena, path, strlen(path));
}

/* -- lists ------------------------------------------------------------------------------ */

static void an_unknown_container_is_an_empty_list(void **state)
{
	struct reply r = get(*state, "", NULL);

	assert_int_equal(r.status, 200);
	assert_string_equal(r.body,
		"{\"object\":\"list\",\"data\":[],\"first_id\":null,\"last_id\":null,"
		"\"has_more\":false}");
}

static void a_file_has_the_documented_shape(void **state)
{
	struct apiworld *w = *state;
	struct writing wr = begin(w);
	const char *id;
	struct reply r;

	put_text(&wr, "out/report.csv", "a,b\n");
	id = commit(w, &wr, 1790000009);
	r = get(w, "", NULL);
	assert_int_equal(r.status, 200);
	assert_string_equal(r.body,
		arena_printf(w->arena,
			"{\"object\":\"list\",\"data\":[{\"id\":\"" CSV_ID
			"\",\"object\":\"container.file\","
			"\"container_id\":\"c\",\"bytes\":4,\"created_at\":1790000009,"
			"\"path\":\"out/report.csv\",\"source\":\"assistant\",\"commit\":\"%s\","
			"\"mode\":\"100644\"}],\"first_id\":\"" CSV_ID "\",\"last_id\":\"" CSV_ID
			"\",\"has_more\":false}",
			id));
}

static void files_are_in_byte_order_of_their_paths(void **state)
{
	struct apiworld *w = *state;
	struct writing wr = begin(w);
	struct reply r;

	put_text(&wr, "b", "");
	put_text(&wr, "a/z", "");
	put_text(&wr, "a.txt", "");
	put_text(&wr, "B", "");
	put_text(&wr, "\xc3\xa4", "");
	commit(w, &wr, 1790000000);
	r = get(w, "", NULL);
	assert_int_equal(cJSON_GetArraySize(data(w, &r)), 5);
	assert_string_equal(path_at(w, &r, 0), "B");
	assert_string_equal(path_at(w, &r, 1), "a.txt");
	assert_string_equal(path_at(w, &r, 2), "a/z");
	assert_string_equal(path_at(w, &r, 3), "b");
	assert_string_equal(path_at(w, &r, 4), "\xc3\xa4");
}

static void pages_follow_one_another(void **state)
{
	struct apiworld *w = *state;
	struct writing wr = begin(w);
	const char *last;
	struct reply r;

	for (int i = 0; i < 5; i++)
		put_text(&wr, arena_printf(w->arena, "f%d", i), "");
	commit(w, &wr, 1790000000);
	r = get(w, "?limit=2", NULL);
	assert_string_equal(path_at(w, &r, 0), "f0");
	assert_string_equal(path_at(w, &r, 1), "f1");
	assert_true(cJSON_IsTrue(json_member(apiworld_json(w, &r), "has_more")));
	last = apiworld_text(w, &r, "last_id");
	assert_string_equal(last, id_of(w, "f1"));
	r = get(w, arena_printf(w->arena, "?after=%s&limit=3", last), NULL);
	assert_string_equal(path_at(w, &r, 0), "f2");
	assert_int_equal(cJSON_GetArraySize(data(w, &r)), 3);
	assert_true(cJSON_IsFalse(json_member(apiworld_json(w, &r), "has_more")));
	r = get(w, arena_printf(w->arena, "?after=%s", id_of(w, "f4")), NULL);
	assert_int_equal(cJSON_GetArraySize(data(w, &r)), 0);
	assert_true(cJSON_IsNull(json_member(apiworld_json(w, &r), "last_id")));
}

static void a_page_begins_after_any_path(void **state)
{
	struct apiworld *w = *state;
	struct writing wr = begin(w);
	struct reply r;

	put_text(&wr, "a", "");
	put_text(&wr, "c", "");
	commit(w, &wr, 1790000000);
	r = get(w, arena_printf(w->arena, "?after=%s", id_of(w, "b/not/there")), NULL);
	assert_int_equal(cJSON_GetArraySize(data(w, &r)), 1);
	assert_string_equal(path_at(w, &r, 0), "c");
}

static void a_hundred_files_are_a_page(void **state)
{
	struct apiworld *w = *state;
	struct writing wr = begin(w);
	struct reply r;

	for (int i = 0; i < 101; i++)
		put_text(&wr, arena_printf(w->arena, "f%03d", i), "");
	commit(w, &wr, 1790000000);
	r = get(w, "", NULL);
	assert_int_equal(cJSON_GetArraySize(data(w, &r)), 100);
	r = get(w, "?limit=1000", NULL);
	assert_int_equal(cJSON_GetArraySize(data(w, &r)), 101);
}

static void bad_limits_and_cursors_are_refused(void **state)
{
	static const char *const limits[] = {
		"0", "1001", "-1", "x", "", "1e2", "%20", "99999999999999999999"};
	static const char *const afters[] = {"", "x", "cfile_", "cfile_YQ==", "cfile_Li4",
		"cfile_L2V0Yw", "cfile_YQBi", "cfile_YR", "cfile_Y%20Q"};
	struct apiworld *w = *state;
	struct reply r;

	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		r = get(w, arena_printf(w->arena, "?limit=%s", limits[i]), NULL);
		assert_error(w, &r, 400, "limit");
	}
	for (size_t i = 0; i < sizeof(afters) / sizeof(afters[0]); i++) {
		r = get(w, arena_printf(w->arena, "?after=%s", afters[i]), NULL);
		assert_error(w, &r, 400, "after");
	}
}

static void another_commit_or_folder_is_not_offered_yet(void **state)
{
	struct reply r = get(*state, "?commit=0123456", NULL);

	assert_error(*state, &r, 400, "commit");
	r = get(*state, "?prefix=out", NULL);
	assert_error(*state, &r, 400, "prefix");
	r = get(*state, "/" CSV_ID "/content?commit=0123456", NULL);
	assert_error(*state, &r, 400, "commit");
}

static void the_list_follows_the_commits(void **state)
{
	struct apiworld *w = *state;
	struct writing wr = begin(w);
	const char *first, *second;
	struct reply r;

	put_text(&wr, "keep", "1");
	put_text(&wr, "change", "1");
	put_text(&wr, "gone", "1");
	first = commit(w, &wr, 1790000000);
	get(w, "", NULL);
	wr = begin(w);
	put_text(&wr, "change", "123");
	home_snapshot_remove(wr.snapshot, "gone");
	second = commit(w, &wr, 1790000100);
	r = get(w, "", NULL);
	assert_int_equal(cJSON_GetArraySize(data(w, &r)), 2);
	assert_string_equal(json_text(cJSON_GetArrayItem(data(w, &r), 0), "commit"), second);
	assert_int_equal(
		cJSON_GetNumberValue(json_member(cJSON_GetArrayItem(data(w, &r), 0), "bytes")), 3);
	assert_string_equal(json_text(cJSON_GetArrayItem(data(w, &r), 1), "commit"), first);
}

static void workspaces_do_not_see_each_other(void **state)
{
	struct apiworld *w = *state;
	struct writing wr = begin_in(w, "two", "c");
	struct reply r;

	put_text(&wr, "secret", "x");
	commit(w, &wr, 1790000000);
	r = get(w, "", NULL);
	assert_int_equal(cJSON_GetArraySize(data(w, &r)), 0);
	r = get(w, arena_printf(w->arena, "/%s/content", id_of(w, "secret")), NULL);
	assert_int_equal(r.status, 404);
	r = get(w, "", arena_printf(w->arena, "x-api-key: %s", w->key_two));
	assert_int_equal(cJSON_GetArraySize(data(w, &r)), 1);
}

static void a_name_that_is_no_utf8_keeps_its_id(void **state)
{
	struct apiworld *w = *state;
	struct writing wr = begin(w);
	struct reply r;
	const char *id;

	put_text(&wr,
		"a\xff"
		"b\n",
		"bytes");
	commit(w, &wr, 1790000000);
	r = get(w, "", NULL);
	assert_string_equal(path_at(w, &r, 0),
		"a\xef\xbf\xbd"
		"b\n");
	id = json_text(cJSON_GetArrayItem(data(w, &r), 0), "id");
	assert_string_equal(id,
		id_of(w,
			"a\xff"
			"b\n"));
	r = get(w, arena_printf(w->arena, "/%s/content", id), NULL);
	assert_int_equal(r.status, 200);
	assert_string_equal(r.body, "bytes");
	assert_string_equal(apiworld_header(w, &r, "content-disposition"),
		"attachment; filename*=UTF-8''a%EF%BF%BDb%0A");
}

/* -- one file ----------------------------------------------------------------------------- */

static void one_file_is_described(void **state)
{
	struct apiworld *w = *state;
	struct writing wr = begin(w);
	struct reply r;

	put_bytes(&wr, "run.sh", 0755, "#!/bin/sh\n", 10);
	home_snapshot_link(wr.snapshot, "link", "run.sh");
	commit(w, &wr, 1790000000);
	r = get(w, arena_printf(w->arena, "/%s", id_of(w, "run.sh")), NULL);
	assert_int_equal(r.status, 200);
	assert_string_equal(apiworld_text(w, &r, "object"), "container.file");
	assert_string_equal(apiworld_text(w, &r, "mode"), "100755");
	r = get(w, arena_printf(w->arena, "/%s", id_of(w, "link")), NULL);
	assert_string_equal(apiworld_text(w, &r, "mode"), "120000");
}

static void what_is_not_there_is_not_found(void **state)
{
	struct apiworld *w = *state;
	struct writing wr;
	struct reply r;

	r = get(w, "/" CSV_ID, NULL);
	assert_error(w, &r, 404, "file_id");
	wr = begin(w);
	put_text(&wr, "out/other", "");
	commit(w, &wr, 1790000000);
	r = get(w, "/" CSV_ID, NULL);
	assert_error(w, &r, 404, "file_id");
	assert_string_equal(apiworld_text(w, &r, "error.message"), "Container file not found");
	r = get(w, "/" CSV_ID "/content", NULL);
	assert_error(w, &r, 404, "file_id");
	/* a folder is no file */
	r = get(w, arena_printf(w->arena, "/%s", id_of(w, "out")), NULL);
	assert_error(w, &r, 404, "file_id");
}

static void ids_that_cannot_be_are_refused(void **state)
{
	static const char *const ids[] = {"x", "cfile_",
		"cfile_YQ==", "cfile_Li4vLi4vZXRjL3Bhc3N3ZA", "cfile_L2V0Yy9wYXNzd2Q", "cfile_YQBi",
		"cfile_YR", "cfile_YS8vYg", "cfile_Lg", "cfile_%2e%2e", "..%2fc"};
	struct apiworld *w = *state;

	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		struct reply r = get(w, arena_printf(w->arena, "/%s", ids[i]), NULL);

		assert_error(w, &r, 400, "file_id");
		r = get(w, arena_printf(w->arena, "/%s/content", ids[i]), NULL);
		assert_error(w, &r, 400, "file_id");
	}
}

/* -- content --------------------------------------------------------------------------------- */

static void content_comes_back_byte_for_byte(void **state)
{
	struct apiworld *w = *state;
	struct writing wr = begin(w);
	size_t n = 3 * 1024 * 1024 + 17;
	char *bytes = arena_alloc(w->arena, n);
	struct reply r;

	for (size_t i = 0; i < n; i++)
		bytes[i] = (char)(i * 2654435761u >> 13);
	put_bytes(&wr, "out/report.csv", 0644, bytes, n);
	commit(w, &wr, 1790000000);
	r = get(w, "/" CSV_ID "/content", NULL);
	assert_int_equal(r.status, 200);
	assert_int_equal(r.len, n);
	assert_memory_equal(r.body, bytes, n);
	assert_string_equal(apiworld_header(w, &r, "content-type"), "application/octet-stream");
	assert_string_equal(
		apiworld_header(w, &r, "content-length"), arena_printf(w->arena, "%zu", n));
	assert_string_equal(apiworld_header(w, &r, "x-content-type-options"), "nosniff");
	assert_string_equal(apiworld_header(w, &r, "content-disposition"),
		"attachment; filename*=UTF-8''report.csv");
}

static void an_empty_file_is_an_empty_answer(void **state)
{
	struct apiworld *w = *state;
	struct writing wr = begin(w);
	struct reply r;

	put_text(&wr, "out/report.csv", "");
	commit(w, &wr, 1790000000);
	r = get(w, "/" CSV_ID "/content", NULL);
	assert_int_equal(r.status, 200);
	assert_int_equal(r.len, 0);
	assert_string_equal(apiworld_header(w, &r, "content-length"), "0");
}

static void a_links_content_is_its_target(void **state)
{
	struct apiworld *w = *state;
	struct writing wr = begin(w);
	struct reply r;

	home_snapshot_link(wr.snapshot, "passwd", "/etc/passwd");
	commit(w, &wr, 1790000000);
	r = get(w, arena_printf(w->arena, "/%s/content", id_of(w, "passwd")), NULL);
	assert_string_equal(r.body, "/etc/passwd");
}

static void a_name_cannot_break_out_of_its_header(void **state)
{
	struct apiworld *w = *state;
	struct writing wr = begin(w);
	struct reply r;

	put_text(&wr, "a\r\nX-Evil: 1\"; b=\xc3\xa9'*%", "");
	commit(w, &wr, 1790000000);
	r = get(w,
		arena_printf(w->arena, "/%s/content", id_of(w, "a\r\nX-Evil: 1\"; b=\xc3\xa9'*%")),
		NULL);
	assert_int_equal(r.status, 200);
	assert_null(apiworld_header(w, &r, "x-evil"));
	assert_string_equal(apiworld_header(w, &r, "content-disposition"),
		"attachment; filename*=UTF-8''a%0D%0AX-Evil%3A%201%22%3B%20b%3D%C3%A9%27%2A%25");
}

static void a_known_version_is_not_sent_again(void **state)
{
	struct apiworld *w = *state;
	struct writing wr = begin(w);
	const char *tag;
	struct reply r;

	put_text(&wr, "out/report.csv", "one");
	commit(w, &wr, 1790000000);
	r = get(w, "/" CSV_ID "/content", NULL);
	tag = apiworld_header(w, &r, "etag");
	assert_int_equal(strlen(tag), 42);
	r = get(w, "/" CSV_ID "/content",
		arena_printf(w->arena, "if-none-match: W/%s, \"x\"\nx-api-key: %s", tag, w->key));
	assert_int_equal(r.status, 304);
	assert_int_equal(r.len, 0);
	assert_string_equal(apiworld_header(w, &r, "etag"), tag);
	wr = begin(w);
	put_text(&wr, "out/report.csv", "two");
	commit(w, &wr, 1790000001);
	r = get(w, "/" CSV_ID "/content", arena_printf(w->arena, "if-none-match: %s", tag));
	assert_int_equal(r.status, 200);
	assert_string_equal(r.body, "two");
}

static void a_range_is_a_part(void **state)
{
	struct apiworld *w = *state;
	struct writing wr = begin(w);
	struct reply r;

	put_text(&wr, "out/report.csv", "0123456789");
	commit(w, &wr, 1790000000);
	r = get(w, "/" CSV_ID "/content", "range: bytes=2-4");
	assert_int_equal(r.status, 206);
	assert_string_equal(r.body, "234");
	assert_string_equal(apiworld_header(w, &r, "content-range"), "bytes 2-4/10");
	assert_string_equal(apiworld_header(w, &r, "content-length"), "3");
	r = get(w, "/" CSV_ID "/content", "range: bytes=10-");
	assert_int_equal(r.status, 416);
	assert_string_equal(apiworld_header(w, &r, "content-range"), "bytes */10");
	r = get(w, "/" CSV_ID "/content", "range: bytes=2-4\nif-range: \"other\"");
	assert_int_equal(r.status, 200);
	assert_string_equal(r.body, "0123456789");
}

static void head_tells_the_length_only(void **state)
{
	struct apiworld *w = *state;
	struct writing wr = begin(w);
	struct reply r;

	put_text(&wr, "out/report.csv", "0123456789");
	commit(w, &wr, 1790000000);
	r = apiworld_ask(w, "HEAD", "/api/v1/containers/c/files/" CSV_ID "/content", NULL, NULL);
	assert_int_equal(r.status, 200);
	assert_int_equal(r.len, 0);
	assert_string_equal(apiworld_header(w, &r, "content-length"), "10");
}

static void a_broken_repository_is_an_error_without_details(void **state)
{
	struct apiworld *w = *state;
	char *head;
	FILE *f;
	struct writing wr = begin(w);
	struct reply r;

	put_text(&wr, "a", "");
	commit(w, &wr, 1790000000);
	head = arena_printf(w->arena, "%s/homes/one/c.git/refs/heads/main", w->conf.state);
	f = fopen(head, "w");
	assert_non_null(f);
	fputs("0123456789012345678901234567890123456789\n", f);
	fclose(f);
	r = get(w, "", NULL);
	assert_int_equal(r.status, 500);
	assert_null(strstr(r.body, "homes"));
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, apiworld_setup, apiworld_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_unknown_container_is_an_empty_list),
		TEST(a_file_has_the_documented_shape),
		TEST(files_are_in_byte_order_of_their_paths),
		TEST(pages_follow_one_another),
		TEST(a_page_begins_after_any_path),
		TEST(a_hundred_files_are_a_page),
		TEST(bad_limits_and_cursors_are_refused),
		TEST(another_commit_or_folder_is_not_offered_yet),
		TEST(the_list_follows_the_commits),
		TEST(workspaces_do_not_see_each_other),
		TEST(a_name_that_is_no_utf8_keeps_its_id),
		TEST(one_file_is_described),
		TEST(what_is_not_there_is_not_found),
		TEST(ids_that_cannot_be_are_refused),
		TEST(content_comes_back_byte_for_byte),
		TEST(an_empty_file_is_an_empty_answer),
		TEST(a_links_content_is_its_target),
		TEST(a_name_cannot_break_out_of_its_header),
		TEST(a_known_version_is_not_sent_again),
		TEST(a_range_is_a_part),
		TEST(head_tells_the_length_only),
		TEST(a_broken_repository_is_an_error_without_details),
	};

	return cmocka_run_group_tests_name("files", tests, once, NULL);
}
