/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "model/note.h"

#include <stdlib.h>

static int by_number(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int by_time(const void *a, const void *b)
{
	const struct note *x = a, *y = b;
	int c = by_number(x->time_ns, y->time_ns);

	return c ? c : by_number(x->first_id, y->first_id);
}

static int by_owner(const void *a, const void *b)
{
	const struct note *x = a, *y = b;
	int c = by_number(x->owner, y->owner);

	c = c ? c : by_number(x->stream, y->stream);
	c = c ? c : by_number(x->at, y->at);
	return c ? c : by_time(a, b);
}

void notes_sort(struct note *notes, size_t n)
{
	if (n)
		qsort(notes, n, sizeof(*notes), by_time);
}

void notes_sort_by_owner(struct note *notes, size_t n)
{
	if (n)
		qsort(notes, n, sizeof(*notes), by_owner);
}

static uint32_t claim_of(const struct note *n, const struct phase *ph)
{
	if (ph->kind >= PH_STARTUP)
		return 1;
	if (ph->kind == PH_SPAN && n->token && n->token == ph->token)
		return 4;
	return n->tid == ph->tid ? 3 : 2;
}

void notes_offer(struct note *notes, size_t n, const struct phase *ph)
{
	/* Of a phase that is open where the recording ends no edge may have come after its notes.
	 */
	uint64_t end_ns = ph->ended_by == PH_BY_TRACE ? UINT64_MAX : ph->end_ns;
	size_t low = 0, high = n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (notes[mid].time_ns < ph->start_ns)
			low = mid + 1;
		else
			high = mid;
	}
	for (; low < n && notes[low].time_ns <= end_ns; low++) {
		uint32_t claim = claim_of(&notes[low], ph);

		/* As good as an earlier one: this one began later, so it is the inner one. */
		if (claim < notes[low].claim)
			continue;
		notes[low].claim = claim;
		notes[low].owner = ph->id;
	}
}

const struct note *notes_of(const struct note *notes, size_t n, uint64_t phase_id, size_t *count)
{
	size_t low = 0, high = n, end;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (notes[mid].owner < phase_id)
			low = mid + 1;
		else
			high = mid;
	}
	for (end = low; end < n && notes[end].owner == phase_id; end++)
		;
	*count = end - low;
	return notes + low;
}
