/*
 * sandgate: what the operator does by hand. SPDX-License-Identifier: ISC
 *
 * Reads the settings as whoever started it, becomes the service user if that is root, so that no
 * file of the database belongs to root, and runs one command on the database. The server need not
 * run, and may.
 */
#include <errno.h>
#include <getopt.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "app/base/conf.h"
#include "app/base/version.h"
#include "app/store/store.h"
#include "sandbox/sys/log.h"

#define ADMIN_CONFIG "/etc/sandgate/sandgate.conf"
#define ADMIN_USAGE  2 /* exit status: called wrongly */

struct admin {
	const char *config;
	struct conf *conf;
	struct store *store;
	struct arena *arena;
};

/* UTC, as in the logs. */
static const char *when(struct arena *a, int64_t t)
{
	time_t seconds = (time_t)t;
	struct tm tm;
	char text[32];

	if (!gmtime_r(&seconds, &tm) ||
		strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm) == 0)
		return "-";
	return arena_strdup(a, text);
}

static int workspace_add(struct admin *ad, char **args, struct err *e)
{
	struct workspace w;
	int rc = store_workspace_add(ad->store, ad->arena, args[0], &w, e);

	if (rc == 0)
		printf("workspace %s\n", w.slug);
	return rc;
}

static int workspace_list(struct admin *ad, char **args, struct err *e)
{
	struct workspace *list;
	size_t n;
	int rc = store_workspace_list(ad->store, ad->arena, &list, &n, e);

	(void)args;
	if (rc < 0)
		return rc;
	printf("%-40s  %-8s  %s\n", "WORKSPACE", "TAG", "CREATED");
	for (size_t i = 0; i < n; i++)
		printf("%-40s  %-8s  %s\n", list[i].slug, list[i].tag,
			when(ad->arena, list[i].created_at));
	return 0;
}

static int key_add(struct admin *ad, char **args, struct err *e)
{
	struct workspace w;
	char *key;
	int rc = store_workspace_find(ad->store, ad->arena, args[0], &w, e);

	if (rc == 0)
		rc = store_key_add(ad->store, ad->arena, &w, args[1] ? args[1] : "", &key, e);
	if (rc == 0)
		puts(key);
	return rc;
}

static int key_list(struct admin *ad, char **args, struct err *e)
{
	struct workspace w;
	struct key *list;
	size_t n;
	int rc = store_workspace_find(ad->store, ad->arena, args[0], &w, e);

	if (rc == 0)
		rc = store_key_list(ad->store, ad->arena, w.id, &list, &n, e);
	if (rc < 0)
		return rc;
	printf("%6s  %-20s  %-20s  %s\n", "ID", "CREATED", "REVOKED", "LABEL");
	for (size_t i = 0; i < n; i++)
		printf("%6lld  %-20s  %-20s  %s\n", (long long)list[i].id,
			when(ad->arena, list[i].created_at),
			list[i].revoked_at ? when(ad->arena, list[i].revoked_at) : "-",
			list[i].label);
	return 0;
}

static int key_revoke(struct admin *ad, char **args, struct err *e)
{
	char *end;
	long long id;

	errno = 0;
	id = strtoll(args[0], &end, 10);
	if (errno || end == args[0] || *end || id < 1)
		return err_set(e, ERR_INVALID_REQUEST, "key",
			"%.40s: expected the number of a key, as key list prints it", args[0]);
	return store_key_revoke(ad->store, id, e);
}

static const struct command {
	const char *noun, *verb, *args;
	int least, most; /* arguments */
	int (*run)(struct admin *ad, char **args, struct err *e);
	const char *help;
} commands[] = {
	{"workspace", "add", "NAME", 1, 1, workspace_add, "make a workspace"},
	{"workspace", "list", "", 0, 0, workspace_list, "print all workspaces"},
	{"key", "add", "WORKSPACE [LABEL]", 1, 2, key_add,
		"make a key and print it: it is shown this once, only its hash is kept"},
	{"key", "list", "WORKSPACE", 1, 1, key_list,
		"print the keys of a workspace, not their text"},
	{"key", "revoke", "ID", 1, 1, key_revoke,
		"end a key; it is refused from the next request on"},
};
#define NCOMMANDS (sizeof(commands) / sizeof(commands[0]))

static void help(FILE *f)
{
	fputs("usage: sandgate [--config FILE] COMMAND\n\n", f);
	for (size_t i = 0; i < NCOMMANDS; i++) {
		char line[80];

		snprintf(line, sizeof(line), "%s %s %s", commands[i].noun, commands[i].verb,
			commands[i].args);
		fprintf(f, "  %-28s  %s\n", line, commands[i].help);
	}
	fprintf(f, "  %-28s  %s\n", "version", "print the version");
	fputs("\nFILE is " ADMIN_CONFIG " if it is not given.\n", f);
}

/* One line on stderr. */
static int complain(const char *text)
{
	fprintf(stderr, "sandgate: %s\n", text);
	return EXIT_FAILURE;
}

static int usage(const char *text)
{
	complain(text);
	fputs("try: sandgate --help\n", stderr);
	return ADMIN_USAGE;
}

/* For good: root is gone from all three ids. */
static int become(const char *user, struct err *e)
{
	const struct passwd *pw;

	if (geteuid() != 0)
		return 0;
	errno = 0;
	pw = getpwnam(user);
	if (!pw)
		return err_set(e, ERR_SERVER, NULL, "user %s: %s", user,
			errno ? strerror(errno) : "there is none");
	if (pw->pw_uid == 0)
		return err_set(
			e, ERR_SERVER, NULL, "user %s: expected one without privileges", user);
	if (initgroups(user, pw->pw_gid) < 0 || setresgid(pw->pw_gid, pw->pw_gid, pw->pw_gid) < 0 ||
		setresuid(pw->pw_uid, pw->pw_uid, pw->pw_uid) < 0)
		return err_set(
			e, ERR_SERVER, NULL, "cannot become user %s: %s", user, strerror(errno));
	return 0;
}

static int run(struct admin *ad, const struct command *c, char **args, struct err *e)
{
	char text[512];
	int rc;

	if (conf_load(&ad->conf, ad->config, text, sizeof(text)) < 0)
		return err_set(e, ERR_SERVER, NULL, "%s", text);
	umask(077);
	rc = become(ad->conf->user, e);
	if (rc == 0)
		rc = store_open(&ad->store, ad->conf->state, e);
	if (rc == 0)
		rc = c->run(ad, args, e);
	/* A key that could not be printed is lost: say so. */
	if (rc == 0 && (fflush(stdout) != 0 || ferror(stdout)))
		rc = err_set(e, ERR_SERVER, NULL, "cannot write the answer: %s", strerror(errno));
	return rc;
}

static const struct command *find(char **words, int n)
{
	for (size_t i = 0; n >= 2 && i < NCOMMANDS; i++)
		if (strcmp(words[0], commands[i].noun) == 0 &&
			strcmp(words[1], commands[i].verb) == 0)
			return &commands[i];
	return NULL;
}

/* -1 to go on with the words from optind on, or the exit status. */
static int options(struct admin *ad, int argc, char **argv)
{
	static const struct option known[] = {
		{"config", required_argument, NULL, 'c'},
		{"help", no_argument, NULL, 'h'},
		{"version", no_argument, NULL, 'v'},
		{NULL, 0, NULL, 0},
	};
	int option, said = 0;

	/* "+": options end at the first word, so that a label may begin with a dash. */
	while ((option = getopt_long(argc, argv, "+hc:", known, NULL)) != -1) {
		if (option == 'c')
			ad->config = optarg;
		else if (option == 'h' || option == 'v')
			said = option;
		else
			return ADMIN_USAGE; /* getopt has said why */
	}
	if (argc - optind == 1 && strcmp(argv[optind], "help") == 0)
		said = 'h';
	if (argc - optind == 1 && strcmp(argv[optind], "version") == 0)
		said = 'v';
	if (said == 'h')
		help(stdout);
	if (said == 'v')
		puts("sandgate " SANDGATE_VERSION);
	return said ? EXIT_SUCCESS : -1;
}

int main(int argc, char **argv)
{
	struct admin ad = {.config = ADMIN_CONFIG};
	const struct command *c;
	struct err e = {0};
	int status, n, rc;

	log_open("sandgate", LOG_ERROR); /* the operator is told by complain() */
	status = options(&ad, argc, argv);
	if (status >= 0)
		return status;
	argv += optind;
	n = argc - optind;
	if (n == 0)
		return usage("expected a command");
	c = find(argv, n);
	if (!c)
		return usage("no such command");
	if (n - 2 < c->least || n - 2 > c->most) {
		fprintf(stderr, "usage: sandgate [--config FILE] %s %s %s\n", c->noun, c->verb,
			c->args);
		return ADMIN_USAGE;
	}
	ad.arena = arena_new();
	rc = run(&ad, c, argv + 2, &e);
	store_close(ad.store);
	conf_free(ad.conf);
	arena_free(ad.arena);
	return rc < 0 ? complain(e.message) : EXIT_SUCCESS;
}
