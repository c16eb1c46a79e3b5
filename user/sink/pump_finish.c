/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The end: what is left, the recording itself, and what is to be said of it. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lib/clock.h"
#include "lib/say.h"
#include "lib/text.h"
#include "sink/pump_private.h"

#define STEP_MS 50 /* between two looks at whether to stop */

struct ending {
	struct pump *pump;
	bool (*stop)(void *ctx);
	void *stop_ctx;
};

static bool over(const struct ending *e)
{
	const struct pump *p = e->pump;

	return p->never || p->unread || (e->stop && e->stop(e->stop_ctx)) ||
	       backoff_over(&p->backoff, clock_mono_ns(), PUMP_PATIENCE_NS);
}

/* Waits; false: it is time to give up. */
static bool wait_ms(const struct ending *e, uint64_t ms)
{
	while (ms && !over(e)) {
		uint64_t step = ms < STEP_MS ? ms : STEP_MS;

		nanosleep(&(struct timespec){.tv_nsec = (long)step * 1000000}, NULL);
		ms -= step;
	}
	return !over(e);
}

static bool is_empty(const struct pump *p)
{
	struct gather *g = (struct gather *)&p->gather;

	for (int i = 0; i < GATHER_KINDS; i++)
		if (g->open[i].sent < g->open[i].n)
			return false;
	return g->all && !gather_ready(g);
}

static bool finish_objects(const struct ending *e)
{
	struct pump *p = e->pump;
	unsigned int ms;

	p->gather.all = false;
	do {
		pump_read(p, true);
		ms = pump_send(p, true);
		if (is_empty(p) && !p->unread)
			return true;
	} while (wait_ms(e, ms));
	return false;
}

/* As one object, out of the file itself. 1: there is no such file. */
static bool put_file(const struct ending *e, const char *path, const char *key)
{
	struct pump *p = e->pump;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	void *data = MAP_FAILED;
	struct stat st;
	bool sent = false;

	if (fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size)
		data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (data == MAP_FAILED) {
		say_error("sink %s: cannot read %s: %s", p->place->text, path, strerror(errno));
	} else {
		do
			sent =
			    pump_put(p, key, data, (size_t)st.st_size, "application/vnd.sqlite3");
		while (!sent &&
		       wait_ms(e, backoff_wait(&p->backoff, clock_mono_ns()) / 1000000 + 1));
		munmap(data, (size_t)st.st_size);
	}
	if (fd >= 0)
		close(fd);
	return sent;
}

/* With its log, if a tracer that died has left one: they belong together. */
static bool finish_recording(const struct ending *e)
{
	char key[PLACE_LABEL_MAX + 8], *log;
	bool sent, has_log;
	struct stat st;

	place_file(key, e->pump->path);
	sent = put_file(e, e->pump->path, key);
	if (!sent || asprintf(&log, "%s-wal", e->pump->path) < 0)
		return sent;
	has_log = !stat(log, &st) && st.st_size;
	if (has_log) {
		strcat(key, "-wal");
		sent = put_file(e, log, key);
	}
	free(log);
	return sent;
}

static enum gather_kind kind_of(const struct object *o)
{
	int i = 0;

	while (i + 1 < GATHER_KINDS &&
	       strncmp(o->key, gather_folders[i], strlen(gather_folders[i])) != 0)
		i++;
	return i;
}

/* Reads on without sending: what is missing, by kind. */
static void count_missing(struct pump *p, uint64_t missing[GATHER_KINDS])
{
	struct gather *g = &p->gather;
	struct object *o;

	p->never = false;
	do {
		while ((o = gather_ready(g))) {
			missing[kind_of(o)]++;
			gather_sent(g);
		}
		if (!g->all)
			pump_read(p, true);
	} while (!p->unread && (!g->all || gather_ready(g)));
	for (int i = 0; i < GATHER_KINDS; i++)
		missing[i] += g->open[i].sent < g->open[i].n;
}

/* As a word of a shell. */
static void put_word(FILE *f, const char *s)
{
	static const char plain[] =
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._/:=@%+,";

	if (*s && !s[strspn(s, plain)]) {
		fputs(s, f);
		return;
	}
	fputc('\'', f);
	for (; *s; s++)
		fputs(*s == '\'' ? "'\\''" : (char[]){*s, '\0'}, f);
	fputc('\'', f);
}

static void say_missing(struct pump *p, bool objects)
{
	uint64_t missing[GATHER_KINDS] = {0};
	char *text = NULL, *command = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	if (!objects)
		count_missing(p, missing);
	for (int i = 0; f && i < GATHER_KINDS; i++)
		if (missing[i])
			fprintf(f, "%llu of %s, ", (unsigned long long)missing[i],
				gather_folders[i]);
	if (f)
		fclose(f);
	f = open_memstream(&command, &len);
	if (f) {
		fputs("peakphase push ", f);
		put_word(f, p->path);
		fputc(' ', f);
		put_word(f, p->place->text);
		fclose(f);
	}
	if (text && command) {
		say_warning("sink %s: not sent: %sthe recording", p->place->text, text);
		say_remedy("%s has it all; to send it: %s", p->path, command);
	}
	free(text);
	free(command);
}

int pump_finish(struct pump *p, bool (*stop)(void *ctx), void *stop_ctx)
{
	struct ending e = {.pump = p, .stop = stop, .stop_ctx = stop_ctx};
	bool objects, recording;
	char size[24];

	/* Patience begins now. */
	p->backoff.since_ns = clock_mono_ns();
	p->backoff.next_ns = 0;
	objects = !p->never && finish_objects(&e);
	recording = objects && finish_recording(&e);
	if (!recording) {
		say_missing(p, objects);
		return -EIO;
	}
	say_info("%llu objects, %s, are at %s", (unsigned long long)p->objects,
		 text_size(size, p->bytes), p->place->text);
	return 0;
}
