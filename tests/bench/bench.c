/* bench: how fast a running stack is, beside what else the machine can do. SPDX-License-Identifier: ISC */

/*
 * Usage: bench PORT KEY FOLDER [BAR…]. Each bar measures ours and the other side in turns, so that
 * whatever else the machine does weighs on both, and compares the two: absolute times mean little.
 * Prints one table, and writes the same as JSON to bench.json.
 */
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sandbox/sys/io.h"
#include "tests/bench/client.h"

#define SAMPLES_MAX 1000

extern char **environ;

static int port;
static const char *key, *folder;

/* -- samples ---------------------------------------------------------------- */

struct samples {
	double ms[SAMPLES_MAX];
	size_t n;
};

static void note(struct samples *s, int64_t since_us)
{
	if (s->n < SAMPLES_MAX)
		s->ms[s->n++] = (double)(io_now_us() - since_us) / 1000;
}

static int compare(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double quantile(struct samples *s, double q)
{
	size_t k = (size_t)((double)s->n * q);

	if (s->n == 0)
		return 0;
	qsort(s->ms, s->n, sizeof s->ms[0], compare);
	return s->ms[k < s->n ? k : s->n - 1];
}

/* -- the two sides ------------------------------------------------------------ */

static void die(const char *what)
{
	fprintf(stderr, "bench: %s\n", what);
	exit(1);
}

static void ours(struct samples *s, struct client *c, const char *id, const char *command)
{
	int64_t t0 = io_now_us();

	if (client_exec(c, id, command, "") != 200 || !strstr(buf_str(&c->in), "\"exit_code\":0"))
		die("a command was not answered as it should");
	note(s, t0);
}

static char *const bash[] = {(char[]){"/bin/bash"}, (char[]){"-c"}, (char[]){"true"}, NULL};
static char *const bwrap[] = {(char[]){"/usr/bin/bwrap"}, (char[]){"--unshare-all"},
	(char[]){"--ro-bind"}, (char[]){"/usr"}, (char[]){"/usr"}, (char[]){"--symlink"},
	(char[]){"usr/lib"}, (char[]){"/lib"}, (char[]){"--symlink"}, (char[]){"usr/lib64"},
	(char[]){"/lib64"}, (char[]){"--symlink"}, (char[]){"usr/bin"}, (char[]){"/bin"},
	(char[]){"--proc"}, (char[]){"/proc"}, (char[]){"--dev"}, (char[]){"/dev"},
	(char[]){"--tmpfs"}, (char[]){"/tmp"}, (char[]){"bash"}, (char[]){"-c"}, (char[]){"true"},
	NULL};

static void spawned(struct samples *s, char *const argv[])
{
	int64_t t0 = io_now_us();
	int status;
	pid_t pid;

	if (posix_spawnp(&pid, argv[0], NULL, NULL, argv, environ) != 0 ||
		waitpid(pid, &status, 0) < 0 || status != 0)
		die("the other side's program failed");
	note(s, t0);
}

/* -- bars --------------------------------------------------------------------- */

/* What a bar says: ours and theirs in one unit, and the most (or least) that their ratio may be. */
struct row {
	const char *bar, *what, *unit;
	double ours, theirs, goal;
	bool at_least;
};
static struct row rows[16];
static size_t nrows;

static void row(struct row r)
{
	rows[nrows++] = r;
}

static void warm_exec(void)
{
	static struct samples a, b;
	struct client c;

	client_init(&c, port, key);
	ours(&a, &c, "bench-warm", "true");
	a.n = 0;
	for (int i = 0; i < 400; i++) {
		ours(&a, &c, "bench-warm", "true");
		spawned(&b, bash);
	}
	row((struct row){"warm-exec", "p50 against posix_spawn bash -c true", "ms",
		quantile(&a, 0.5), quantile(&b, 0.5), 1.3, false});
	row((struct row){"warm-exec", "p99 against its p99", "ms", quantile(&a, 0.99),
		quantile(&b, 0.99), 3, false});
	client_free(&c);
}

static double cold_p50;

static void cold_exec(void)
{
	static struct samples a, b;
	struct client c;
	char id[32];

	client_init(&c, port, key);
	for (int i = 0; i < 60; i++) {
		snprintf(id, sizeof id, "bench-cold-%d", i);
		ours(&a, &c, id, "true");
		spawned(&b, bwrap);
	}
	cold_p50 = quantile(&a, 0.5);
	row((struct row){"cold-exec", "p50 against bwrap --unshare-all bash -c true", "ms",
		cold_p50, quantile(&b, 0.5), 0.6, false});
	client_free(&c);
}

#define BURST 50

static struct samples burst_samples[BURST];
static pthread_barrier_t burst_gate;

static void *burst_one(void *arg)
{
	struct samples *s = arg;
	struct client c;
	char id[32];

	snprintf(id, sizeof id, "bench-burst-%d", (int)(s - burst_samples));
	client_init(&c, port, key);
	pthread_barrier_wait(&burst_gate);
	ours(s, &c, id, "true");
	client_free(&c);
	return NULL;
}

static void burst(void)
{
	static struct samples all;
	pthread_t threads[BURST];

	if (cold_p50 <= 0) {
		cold_exec();
		nrows--;
	}
	pthread_barrier_init(&burst_gate, NULL, BURST);
	for (int i = 0; i < BURST; i++)
		if (pthread_create(&threads[i], NULL, burst_one, &burst_samples[i]) != 0)
			die("no thread");
	for (int i = 0; i < BURST; i++) {
		pthread_join(threads[i], NULL);
		all.ms[all.n++] = burst_samples[i].ms[0];
	}
	row((struct row){"burst", "50 new at once, p99 against one cold p50", "ms",
		quantile(&all, 0.99), cold_p50, 35, false});
}

#define CLIENTS      8
#define THROUGHPUT_S 4

static int64_t throughput_until;

static void *throughput_ours(void *arg)
{
	static struct samples ignored[CLIENTS];
	size_t *done = arg, k = *done;
	struct client c;
	char id[32];

	snprintf(id, sizeof id, "bench-many-%zu", k);
	client_init(&c, port, key);
	for (*done = 0; io_now_us() < throughput_until; ++*done)
		ours(&ignored[k], &c, id, "true");
	client_free(&c);
	return NULL;
}

static void *throughput_theirs(void *arg)
{
	static _Thread_local struct samples ignored;
	size_t *done = arg;

	for (*done = 0; io_now_us() < throughput_until; ++*done)
		spawned(&ignored, bash);
	return NULL;
}

static double rate(void *(*fn)(void *), size_t threads)
{
	size_t done[CLIENTS], sum = 0;
	pthread_t t[CLIENTS];

	throughput_until = io_now_us() + THROUGHPUT_S * 1000000ll;
	for (size_t k = 0; k < threads; k++) {
		done[k] = k;
		if (pthread_create(&t[k], NULL, fn, &done[k]) != 0)
			die("no thread");
	}
	for (size_t k = 0; k < threads; k++) {
		pthread_join(t[k], NULL);
		sum += done[k];
	}
	return (double)sum / THROUGHPUT_S;
}

static void throughput(void)
{
	long cores = sysconf(_SC_NPROCESSORS_ONLN);
	double theirs, mine;

	(void)rate(throughput_ours, CLIENTS); /* wakes them */
	mine = rate(throughput_ours, CLIENTS);
	theirs = rate(throughput_theirs, cores < CLIENTS ? (size_t)cores : CLIENTS);
	row((struct row){"throughput",
		"8 clients, warm, against a loop of posix_spawn on all cores", "1/s", mine, theirs,
		0.7, true});
}

static void wake(void)
{
	static struct samples a, b;
	char repository[512], id[32];
	char *const clone[] = {(char[]){"git"}, (char[]){"clone"}, (char[]){"-q"}, repository,
		(char[]){"/tmp/sandgate-bench-clone"}, NULL};
	char *const clean[] = {
		(char[]){"rm"}, (char[]){"-rf"}, (char[]){"/tmp/sandgate-bench-clone"}, NULL};
	struct samples ignored = {.n = 0};
	struct client c;

	client_init(&c, port, key);
	for (int i = 0; i < 5; i++) {
		snprintf(id, sizeof id, "bench-wake-%d", i);
		snprintf(repository, sizeof repository, "%s/homes/default/%s.git", folder, id);
		if (client_exec(&c, id,
			    "mkdir d; for i in $(seq 1000); do head -c 20480 /dev/urandom >d/$i; "
			    "done",
			    ",\"sleep_after_seconds\":1") != 200)
			die("the home to wake could not be made");
		sleep(4);
		ours(&a, &c, id, "true");
		spawned(&b, clone);
		spawned(&ignored, clean);
	}
	row((struct row){"wake", "1,000 files, 20 MiB, against git clone of the same", "ms",
		quantile(&a, 0.5), quantile(&b, 0.5), 0.3, false});
	client_free(&c);
}

/* Proportional memory of all processes with that name, in KiB. */
static double memory_of(const char *name)
{
	DIR *d = opendir("/proc");
	double sum = 0;

	for (const struct dirent *e; d && (e = readdir(d));) {
		char path[300], *text, *pss;

		snprintf(path, sizeof path, "/proc/%s/comm", e->d_name);
		text = io_read_file(-1, path, 64, NULL);
		bool mine = text && strncmp(text, name, strlen(name)) == 0;
		free(text);
		if (!mine)
			continue;
		snprintf(path, sizeof path, "/proc/%s/smaps_rollup", e->d_name);
		text = io_read_file(-1, path, 8192, NULL);
		pss = text ? strstr(text, "\nPss:") : NULL;
		sum += pss ? strtod(pss + 5, NULL) : 0;
		free(text);
	}
	if (d)
		closedir(d);
	return sum;
}

#define DENSITY 300

static void density(void)
{
	static struct samples s;
	double before = memory_of("sandgate-box") + memory_of("sandgate-init"), after;
	struct client c;
	char id[32];

	client_init(&c, port, key);
	for (int i = 0; i < DENSITY; i++) {
		snprintf(id, sizeof id, "bench-idle-%d", i);
		ours(&s, &c, id, "true");
	}
	after = memory_of("sandgate-box") + memory_of("sandgate-init");
	row((struct row){"density", "300 awake: proportional memory of each, against 1 MiB", "MiB",
		(after - before) / 1024 / DENSITY, 1, 1.5, false});
	client_free(&c);
}

static const struct bar {
	const char *name;
	void (*run)(void);
} bars[] = {
	{"warm-exec", warm_exec},
	{"cold-exec", cold_exec},
	{"burst", burst},
	{"throughput", throughput},
	{"wake", wake},
	{"density", density},
};

/* -- the table ------------------------------------------------------------------ */

static bool reached(const struct row *r)
{
	return r->at_least ? r->ours >= r->goal * r->theirs : r->ours <= r->goal * r->theirs;
}

static void print_table(void)
{
	FILE *json = fopen("bench.json", "we");

	if (json)
		fputs("[\n", json);
	printf("%-11s %-62s %9s %9s %6s %7s\n", "bar", "what", "ours", "theirs", "ratio", "goal");
	for (size_t k = 0; k < nrows; k++) {
		const struct row *r = &rows[k];

		printf("%-11s %-62s %9.2f %9.2f %6.2f %s%5.2f %s\n", r->bar, r->what, r->ours,
			r->theirs, r->ours / r->theirs, r->at_least ? "≥" : "≤", r->goal,
			reached(r) ? "reached" : "MISSED");
		if (json)
			fprintf(json,
				"{\"bar\":\"%s\",\"what\":\"%s\",\"unit\":\"%s\",\"ours\":%.3f,"
				"\"theirs\":%.3f,"
				"\"goal\":%.2f,\"reached\":%s}%s\n",
				r->bar, r->what, r->unit, r->ours, r->theirs, r->goal,
				reached(r) ? "true" : "false", k + 1 < nrows ? "," : "");
	}
	if (json) {
		fputs("]\n", json);
		fclose(json);
	}
}

int main(int argc, char **argv)
{
	if (argc < 4)
		die("usage: bench PORT KEY FOLDER [BAR…]");
	port = (int)strtol(argv[1], NULL, 10);
	key = argv[2];
	folder = argv[3];
	for (size_t k = 0; k < sizeof bars / sizeof *bars; k++) {
		bool wanted = argc == 4;

		for (int i = 4; i < argc; i++)
			wanted = wanted || strcmp(argv[i], bars[k].name) == 0;
		if (!wanted)
			continue;
		fprintf(stderr, "bench: %s …\n", bars[k].name);
		bars[k].run();
	}
	if (nrows == 0)
		die("no such bar");
	print_table();
	return 0;
}
