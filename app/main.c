/* main: sandgate-app, the FastCGI application. SPDX-License-Identifier: ISC */
/*
 * Theory of operation
 *
 * A web server hands us requests over FastCGI, one a connection. The first process reads the
 * configuration (and with it the providers' keys), opens the listening socket, gives up root for the service user for
 * good, brings the database up to date and then only watches: it forks `processes` workers, starts another when one
 * crashes, and passes SIGTERM on. It never touches a request.
 *
 *   supervisor ── fork ──▶ worker ── threads ──▶ wait on the shared socket, serve one request at a time
 *
 * Each thread has a database connection of its own and, while it serves, one struct req with one
 * arena; threads share nothing that changes but what libraries keep. A thread is busy for as long as its request lasts,
 * minutes perhaps: it waits for the provider and for boxd's answers, always watching its client's descriptor too.
 *
 * SIGTERM or SIGINT: no more connections are accepted, running requests have drain_seconds, then
 * all ends. Containers are none of our concern then: each belongs to a sandgate-box of its own, which notices the closed
 * descriptor, ends the command and saves the files.
 *
 * Descriptors: 0 is the listening socket if `listen` is empty, 2 the log; all others are close-on-exec, and nothing
 * is ever executed.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "app/api/api.h"
#include "app/base/conf.h"
#include "app/base/version.h"
#include "app/http/listen.h"
#include "app/store/store.h"
#include "app/worker.h"
#include "sandbox/sys/log.h"

static const char default_config[] = "/etc/sandgate/sandgate.conf";

static void usage(FILE *to)
{
	fprintf(to,
		"usage: sandgate-app [--config FILE] [--check]\n"
		"       sandgate-app --help | --version\n"
		"\n"
		"The FastCGI application of sandgate: serves the model APIs to a web server.\n"
		"  --config FILE  settings, default %s\n"
		"  --check        read the settings, say what is wrong with them, and exit\n",
		default_config);
}

/* The path of the configuration; *check: only look at it. Exits on --help, --version and mistakes. */
static const char *parse_options(int argc, char **argv, bool *check)
{
	static const struct option options[] = {
		{"config", required_argument, NULL, 'c'},
		{"check", no_argument, NULL, 'k'},
		{"help", no_argument, NULL, 'h'},
		{"version", no_argument, NULL, 'v'},
		{NULL, 0, NULL, 0},
	};
	const char *path = default_config;
	int c;

	*check = false;
	while ((c = getopt_long(argc, argv, "c:h", options, NULL)) != -1) {
		switch (c) {
		case 'c':
			path = optarg;
			break;
		case 'k':
			*check = true;
			break;
		case 'h':
			usage(stdout);
			exit(0);
		case 'v':
			puts("sandgate-app " SANDGATE_VERSION);
			exit(0);
		default:
			usage(stderr);
			exit(2);
		}
	}
	if (optind < argc) {
		usage(stderr);
		exit(2);
	}
	return path;
}

/* A socket that lands on 1 or 2 would be written to. 0 is left alone: it may be the listening socket. */
static void secure_descriptors(void)
{
	int fd;

	for (fd = 0; fd <= 2; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR) != fd)
			_exit(1);
}

/* Each request may need several descriptors: client, provider, lease, box, database. */
static void raise_limits(void)
{
	struct rlimit rl;

	if (getrlimit(RLIMIT_NOFILE, &rl) < 0)
		return;
	rl.rlim_cur = rl.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &rl) < 0)
		log_warn("RLIMIT_NOFILE: %s", strerror(errno));
}

static void drop_privileges(const char *user)
{
	const struct passwd *pw;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		log_die("no_new_privs: %s", strerror(errno));
	if (geteuid() != 0)
		return;
	pw = getpwnam(user);
	if (!pw)
		log_die("user = %s: there is no such user", user);
	if (pw->pw_uid == 0)
		log_die("user = %s: expected a user without privileges", user);
	if (initgroups(user, pw->pw_gid) < 0 || setresgid(pw->pw_gid, pw->pw_gid, pw->pw_gid) < 0 ||
		setresuid(pw->pw_uid, pw->pw_uid, pw->pw_uid) < 0)
		log_die("becoming %s: %s", user, strerror(errno));
	if (setuid(0) == 0)
		log_die("root could be regained");
}

/* A database that cannot be opened stops the start here, not in every worker. */
static void check_store(const char *state)
{
	struct store *s = NULL;
	struct err e = {0};

	if (store_open(&s, state, &e) < 0)
		log_die("%s", e.message);
	store_close(s);
}

static int start_process(void *ctx)
{
	struct err e = {0};

	(void)ctx;
	if (api_global_init(&e) == 0)
		return 0;
	log_error("%s", e.message);
	return -1;
}

static _Thread_local struct api_env thread_env;

static int enter_thread(void *ctx)
{
	const struct conf *conf = ctx;
	struct err e = {0};

	if (store_open(&thread_env.store, conf->state, &e) < 0) {
		log_error("%s", e.message);
		return -1;
	}
	thread_env.conf = conf;
	api_set_env(&thread_env);
	return 0;
}

static void leave_thread(void *ctx)
{
	(void)ctx;
	api_set_env(NULL);
	store_close(thread_env.store);
}

int main(int argc, char **argv)
{
	char problem[1024];
	struct worker w = {
		.start = start_process,
		.enter = enter_thread,
		.leave = leave_thread,
		.serve = api_serve,
	};
	struct conf *conf;
	const char *path;
	bool check;
	int status;

	path = parse_options(argc, argv, &check);
	secure_descriptors();
	log_open("sandgate-app", LOG_INFO);
	if (conf_load(&conf, path, problem, sizeof problem) < 0)
		log_die("%s", problem);
	if (check) {
		printf("%s: fine\n", path);
		conf_free(conf);
		return 0;
	}
	raise_limits();
	w.listener = http_listen(conf->listen, conf->listen_mode, problem, sizeof problem);
	if (w.listener < 0)
		log_die("%s", problem);
	drop_privileges(conf->user);
	check_store(conf->state);
	w.processes = conf->processes;
	w.threads = conf->threads;
	w.drain_seconds = conf->drain_seconds;
	w.ctx = conf;
	log_info("serving with %d processes of %d threads on %s", conf->processes, conf->threads,
		conf->listen[0] ? conf->listen : "descriptor 0");
	status = worker_supervise(&w);
	http_unlisten(conf->listen);
	conf_free(conf);
	return status;
}
