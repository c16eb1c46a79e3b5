/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "model/relay.h"

#include <stdlib.h>

#include <utlist.h>

#include "lib/text.h"

#define RELAYS 8192u /* marks remembered, of each sort; then the oldest go */
#define BUCKETS 4096u
#define TRIES 256u /* of them that are compared with one line */

/* A mark as one of those that can read it finds it. */
struct link {
	uint64_t key; /* 0: none is here */
	struct relay *relay;
	struct link *prev, *next;
};

struct relay {
	uint64_t to;
	uint64_t hash; /* of the line, without the blanks at its ends */
	uint32_t len;
	uint32_t at; /* where the match begins in it */
	struct link link[1 + PP_READERS];
};

static bool blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Of what the pattern matched. */
static uint64_t match_of(const struct out_mark *m)
{
	size_t n = m->match.end - m->match.start;

	if (n > m->len - m->at)
		n = m->len - m->at;
	while (n && blank(m->text[m->at + n - 1]))
		n--;
	return text_hash(m->text + m->at, n) + m->match.kind;
}

/* For those with this pipe as their stdin, or for a process. */
static uint64_t key_of(uint64_t match, uint64_t pipe, uint64_t mm_id)
{
	uint64_t key = (match ^ pipe ^ mm_id << 32) * 0x9e3779b97f4a7c15ull;

	key ^= key >> 32;
	return key ? key : 1;
}

static struct link **bucket_of(const struct relays *rs, uint64_t key)
{
	return &rs->bucket[key % BUCKETS];
}

static void forget(struct relays *rs, struct relay *r)
{
	for (int i = 0; i < 1 + PP_READERS; i++) {
		struct link *l = &r->link[i];

		if (l->key)
			DL_DELETE(*bucket_of(rs, l->key), l);
		l->key = 0;
	}
}

static void add(struct relays *rs, struct relay *r, struct link *l, uint64_t key)
{
	l->key = key;
	l->relay = r;
	DL_APPEND(*bucket_of(rs, key), l);
}

static bool holds_line(const struct out_mark *m, const struct relay *r)
{
	size_t from;

	if (r->at > m->at)
		return false;
	from = m->at - r->at;
	return r->len <= m->len - from && text_hash(m->text + from, r->len) == r->hash;
}

/* to: where it is printed now. What a process writes to the same place, it has not read there. */
static bool take(struct relays *rs, const struct out_mark *m, uint64_t key, uint64_t to)
{
	unsigned int tries = 0;
	struct link *l;

	DL_FOREACH (*bucket_of(rs, key), l) {
		if (l->key == key && l->relay->to != to && holds_line(m, l->relay)) {
			forget(rs, l->relay);
			return true;
		}
		if (++tries == TRIES)
			break;
	}
	return false;
}

static void remember(struct relays *rs, const struct ev_route *route, const struct out_mark *m,
		     uint64_t match)
{
	int sort = !route->reader[0];
	struct relay *r = &rs->at[sort * RELAYS + rs->next[sort]++ % RELAYS];
	size_t from = 0, to = m->len;

	while (from < m->at && blank(m->text[from]))
		from++;
	while (to > m->at && blank(m->text[to - 1]))
		to--;
	forget(rs, r);
	r->to = route->to;
	r->hash = text_hash(m->text + from, to - from);
	r->len = (uint32_t)(to - from);
	r->at = (uint32_t)(m->at - from);
	add(rs, r, &r->link[0], key_of(match, route->to, 0));
	for (int i = 0; i < PP_READERS; i++)
		if (route->reader[i])
			add(rs, r, &r->link[1 + i], key_of(match, 0, route->reader[i]));
}

static bool make(struct relays *rs)
{
	if (!rs->at)
		rs->at = calloc(2 * (size_t)RELAYS, sizeof(*rs->at));
	if (!rs->bucket)
		rs->bucket = calloc(BUCKETS, sizeof(struct link *));
	return rs->at && rs->bucket;
}

bool relays_pass(struct relays *rs, const struct event *ev, const struct out_mark *m)
{
	const struct ev_route *route = &ev->edge.route;
	uint64_t match;
	bool passed;

	/* Without memory, or room for the line, it is a mark like any other. */
	if (!m->text || (!route->to && !rs->at) || !make(rs))
		return false;
	match = match_of(m);
	passed = take(rs, m, key_of(match, 0, ev->mm_id), route->to) ||
		 (route->from && take(rs, m, key_of(match, route->from, 0), route->to));
	if (route->to)
		remember(rs, route, m, match);
	return passed;
}

void relays_free(struct relays *rs)
{
	free(rs->at);
	free(rs->bucket);
	*rs = (struct relays){0};
}
