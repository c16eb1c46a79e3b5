/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "store/store.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/say.h"
#include "store/create.h"
#include "store/message.h"
#include "store/writer.h"

struct store {
	char *path;
	sqlite3 *db; /* the writer's, while its thread runs */
	int lock_fd;
	struct queue *queue;
	struct writer writer;
	pthread_t thread;
	uint64_t next_id; /* numbers events in the order in which they came */
	_Atomic uint64_t refused;
};

static void *thread_main(void *ctx)
{
	writer_run(ctx);
	return NULL;
}

/* Signals are for the thread that traces; a full disk quota's SIGXFSZ is for nobody. */
static int start_thread(struct store *s)
{
	sigset_t all, old;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	/* Without it the log grows until it is very long, or the end: no reason not to record. */
	checkpointer_start(&s->writer.checkpointer, s->path);
	err = pthread_create(&s->thread, NULL, thread_main, &s->writer);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return -err;
}

static int write_info(sqlite3 *db, const struct run_info *i)
{
	const struct {
		const char *key, *text;
	} texts[] = {
	    {"peakphase", i->version}, {"kernel", i->kernel}, {"machine", i->machine},
	    {"command", i->command},   {"mode", i->mode},     {"options", i->options},
	    {"counters", i->counters}, {"probe", i->probe},
	};
	const struct {
		const char *key;
		uint64_t value;
	} numbers[] = {
	    {"wall_ns", i->wall_ns},
	    {"mono_ns", i->mono_ns},
	    {"boot_ns", i->boot_ns},
	    {"boot_id_hash", i->boot_id_hash},
	    {"page_size", i->page_size},
	    {"cpus", i->cpus},
	    {"where_every", i->where_every},
	    {"exact", i->exact},
	    {"error_per_thread", i->error_per_thread},
	    {"ceiling", i->ceiling},
	    {"headroom", i->headroom},
	    {"finished", 0},
	};
	int rc = sqlite3_exec(db, "BEGIN", NULL, NULL, NULL);

	for (size_t k = 0; k < sizeof(texts) / sizeof(texts[0]) && !rc; k++)
		rc = writer_meta_text(db, texts[k].key, texts[k].text);
	for (size_t k = 0; k < sizeof(numbers) / sizeof(numbers[0]) && !rc; k++)
		rc = writer_meta_int(db, numbers[k].key, numbers[k].value);
	return rc ? rc : sqlite3_exec(db, "COMMIT", NULL, NULL, NULL);
}

static void free_store(struct store **sp)
{
	struct store *s = *sp;

	checkpointer_stop(&s->writer.checkpointer);
	writer_fini(&s->writer);
	sqlite3_close(s->db);
	if (s->lock_fd >= 0)
		close(s->lock_fd);
	queue_free(&s->queue);
	free(s->path);
	free(s);
	*sp = NULL;
}

int store_create(struct store **out, const char *path, const struct run_info *info)
{
	struct store *s = calloc(1, sizeof(*s));
	int ret = -ENOMEM, rc;

	if (!s)
		return -ENOMEM;
	s->lock_fd = -1;
	s->next_id = 1;
	s->path = strdup(path);
	s->queue = queue_new();
	if (!s->path || !s->queue)
		goto err;
	ret = create_recording(&s->db, &s->lock_fd, path);
	if (ret)
		goto err;
	rc = write_info(s->db, info);
	ret = rc ? create_errno(s->db, rc) : writer_init(&s->writer, s->db, s->queue, s->path);
	if (!ret)
		ret = start_thread(s);
	if (ret) {
		say_error("cannot record to %s: %s", path, strerror(-ret));
		say_remedy("write the recording elsewhere with -o, or run with --no-record");
		goto err;
	}
	*out = s;
	return 0;
err:
	free_store(&s);
	return ret;
}

static int put(struct store *s, int err)
{
	if (err)
		s->refused++;
	return err;
}

/* After an error of the writer there is nobody to give rows to: 0, for tracing goes on. */
static bool failed(struct store *s)
{
	if (!s->writer.error)
		return false;
	s->refused++;
	return true;
}

int store_event(struct store *s, const struct event *ev)
{
	if (failed(s))
		return 0;
	return put(s, message_put_event(s->queue, s->next_id++, ev));
}

int store_process(struct store *s, const struct process *p)
{
	if (failed(s))
		return 0;
	if (p->args_len > PP_ARGS_MAX)
		return put(s, -EINVAL);
	return put(s, message_put(s->queue, MSG_PROCESS, p, sizeof(*p)));
}

int store_phase(struct store *s, const struct phase *ph)
{
	if (failed(s))
		return 0;
	return put(s, message_put_phase(s->queue, ph));
}

int store_cgroup(struct store *s, const struct cgroup *c)
{
	if (failed(s))
		return 0;
	return put(s, message_put(s->queue, MSG_CGROUP, c, sizeof(*c)));
}

int store_verdict(struct store *s, const struct verdict *v)
{
	if (failed(s))
		return 0;
	if (v->cgroup_len > EV_CGROUP_MAX || v->phase_label.len > PP_LABEL_MAX)
		return put(s, -EINVAL);
	return put(s, message_put(s->queue, MSG_VERDICT, v, sizeof(*v)));
}

int store_unheard(struct store *s, const struct unheard *u)
{
	if (failed(s))
		return 0;
	return put(s, message_put(s->queue, MSG_UNHEARD, u, sizeof(*u)));
}

int store_output(struct store *s, const struct output_piece *p)
{
	if (failed(s))
		return 0;
	if (p->len > sizeof(p->bytes) || p->stream < 1 || p->stream > 2)
		return put(s, -EINVAL);
	return put(
	    s, message_put(s->queue, MSG_OUTPUT, p, offsetof(struct output_piece, bytes) + p->len));
}

int store_output_drop(struct store *s, uint32_t stream, uint64_t from, uint64_t to)
{
	struct message_output_drop d = {from, to, stream};

	if (failed(s))
		return 0;
	return put(s, message_put(s->queue, MSG_OUTPUT_DROP, &d, sizeof(d)));
}

int store_output_totals(struct store *s, const struct output_totals *t)
{
	if (failed(s))
		return 0;
	return put(s, message_put(s->queue, MSG_OUTPUT_TOTALS, t, sizeof(*t)));
}

int store_covered(struct store *s, uint64_t mm_id, uint64_t from_win, uint64_t to_win)
{
	struct message_covered c = {mm_id, from_win, to_win};

	if (failed(s))
		return 0;
	return put(s, message_put(s->queue, MSG_COVERED, &c, sizeof(c)));
}

int store_job(struct store *s, const struct job *j)
{
	int err = 0;

	if (failed(s))
		return 0;
	err = put(s, message_put(s->queue, MSG_JOB, j, sizeof(*j)));
	for (size_t i = 0; i < j->nshares && !err; i++)
		err = put(s, message_put(s->queue, MSG_SHARE, &j->shares[i], sizeof(*j->shares)));
	return err;
}

int store_losses(struct store *s, const uint64_t losses[PP_LOSS_MAX], uint64_t missed)
{
	struct message_losses l = {.missed = missed};

	if (failed(s))
		return 0;
	memcpy(l.losses, losses, sizeof(l.losses));
	return put(s, message_put(s->queue, MSG_LOSSES, &l, sizeof(l)));
}

int store_reached(struct store *s, uint64_t ns)
{
	if (failed(s))
		return 0;
	return put(s, message_put(s->queue, MSG_REACHED, &ns, sizeof(ns)));
}

uint64_t store_dropped(const struct store *s)
{
	return s->refused + s->writer.dropped;
}

static int write_end(struct store *s, const struct run_end *end)
{
	const struct model_counts *c = &end->counts;
	const struct {
		const char *key;
		uint64_t value;
	} numbers[] = {
	    {"finished", !s->writer.error},
	    {"end_ns", end->end_ns},
	    {"status", (uint64_t)(int64_t)end->status},
	    {"error", (uint64_t)(int64_t)s->writer.error},
	    {"dropped", store_dropped(s)},
	    {"model_edges", c->edges},
	    {"model_samples", c->samples},
	    {"model_faults", c->faults},
	    {"model_bad_ends", c->bad_ends},
	    {"model_orphans", c->orphans},
	    {"model_reordered", c->reordered},
	    {"model_cut_open", c->cut_open},
	};
	struct message_losses l = {.missed = end->missed};
	int rc = sqlite3_exec(s->db, "BEGIN", NULL, NULL, NULL);

	memcpy(l.losses, end->losses, sizeof(l.losses));
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]) && !rc; i++)
		rc = writer_meta_int(s->db, numbers[i].key, numbers[i].value);
	if (!rc)
		rc = writer_losses(&s->writer, &l);
	if (!rc)
		rc = sqlite3_exec(s->db, "COMMIT", NULL, NULL, NULL);
	if (!rc || sqlite3_get_autocommit(s->db))
		return rc;
	rc = sqlite3_extended_errcode(s->db);
	sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
	return rc;
}

/*
 * Out of WAL mode: one file, which needs neither a log beside it nor a folder that can be written.
 * Where it cannot be (a reader is there, the disk is full) it stays as it is: complete, with its
 * log.
 */
static void make_single(sqlite3 *db)
{
	sqlite3_exec(db, "PRAGMA journal_mode = DELETE", NULL, NULL, NULL);
}

/* The signal that comes with the limit on a file's size would end the tracer: here it waits, and is
 * taken away. */
static void hold_size_signal(sigset_t *size, sigset_t *old)
{
	sigemptyset(size);
	sigaddset(size, SIGXFSZ);
	pthread_sigmask(SIG_BLOCK, size, old);
}

static void drop_size_signal(const sigset_t *size, const sigset_t *old)
{
	static const struct timespec now;

	while (!sigismember(old, SIGXFSZ) && sigtimedwait(size, NULL, &now) > 0)
		;
	pthread_sigmask(SIG_SETMASK, old, NULL);
}

int store_close_timed(struct store **sp, const struct run_end *end, struct store_times *times)
{
	struct store *s = *sp;
	sigset_t size, old;
	int ret, rc;

	if (!s)
		return 0;
	hold_size_signal(&size, &old);
	queue_close(s->queue);
	pthread_join(s->thread, NULL);
	checkpointer_stop(&s->writer.checkpointer);
	ret = s->writer.error;
	/* After an error too: what ended the writing, for those who read it. It may well fit. */
	rc = ret == -ENOENT ? SQLITE_OK : write_end(s, end);
	if (rc && !ret) {
		ret = create_errno(s->db, rc);
		say_error("cannot finish %s: %s", s->path, strerror(-ret));
		say_remedy("what was written before can be read");
	}
	writer_fini(&s->writer);
	if (ret != -ENOENT)
		make_single(s->db);
	if (times) {
		*times = s->writer.times;
		times->checkpoints = s->writer.checkpointer.copies;
		times->checkpoint_max_ns = s->writer.checkpointer.longest_ns;
		times->dropped = store_dropped(s);
	}
	free_store(sp);
	drop_size_signal(&size, &old);
	return ret;
}

int store_close(struct store **s, const struct run_end *end)
{
	return store_close_timed(s, end, NULL);
}
