/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Copies the log into the file from a thread and a connection of its own, so that no commit waits
 * for it: on a busy disk one copy was seen to take two seconds.
 */
#ifndef PEAKPHASE_STORE_CHECKPOINT_H
#define PEAKPHASE_STORE_CHECKPOINT_H

#include <pthread.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct checkpointer {
	sqlite3 *db;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t asked;
	bool wanted, stop, started;
	_Atomic uint64_t copies, longest_ns;
};

/* Without it (an error) the log only grows until the end. 0, -errno. Call with signals blocked. */
int checkpointer_start(struct checkpointer *c, const char *path);
/* There is something to copy. Never waits. */
void checkpointer_ask(struct checkpointer *c);
/* Ends the thread and its connection; also when it was not started. */
void checkpointer_stop(struct checkpointer *c);

#endif
