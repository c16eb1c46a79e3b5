/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "store/writer.h"

#include <errno.h>
#include <string.h>

#include "lib/clock.h"
#include "lib/say.h"
#include "store/create.h"
#include "store/schema.h"

/*
 * A row is durable 100 ms after it was given. So it may wait this long, and its commit (one fsync:
 * about 10 ms here) may take the rest.
 */
#define LINGER_NS 50000000ull
/* Pages of the log from which on it is copied into the file after every commit: 4 MiB. */
#define LOG_PAGES 512
/* And at which commits wait for that, so that a flood cannot fill the disk twice: 256 MiB. */
#define LOG_PAGES_MAX 32768
/* Rows between two looks at the clock and at the other lane. */
#define ROWS_PER_LOOK 256

static int on_commit(void *ctx, sqlite3 *db, const char *name, int pages)
{
	(void)db;
	(void)name;
	((struct writer *)ctx)->log_pages = pages;
	return SQLITE_OK;
}

int writer_init(struct writer *w, sqlite3 *db, struct queue *q, const char *path)
{
	int rc;

	*w = (struct writer){.db = db, .queue = q, .path = path};
	rc = rows_open(&w->rows, db, "main");
	if (!rc)
		rc = sqlite3_prepare_v3(
		    db, "INSERT OR REPLACE INTO main.losses (class, count) VALUES (?, ?)", -1,
		    SQLITE_PREPARE_PERSISTENT, &w->loss, NULL);
	sqlite3_wal_hook(db, on_commit, w);
	return rc ? create_errno(db, rc) : 0;
}

void writer_fini(struct writer *w)
{
	rows_close(&w->rows);
	sqlite3_finalize(w->loss);
	w->loss = NULL;
}

static void fail(struct writer *w, int err)
{
	if (sqlite3_get_autocommit(w->db) == 0)
		sqlite3_exec(w->db, "ROLLBACK", NULL, NULL, NULL);
	w->in_transaction = false;
	w->dropped += w->uncommitted;
	w->uncommitted = 0;
	w->oldest_ns = 0;
	if (w->error)
		return;
	w->error = err;
	if (err == -ENOENT) {
		say_error("%s was removed or renamed while it was written: the recording ends here",
			  w->path);
		say_remedy("tracing goes on; record again with another name (-o)");
		return;
	}
	say_error("cannot write %s: %s: the recording ends here", w->path, strerror(-err));
	say_remedy("tracing goes on; what was written before can be read; make room, or use -o");
}

static void begin(struct writer *w)
{
	int rc = sqlite3_exec(w->db, "BEGIN", NULL, NULL, NULL);

	if (rc)
		fail(w, create_errno(w->db, rc));
	else
		w->in_transaction = true;
}

static void look_at_log(struct writer *w)
{
	if (w->log_pages >= LOG_PAGES_MAX)
		sqlite3_wal_checkpoint_v2(w->db, "main", SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
	else if (w->log_pages >= LOG_PAGES)
		checkpointer_ask(&w->checkpointer);
}

static void commit(struct writer *w)
{
	uint64_t start = clock_mono_ns(), end;
	int moved = 0, rc;

	if (!w->in_transaction)
		return;
	rc = sqlite3_exec(w->db, "COMMIT", NULL, NULL, NULL);
	if (rc) {
		fail(w, create_errno(w->db, rc));
		return;
	}
	end = clock_mono_ns();
	w->in_transaction = false;
	w->times.commits++;
	if (end - start > w->times.commit_max_ns)
		w->times.commit_max_ns = end - start;
	if (w->oldest_ns && end - w->oldest_ns > w->times.behind_max_ns)
		w->times.behind_max_ns = end - w->oldest_ns;
	w->uncommitted = 0;
	w->oldest_ns = 0;
	sqlite3_file_control(w->db, "main", SQLITE_FCNTL_HAS_MOVED, &moved);
	if (moved) {
		fail(w, -ENOENT);
		return;
	}
	look_at_log(w);
}

int writer_losses(struct writer *w, const struct message_losses *l)
{
	int rc = SQLITE_OK;

	for (int i = 0; i <= PP_LOSS_MAX && !rc; i++) {
		const char *name = i < PP_LOSS_MAX ? schema_loss_names[i] : "missed";
		uint64_t n = i < PP_LOSS_MAX ? l->losses[i] : l->missed;

		sqlite3_bind_text(w->loss, 1, name, -1, SQLITE_STATIC);
		sqlite3_bind_int64(w->loss, 2, (int64_t)n);
		sqlite3_step(w->loss);
		rc = sqlite3_reset(w->loss);
	}
	return rc;
}

static int write_job(struct writer *w, const struct job *j)
{
	int rc = SQLITE_OK;

	for (size_t i = 0; i < JOB_NUMBERS && !rc; i++) {
		uint64_t n;

		memcpy(&n, (const char *)j + schema_job_numbers[i].offset, sizeof(n));
		rc = writer_meta_int(w->db, schema_job_numbers[i].key, n);
	}
	return rc;
}

static int write_message(struct writer *w, const struct queue_message *m)
{
	const struct message_output_drop *d;
	const struct message_covered *c;
	uint64_t id;

	switch ((enum message_type)m->type) {
	case MSG_EVENT:
		message_get_event(m, &id, &w->event);
		return rows_event(&w->rows, id, &w->event);
	case MSG_PROCESS:
		return rows_process(&w->rows, message_data(m));
	case MSG_PHASE:
		message_get_phase(m, &w->phase);
		return rows_phase(&w->rows, &w->phase);
	case MSG_COVERED:
		c = message_data(m);
		return rows_covered(&w->rows, c->mm_id, c->from_win, c->to_win);
	case MSG_CGROUP:
		return rows_cgroup(&w->rows, message_data(m));
	case MSG_VERDICT:
		return rows_verdict(&w->rows, message_data(m));
	case MSG_UNHEARD:
		return rows_unheard(&w->rows, message_data(m));
	case MSG_OUTPUT:
		return rows_output(&w->rows, message_data(m));
	case MSG_OUTPUT_DROP:
		d = message_data(m);
		return rows_output_drop(&w->rows, d->stream, d->from, d->to);
	case MSG_OUTPUT_TOTALS:
		return rows_output_totals(&w->rows, message_data(m));
	case MSG_LOSSES:
		return writer_losses(w, message_data(m));
	case MSG_REACHED:
		return writer_meta_int(w->db, "reached_ns", *(const uint64_t *)message_data(m));
	case MSG_JOB:
		return write_job(w, message_data(m));
	case MSG_SHARE:
		return rows_share(&w->rows, message_data(m));
	}
	return SQLITE_MISUSE;
}

static void write_one(struct writer *w, const struct queue_message *m)
{
	int rc;

	if (!w->error && !w->in_transaction)
		begin(w);
	if (w->error) {
		w->dropped++;
		return;
	}
	w->uncommitted++;
	rc = write_message(w, m);
	if (rc)
		fail(w, create_errno(w->db, rc));
}

static void write_edges(struct writer *w);

/* Rows of one lane; when the rest is written, edges that came meanwhile go first. */
static void write_batch(struct writer *w, enum queue_lane lane, struct queue_batch b)
{
	unsigned n = 0;

	if (b.size && (!w->oldest_ns || b.first_ns < w->oldest_ns))
		w->oldest_ns = b.first_ns;
	for (size_t at = 0; at < b.size;) {
		const struct queue_message *m = (const struct queue_message *)(b.data + at);

		write_one(w, m);
		at += m->size;
		if (++n % ROWS_PER_LOOK)
			continue;
		if (lane == LANE_REST && queue_used(w->queue, LANE_EDGES)) {
			write_edges(w);
			if (!w->oldest_ns)
				w->oldest_ns = b.first_ns;
		}
		if (w->in_transaction && clock_mono_ns() >= w->next_commit_ns) {
			commit(w);
			w->next_commit_ns = clock_mono_ns() + LINGER_NS;
			w->oldest_ns = at < b.size ? b.first_ns : 0;
		}
	}
}

static void write_edges(struct writer *w)
{
	write_batch(w, LANE_EDGES, queue_take(w->queue, LANE_EDGES));
}

/*
 * The rest is taken before the edges and written after them: an edge is given before the phases
 * that it ends, so no commit holds a phase whose edges are still to come.
 */
static void write_all(struct writer *w)
{
	struct queue_batch rest = queue_take(w->queue, LANE_REST);

	write_edges(w);
	write_batch(w, LANE_REST, rest);
}

void writer_run(struct writer *w)
{
	bool more;

	do {
		/* Rows in a transaction already wait for no more than their own time. */
		uint64_t due = w->in_transaction ? w->next_commit_ns : 0;

		more = queue_wait(w->queue, LINGER_NS, due);
		if (!w->in_transaction)
			w->next_commit_ns = clock_mono_ns() + LINGER_NS;
		write_all(w);
		if (!w->in_transaction)
			continue;
		if (w->oldest_ns && w->oldest_ns + LINGER_NS < w->next_commit_ns)
			w->next_commit_ns = w->oldest_ns + LINGER_NS;
		if (!more || clock_mono_ns() >= w->next_commit_ns)
			commit(w);
	} while (more);
}
