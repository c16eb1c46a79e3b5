/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "store/checkpoint.h"

#include "lib/clock.h"
#include "store/create.h"

/*
 * Passive: waits for nobody, and what is still needed or came meanwhile is copied the next time.
 * Once all is copied between two commits, the next commit begins the log anew. A failure (a full
 * disk) harms nothing: the log holds it all.
 */
static void copy(struct checkpointer *c)
{
	uint64_t start = clock_mono_ns(), took;

	if (sqlite3_wal_checkpoint_v2(c->db, "main", SQLITE_CHECKPOINT_PASSIVE, NULL, NULL))
		return;
	took = clock_mono_ns() - start;
	c->copies++;
	if (took > c->longest_ns)
		c->longest_ns = took;
}

static void *thread_main(void *ctx)
{
	struct checkpointer *c = ctx;

	pthread_mutex_lock(&c->lock);
	while (!c->stop) {
		if (!c->wanted) {
			pthread_cond_wait(&c->asked, &c->lock);
			continue;
		}
		c->wanted = false;
		pthread_mutex_unlock(&c->lock);
		copy(c);
		pthread_mutex_lock(&c->lock);
	}
	pthread_mutex_unlock(&c->lock);
	return NULL;
}

int checkpointer_start(struct checkpointer *c, const char *path)
{
	int err;

	*c = (struct checkpointer){0};
	err = create_open(&c->db, path);
	if (err)
		return err;
	/* It reads the log, not the tables; and only the last of all may fold the log in. */
	sqlite3_exec(c->db, "PRAGMA cache_size = -64; PRAGMA synchronous = FULL", NULL, NULL, NULL);
	sqlite3_db_config(c->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
	pthread_mutex_init(&c->lock, NULL);
	pthread_cond_init(&c->asked, NULL);
	err = pthread_create(&c->thread, NULL, thread_main, c);
	c->started = !err;
	if (!err)
		return 0;
	pthread_cond_destroy(&c->asked);
	pthread_mutex_destroy(&c->lock);
	sqlite3_close(c->db);
	c->db = NULL;
	return -err;
}

void checkpointer_ask(struct checkpointer *c)
{
	if (!c->started)
		return;
	pthread_mutex_lock(&c->lock);
	c->wanted = true;
	pthread_cond_signal(&c->asked);
	pthread_mutex_unlock(&c->lock);
}

void checkpointer_stop(struct checkpointer *c)
{
	if (!c->started)
		return;
	pthread_mutex_lock(&c->lock);
	c->stop = true;
	pthread_cond_signal(&c->asked);
	pthread_mutex_unlock(&c->lock);
	pthread_join(c->thread, NULL);
	pthread_cond_destroy(&c->asked);
	pthread_mutex_destroy(&c->lock);
	sqlite3_close(c->db);
	c->db = NULL;
	c->started = false;
}
