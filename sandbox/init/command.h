/* command: starting, reaping, killing and freezing what the tenant runs. SPDX-License-Identifier: ISC */
#ifndef SANDBOX_INIT_COMMAND_H
#define SANDBOX_INIT_COMMAND_H

#include "sandbox/init/init.h"

/* Answers of the messages of the same name; they send RUNNING, EXITED, KILLED. fds are standard input, output, error. */
void command_run(struct init *i, const struct wire_run *run, const int fds[3]);
void command_kill(struct init *i, uint32_t id);
/* Reaps every child that has ended, sends EXITED for main processes, removes leaves that are empty. */
void command_reap(struct init *i);
/* Freezes or thaws all commands; returns when it is so, or after a second in which a process did not stop. */
void command_freeze(struct init *i, bool on);

#endif
