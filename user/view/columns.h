/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The one table of what can be shown of a phase and of a process: every view takes titles, names,
 * units and values from here. The names are a promise to other programs (docs/json.md).
 */
#ifndef PEAKPHASE_VIEW_COLUMNS_H
#define PEAKPHASE_VIEW_COLUMNS_H

#include "lib/json.h"
#include "view/label.h"
#include "view/source.h"

/* What a row is about; ph is NULL for a row about a process. */
struct row {
	const struct report_run *run;
	const struct process *p;
	const struct phase *ph;
	bool gone;		     /* the memory of p is no more: it holds nothing now */
	const struct cgroup *cgroup; /* of p; NULL: its names are not known */
	uint64_t owner_id;	     /* phase that owns the peak of p; 0: none */
	const uint64_t *freed_later; /* of ph; NULL: nobody looked */
};

enum value_kind {
	VALUE_NONE, /* not known, or there is none */
	VALUE_U64,
	VALUE_I64,
	VALUE_BOOL,
	VALUE_TEXT,    /* a word of ours: terminated, needs no escaping */
	VALUE_LABEL,   /* the row's phase's label */
	VALUE_HEX,     /* the bytes of that label */
	VALUE_COMMAND, /* the row's process's command */
	VALUE_CONTAINER,
	VALUE_MEMBERS,
	VALUE_WHERE, /* the row's phase's mappings */
};

struct value {
	enum value_kind kind;
	union {
		uint64_t u;
		int64_t i;
		bool b;
		const char *text;
		const struct ev_members *members;
	};
};

enum unit { UNIT_NONE, UNIT_BYTES, UNIT_INSTANT, UNIT_DURATION, UNIT_COUNT };

enum column_flags {
	COLUMN_OPTIONAL = 1,  /* JSON leaves it out where there is no value, else null */
	COLUMN_MEMBERS = 2,   /* text shows it only where members are asked for */
	COLUMN_WIDE = 8,      /* text leaves it out on narrow terminals */
	COLUMN_MARKED = 4,    /* text marks it where the row is not exact */
	COLUMN_LIVE = 16,     /* of text only the live view has it */
	COLUMN_COUNTED = 256, /* text marks it where the row's phase is open */
	COLUMN_ANSWER = 512,  /* what it is about: the last to go where there is no room */
	COLUMN_TOTAL = 32,    /* a sum of the whole phase: not known of a moment in the past */
	COLUMN_LIMIT = 64,    /* text shows it only where a limit was met */
	COLUMN_EXTRA = 1024,  /* the live view leaves it out before others */
	COLUMN_PRINTED = 128, /* only where the program's lines name sizes */
};

struct column {
	const char *title; /* in text; NULL: not there */
	const char *json;  /* NULL: not there */
	enum unit unit;
	unsigned width; /* columns in text, with the space before */
	unsigned flags;
	struct value (*get)(const struct row *r);
};

extern const struct column phase_columns[];
extern const size_t phase_ncolumns;
extern const struct column process_columns[];
extern const size_t process_ncolumns;

/* Names of the classes of loss, by enum pp_loss: in JSON, and what it means for a reader. */
struct loss_name {
	const char *json, *text;
};
extern const struct loss_name loss_names[PP_LOSS_MAX];

/*
 * How long p had lived when its tracing began: 0 unless it was attached to, or came into a cgroup
 * that is traced. False: not known.
 */
bool untraced_before(const struct report_run *run, const struct process *p, uint64_t *ns);

/* Does the number of the row get a mark: it is not exact? Not where there is no number. */
bool column_marked(const struct column *c, const struct row *r);

/* Key and value; nothing for columns that JSON does not have. */
void column_json(struct jw *j, const struct column *c, const struct row *r);

/* The number as text without marks: "284.7", "0.31 s", "12.3k", "-" for none. Returns its length.
 */
size_t column_text(char out[static 24], const struct column *c, const struct row *r);

/* Label of a phase for programs: bytes as they are, and the marks of view_label(). */
void label_json(struct jw *j, const struct phase *ph);
void members_json(struct jw *j, const struct ev_members *m);

/* "heap", "anonymous", "libfoo.so", …: not escaped, at most PP_NAME_MAX bytes, length in *len. */
const char *where_name(const struct phase_where *w, size_t *len);

#endif
