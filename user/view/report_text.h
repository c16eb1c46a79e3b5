/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The parts of the text report, and what they share. report.c puts them together. */
#ifndef PEAKPHASE_VIEW_REPORT_TEXT_H
#define PEAKPHASE_VIEW_REPORT_TEXT_H

#include "view/answer.h"
#include "view/columns.h"
#include "view/notes.h"
#include "view/out.h"
#include "view/report.h"

#define REPORT_NAMES_MAX 4 /* phases named in one line; the rows have them all */

struct report {
	const struct report_source *src;
	const struct report_style *style;
	const struct report_asked *asked; /* never NULL */
	struct out out;
	unsigned flags; /* enum text_flags */
	struct answer answer;
	bool narrow;	    /* no room for every column */
	bool printed;	    /* the program's lines name sizes */
	bool limit_met;	    /* by an OOM kill, or a crossing of --headroom */
	size_t label_width; /* columns, indent included */
	uint64_t bad_ends;
	struct rollup *rollup;
	/* of the rows of one process */
	const struct process *p;
	uint64_t owner_id;
	struct notes notes, output;
};

/* What was there when the phase of the peak began, if that is nearly all. 0 or -errno. */
int report_before(struct report *r);
/* The processes together, where there are several. 0 or -errno. */
int report_job(struct report *r);
/* Every process and its phases. 0 or -errno. */
int report_tables(struct report *r);

/* report_why.c, report_rank.c: asked->why, asked->rank. */
void report_why(struct report *r);
void report_rank(struct report *r);
/* What changed the memory of p from outside. */
void report_outside(struct report *r, const struct process *p);

/* OOM kills and crossed limits: report_verdict.c. 0 or -errno. */
int report_verdicts(struct report *r);
/* ", sent by pid 7 (bash)" of a process that a signal ended. */
int report_sender(struct report *r, const struct process *p);
/* Times in which marks may be missing. 0 or -errno. */
int report_unheard(struct report *r);
/* report_rollup.c: small processes, a row for each command. 0 or -errno. */
int rollup_open(struct report *r);
/* Is p in one of its rows? 1, 0, -errno. */
int rollup_takes(struct report *r, const struct process *p);
int rollup_put(struct report *r);
void rollup_close(struct report *r);

/* report_output.c: what was written in a phase; 0 or -errno. */
int report_output(struct report *r, const struct phase *ph, size_t indent);
/* The last lines on stderr, of a process, and of one that a signal ended. */
int report_stderr_tail(struct report *r, uint64_t mm_id);
int report_ended_tail(struct report *r, const struct process *p);
/* What is not kept. */
int report_output_totals(struct report *r);

/* report_words.c */
void report_label(struct report *r, const struct phase *ph);	   /* "[label]", "(startup)" */
void report_since(struct report *r, uint64_t ns);		   /* "+12.408 s" */
void report_since_in(struct report *r, uint64_t ns, size_t width); /* the same in a column */
void report_bold(struct report *r, bool on);
/* "pid 4242", "pid 4242 (17 in docker web-1)" */
void report_pid(struct report *r, const struct process *p);
void report_command(struct report *r, const struct process *p);
void report_bound(struct report *r, uint64_t error_bytes); /* " ±2.0"; nothing for 0 */
/* " and 3 more", of n phases of which REPORT_NAMES_MAX were named; nothing for fewer */
void report_unnamed(struct report *r, uint64_t n);
/* report_ended.c: "exit status 3 at +1.204 s", "killed by … in [label]" */
int report_ended(struct report *r, const struct process *p);

#endif
