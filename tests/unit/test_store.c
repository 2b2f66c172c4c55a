/* test_store: what is kept in SQLite. SPDX-License-Identifier: ISC */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "app/store/store.h"

/* A fresh folder, database and arena a test. */
struct fixture {
	char dir[64];
	struct arena *arena;
	struct store *store;
	struct err err;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	snprintf(f->dir, sizeof(f->dir), "/tmp/sandgate-store-XXXXXX");
	if (!mkdtemp(f->dir))
		return -1;
	f->arena = arena_new();
	*state = f;
	return 0;
}

static int setup_open(void **state)
{
	struct fixture *f;

	if (setup(state) < 0)
		return -1;
	f = *state;
	return store_open(&f->store, f->dir, &f->err);
}

static const char *path_in(const struct fixture *f, const char *name)
{
	return arena_printf(f->arena, "%s/%s", f->dir, name);
}

static int teardown(void **state)
{
	static const char *const names[] = {"sandgate.db", "sandgate.db-wal", "sandgate.db-shm"};
	struct fixture *f = *state;

	store_close(f->store);
	for (size_t i = 0; i < 3; i++)
		unlink(path_in(f, names[i]));
	if (rmdir(f->dir) < 0)
		return -1;
	arena_free(f->arena);
	free(f);
	return 0;
}

static void put_file(const struct fixture *f, const char *name, const void *p, size_t n)
{
	int fd = open(path_in(f, name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, p, n), (ssize_t)n);
	close(fd);
}

/* Runs SQL beside the store, as another program would. */
static void run_sql(const struct fixture *f, const char *sql)
{
	sqlite3 *db;

	assert_int_equal(sqlite3_open(path_in(f, "sandgate.db"), &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
}

static struct workspace add_workspace(struct fixture *f, const char *slug)
{
	struct workspace w;

	assert_int_equal(store_workspace_add(f->store, f->arena, slug, &w, &f->err), 0);
	return w;
}

static char *add_key(struct fixture *f, const struct workspace *w, const char *label)
{
	char *key = NULL;

	assert_int_equal(store_key_add(f->store, f->arena, w, label, &key, &f->err), 0);
	return key;
}

static void opening_makes_a_private_file(void **state)
{
	struct fixture *f = *state;
	struct stat st;

	assert_int_equal(stat(path_in(f, "sandgate.db"), &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	add_workspace(f, "one");
	assert_int_equal(stat(path_in(f, "sandgate.db-wal"), &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
}

static void opening_again_keeps_what_was_there(void **state)
{
	struct fixture *f = *state;
	struct workspace w = add_workspace(f, "one"), again;

	store_close(f->store);
	assert_int_equal(store_open(&f->store, f->dir, &f->err), 0);
	assert_int_equal(store_workspace_find(f->store, f->arena, "one", &again, &f->err), 0);
	assert_int_equal(again.id, w.id);
	assert_string_equal(again.tag, w.tag);
}

static void opening_an_empty_file_makes_the_schema(void **state)
{
	struct fixture *f = *state;

	put_file(f, "sandgate.db", "", 0);
	assert_int_equal(store_open(&f->store, f->dir, &f->err), 0);
	assert_int_equal(store_check(f->store, &f->err), 0);
}

static void opening_without_a_folder_names_it(void **state)
{
	struct fixture *f = *state;
	struct store *s;

	assert_int_equal(store_open(&s, path_in(f, "absent"), &f->err), ERR_SERVER);
	assert_null(s);
	assert_non_null(strstr(f->err.message, "absent/sandgate.db"));
	assert_non_null(strstr(f->err.message, "No such file"));
}

static void a_file_of_garbage_is_called_damaged(void **state)
{
	struct fixture *f = *state;
	char garbage[8192];

	memset(garbage, 'x', sizeof(garbage));
	put_file(f, "sandgate.db", garbage, sizeof(garbage));
	assert_int_equal(store_open(&f->store, f->dir, &f->err), ERR_SERVER);
	assert_null(f->store);
	assert_non_null(strstr(f->err.message, "damaged"));
	assert_non_null(strstr(f->err.message, "sandgate.db"));
}

static void a_damaged_page_is_an_error_not_a_crash(void **state)
{
	struct fixture *f = *state;
	struct workspace *list;
	size_t n;
	char garbage[4096];
	int fd;

	for (int i = 0; i < 50; i++)
		add_workspace(f, arena_printf(f->arena, "workspace-%d", i));
	store_close(f->store);
	f->store = NULL;
	fd = open(path_in(f, "sandgate.db"), O_WRONLY | O_CLOEXEC);
	memset(garbage, 0xff, sizeof(garbage));
	for (off_t page = 1; page < 4; page++)
		assert_int_equal(pwrite(fd, garbage, sizeof(garbage), page * 4096), 4096);
	close(fd);
	if (store_open(&f->store, f->dir, &f->err) == 0)
		assert_int_equal(
			store_workspace_list(f->store, f->arena, &list, &n, &f->err), ERR_SERVER);
	assert_non_null(strstr(f->err.message, "damaged"));
}

static void another_programs_database_is_refused(void **state)
{
	struct fixture *f = *state;

	run_sql(f, "CREATE TABLE theirs (x)");
	assert_int_equal(store_open(&f->store, f->dir, &f->err), ERR_SERVER);
	assert_non_null(strstr(f->err.message, "another program"));
}

static void a_newer_schema_is_refused(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(store_open(&f->store, f->dir, &f->err), 0);
	store_close(f->store);
	run_sql(f, "PRAGMA user_version = 1000");
	assert_int_equal(store_open(&f->store, f->dir, &f->err), ERR_SERVER);
	assert_non_null(strstr(f->err.message, "newer version"));
}

static void names_follow_the_rule(void **state)
{
	(void)state;
	assert_true(store_name_ok("a"));
	assert_true(store_name_ok("sess_art10-418B8597e044"));
	assert_true(store_name_ok("0123456789012345678901234567890123456789"));
	assert_false(store_name_ok("01234567890123456789012345678901234567890"));
	assert_false(store_name_ok(""));
	assert_false(store_name_ok("."));
	assert_false(store_name_ok("a/b"));
	assert_false(store_name_ok("a b"));
	assert_false(store_name_ok("a\n"));
	assert_false(store_name_ok("\xc3\xa4"));
}

static void workspaces_get_a_tag_of_their_own(void **state)
{
	struct fixture *f = *state;
	struct workspace one = add_workspace(f, "one"), two = add_workspace(f, "two");

	assert_int_equal(strlen(one.tag), 8);
	assert_int_equal(strspn(one.tag, "abcdefghijklmnopqrstuvwxyz234567"), 8);
	assert_string_not_equal(one.tag, two.tag);
	assert_true(one.id != two.id);
}

static void a_workspace_exists_once(void **state)
{
	struct fixture *f = *state;
	struct workspace w;

	add_workspace(f, "one");
	assert_int_equal(store_workspace_add(f->store, f->arena, "one", &w, &f->err), ERR_CONFLICT);
	assert_string_equal(f->err.message, "workspace one exists");
	/* and the statement is usable afterwards */
	add_workspace(f, "two");
}

static void a_bad_slug_is_refused(void **state)
{
	struct fixture *f = *state;
	struct workspace w;

	assert_int_equal(
		store_workspace_add(f->store, f->arena, "../x", &w, &f->err), ERR_INVALID_REQUEST);
	assert_string_equal(f->err.param, "workspace");
}

static void an_unknown_workspace_is_not_found(void **state)
{
	struct fixture *f = *state;
	struct workspace w;

	assert_int_equal(
		store_workspace_find(f->store, f->arena, "none", &w, &f->err), ERR_NOT_FOUND);
}

static void workspaces_are_listed_by_slug(void **state)
{
	struct fixture *f = *state;
	struct workspace *list;
	size_t n;

	assert_int_equal(store_workspace_list(f->store, f->arena, &list, &n, &f->err), 0);
	assert_int_equal(n, 0);
	for (int i = 39; i >= 0; i--)
		add_workspace(f, arena_printf(f->arena, "w%02d", i));
	assert_int_equal(store_workspace_list(f->store, f->arena, &list, &n, &f->err), 0);
	assert_int_equal(n, 40);
	assert_string_equal(list[0].slug, "w00");
	assert_string_equal(list[39].slug, "w39");
}

static void a_key_opens_its_workspace(void **state)
{
	struct fixture *f = *state;
	struct workspace one = add_workspace(f, "one");
	struct principal p;
	char *key;

	add_workspace(f, "two");
	key = add_key(f, &one, "laptop");
	assert_int_equal(strlen(key), 6 + 8 + 1 + 43);
	assert_memory_equal(key, "sk-sg-", 6);
	assert_memory_equal(key + 6, one.tag, 8);
	assert_int_equal(key[14], '-');
	assert_int_equal(store_key_find(f->store, f->arena, key, &p, &f->err), 0);
	assert_int_equal(p.workspace.id, one.id);
	assert_string_equal(p.workspace.slug, "one");
	assert_string_equal(p.workspace.tag, one.tag);
}

static void keys_of_a_workspace_share_its_tag_and_differ(void **state)
{
	struct fixture *f = *state;
	struct workspace w = add_workspace(f, "one");
	char *a = add_key(f, &w, ""), *b = add_key(f, &w, "");

	assert_memory_equal(a, b, 15);
	assert_string_not_equal(a, b);
}

static void the_file_never_holds_a_key(void **state)
{
	struct fixture *f = *state;
	struct workspace w = add_workspace(f, "one");
	char *key = add_key(f, &w, "");
	static const char *const names[] = {"sandgate.db", "sandgate.db-wal"};

	for (size_t i = 0; i < 2; i++) {
		int fd = open(path_in(f, names[i]), O_RDONLY | O_CLOEXEC);
		static char bytes[4 << 20];
		ssize_t n = fd < 0 ? 0 : read(fd, bytes, sizeof(bytes));

		assert_null(memmem(bytes, (size_t)n, key + 15, 43));
		close(fd);
	}
}

static void assert_no_key(struct fixture *f, const char *key)
{
	struct principal p;

	assert_int_equal(store_key_find(f->store, f->arena, key, &p, &f->err), ERR_AUTHENTICATION);
}

static void an_unknown_key_opens_nothing(void **state)
{
	struct fixture *f = *state;
	struct workspace w = add_workspace(f, "one");
	char *key = add_key(f, &w, "");

	key[20] = key[20] == 'a' ? 'b' : 'a';
	assert_no_key(f, key);
}

static void what_is_no_key_opens_nothing(void **state)
{
	struct fixture *f = *state;
	struct workspace w = add_workspace(f, "one");
	char *key = add_key(f, &w, "");

	assert_no_key(f, "");
	assert_no_key(f, "sk-sg-");
	assert_no_key(f, "' OR 1=1 --");
	assert_no_key(f, arena_printf(f->arena, "%s ", key));
	assert_no_key(f, arena_printf(f->arena, "%.*s", (int)strlen(key) - 1, key));
	assert_no_key(f, arena_printf(f->arena, "SK%s", key + 2));
}

static void a_revoked_key_opens_nothing(void **state)
{
	struct fixture *f = *state;
	struct workspace w = add_workspace(f, "one");
	char *key = add_key(f, &w, ""), *other = add_key(f, &w, "");
	struct principal p;

	assert_int_equal(store_key_find(f->store, f->arena, key, &p, &f->err), 0);
	assert_int_equal(store_key_revoke(f->store, p.key_id, &f->err), 0);
	assert_no_key(f, key);
	assert_int_equal(store_key_find(f->store, f->arena, other, &p, &f->err), 0);
}

static void a_key_is_revoked_once(void **state)
{
	struct fixture *f = *state;
	struct workspace w = add_workspace(f, "one");
	struct principal p;

	store_key_find(f->store, f->arena, add_key(f, &w, ""), &p, &f->err);
	assert_int_equal(store_key_revoke(f->store, p.key_id, &f->err), 0);
	assert_int_equal(store_key_revoke(f->store, p.key_id, &f->err), ERR_CONFLICT);
	assert_int_equal(store_key_revoke(f->store, p.key_id + 1, &f->err), ERR_NOT_FOUND);
}

static void keys_are_listed_with_label_and_dates(void **state)
{
	struct fixture *f = *state;
	struct workspace one = add_workspace(f, "one"), two = add_workspace(f, "two");
	struct key *list;
	size_t n;

	add_key(f, &one, "laptop");
	add_key(f, &two, "other");
	add_key(f, &one, "caf\xc3\xa9 \"x\"");
	assert_int_equal(store_key_list(f->store, f->arena, one.id, &list, &n, &f->err), 0);
	assert_int_equal(n, 2);
	assert_string_equal(list[0].label, "laptop");
	assert_string_equal(list[1].label, "caf\xc3\xa9 \"x\"");
	assert_true(list[0].created_at > 1700000000);
	assert_int_equal(list[0].revoked_at, 0);
	assert_int_equal(store_key_revoke(f->store, list[0].id, &f->err), 0);
	assert_int_equal(store_key_list(f->store, f->arena, one.id, &list, &n, &f->err), 0);
	assert_true(list[0].revoked_at >= list[0].created_at);
}

static void a_label_is_short_and_printable(void **state)
{
	struct fixture *f = *state;
	struct workspace w = add_workspace(f, "one");
	char long_label[202], *key;

	memset(long_label, 'x', 201);
	long_label[201] = '\0';
	assert_int_equal(store_key_add(f->store, f->arena, &w, long_label, &key, &f->err),
		ERR_INVALID_REQUEST);
	assert_int_equal(store_key_add(f->store, f->arena, &w, "a\033[2J", &key, &f->err),
		ERR_INVALID_REQUEST);
}

static void a_container_is_made_by_its_first_use(void **state)
{
	struct fixture *f = *state;
	struct workspace one = add_workspace(f, "one"), two = add_workspace(f, "two");
	struct container c;

	assert_int_equal(store_container_touch(f->store, one.id, "sess_a", 900, &f->err), 0);
	assert_int_equal(
		store_container_find(f->store, f->arena, one.id, "sess_a", &c, &f->err), 0);
	assert_string_equal(c.id, "sess_a");
	assert_string_equal(c.image, "default");
	assert_int_equal(c.sleep_after_seconds, 900);
	assert_int_equal(c.created_at, c.last_active_at);
	assert_int_equal(store_container_find(f->store, f->arena, two.id, "sess_a", &c, &f->err),
		ERR_NOT_FOUND);
}

static void a_later_use_keeps_the_birth_and_moves_the_rest(void **state)
{
	struct fixture *f = *state;
	struct workspace w = add_workspace(f, "one");
	struct container c;

	store_container_touch(f->store, w.id, "c", 900, &f->err);
	run_sql(f, "UPDATE container SET created_at = 5, last_active_at = 6");
	assert_int_equal(store_container_touch(f->store, w.id, "c", 60, &f->err), 0);
	store_container_find(f->store, f->arena, w.id, "c", &c, &f->err);
	assert_int_equal(c.created_at, 5);
	assert_true(c.last_active_at > 1700000000);
	assert_int_equal(c.sleep_after_seconds, 60);
}

static void a_clock_that_went_back_does_not_age_a_container(void **state)
{
	struct fixture *f = *state;
	struct workspace w = add_workspace(f, "one");
	struct container c;

	store_container_touch(f->store, w.id, "c", 900, &f->err);
	run_sql(f, "UPDATE container SET last_active_at = 99999999999");
	assert_int_equal(store_container_touch(f->store, w.id, "c", 60, &f->err), 0);
	store_container_find(f->store, f->arena, w.id, "c", &c, &f->err);
	assert_int_equal(c.last_active_at, 99999999999);
	assert_int_equal(c.sleep_after_seconds, 60);
}

static void a_container_needs_a_workspace(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(store_container_touch(f->store, 77, "c", 900, &f->err), ERR_SERVER);
}

static void a_check_waits_for_no_lock_of_its_own(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(store_check(f->store, &f->err), 0);
	assert_int_equal(store_check(f->store, &f->err), 0);
	add_workspace(f, "one");
}

/* A child: opens the database (perhaps first of all) and writes rows. */
static int write_rows(const struct fixture *f, int child)
{
	struct arena *a = arena_new();
	struct store *s;
	struct workspace w;
	struct err e;
	char *key;

	if (store_open(&s, f->dir, &e) < 0) {
		fprintf(stderr, "%s\n", e.message);
		return 1;
	}
	for (int i = 0; i < 20; i++) {
		if (store_workspace_add(s, a, arena_printf(a, "w-%d-%d", child, i), &w, &e) < 0 ||
			store_key_add(s, a, &w, "", &key, &e) < 0 ||
			store_container_touch(s, w.id, "c", 900, &e) < 0) {
			fprintf(stderr, "%s\n", e.message);
			return 1;
		}
	}
	store_close(s);
	arena_free(a);
	return 0;
}

static void several_processes_make_and_write_one_database(void **state)
{
	struct fixture *f = *state;
	struct workspace *list;
	size_t n;
	pid_t pids[4];
	int status;

	for (int i = 0; i < 4; i++) {
		pids[i] = fork();
		if (pids[i] == 0)
			_exit(write_rows(f, i));
	}
	for (int i = 0; i < 4; i++) {
		assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
		assert_int_equal(status, 0);
	}
	assert_int_equal(store_open(&f->store, f->dir, &f->err), 0);
	assert_int_equal(store_workspace_list(f->store, f->arena, &list, &n, &f->err), 0);
	assert_int_equal(n, 80);
}

static void two_connections_of_a_process_see_each_other(void **state)
{
	struct fixture *f = *state;
	struct store *second;
	struct workspace w, seen;

	assert_int_equal(store_open(&second, f->dir, &f->err), 0);
	assert_int_equal(
		store_workspace_find(second, f->arena, "one", &seen, &f->err), ERR_NOT_FOUND);
	w = add_workspace(f, "one");
	assert_int_equal(store_workspace_find(second, f->arena, "one", &seen, &f->err), 0);
	assert_int_equal(seen.id, w.id);
	store_close(second);
}

#define FRESH(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
#define OPEN(test)  cmocka_unit_test_setup_teardown(test, setup_open, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		OPEN(opening_makes_a_private_file),
		OPEN(opening_again_keeps_what_was_there),
		FRESH(opening_an_empty_file_makes_the_schema),
		FRESH(opening_without_a_folder_names_it),
		FRESH(a_file_of_garbage_is_called_damaged),
		OPEN(a_damaged_page_is_an_error_not_a_crash),
		FRESH(another_programs_database_is_refused),
		FRESH(a_newer_schema_is_refused),
		FRESH(several_processes_make_and_write_one_database),
		OPEN(two_connections_of_a_process_see_each_other),
		cmocka_unit_test(names_follow_the_rule),
		OPEN(workspaces_get_a_tag_of_their_own),
		OPEN(a_workspace_exists_once),
		OPEN(a_bad_slug_is_refused),
		OPEN(an_unknown_workspace_is_not_found),
		OPEN(workspaces_are_listed_by_slug),
		OPEN(a_key_opens_its_workspace),
		OPEN(keys_of_a_workspace_share_its_tag_and_differ),
		OPEN(the_file_never_holds_a_key),
		OPEN(an_unknown_key_opens_nothing),
		OPEN(what_is_no_key_opens_nothing),
		OPEN(a_revoked_key_opens_nothing),
		OPEN(a_key_is_revoked_once),
		OPEN(keys_are_listed_with_label_and_dates),
		OPEN(a_label_is_short_and_printable),
		OPEN(a_container_is_made_by_its_first_use),
		OPEN(a_later_use_keeps_the_birth_and_moves_the_rest),
		OPEN(a_clock_that_went_back_does_not_age_a_container),
		OPEN(a_container_needs_a_workspace),
		OPEN(a_check_waits_for_no_lock_of_its_own),
	};

	return cmocka_run_group_tests_name("store", tests, NULL, NULL);
}
