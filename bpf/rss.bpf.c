/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Every change of an RSS counter: tp_btf/rss_stat. And the functions that edges of all programs
 * call: here, as reads by a cast are (read.bpf.h).
 */
#define CAST_TO_READ

#include "cross.bpf.h"
#include "cut.bpf.h"
#include "settle.bpf.h"
#include "adopt.bpf.h"

/*
 * What this event folded into the shared count, claimed: of what another CPU or a settling has
 * claimed in between nothing is left. Before the shadow, of which it is the other side: between the
 * two claims the value is too low, never too high.
 */
static __always_inline s64 claim_fold(struct mm_state *st, struct mm_struct *mm, int member,
				      s64 shadow)
{
	s64 *counted = &st->counted[member & 3];

	for (int i = 0; i < 8; i++) {
		s64 old = *(volatile s64 *)counted;
		s64 fold = folded(0, shadow, shared_count(mm, member) - old, cfg_batch,
				  mm->mm_users.counter == 1);

		if (!fold || __sync_val_compare_and_swap(counted, old, old + fold) == old)
			return fold;
	}
	return 0;
}

/*
 * The change that this event is about, in pages, and the part of it that is its own; the counters
 * are brought up to date with it. *whole: nothing is left in the CPU's local part.
 */
static __always_inline s64 claim(struct mm_state *st, struct mm_struct *mm, int member, s64 *own,
				 bool *whole)
{
	u32 cpu = bpf_get_smp_processor_id(), slot;
	s64 amount, fold = 0, local, old;
	struct shadow *sh;

	if (!counters_percpu()) {
		s64 count = atomic_count(st->mm, member & 3);

		count -= (s64)__sync_lock_test_and_set(&st->value[member & 3], count);
		*own = count;
		return count;
	}
	slot = st->slot;
	sh = shadow_at(slot, cpu);
	if (!sh)
		return 0;
	local = read_local(local_base(mm, member), cpu);
	*whole = local == 0;
	if (local == 0)
		fold = claim_fold(st, mm, member, *(volatile s32 *)&sh->local[member & 3]);
	old = __sync_lock_test_and_set(&sh->local[member & 3], (s32)local);
	amount = fold + local - old;
	if (amount)
		__sync_fetch_and_add(&st->value[member & 3], amount);
	*own = own_amount(amount, local, old, cfg_batch, st->settling);
	if (*own != amount && member != PP_SWAP)
		__sync_fetch_and_add(&st->settled_early, amount - *own);
	return amount;
}

static __always_inline void book_mm(struct mm_state *st, s64 amount, bool own)
{
	if (amount > 0)
		__sync_fetch_and_add(own ? &st->grew : &st->ext_grew, amount);
	else
		__sync_fetch_and_add(own ? &st->shrank : &st->ext_shrank, -amount);
}

static __always_inline void book_thread(struct mm_state *st, struct task_struct *task, s64 amount)
{
	struct thread_state *ts;

	ts = bpf_task_storage_get(&threads, task, 0, 0);
	/* A process is taken in by one of its threads: the others as they come. */
	if (!ts || ts->mm_id != st->mm_id)
		ts = thread_adopt(task, st);
	if (!ts) {
		count_loss(PP_LOSS_GROWTH, amount > 0 ? amount : -amount);
		return;
	}
	/* Only this thread changes it, and markers of its own: no atomics. */
	if (amount > 0)
		ts->grew += amount;
	else
		ts->shrank -= amount;
}

/*
 * Whose doing it was: a thread of this mm, or somebody else (reclaim, process_madvise, the parent
 * that forks). The event's context says, never its mm.
 */
static __always_inline void book(struct mm_state *st, struct mm_struct *mm,
				 struct task_struct *task, bool own, s64 amount, s64 unowned)
{
	if (!own) {
		book_mm(st, amount, false);
		return;
	}
	/* Nobody else shares it: no thread, no vfork child, no reader of /proc. */
	if (mm->mm_users.counter == 1) {
		if (amount > 0)
			st->solo_grew += amount;
		else
			st->solo_shrank -= amount;
		return;
	}
	book_mm(st, amount, true);
	book_thread(st, task, amount + unowned);
}

SEC("tp_btf/rss_stat")
int BPF_PROG(on_rss_stat, struct mm_struct *mm, int member)
{
	struct mm_state *st = state_of(mm);
	struct task_struct *task;
	struct moment now;
	s64 amount, own = 0, unowned = 0;
	bool by_itself, whole = false;

	if (!st)
		return 0;
	/*
	 * Here and nowhere else: each time that the verifier comes to a load of a pointer, it looks
	 * its type up among all of the kernel's, which takes 0.3 ms.
	 */
	task = bpf_get_current_task_btf();
	by_itself = task->mm == mm;
	barrier_var(by_itself);
	/* No user is left: teardown. The peak is frozen, and nothing is freed by any phase. */
	if (mm->mm_users.counter == 0) {
		st->ready = 0;
		return 0;
	}
	if (member == PP_FILE || member == PP_SHMEM)
		look_at_code(st, mm);
	amount = claim(st, mm, member, &own, &whole);
	/*
	 * An edge of another thread was faster: it has found all of this change, or what the CPU
	 * folded. Booked on the mm then; whose it was is known here.
	 */
	if ((whole || !amount) && st->unowned && by_itself && member != PP_SWAP)
		unowned = __sync_lock_test_and_set(&st->unowned, 0) + amount - own;
	if (!amount) {
		if (unowned)
			book_thread(st, task, unowned);
		return 0;
	}
	if (member == PP_SWAP) {
		raise(&st->member_max[PP_SWAP], pages_of(st->value[PP_SWAP]));
		return 0;
	}
	book(st, mm, task, by_itself, own, unowned);
	take_moment(&now, st);
	if (amount > 0) {
		u64 of_member = now.members[member & 3];

		if (now.total > word_pages(st->word))
			raise_total(st, &now);
		if (of_member > st->member_max[member & 3])
			raise(&st->member_max[member & 3], of_member);
		raise_charge(st);
		if (by_itself)
			look_at_limits(st, task, now.total);
	} else if (now.total < st->min) {
		lower(&st->min, now.total);
	}
	if (sample_due(st->last_sample, now.total, cfg_pages_per_mib))
		emit_sample(st, task, &now);
	return 0;
}
