/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A file of any bytes as a recording: refused or read to its end, replay included. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "store/store.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char path[64];

static void remove_file(void)
{
	unlink(path);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	/* In memory, where there is such a place. */
	snprintf(path, sizeof(path), "%s/recording-fuzz-%d.peak",
		 access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm", getpid());
	atexit(remove_file);
	return 0;
}

/* Touches every byte that is handed out, so that a sanitizer sees those that are not there. */
static unsigned sum(const void *p, size_t n)
{
	const unsigned char *c = p;
	unsigned s = 0;

	for (size_t i = 0; i < n; i++)
		s += c[i];
	return s;
}

static int on_event(void *ctx, const struct event *ev)
{
	if (!event_is_edge(ev->kind) && ev->kind != PP_SAMPLE && ev->kind != PP_FAULT)
		abort();
	if (event_is_edge(ev->kind) &&
	    (ev->edge.label.len > PP_LABEL_MAX || ev->edge.args_len > PP_ARGS_MAX))
		abort();
	*(unsigned *)ctx += sum(ev, sizeof(*ev));
	return 0;
}

static int on_phase(void *ctx, const struct phase *ph)
{
	if (ph->kind < PH_CHECKPOINT || ph->kind > PH_AFTER || ph->label.len > PP_LABEL_MAX)
		abort();
	*(unsigned *)ctx += sum(ph, offsetof(struct phase, where));
	*(unsigned *)ctx += sum(ph->where, ph->nwhere * sizeof(*ph->where));
	return 0;
}

#define NOTES_READ 4

struct notes {
	struct note note[NOTES_READ];
	size_t n;
};

struct walk {
	struct recording *r;
	unsigned sum, processes;
};

static int on_note(void *ctx, const struct note *n)
{
	struct notes *notes = ctx;

	if (n->bytes > PP_NOTE_MAX)
		abort();
	if (notes->n < NOTES_READ)
		notes->note[notes->n++] = *n;
	return 0;
}

static int read_notes(struct walk *w, uint64_t mm_id)
{
	static char text[PP_NOTE_MAX];
	struct notes notes = {0};
	int err = recording_each_note(w->r, mm_id, on_note, &notes);

	for (size_t i = 0; i < notes.n && !err; i++) {
		err = recording_note_text(w->r, &notes.note[i], text);
		w->sum += err ? 0 : sum(text, notes.note[i].bytes);
	}
	return err;
}

static int on_output(void *ctx, const struct output_piece *p)
{
	struct walk *w = ctx;

	if (p->len > sizeof(p->bytes) || p->stream < KEPT_STDOUT || p->stream > KEPT_STDERR)
		abort();
	w->sum += sum(p, offsetof(struct output_piece, bytes) + p->len);
	return 0;
}

static int on_totals(void *ctx, const struct output_totals *t)
{
	((struct walk *)ctx)->sum += sum(t, sizeof(*t));
	return 0;
}

static int on_process(void *ctx, const struct process *p)
{
	struct walk *w = ctx;
	int err;

	if (p->args_len > PP_ARGS_MAX)
		abort();
	if (++w->processes > 20)
		return 1;
	w->sum += sum(p, sizeof(*p));
	err = recording_each_phase(w->r, p->mm_id, on_phase, &w->sum);
	if (!err)
		err = recording_phases_at(w->r, p->mm_id, p->peak.win, on_phase, &w->sum);
	if (!err)
		err = recording_phases_of_headroom(w->r, p->mm_id, p->headroom_min, on_phase,
						   &w->sum);
	if (!err)
		err = read_notes(w, p->mm_id);
	if (!err)
		err = recording_each_output(w->r, p->mm_id, on_output, w);
	if (!err)
		err = recording_each_output_back(w->r, p->mm_id, KEPT_STDERR, on_output, w);
	return err ? err : recording_each_sample(w->r, p->mm_id, on_event, &w->sum);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct model_sink none = {0};
	struct walk w = {0};
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	close(fd);
	if (recording_open(&w.r, path)) {
		if (w.r)
			abort();
		return 0;
	}
	w.sum += sum(recording_info(w.r), sizeof(struct run_info));
	w.sum += sum(recording_end(w.r), sizeof(struct run_end));
	recording_each_process(w.r, on_process, &w);
	recording_each_event(w.r, on_event, &w.sum);
	recording_each_output(w.r, 0, on_output, &w);
	recording_each_output_totals(w.r, on_totals, &w);
	recording_replay(w.r, &none, NULL, NULL);
	recording_close(&w.r);
	/* So that no compiler finds that the sum is for nothing. */
	return w.sum == 0xdeadbeef ? -1 : 0;
}
