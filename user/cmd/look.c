/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cmd/look.h"

#include "lib/clock.h"
#include "source/find.h"

/* Without a session that listens libraries are mapped within moments: looked at again until then.
 */
#define LOOKS 4
#define LOOK_EVERY_NS 30000000ull

static void look_at(struct looks *k, const struct session *s, pid_t pid, uint64_t joined_ns)
{
	if (k->n < LOOKING_MAX)
		k->looking[k->n++] = (struct looking){
		    .pid = pid,
		    .joined_ns = joined_ns,
		    .left = session_listens(s) ? 1 : LOOKS,
		};
}

void looks_event(struct looks *k, struct session *s, const struct event *ev)
{
	if (ev->kind != PP_BASE)
		return;
	if (ev->edge.reason == PP_BY_EXEC)
		look_at(k, s, (pid_t)ev->pid, 0);
	else if (ev->edge.reason == PP_BY_JOIN)
		look_at(k, s, (pid_t)ev->pid, ev->time_ns);
}

static int found(void *ctx, const char *path)
{
	session_probe(ctx, path);
	return 0;
}

struct again {
	struct session *s;
	uint64_t since_ns;
};

static void look_again(void *ctx, const struct process *p)
{
	const struct again *a = ctx;

	session_look(a->s, (pid_t)p->pid, a->since_ns);
}

/* The kernel had no room to tell of all that was mapped. */
static void look_at_all(struct looks *k, struct session *s, const struct model *m)
{
	struct again a = {.s = s, .since_ns = k->last_ns};
	uint64_t unseen = session_unseen(s);

	k->last_ns = clock_mono_ns();
	if (unseen != k->unseen)
		model_each_process(m, look_again, &a);
	k->unseen = unseen;
}

void looks_poll(struct looks *k, struct session *s, const struct model *m)
{
	unsigned int kept = 0;

	look_at_all(k, s, m);
	for (unsigned int i = 0; i < k->n; i++) {
		struct looking *l = &k->looking[i];
		uint64_t now = clock_mono_ns();

		if (now >= l->next_ns && now >= k->next_ns) {
			if (l->joined_ns)
				session_look(s, l->pid, l->joined_ns);
			if (find_in_process("/proc", l->pid, found, s))
				continue; /* gone */
			k->next_ns = clock_mono_ns() + 4 * (clock_mono_ns() - now);
			l->next_ns = now + LOOK_EVERY_NS;
			l->left--;
		}
		if (l->left)
			k->looking[kept++] = *l;
	}
	k->n = kept;
}
