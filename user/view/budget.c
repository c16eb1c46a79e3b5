/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "view/budget.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "view/columns.h"
#include "view/compare.h"
#include "view/match.h"
#include "view/put.h"

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

static const struct {
	const char *name, *said;
} measures[] = {
    [OF_PEAK] = {"peak", "peaked at"},
    [OF_GREW] = {"grew", "grew by"},
    [OF_KEPT] = {"kept", "kept"},
};

struct budget {
	char *text, *glob;
	enum measure of;
	uint64_t bytes;
	uint64_t phases;  /* that were measured by it */
	uint64_t unknown; /* of them: neither over it nor known to be within */
};

struct key {
	uint32_t budget, unknown;
	struct name name;
};

/* The worst of one label, by one budget; and of those of which it is not known. */
struct breach {
	uint64_t bytes, times; /* bytes of an unknown one: at least */
	uint32_t pid;
	bool exact;
	UT_hash_handle hh;
	struct key key;
};

struct budgets {
	struct budget *list;
	size_t n;
	struct breach *table; /* in the order in which they came */
	uint64_t more;	      /* phases over a budget for whose labels there was no room */
	const struct process *p;
};

/* "500M", "kept:500M". */
static int parse_limit(struct budget *b, const char *s)
{
	const char *colon = strchr(s, ':');

	for (size_t i = 0; colon && i < sizeof(measures) / sizeof(measures[0]); i++) {
		size_t len = strlen(measures[i].name);

		if ((size_t)(colon - s) == len && !strncmp(s, measures[i].name, len)) {
			b->of = (enum measure)i;
			return text_parse_size(colon + 1, &b->bytes);
		}
	}
	return text_parse_size(s, &b->bytes);
}

int budgets_add(struct budgets **out, const char *text)
{
	const char *equals = strrchr(text, '=');
	struct budget b = {0}, *grown;
	struct budgets *all = *out;
	int err;

	if (!equals || equals == text)
		return -EINVAL;
	err = parse_limit(&b, equals + 1);
	if (err)
		return err;
	if (!all)
		all = *out = calloc(1, sizeof(*all));
	if (!all)
		return -ENOMEM;
	grown = realloc(all->list, (all->n + 1) * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	all->list = grown;
	b.text = strdup(text);
	b.glob = strndup(text, (size_t)(equals - text));
	if (!b.text || !b.glob) {
		free(b.text);
		free(b.glob);
		return -ENOMEM;
	}
	all->list[all->n++] = b;
	return 0;
}

static void forget(struct budgets *b)
{
	struct breach *br, *next;

	HASH_ITER (hh, b->table, br, next) {
		HASH_DEL(b->table, br);
		free(br);
	}
	b->more = 0;
	for (size_t i = 0; i < b->n; i++)
		b->list[i].phases = b->list[i].unknown = 0;
}

void budgets_free(struct budgets **bp)
{
	struct budgets *b = *bp;

	if (!b)
		return;
	forget(b);
	for (size_t i = 0; i < b->n; i++) {
		free(b->list[i].text);
		free(b->list[i].glob);
	}
	free(b->list);
	free(b);
	*bp = NULL;
}

static int breach_get(struct budgets *b, size_t budget, bool unknown, const struct phase *ph,
		      struct breach **out)
{
	struct key key = {.budget = (uint32_t)budget, .unknown = unknown};
	struct breach *br;
	size_t size;

	name_of(&key.name, ph);
	size = offsetof(struct key, name) + name_size(&key.name);
	HASH_FIND(hh, b->table, &key, size, br);
	*out = br;
	if (br || HASH_COUNT(b->table) >= BREACHES_MAX)
		return 0;
	br = calloc(1, sizeof(*br));
	if (!br)
		return -ENOMEM;
	memcpy(&br->key, &key, size);
	HASH_ADD_KEYPTR(hh, b->table, &br->key, size, br);
	if (!br->hh.tbl) {
		free(br);
		return -ENOMEM;
	}
	*out = br;
	return 0;
}

static int measure_by(struct budgets *b, size_t i, const struct phase *ph)
{
	struct budget *budget = &b->list[i];
	int64_t measured = measure_of(ph, budget->of);
	uint64_t bytes = measured > 0 ? (uint64_t)measured : 0;
	/* What it grew by may be over a budget before its end; that it is not says nothing. */
	bool over = bytes > budget->bytes, unknown = budget->of != OF_PEAK && phase_open(ph);
	struct breach *br;
	int err;

	budget->phases++;
	budget->unknown += unknown && !over;
	if (!over && !unknown)
		return 0;
	err = breach_get(b, i, !over, ph, &br);
	if (err)
		return err;
	if (!br) {
		b->more++;
		return 0;
	}
	if (!br->times++ || bytes > br->bytes) {
		br->bytes = bytes;
		br->pid = b->p->pid;
		br->exact = ph->exact;
	}
	return 0;
}

static int measure_phase(void *arg, const struct phase *ph)
{
	struct budgets *b = arg;
	int err = 0;

	for (size_t i = 0; i < b->n && !err; i++)
		if (match_label(b->list[i].glob, ph))
			err = measure_by(b, i, ph);
	return err;
}

struct check {
	struct budgets *b;
	const struct report_source *src;
};

static int check_process(void *arg, const struct process *p)
{
	struct check *c = arg;

	c->b->p = p;
	return c->src->each_phase(c->src->ctx, p->mm_id, measure_phase, c->b);
}

int budgets_check(struct budgets *b, const struct report_source *src)
{
	struct check c = {b, src};

	forget(b);
	return src->each_process(src->ctx, check_process, &c);
}

size_t budgets_breaches(const struct budgets *b)
{
	return HASH_COUNT(b->table) + (b->more > 0);
}

static char *mib(char out[static 24], uint64_t bytes)
{
	return text_mib(out, bytes > INT64_MAX ? INT64_MAX : (int64_t)bytes);
}

/* "is open, grew by at least 19.6 MiB so far" */
static void say_unknown(char out[static 80], const struct breach *br, const struct budget *budget)
{
	char bytes[24];

	if (budget->of == OF_GREW && !br->bytes)
		strcpy(out, "is open, what it grew by is not known");
	else
		snprintf(out, 80, "is open, %s %s%s MiB so far", measures[budget->of].said,
			 budget->of == OF_GREW ? "at least " : "~", mib(bytes, br->bytes));
}

/* "grew by ~19.6 MiB, 14.6 MiB over" */
static void say_over(char out[static 80], const struct breach *br, const struct budget *budget)
{
	char bytes[24], over[24];

	snprintf(out, 80, "%s %s%s MiB, %s MiB over", measures[budget->of].said,
		 br->exact ? "" : "~", mib(bytes, br->bytes), mib(over, br->bytes - budget->bytes));
}

char *breach_format(char out[static BREACH_TEXT_MAX], const struct budgets *b, size_t i)
{
	char label[VIEW_LABEL_MAX], what[80], text[512], times[40] = "";
	const struct breach *br = b->table;
	const struct budget *budget;
	struct phase ph;

	while (br && i--)
		br = br->hh.next;
	if (!br) {
		snprintf(out, BREACH_TEXT_MAX, "over budget: %" PRIu64 " phases of other labels",
			 b->more);
		return out;
	}
	budget = &b->list[br->key.budget];
	name_phase(&ph, &br->key.name);
	view_label(label, &ph, 0);
	text_escape(text, sizeof(text), budget->text, strlen(budget->text));
	if (br->times > 1)
		snprintf(times, sizeof(times), ", %" PRIu64 " times", br->times);
	if (br->key.unknown)
		say_unknown(what, br, budget);
	else
		say_over(what, br, budget);
	snprintf(out, BREACH_TEXT_MAX, "%s: %s%s%s %s%s %s   pid %" PRIu32 "%s",
		 br->key.unknown ? "not known to be within budget" : "over budget",
		 view_implied_name(ph.kind) ? "" : "[", label,
		 view_implied_name(ph.kind) ? "" : "]", what, br->key.unknown ? ":" : "", text,
		 br->pid, times);
	return out;
}

int budget_unused(char out[static BREACH_TEXT_MAX], const struct budgets *b, size_t i)
{
	if (i >= b->n)
		return -ENOENT;
	out[0] = '\0';
	if (!b->list[i].phases)
		text_escape(out, BREACH_TEXT_MAX, b->list[i].text, strlen(b->list[i].text));
	return 0;
}

static void breach_json(struct jw *j, const struct budget *budget, const struct breach *br)
{
	struct phase ph;

	name_phase(&ph, &br->key.name);
	jw_inline(j);
	jw_begin_object(j);
	jw_key(j, "label");
	label_json(j, &ph);
	put_u64(j, "pid", br->pid);
	put_u64(j, "bytes", br->bytes);
	put_u64(j, "over_bytes", br->bytes - budget->bytes);
	put_u64(j, "times", br->times);
	put_bool(j, "exact", br->exact);
	jw_end_object(j);
}

void budgets_json(struct jw *j, const struct budgets *b)
{
	jw_begin_array(j);
	for (size_t i = 0; i < b->n; i++) {
		const struct budget *budget = &b->list[i];

		jw_begin_object(j);
		put_text(j, "budget", budget->text);
		put_text(j, "of", measures[budget->of].name);
		put_u64(j, "bytes", budget->bytes);
		put_u64(j, "phases", budget->phases);
		put_u64(j, "unknown", budget->unknown);
		jw_key(j, "breaches");
		jw_begin_array(j);
		for (const struct breach *br = b->table; br; br = br->hh.next)
			if (br->key.budget == i && !br->key.unknown)
				breach_json(j, budget, br);
		jw_end_array(j);
		jw_end_object(j);
	}
	jw_end_array(j);
}
