/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The maximum from "when this began" to now, for any number of beginnings at once: a monotonic
 * stack of (window, value), values falling from bottom to top. A push pops what it tops, so it is
 * amortised O(1); the maximum over the windows after `start` is the first entry past `start`: a
 * binary search.
 *
 * Bounded: only an entry that is the first one past some start that can still be asked for is ever
 * an answer. When the stack has doubled since the last time, its owner names those starts
 * (stack_keep) and all other entries go; so it holds at most twice as many as there are starts,
 * however many windows went by, and answers stay exact.
 *
 * Not thread-safe.
 */
#ifndef PEAKPHASE_MODEL_STACK_H
#define PEAKPHASE_MODEL_STACK_H

#include "decode/event.h"

/* Where and what the value was: only for stacks that are asked for it. */
struct stack_point {
	uint64_t at_ns;
	struct ev_members members;
	bool exact; /* members add up to the value */
};

struct stack_key {
	uint64_t win, value;
};

struct stack {
	bool wide; /* has points: then of equal values the first is the answer */
	size_t n, cap;
	size_t compact_at;
	size_t kept, read, starts; /* while compacting */
	struct stack_key *keys;
	struct stack_point *points;
};

void stack_init(struct stack *s, bool wide);
void stack_free(struct stack *s);

/* win never falls from push to push. pt: for wide stacks. 0, -ENOMEM (nothing changed). */
int stack_push(struct stack *s, uint64_t win, uint64_t value, const struct stack_point *pt);

/* Maximum over the windows after start. False: none was pushed since. *pt: wide stacks, or NULL. */
bool stack_max(const struct stack *s, uint64_t start, struct stack_key *key,
	       struct stack_point *pt);

/* Compaction: when due, begin; keep() with each start, rising or equal; end. */
bool stack_due(const struct stack *s);
void stack_keep_begin(struct stack *s);
void stack_keep(struct stack *s, uint64_t start);
void stack_keep_end(struct stack *s);

#endif
