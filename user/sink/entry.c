/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sink/entry.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/json.h"
#include "view/columns.h"

int entry_begin(struct entry *r, const struct report_run *run)
{
	*r = (struct entry){.run = *run};
	r->f = open_memstream(&r->text, &r->len);
	return r->f ? 0 : -ENOMEM;
}

void entry_end(struct entry *r)
{
	if (r->f)
		fclose(r->f);
	free(r->text);
	*r = (struct entry){0};
}

uint64_t entry_wall(const struct entry *r, uint64_t mono_ns)
{
	return r->run.wall_ns + (mono_ns - r->run.mono_ns);
}

static void put_u64(struct jw *j, const char *key, uint64_t n)
{
	jw_key(j, key);
	if (n == EV_NONE)
		jw_null(j);
	else
		jw_u64(j, n);
}

/* What rows of both kinds begin with: who, when, how much. */
static int begin(struct entry *r, struct jw *j, uint64_t mono_ns, uint32_t pid, uint64_t rss,
		 uint64_t threads)
{
	uint64_t wall = entry_wall(r, mono_ns);
	time_t seconds = (time_t)(wall / 1000000000u);
	char stamp[48];
	struct tm tm;
	size_t n;

	rewind(r->f);
	if (jw_open(j, r->f))
		return -ENOMEM;
	if (!gmtime_r(&seconds, &tm))
		memset(&tm, 0, sizeof(tm));
	n = strftime(stamp, sizeof(stamp), "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(stamp + n, sizeof(stamp) - n, ".%09lluZ",
		 (unsigned long long)(wall % 1000000000u));
	jw_inline(j);
	jw_begin_object(j);
	jw_key(j, "timestamp");
	jw_text(j, stamp);
	put_u64(j, "time_ns", wall);
	put_u64(j, "mono_ns", mono_ns);
	put_u64(j, "pid", pid);
	put_u64(j, "rss_bytes", rss);
	put_u64(j, "num_threads", threads ? threads : EV_NONE);
	return 0;
}

static int end(struct entry *r, struct jw *j)
{
	int err;

	jw_end_object(j);
	err = jw_close(j);
	if (fflush(r->f) && !err)
		err = -ENOMEM;
	/* A longer row before this one has left its end behind it. */
	r->len = (size_t)ftell(r->f);
	if (r->len && r->text[r->len - 1] == '\n')
		r->len--;
	return err;
}

int entry_sample(struct entry *r, const struct event *ev)
{
	const struct ev_sample *s = &ev->sample;
	struct jw j;

	if (begin(r, &j, ev->time_ns, ev->pid, ev_rss(&s->now), s->threads))
		return -ENOMEM;
	put_u64(&j, "anon_bytes", s->now.m[PP_ANON]);
	put_u64(&j, "file_bytes", s->now.m[PP_FILE]);
	put_u64(&j, "shmem_bytes", s->now.m[PP_SHMEM]);
	put_u64(&j, "swap_bytes", s->now.m[PP_SWAP]);
	put_u64(&j, "charge_bytes", s->charge);
	put_u64(&j, "max_since_mark_bytes", s->max);
	return end(r, &j);
}

int entry_phase(struct entry *r, const struct phase *ph, const char *explain, size_t len)
{
	const struct process p = {.mm_id = ph->mm_id, .pid = ph->pid};
	const struct row row = {.run = &r->run, .p = &p, .ph = ph};
	struct jw j;

	if (begin(r, &j, ph->end_ns, ph->pid, ph->end_bytes, ph->threads))
		return -ENOMEM;
	jw_key(&j, "stage");
	label_json(&j, ph);
	jw_key(&j, "explain");
	if (explain)
		jw_string(&j, explain, len);
	else
		jw_null(&j);
	/* Who owns the peak is known in the end only. */
	for (size_t i = 0; i < phase_ncolumns; i++)
		if (phase_columns[i].json && strcmp(phase_columns[i].json, "owns_peak") != 0)
			column_json(&j, &phase_columns[i], &row);
	return end(r, &j);
}
