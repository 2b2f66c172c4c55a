/* test_home_branch: moving the branch while others do, or die. SPDX-License-Identifier: ISC */
#include "tests/unit/test_home.h"

#include <pthread.h>
#include <signal.h>
#include <sys/time.h>

static void a_head_that_moved_makes_the_other_snapshot_busy(void **state)
{
	struct fixture *f = *state;
	struct home_snapshot *s = begin(f), *other = begin(f);
	home_id id, head;

	put(s, "a", 0644, "1");
	put(other, "b", 0644, "2");
	assert_true(commit(f, s));
	assert_int_equal(home_head(f->h, head), HOME_OK);
	assert_int_equal(commit_as(f, other, "x", id), HOME_BUSY);
	assert_string_equal(id, "");
	home_snapshot_free(other);
	assert_int_equal(home_head(f->h, id), HOME_OK);
	assert_string_equal(id, head);
	/* Not even an object is left of it. */
	assert_sound(f);

	s = begin(f);
	put(s, "b", 0644, "2");
	assert_true(commit(f, s));
	assert_home(f, "f 644 a=1\nf 644 b=2\n");
}

#define WRITERS 4
#define EACH    8

struct writer {
	struct fixture *f;
	unsigned number;
	bool ok;
};

static void *write_commits(void *arg)
{
	struct writer *w = arg;
	struct home *h;

	if (home_open(&h, w->f->repo) != HOME_OK)
		return NULL;
	for (unsigned i = 0; i < EACH;) {
		struct home_commit_info info = {.tool = "t", .email = "e", .duration_ms = -1};
		char path[32];
		struct home_snapshot *s;
		home_id id = "";
		int r = home_snapshot_begin(&s, h), fd;

		if (r != HOME_OK)
			break;
		snprintf(path, sizeof path, "%u/%u", w->number, i);
		fd = io_memfd("f", path, strlen(path));
		r = home_snapshot_file(s, path, 0644, fd, 100);
		if (r == HOME_OK)
			r = home_snapshot_commit(s, &info, id);
		close(fd);
		home_snapshot_free(s);
		if (r == HOME_OK && id[0])
			i++;
		else if (r != HOME_BUSY)
			break;
		w->ok = i == EACH;
	}
	home_close(h);
	return NULL;
}

static void concurrent_writers_lose_no_commit(void **state)
{
	struct fixture *f = *state;
	struct writer writers[WRITERS];
	pthread_t threads[WRITERS];
	struct buf out;

	buf_init(&out, 1 << 20);
	for (unsigned i = 0; i < WRITERS; i++) {
		writers[i] = (struct writer){.f = f, .number = i};
		assert_int_equal(pthread_create(&threads[i], NULL, write_commits, &writers[i]), 0);
	}
	for (unsigned i = 0; i < WRITERS; i++) {
		pthread_join(threads[i], NULL);
		assert_true(writers[i].ok);
	}
	assert_git(&out, f, "rev-list", "--count", "main");
	assert_string_equal(buf_str(&out), "32\n");
	assert_git(&out, f, "ls-tree", "-r", "--name-only", "main");
	assert_int_equal(out.len, WRITERS * EACH * 4);
	assert_sound(f);
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

static void what_a_killed_writer_leaves_does_no_harm(void **state)
{
	struct fixture *f = *state;
	struct home_snapshot *s = begin(f);
	char next[256], lock[256];

	put(s, "a", 0644, "1");
	assert_true(commit(f, s));
	/* Killed after the lock was taken, before it was moved into place. */
	write_in(f, "sandgate.next", "0000000000000000000000000000000000000001\n");
	path_in(next, f, "sandgate.next");
	path_in(lock, f, "refs/heads/main.lock");
	assert_int_equal(link(next, lock), 0);
	write_in(f, "objects/tmp_obj_1_2_3", "half");
	write_in(f, "objects/pack/tmp_pack_1_2", "PACK");
	s = begin(f);
	put(s, "a", 0644, "2");
	assert_true(commit(f, s));
	assert_home(f, "f 644 a=2\n");
	assert_int_equal(access(lock, F_OK), -1);
	assert_int_equal(access(next, F_OK), -1);
	assert_sound(f);

	/* Killed after the move, with the second name of the branch left. */
	path_in(lock, f, "refs/heads/main");
	assert_int_equal(link(lock, next), 0);
	s = begin(f);
	put(s, "a", 0644, "3");
	assert_true(commit(f, s));
	assert_home(f, "f 644 a=3\n");
	assert_sound(f);
}

/* Commits without end, telling each on the pipe. */
static void commit_for_ever(struct fixture *f, int fd)
{
	struct home *h;

	if (home_open(&h, f->repo) != HOME_OK)
		_exit(1);
	for (uint32_t i = 0;; i++) {
		struct home_commit_info info = {.tool = "t", .email = "e", .duration_ms = -1};
		struct home_snapshot *s;
		char path[32], text[32];
		home_id id;

		if (home_snapshot_begin(&s, h) != HOME_OK)
			_exit(1);
		/* Now and then enough for a pack. */
		for (unsigned k = 0; k < (i % 8 == 7 ? 150u : 2u); k++) {
			snprintf(path, sizeof path, "d%u/f%u", k % 5, k);
			snprintf(text, sizeof text, "%d %u %u", (int)getpid(), i, k);
			put(s, path, 0644, text);
		}
		if (home_snapshot_commit(s, &info, id) != HOME_OK || !id[0] ||
			write(fd, id, HOME_ID_LEN) < 0)
			_exit(1);
		home_snapshot_free(s);
	}
}

static void a_writer_killed_at_any_moment_loses_nothing_that_it_answered(void **state)
{
	struct fixture *f = *state;
	struct buf out;

	buf_init(&out, 1 << 20);
	for (int round = 0; round < 20; round++) {
		home_id last = "", id;
		int fds[2], status;
		pid_t pid;

		assert_int_equal(io_pipe(fds, false), 0);
		pid = fork();
		assert_true(pid >= 0);
		if (pid == 0)
			commit_for_ever(f, fds[1]);
		close(fds[1]);
		usleep((useconds_t)(20000 + round * 3137));
		kill(pid, SIGKILL);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFSIGNALED(status));
		while (read(fds[0], id, HOME_ID_LEN) == HOME_ID_LEN)
			memcpy(last, id, HOME_ID_LEN);
		close(fds[0]);
		if (last[0])
			assert_git(&out, f, "merge-base", "--is-ancestor", last, "main");
	}
	/* What was written but not named is all that may be left of the dead. */
	assert_git(&out, f, "fsck", "--strict", "--full", "--no-dangling");
	assert_string_equal(buf_str(&out), "");
	buf_free(&out);
}

static void an_old_lock_of_another_program_is_broken(void **state)
{
	struct fixture *f = *state;
	struct home_snapshot *s = begin(f);
	const struct timeval past[2] = {{.tv_sec = 1000000000}, {.tv_sec = 1000000000}};
	char lock[256];

	write_in(f, "refs/heads/main.lock", "");
	path_in(lock, f, "refs/heads/main.lock");
	assert_int_equal(utimes(lock, past), 0);
	put(s, "a", 0644, "1");
	assert_true(commit(f, s));
	assert_int_equal(access(lock, F_OK), -1);
}

static void a_fresh_lock_of_another_program_is_respected(void **state)
{
	struct fixture *f = *state;
	struct home_snapshot *s = begin(f);
	home_id id;

	write_in(f, "refs/heads/main.lock", "");
	put(s, "a", 0644, "1");
	assert_int_equal(commit_as(f, s, "x", id), HOME_BUSY);
	home_snapshot_free(s);
	assert_home(f, "");
}

/* -- git beside us ---------------------------------------------------------- */

static void gits_own_maintenance_and_tools_work(void **state)
{
	struct fixture *f = *state;
	struct buf out;

	buf_init(&out, 1 << 20);
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < 4; i++) {
			struct home_snapshot *s = begin(f);
			char text[16];

			snprintf(text, sizeof text, "%d %d\n", round, i);
			put(s, "d/a", 0644, text);
			assert_true(commit(f, s));
		}
		assert_git(&out, f, "gc", "--quiet", "--prune=now");
		assert_sound(f);
	}
	assert_home(f, "d 755 d\nf 644 d/a=2 3\n\n");
	assert_git(&out, f, "log", "--stat", "--format=%an <%ae> %s", "-1");
	assert_string_equal(buf_str(&out),
		"shell <c1@ws> make\n\n d/a | 2 +-\n 1 file changed, 1 insertion(+), 1 "
		"deletion(-)\n");
	assert_git(&out, f, "rev-list", "--count", "main");
	assert_string_equal(buf_str(&out), "12\n");
	assert_int_equal(git(&out, f, "clone", "-q", f->repo, "copy", NULL), 0);
	assert_int_equal(git(&out, f, "-C", "copy", "show", "HEAD:d/a", NULL), 0);
	assert_string_equal(buf_str(&out), "2 3\n");
	assert_int_equal(git(&out, f, "-C", "copy", "status", "--short", NULL), 0);
	assert_string_equal(buf_str(&out), "");
	assert_git(&out, f, "blame", "main", "--", "d/a");
	buf_free(&out);
}

int main(void)
{
#define TEST(t) cmocka_unit_test_setup_teardown(t, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_head_that_moved_makes_the_other_snapshot_busy),
		TEST(concurrent_writers_lose_no_commit),
		TEST(what_a_killed_writer_leaves_does_no_harm),
		TEST(a_writer_killed_at_any_moment_loses_nothing_that_it_answered),
		TEST(an_old_lock_of_another_program_is_broken),
		TEST(a_fresh_lock_of_another_program_is_respected),
		TEST(gits_own_maintenance_and_tools_work),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
