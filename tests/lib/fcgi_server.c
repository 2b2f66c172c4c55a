/* fcgi_server: a small application for the tests of app/http and app/worker. SPDX-License-Identifier: ISC */
#include "tests/lib/test.h"

#include "tests/lib/fcgi_server.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app/http/listen.h"
#include "sandbox/sys/io.h"
#include "sandbox/sys/log.h"

void fcgi_server_start(struct fcgi_server *s, struct worker *w)
{
	static int count;
	char err[256] = "";
	int fd;

	count++;
	snprintf(s->where, sizeof s->where, "unix:%s/app-%d.sock", test_tmp(), count);
	snprintf(s->log, sizeof s->log, "%s/app-%d.log", test_tmp(), count);
	w->listener = http_listen(s->where, 0600, err, sizeof err);
	if (w->listener < 0)
		fail_msg("%s", err);
	s->pid = fork();
	if (s->pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		fd = open(s->log, O_WRONLY | O_CREAT | O_APPEND, 0600);
		dup2(fd, STDERR_FILENO);
		log_open("test", LOG_DEBUG);
		_exit(worker_supervise(w));
	}
	io_close(&w->listener);
}

int fcgi_server_stop(struct fcgi_server *s)
{
	int status = 0;

	kill(s->pid, SIGTERM);
	waitpid(s->pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

bool fcgi_server_logged(const struct fcgi_server *s, const char *text, int timeout_ms)
{
	int64_t until = io_now_ms() + timeout_ms;
	bool found = false;
	char *log;
	size_t n;

	while (!found && io_now_ms() < until) {
		log = io_read_file(AT_FDCWD, s->log, 16u << 20, &n);
		found = log && strstr(log, text);
		free(log);
		if (!found)
			usleep(10000);
	}
	return found;
}
