/* test_admin: the program sandgate, as an operator runs it. SPDX-License-Identifier: ISC */
#include "tests/lib/test.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app/store/store.h"

#define WORDS_MAX 8

static char program[PATH_MAX + 16]; /* build/sandgate, beside this test */
static char config[128], state[128];
static const char *user = "root"; /* the service user of these tests */
static char out[8192], err[8192]; /* of the last run */

static void slurp(int fd, char *text, size_t size)
{
	size_t n = 0;
	ssize_t got;

	while (n < size - 1 && (got = read(fd, text + n, size - 1 - n)) > 0)
		n += (size_t)got;
	text[n] = '\0';
	close(fd);
}

/* Runs the program with words (NULL-terminated) after the configuration; its exit status. */
static int run_words(const char *const *words)
{
	const char *argv[WORDS_MAX + 4] = {program, "--config", config};
	int o[2], e[2], status;
	pid_t pid;

	for (size_t i = 0; words[i]; i++)
		argv[3 + i] = words[i];
	assert_int_equal(pipe2(o, O_CLOEXEC), 0);
	assert_int_equal(pipe2(e, O_CLOEXEC), 0);
	pid = fork();
	if (pid == 0) {
		union {
			const char **in;
			char *const *out;
		} args = {.in = argv};

		dup2(o[1], 1);
		dup2(e[1], 2);
		execv(program, args.out);
		_exit(127);
	}
	close(o[1]);
	close(e[1]);
	slurp(o[0], out, sizeof(out));
	slurp(e[0], err, sizeof(err));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}
#define run(...) run_words((const char *const[]){__VA_ARGS__, NULL})

/* One line that begins as all of ours do and holds text. */
static void assert_complaint(const char *text)
{
	assert_memory_equal(err, "sandgate: ", 10);
	assert_ptr_equal(strchr(err, '\n'), err + strlen(err) - 1);
	assert_non_null(strstr(err, text));
}

static void write_config(void)
{
	char text[512];
	int n = snprintf(text, sizeof(text), "[sandgate]\nstate = %s\nuser = %s\n", state, user);

	snprintf(config, sizeof(config), "%s", test_tmp_file("sandgate.conf", text, (size_t)n));
}

static int setup(void **unused)
{
	const struct passwd *pw = geteuid() == 0 ? getpwnam("nobody") : getpwuid(geteuid());
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	(void)unused;
	if (n < 0 || !pw)
		return -1;
	self[n] = '\0';
	snprintf(program, sizeof(program), "%s/../../sandgate", dirname(self));
	user = strdup(pw->pw_name);
	snprintf(state, sizeof(state), "%s/state", test_tmp());
	write_config();
	/* The service user must be able to get there. */
	if (chmod(test_tmp(), 0755) < 0 || mkdir(state, 0700) < 0 ||
		chown(state, pw->pw_uid, pw->pw_gid) < 0)
		return -1;
	return 0;
}

static int teardown(void **unused)
{
	(void)unused;
	test_tmp_remove();
	return 0;
}

static void help_lists_every_command(void **unused)
{
	(void)unused;
	assert_int_equal(run("--help"), 0);
	assert_non_null(strstr(out, "workspace add NAME"));
	assert_non_null(strstr(out, "workspace list"));
	assert_non_null(strstr(out, "key add WORKSPACE [LABEL]"));
	assert_non_null(strstr(out, "key list WORKSPACE"));
	assert_non_null(strstr(out, "key revoke ID"));
	assert_string_equal(err, "");
}

static void version_is_printed(void **unused)
{
	(void)unused;
	assert_int_equal(run("version"), 0);
	assert_memory_equal(out, "sandgate 0.", 11);
	assert_int_equal(run("--version"), 0);
	assert_memory_equal(out, "sandgate 0.", 11);
}

static void a_workspace_is_made_and_listed(void **unused)
{
	(void)unused;
	assert_int_equal(run("workspace", "add", "listed"), 0);
	assert_int_equal(run("workspace", "list"), 0);
	assert_non_null(strstr(out, "listed  "));
	assert_string_equal(err, "");
}

static void a_workspace_that_exists_is_one_line_of_error(void **unused)
{
	(void)unused;
	assert_int_equal(run("workspace", "add", "twice"), 0);
	assert_int_equal(run("workspace", "add", "twice"), 1);
	assert_complaint("workspace twice exists");
	assert_string_equal(out, "");
}

static void a_bad_name_is_one_line_of_error(void **unused)
{
	(void)unused;
	assert_int_equal(run("workspace", "add", "../etc"), 1);
	assert_complaint("expected 1 to 40 characters");
}

static void a_key_is_printed_alone_and_works(void **unused)
{
	struct arena *a = arena_new();
	struct principal p;
	struct store *s;
	struct err e;

	(void)unused;
	assert_int_equal(run("workspace", "add", "keys"), 0);
	assert_int_equal(run("key", "add", "keys", "-laptop of \"Ann\""), 0);
	assert_int_equal(strlen(out), 58 + 1);
	assert_memory_equal(out, "sk-sg-", 6);
	out[58] = '\0';
	assert_int_equal(store_open(&s, state, &e), 0);
	assert_int_equal(store_key_find(s, a, out, &p, &e), 0);
	assert_string_equal(p.workspace.slug, "keys");
	store_close(s);
	arena_free(a);
}

static void keys_are_listed_and_revoked(void **unused)
{
	char *id, *end;

	(void)unused;
	assert_int_equal(run("workspace", "add", "revoking"), 0);
	assert_int_equal(run("key", "add", "revoking", "phone"), 0);
	assert_int_equal(run("key", "list", "revoking"), 0);
	assert_non_null(strstr(out, "phone"));
	assert_null(strstr(out, "sk-sg-"));
	id = strchr(out, '\n') + 1;
	id += strspn(id, " ");
	end = strchr(id, ' ');
	*end = '\0';
	id = strdup(id);
	assert_int_equal(run("key", "revoke", id), 0);
	assert_int_equal(run("key", "revoke", id), 1);
	assert_complaint("revoked already");
	free(id);
}

static void what_is_not_there_is_said(void **unused)
{
	(void)unused;
	assert_int_equal(run("key", "add", "nowhere"), 1);
	assert_complaint("no workspace nowhere");
	assert_int_equal(run("key", "list", "nowhere"), 1);
	assert_complaint("no workspace nowhere");
	assert_int_equal(run("key", "revoke", "999999"), 1);
	assert_complaint("no key 999999");
}

static void a_key_is_revoked_by_its_number(void **unused)
{
	static const char *const bad[] = {"x", "", "0", "-1", "1x", "99999999999999999999"};

	(void)unused;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(run("key", "revoke", bad[i]), 1);
		assert_complaint("expected the number of a key");
	}
}

static void a_wrong_call_exits_2(void **unused)
{
	(void)unused;
	assert_int_equal(run_words((const char *const[]){NULL}), 2);
	assert_non_null(strstr(err, "expected a command"));
	assert_int_equal(run("workspace"), 2);
	assert_int_equal(run("workspace", "burn"), 2);
	assert_int_equal(run("key", "add"), 2);
	assert_non_null(strstr(err, "key add WORKSPACE [LABEL]"));
	assert_int_equal(run("workspace", "list", "extra"), 2);
	assert_int_equal(run("--nonsense"), 2);
}

static void no_file_belongs_to_root(void **unused)
{
	static const char *const names[] = {"sandgate.db", "sandgate.db-wal", "sandgate.db-shm"};
	const struct passwd *pw = getpwnam(user);
	char path[256];
	struct stat st;

	(void)unused;
	assert_int_equal(run("workspace", "add", "owned"), 0);
	for (size_t i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), "%s/%s", state, names[i]);
		if (stat(path, &st) < 0 && errno == ENOENT)
			continue;
		assert_int_equal(st.st_uid, pw->pw_uid);
		assert_int_equal(st.st_mode & 0777, 0600);
	}
}

static void a_missing_configuration_is_named(void **unused)
{
	char kept[sizeof(config)];

	(void)unused;
	memcpy(kept, config, sizeof(kept));
	snprintf(config, sizeof(config), "/nonexistent/sandgate.conf");
	assert_int_equal(run("workspace", "list"), 1);
	assert_complaint("/nonexistent/sandgate.conf");
	memcpy(config, kept, sizeof(kept));
}

static void a_missing_state_folder_is_named(void **unused)
{
	char kept[sizeof(state)];

	(void)unused;
	memcpy(kept, state, sizeof(kept));
	snprintf(state, sizeof(state), "/nonexistent");
	write_config();
	assert_int_equal(run("workspace", "list"), 1);
	assert_complaint("/nonexistent/sandgate.db: No such file");
	memcpy(state, kept, sizeof(kept));
	write_config();
}

static void a_service_user_that_will_not_do_is_named(void **unused)
{
	const char *kept = user;

	(void)unused;
	if (geteuid() != 0)
		skip();
	user = "nosuchuser-x";
	write_config();
	assert_int_equal(run("workspace", "list"), 1);
	assert_complaint("user nosuchuser-x");
	user = "root";
	write_config();
	assert_int_equal(run("workspace", "list"), 1);
	assert_complaint("user root: expected one without privileges");
	user = kept;
	write_config();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(help_lists_every_command),
		cmocka_unit_test(version_is_printed),
		cmocka_unit_test(a_workspace_is_made_and_listed),
		cmocka_unit_test(a_workspace_that_exists_is_one_line_of_error),
		cmocka_unit_test(a_bad_name_is_one_line_of_error),
		cmocka_unit_test(a_key_is_printed_alone_and_works),
		cmocka_unit_test(keys_are_listed_and_revoked),
		cmocka_unit_test(what_is_not_there_is_said),
		cmocka_unit_test(a_key_is_revoked_by_its_number),
		cmocka_unit_test(a_wrong_call_exits_2),
		cmocka_unit_test(no_file_belongs_to_root),
		cmocka_unit_test(a_missing_configuration_is_named),
		cmocka_unit_test(a_missing_state_folder_is_named),
		cmocka_unit_test(a_service_user_that_will_not_do_is_named),
	};

	return cmocka_run_group_tests_name("admin", tests, setup, teardown);
}
