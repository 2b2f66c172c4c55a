/* test_home_browse: listings and contents; random changes against a simple model. SPDX-License-Identifier: ISC */
#include "tests/unit/test_home.h"

#include <time.h>

#include "sandbox/sys/log.h"

static struct home_listing *list(struct fixture *f, const char *cache)
{
	struct home_listing *l;

	if (home_listing_open(&l, f->h, cache) != HOME_OK)
		fail_msg("%s", home_error());
	return l;
}

static void describe(struct buf *out, const struct home_listing *l)
{
	buf_reset(out);
	for (size_t i = 0; i < home_listing_count(l); i++) {
		const struct home_entry *e = home_listing_at(l, i);

		assert_int_equal(strlen(e->path), e->path_len);
		buf_printf(out, "%o %llu %lld %s %s %s\n", e->mode, (unsigned long long)e->bytes,
			(long long)e->time, e->commit, e->blob, e->path);
	}
}

static void an_empty_home_has_an_empty_listing(void **state)
{
	struct fixture *f = *state;
	struct home_listing *l = list(f, f->cache);

	assert_int_equal(home_listing_count(l), 0);
	assert_null(home_listing_at(l, 0));
	assert_null(home_listing_find(l, "a", 1));
	assert_int_equal(home_listing_after(l, "a", 1), 0);
	home_listing_free(l);
}

static void a_listing_tells_bytes_kind_and_last_change(void **state)
{
	struct fixture *f = *state;
	struct home_snapshot *s = begin(f);
	const struct home_entry *e;
	struct home_listing *l;
	home_id first, second;

	put(s, "out/report.csv", 0600, "a,b\n");
	put(s, "x", 0755, "#!");
	put(s, ".git/HEAD", 0644, "ref");
	home_snapshot_link(s, "latest", "out");
	home_snapshot_dir(s, "empty", 0755, true);
	assert_int_equal(commit_as(f, s, "1", first), HOME_OK);
	home_snapshot_free(s);
	s = begin(f);
	put(s, "x", 0755, "#!/bin/sh");
	assert_int_equal(commit_as(f, s, "2", second), HOME_OK);
	home_snapshot_free(s);

	l = list(f, f->cache);
	assert_int_equal(home_listing_count(l), 4);
	assert_string_equal(home_listing_at(l, 0)->path, ".git/HEAD");
	assert_string_equal(home_listing_at(l, 1)->path, "latest");
	assert_int_equal(home_listing_at(l, 1)->mode, 0120000);
	e = home_listing_at(l, 2);
	assert_string_equal(e->path, "out/report.csv");
	assert_int_equal(e->bytes, 4);
	assert_int_equal(e->mode, 0100644);
	assert_int_equal(e->time, f->clock - 2);
	assert_string_equal(e->commit, first);
	e = home_listing_find(l, "x", 1);
	assert_non_null(e);
	assert_int_equal(e->bytes, 9);
	assert_int_equal(e->mode, 0100755);
	assert_string_equal(e->commit, second);
	assert_null(home_listing_find(l, "%sg-meta", 8));
	assert_null(home_listing_find(l, "out", 3));
	home_listing_free(l);
}

static void pages_begin_after_a_path(void **state)
{
	struct fixture *f = *state;
	struct home_snapshot *s = begin(f);
	struct home_listing *l;

	put(s, "a", 0644, "");
	put(s, "a/b", 0644, "");
	put(s, "a-b", 0644, "");
	put(s, "c", 0644, "");
	put(s, "\xff", 0644, "");
	commit(f, s);
	l = list(f, f->cache);
	assert_int_equal(home_listing_count(l), 4); /* a-b a/b c \xff */
	assert_int_equal(home_listing_after(l, "", 0), 0);
	assert_int_equal(home_listing_after(l, "a", 1), 0);
	assert_int_equal(home_listing_after(l, "a-b", 3), 1);
	assert_int_equal(home_listing_after(l, "a/b", 3), 2);
	assert_int_equal(home_listing_after(l, "bb", 2), 2);
	assert_int_equal(home_listing_after(l, "\xfe", 1), 3);
	assert_int_equal(home_listing_after(l, "\xff", 1), 4);
	home_listing_free(l);
}

static void content_is_read_by_id(void **state)
{
	struct fixture *f = *state;
	struct home_snapshot *s = begin(f);
	struct home_listing *l;
	struct home_blob *b;
	home_id head;
	uint64_t n;

	put_bytes(s, "a", 0644, "x\0y", 3);
	put(s, "empty", 0644, "");
	commit(f, s);
	l = list(f, f->cache);
	assert_int_equal(home_blob_open(&b, f->h, home_listing_at(l, 0)->blob), HOME_OK);
	assert_memory_equal(home_blob_data(b, &n), "x\0y", 3);
	assert_int_equal(n, 3);
	home_blob_free(b);
	assert_int_equal(home_blob_open(&b, f->h, home_listing_at(l, 1)->blob), HOME_OK);
	assert_non_null(home_blob_data(b, &n));
	assert_int_equal(n, 0);
	home_blob_free(b);
	home_listing_free(l);
	assert_int_equal(home_blob_open(&b, f->h, "xyz"), HOME_BAD);
	assert_int_equal(
		home_blob_open(&b, f->h, "z123456789012345678901234567890123456789"), HOME_BAD);
	assert_int_equal(home_blob_open(&b, f->h, "0123456789012345678901234567890123456789"),
		HOME_NOT_FOUND);
	assert_int_equal(home_head(f->h, head), HOME_OK);
	assert_int_equal(home_blob_open(&b, f->h, head), HOME_NOT_FOUND);
	home_blob_free(NULL);
}

static char *read_cache(struct fixture *f, size_t *n)
{
	char *data = io_read_file(AT_FDCWD, f->cache, 1 << 20, n);

	assert_non_null(data);
	return data;
}

static void write_cache(struct fixture *f, const char *data, size_t n)
{
	int fd = open(f->cache, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_int_equal(io_write_full(fd, data, n), 0);
	close(fd);
}

static void a_damaged_cache_is_made_anew(void **state)
{
	struct fixture *f = *state;
	struct home_snapshot *s = begin(f);
	struct buf expected, got;
	size_t n;
	char *good;

	buf_init(&expected, 1 << 20);
	buf_init(&got, 1 << 20);
	put(s, "a", 0644, "1");
	put(s, "b/c", 0755, "2");
	commit(f, s);
	for (int round = 0; round < 2; round++) {
		struct home_listing *l = list(f, f->cache);

		describe(&expected, l);
		home_listing_free(l);
	}
	good = read_cache(f, &n);
	/* Every byte wrong in turn, every length too short, and one too long. */
	for (size_t i = 0; i < n; i++) {
		struct home_listing *l;

		good[i] ^= 0x21;
		write_cache(f, good, n);
		good[i] ^= 0x21;
		l = list(f, f->cache);
		describe(&got, l);
		assert_string_equal(buf_str(&got), buf_str(&expected));
		home_listing_free(l);
		write_cache(f, good, i);
		l = list(f, f->cache);
		describe(&got, l);
		assert_string_equal(buf_str(&got), buf_str(&expected));
		home_listing_free(l);
	}
	free(good);
	good = read_cache(f, &n);
	good[n] = 'x'; /* in place of the NUL behind it */
	write_cache(f, good, n + 1);
	free(good);
	home_listing_free(list(f, f->cache));
	buf_free(&expected);
	buf_free(&got);
}

static void a_cache_that_cannot_be_written_is_no_failure(void **state)
{
	struct fixture *f = *state;
	struct home_snapshot *s = begin(f);
	struct home_listing *l;

	put(s, "a", 0644, "1");
	commit(f, s);
	l = list(f, "/no/such/folder/cache");
	assert_int_equal(home_listing_count(l), 1);
	home_listing_free(l);
}

static void a_branch_that_was_set_back_is_listed_right(void **state)
{
	struct fixture *f = *state;
	struct home_snapshot *s = begin(f);
	struct home_listing *l;
	struct buf out;

	buf_init(&out, 1 << 16);
	put(s, "a", 0644, "1");
	commit(f, s);
	s = begin(f);
	put(s, "b", 0644, "1");
	commit(f, s);
	home_listing_free(list(f, f->cache));
	assert_git(&out, f, "update-ref", "refs/heads/main", "main~1");
	l = list(f, f->cache);
	assert_int_equal(home_listing_count(l), 1);
	assert_string_equal(home_listing_at(l, 0)->path, "a");
	home_listing_free(l);
	buf_free(&out);
}

/* -- random changes --------------------------------------------------------- */

#define ROUNDS 120
#define PATHS  60

/* What should be there: by number of path, and what path_name makes of it. */
struct model {
	char kind[PATHS]; /* 0: nothing; d f l */
	unsigned mode[PATHS];
	unsigned text[PATHS];
};

static unsigned draw(unsigned *seed, unsigned n)
{
	*seed = *seed * 1103515245u + 12345u;
	return (*seed >> 16) % n;
}

/* A tree of three children each: 0 1 2 at the top, those of n are 3n+3 … 3n+5. */
static void path_name(char out[128], unsigned i)
{
	static const char *const names[3] = {"a", "a.x", ".git"};
	char above[128] = "";

	if (i >= 3) {
		path_name(above, (i - 3) / 3);
		snprintf(out, 128, "%.100s/%s", above, names[i % 3]);
	} else {
		snprintf(out, 128, "%s", names[i % 3]);
	}
}

static void forget_below(struct model *m, unsigned i)
{
	for (unsigned k = 0; k < 3 && 3 * i + 3 + k < PATHS; k++) {
		m->kind[3 * i + 3 + k] = 0;
		forget_below(m, 3 * i + 3 + k);
	}
}

static bool has_children(const struct model *m, unsigned i)
{
	for (unsigned k = 0; k < 3 && 3 * i + 3 + k < PATHS; k++)
		if (m->kind[3 * i + 3 + k])
			return true;
	return false;
}

/* Makes what is above a folder, as a tenant must; tells the snapshot of those that were none. */
static void make_above(struct model *m, struct home_snapshot *s, unsigned i)
{
	char path[128];

	if (i < 3)
		return;
	i = (i - 3) / 3;
	make_above(m, s, i);
	if (m->kind[i] == 'd')
		return;
	forget_below(m, i);
	path_name(path, i);
	if (m->kind[i])
		home_snapshot_remove(s, path);
	m->kind[i] = 'd';
	m->mode[i] = 0755;
	home_snapshot_dir(s, path, 0755, false);
}

static void change(struct model *m, struct home_snapshot *s, unsigned *seed)
{
	static const unsigned modes[] = {0644, 0755, 0600, 0644};
	unsigned i = draw(seed, PATHS), what = draw(seed, 6);
	char path[128], text[32];

	path_name(path, i);
	if (what == 0) {
		home_snapshot_remove(s, path);
		m->kind[i] = 0;
		forget_below(m, i);
		return;
	}
	make_above(m, s, i);
	if (what == 1) {
		bool empty = m->kind[i] != 'd' || !has_children(m, i);

		m->kind[i] = 'd';
		m->mode[i] = draw(seed, 2) ? 0755 : 0700;
		home_snapshot_dir(s, path, m->mode[i], empty);
		return;
	}
	forget_below(m, i);
	m->text[i] = draw(seed, 5);
	snprintf(text, sizeof text, "text %u", m->text[i]);
	if (what == 2) {
		m->kind[i] = 'l';
		home_snapshot_link(s, path, text);
		return;
	}
	m->kind[i] = 'f';
	m->mode[i] = modes[draw(seed, 4)];
	put(s, path, m->mode[i], text);
}

static int compare_lines(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Lines of text in bytewise order. */
static void sort_lines(struct buf *b)
{
	char *lines[PATHS], *copy = strdup(buf_str(b)), *rest = copy;
	size_t n = 0;

	assert_non_null(copy);
	while (*rest) {
		assert_true(n < PATHS);
		lines[n++] = strsep(&rest, "\n");
	}
	qsort(lines, n, sizeof lines[0], compare_lines);
	buf_reset(b);
	for (size_t i = 0; i < n; i++) {
		buf_puts(b, lines[i]);
		buf_putc(b, '\n');
	}
	free(copy);
}

static void assert_model(struct fixture *f, const struct model *m)
{
	struct buf expected, got;
	char path[128];
	int64_t when;

	buf_init(&expected, 1 << 20);
	buf_init(&got, 1 << 20);
	for (unsigned i = 0; i < PATHS; i++) {
		if (!m->kind[i])
			continue;
		path_name(path, i);
		buf_printf(&expected, "%c %o %s", m->kind[i], m->kind[i] == 'l' ? 0 : m->mode[i],
			path);
		if (m->kind[i] != 'd')
			buf_printf(&expected, "=text %u", m->text[i]);
		buf_putc(&expected, '\n');
	}
	assert_int_equal(home_checkout(f->h, NULL, &when, node_line, &got), HOME_OK);
	sort_lines(&expected);
	sort_lines(&got);
	assert_string_equal(buf_str(&got), buf_str(&expected));
	buf_free(&expected);
	buf_free(&got);
}

static void random_changes_end_where_a_simple_model_does(void **state)
{
	struct fixture *f = *state;
	struct model m = {{0}, {0}, {0}};
	/* SEED repeats a run. */
	unsigned seed =
		getenv("SEED") ? (unsigned)strtoul(getenv("SEED"), NULL, 10) : (unsigned)time(NULL);
	struct buf cached, fresh;
	char other[160];

	printf("# SEED=%u\n", seed);
	buf_init(&cached, 1 << 20);
	buf_init(&fresh, 1 << 20);
	snprintf(other, sizeof other, "%s/other", f->dir);
	for (int round = 0; round < ROUNDS; round++) {
		struct home_snapshot *s = begin(f);
		unsigned n = 1 + draw(&seed, 8);
		struct home_listing *l;

		while (n--)
			change(&m, s, &seed);
		commit(f, s);
		assert_model(f, &m);
		/* Sometimes several commits come between two looks. */
		if (draw(&seed, 3) > 0)
			continue;
		l = list(f, f->cache);
		describe(&cached, l);
		home_listing_free(l);
		unlink(other);
		l = list(f, other);
		describe(&fresh, l);
		home_listing_free(l);
		assert_string_equal(buf_str(&cached), buf_str(&fresh));
	}
	git(&fresh, f, "--git-dir", f->repo, "fsck", "--strict", "--no-dangling", NULL);
	assert_string_equal(buf_str(&fresh), "");
	buf_free(&cached);
	buf_free(&fresh);
}

int main(void)
{
#define TEST(t) cmocka_unit_test_setup_teardown(t, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(an_empty_home_has_an_empty_listing),
		TEST(a_listing_tells_bytes_kind_and_last_change),
		TEST(pages_begin_after_a_path),
		TEST(content_is_read_by_id),
		TEST(a_damaged_cache_is_made_anew),
		TEST(a_cache_that_cannot_be_written_is_no_failure),
		TEST(a_branch_that_was_set_back_is_listed_right),
		TEST(random_changes_end_where_a_simple_model_does),
	};

	log_open("test", LOG_ERROR); /* damaged caches are told of as warnings */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
