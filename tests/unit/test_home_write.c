/* test_home_write: how files become objects in a repository. SPDX-License-Identifier: ISC */
#include "tests/unit/test_home.h"

#include <dirent.h>
#include <sys/mman.h>
#include <sys/mount.h>

/* Files in a folder of the repository whose name contains part. */
static unsigned count_files(struct fixture *f, const char *folder, const char *part)
{
	char path[256];
	struct dirent *e;
	unsigned n = 0;
	DIR *d;

	snprintf(path, sizeof path, "%s/%s", f->repo, folder);
	d = opendir(path);
	assert_non_null(d);
	while ((e = readdir(d)))
		n += e->d_type == DT_REG && strstr(e->d_name, part) != NULL;
	closedir(d);
	return n;
}

static bool commit_durably(struct fixture *f, struct home_snapshot *s)
{
	struct home_commit_info info = {.tool = "exec",
		.email = "c1@ws",
		.duration_ms = -1,
		.time = f->clock++,
		.durable = true};
	home_id id;

	if (home_snapshot_commit(s, &info, id) != HOME_OK)
		fail_msg("%s", home_error());
	home_snapshot_free(s);
	return id[0] != '\0';
}

static void a_durable_commit_is_like_any_other(void **state)
{
	struct fixture *f = *state;

	for (int i = 0; i < 3; i++) {
		struct home_snapshot *s = begin(f);
		char text[16];

		snprintf(text, sizeof text, "%d", i);
		put(s, "d/a", 0644, text);
		assert_true(commit_durably(f, s));
		assert_sound(f);
	}
	assert_home(f, "d 755 d\nf 644 d/a=2\n");
	assert_int_equal(count_files(f, ".", "next"), 0);
	assert_int_equal(count_files(f, "objects", "tmp"), 0);
}

static void many_objects_go_into_one_pack(void **state)
{
	struct fixture *f = *state;
	struct home_snapshot *s = begin(f);
	char path[64], text[64];
	char *big = malloc(400000);
	unsigned seed = 1;

	assert_non_null(big);
	for (size_t i = 0; i < 400000; i++) {
		seed = seed * 1103515245u + 12345u;
		big[i] = (char)(seed >> 16);
	}
	for (int i = 0; i < 2000; i++) {
		snprintf(path, sizeof path, "m/%d/%d", i % 50, i);
		snprintf(text, sizeof text, "%d", i / 2); /* each content twice */
		put(s, path, 0644, text);
		if (i == 1000 || i == 1500)
			put_bytes(s, "big", 0644, big,
				400000); /* the second time it is there already */
	}
	assert_true(commit_durably(f, s));
	assert_int_equal(count_files(f, "objects/pack", ".pack"), 1);
	assert_int_equal(count_files(f, "objects/pack", ".idx"), 1);
	assert_int_equal(count_files(f, "objects/pack", "tmp"), 0);
	assert_sound(f);

	/* And what is packed is not written again. */
	s = begin(f);
	put(s, "m/0/0", 0644, "0");
	put_bytes(s, "big", 0644, big, 400000);
	assert_false(commit(f, s));
	free(big);
}

static int check_big(void *ctx, const struct home_node *n)
{
	const struct buf *b = ctx;

	assert_int_equal(n->len, b->len);
	assert_memory_equal(n->data, b->data, b->len);
	return 0;
}

/* A megabyte of zeros, two of noise, one of text, and an odd end. */
static void large_files_come_back_byte_for_byte(void **state)
{
	struct fixture *f = *state;
	struct home_snapshot *s;
	unsigned seed = 7;
	int64_t when;
	struct buf b;

	buf_init(&b, 1 << 24);
	for (int i = 0; i < 1 << 20; i++)
		buf_putc(&b, 0);
	for (int i = 0; i < 2 << 20; i++) {
		seed = seed * 1103515245u + 12345u;
		buf_putc(&b, (char)(seed >> 16));
	}
	for (int i = 0; i < 1 << 17; i++)
		buf_puts(&b, "some text");
	buf_puts(&b, "end");
	for (size_t cut = 0; cut < 2; cut++) {
		b.len -= cut;
		s = begin(f);
		put_bytes(s, "big", 0644, b.data, b.len);
		assert_true(commit_durably(f, s));
		assert_int_equal(home_checkout(f->h, NULL, &when, check_big, &b), HOME_OK);
		assert_sound(f);
	}
	buf_free(&b);
}

static void files_at_the_edges_of_blocks_come_back(void **state)
{
	static const size_t sizes[] = {
		0, 1, 65535, 65536, 65537, 262143, 262144, 262145, 524288, 1048577};
	struct fixture *f = *state;
	int64_t when;
	struct buf b;

	buf_init(&b, 1 << 24);
	for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
		struct home_snapshot *s = begin(f);

		while (b.len < sizes[i])
			buf_putc(&b, (char)(b.len * 2654435761u >> 13));
		put_bytes(s, "f", 0644, buf_str(&b), b.len);
		commit(f, s);
		if (sizes[i] > 0)
			assert_int_equal(home_checkout(f->h, NULL, &when, check_big, &b), HOME_OK);
	}
	assert_sound(f);
	buf_free(&b);
}

static void holes_are_zeros_and_terabytes_are_skipped(void **state)
{
	struct fixture *f = *state;
	struct home_snapshot *s = begin(f);
	const struct home_skip *skips;
	int fd = memfd_create("sparse", MFD_CLOEXEC);
	size_t listed, all;
	int64_t when;
	home_id id;
	struct buf b;

	buf_init(&b, 1 << 24);
	assert_int_equal(ftruncate(fd, 3000000), 0);
	assert_int_equal(pwrite(fd, "x", 1, 1500000), 1);
	for (int i = 0; i < 3000000; i++)
		buf_putc(&b, i == 1500000 ? 'x' : 0);
	assert_int_equal(home_snapshot_file(s, "sparse", 0644, fd, 3000000), HOME_OK);
	assert_true(commit(f, s));
	assert_int_equal(home_checkout(f->h, NULL, &when, check_big, &b), HOME_OK);
	buf_free(&b);

	s = begin(f);
	assert_int_equal(ftruncate(fd, (off_t)1 << 40), 0);
	assert_int_equal(home_snapshot_file(s, "sparse", 0644, fd, (uint64_t)1 << 40), HOME_OK);
	assert_int_equal(commit_as(f, s, NULL, id), HOME_OK);
	skips = home_snapshot_skips(s, &listed, &all);
	assert_int_equal(listed, 1);
	assert_int_equal(all, 1);
	assert_string_equal(skips[0].path, "sparse");
	assert_string_equal(skips[0].reason, "larger than 1 GiB");
	home_snapshot_free(s);
	assert_home(f, "");
	close(fd);
}

static void a_file_is_cut_at_the_given_size_and_at_its_end(void **state)
{
	struct fixture *f = *state;
	struct home_snapshot *s = begin(f);
	int fd = io_memfd("f", "0123456789", 10);

	assert_int_equal(home_snapshot_file(s, "a", 0644, fd, 4), HOME_OK);
	assert_int_equal(home_snapshot_file(s, "b", 0644, fd, 1000000), HOME_OK);
	assert_true(commit(f, s));
	assert_home(f, "f 644 a=0123\nf 644 b=0123456789\n");
	close(fd);
}

static void what_cannot_be_read_is_skipped_and_named(void **state)
{
	struct fixture *f = *state;
	struct home_snapshot *s = begin(f);
	char path[128];
	struct buf out;
	int fd;

	buf_init(&out, 1 << 16);
	put(s, "a", 0600, "old");
	put(s, "d/pipe", 0644, "old");
	put(s, "d/b", 0644, "kept");
	assert_true(commit(f, s));
	snprintf(path, sizeof path, "%s/write-only", f->dir);
	fd = open(path, O_WRONLY | O_CREAT, 0600);
	assert_int_equal(write(fd, "x", 1), 1);
	s = begin(f);
	assert_int_equal(home_snapshot_file(s, "a", 0644, fd, 1), HOME_OK);
	assert_int_equal(ftruncate(fd, 1000000), 0);
	assert_int_equal(home_snapshot_file(s, "large", 0644, fd, 1000000), HOME_OK);
	home_snapshot_skip(s, "d/pipe", "fifo");
	home_snapshot_skip(s, "d/pipe", "named\npipe");
	assert_true(commit(f, s));
	assert_home(f, "d 755 d\nf 644 d/b=kept\n");
	assert_git(&out, f, "log", "-1", "--format=%(trailers:key=Skipped,key=Skipped-File)");
	assert_string_equal(buf_str(&out),
		"Skipped: 3\n"
		"Skipped-File: a (cannot be read: Bad file descriptor)\n"
		"Skipped-File: large (cannot be read: Bad file descriptor)\n"
		"Skipped-File: d/pipe (named\\npipe)\n\n");
	assert_sound(f);
	close(fd);
	buf_free(&out);
}

static void path_in(char out[256], struct fixture *f, const char *name)
{
	snprintf(out, 256, "%s/%s", f->repo, name);
}

static void write_in(struct fixture *f, const char *name, const char *text)
{
	char path[256];
	FILE *file;

	path_in(path, f, name);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static void a_full_disk_keeps_the_old_head(void **state)
{
	struct fixture *f = *state;
	char dir[128], repo[160];
	struct home *roomy = f->h;
	struct home_snapshot *s;
	char *noise = malloc(3000000);
	unsigned seed = 3;
	int fd, r;
	home_id id;

	assert_non_null(noise);
	for (size_t i = 0; i < 3000000; i++) {
		seed = seed * 1103515245u + 12345u;
		noise[i] = (char)(seed >> 16);
	}
	snprintf(dir, sizeof dir, "%s/small", f->dir);
	snprintf(repo, sizeof repo, "%s/c.git", dir);
	assert_int_equal(mkdir(dir, 0755), 0);
	assert_int_equal(mount("test", dir, "tmpfs", 0, "size=2m"), 0);
	assert_int_equal(home_create(&f->h, repo), HOME_OK);
	s = begin(f);
	put(s, "a", 0644, "1");
	assert_true(commit(f, s));

	s = begin(f);
	fd = io_memfd("noise", noise, 3000000);
	put(s, "a", 0644, "2");
	r = home_snapshot_file(s, "noise", 0644, fd, 3000000);
	if (r == HOME_OK)
		r = commit_as(f, s, "x", id);
	assert_int_equal(r, HOME_FULL);
	close(fd);
	home_snapshot_free(s);
	assert_home(f, "f 644 a=1\n");

	/* The room is given back at once. */
	s = begin(f);
	put(s, "a", 0644, "3");
	assert_true(commit(f, s));
	assert_home(f, "f 644 a=3\n");
	home_close(f->h);
	f->h = roomy;
	assert_int_equal(umount(dir), 0);
	free(noise);
}

static void an_emptied_object_is_written_again(void **state)
{
	struct fixture *f = *state;
	struct home_snapshot *s = begin(f);
	char path[256];

	/* The blob "1\n". */
	path_in(path, f, "objects/d0");
	assert_int_equal(mkdir(path, 0755), 0);
	write_in(f, "objects/d0/0491fd7e5bb6fa28c517a0bb32b8b506539d4d", "");
	put(s, "a", 0644, "1\n");
	assert_true(commit(f, s));
	assert_sound(f);
}

static void an_abandoned_snapshot_leaves_nothing(void **state)
{
	struct fixture *f = *state;
	struct home_snapshot *s = begin(f);
	char *big = calloc(1, 1000000), path[32];

	assert_non_null(big);
	put_bytes(s, "big", 0644, big, 1000000);
	for (int i = 0; i < 150; i++) {
		snprintf(path, sizeof path, "%d", i);
		put(s, path, 0644, path);
	}
	assert_int_equal(count_files(f, "objects", "tmp"), 1);
	assert_int_equal(count_files(f, "objects/pack", "tmp"), 1);
	home_snapshot_free(s);
	assert_int_equal(count_files(f, "objects", ""), 0);
	assert_int_equal(count_files(f, "objects/pack", ""), 0);
	free(big);
}

int main(void)
{
#define TEST(t) cmocka_unit_test_setup_teardown(t, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_durable_commit_is_like_any_other),
		TEST(many_objects_go_into_one_pack),
		TEST(large_files_come_back_byte_for_byte),
		TEST(files_at_the_edges_of_blocks_come_back),
		TEST(holes_are_zeros_and_terabytes_are_skipped),
		TEST(a_file_is_cut_at_the_given_size_and_at_its_end),
		TEST(what_cannot_be_read_is_skipped_and_named),
		TEST(a_full_disk_keeps_the_old_head),
		TEST(an_emptied_object_is_written_again),
		TEST(an_abandoned_snapshot_leaves_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
