/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Processes and threads: fork, exec, exit; adoption of running ones; the set-up program.
 *
 * A process is followed by tgid (`procs`), its memory by mm (`mms`): a vfork child runs on its
 * parent's mm, and exec gives a process a new one.
 */
#include "adopt.bpf.h"

/* The mm that a process runs on, or NULL: not exec'ed yet, or let go. */
static __always_inline struct mm_state *state_of_proc(const struct proc_state *p)
{
	struct mm_state *st;

	if (p->slot == NO_SLOT)
		return NULL;
	st = state_at(p->slot);
	if (!st || st->mm_id != p->mm_id)
		return NULL;
	return st;
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(on_fork, struct task_struct *parent, struct task_struct *child)
{
	struct proc_state *pp, cp = {};
	struct mm_struct *mm = child->mm;
	struct mm_state *st, *pst;
	struct thread_state *ts;
	u32 tgid = parent->tgid, ctgid = child->tgid;

	pp = bpf_map_lookup_elem(&procs, &tgid);
	if (!pp || !mm)
		return 0;
	pst = state_of_proc(pp);
	if (!pst)
		return 0;
	book_current(pst);
	if (ctgid == tgid) {
		ts = thread_adopt(child, pst->mm_id);
		settle(pst);
		send_thread(pst, child, PP_THREAD, ts);
		return 0;
	}
	if (!cfg_follow)
		return 0;
	if ((u64)mm == pst->mm) {
		cp = (struct proc_state){.mm_id = pst->mm_id, .slot = pp->slot, .shares = 1};
		if (!bpf_map_update_elem(&procs, &ctgid, &cp, BPF_ANY))
			__sync_fetch_and_add(&pst->users, 1);
		thread_adopt(child, pst->mm_id);
		return 0;
	}
	/* Its counters were filled before this, in the parent's context: the base has them. */
	st = mm_adopt(mm, pid_here(child));
	if (!st)
		return 0;
	cp = (struct proc_state){.mm_id = st->mm_id, .slot = st->slot};
	bpf_map_update_elem(&procs, &ctgid, &cp, BPF_ANY);
	thread_adopt(child, st->mm_id);
	send_base(st, child, mm, PP_BY_FORK, pst->mm_id);
	return 0;
}

/* One user of an mm less; the last one lets it go. */
static __always_inline void leave_mm(struct mm_state *st)
{
	if (__sync_fetch_and_add(&st->users, -1) <= 1)
		mm_release(st);
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(on_exec, struct task_struct *task, int old_pid, struct linux_binprm *bprm)
{
	u32 tgid = task->tgid;
	struct proc_state *p = bpf_map_lookup_elem(&procs, &tgid);
	struct mm_struct *mm = task->mm;
	u64 parent_mm_id = 0;
	struct mm_state *st;

	if (!p || !mm)
		return 0;
	/* The old mm is gone, torn down before this tracepoint; its state froze at that. */
	st = state_of_proc(p);
	if (st) {
		parent_mm_id = st->mm_id;
		if (!p->shares)
			send_exit(st, task, PP_EXEC, 0);
		leave_mm(st);
	}
	st = mm_adopt(mm, pid_here(task));
	if (!st) {
		bpf_map_delete_elem(&procs, &tgid);
		return 0;
	}
	p->mm_id = st->mm_id;
	p->slot = st->slot;
	p->shares = 0;
	thread_adopt(task, st->mm_id);
	send_base(st, task, mm, PP_BY_EXEC, parent_mm_id);
	return 0;
}

/* As wait(2) gives it: the group's code when it was ended as one, else the leader's. */
static __always_inline u32 exit_code_of(struct task_struct *task)
{
	if (BPF_CORE_READ(task, signal, flags) & SIGNAL_GROUP_EXIT)
		return BPF_CORE_READ(task, signal, group_exit_code);
	return BPF_CORE_READ(task, group_leader, exit_code);
}

/* The last thread of a process is gone. */
static __always_inline void ended(struct mm_state *st, struct task_struct *task, bool shares)
{
	if (!shares)
		send_exit(st, task, PP_EXIT, exit_code_of(task));
	leave_mm(st);
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_exit, struct task_struct *task)
{
	u32 tgid = task->tgid;
	struct proc_state *p = bpf_map_lookup_elem(&procs, &tgid);
	struct mm_struct *mm = task->mm; /* NULL where exit_mm comes first (before 6.16) */
	bool last = BPF_CORE_READ(task, signal, live.counter) <= 0;
	struct thread_state *ts;
	struct mm_state *st;

	if (!p)
		return 0;
	st = state_of_proc(p);
	if (st) {
		if (mm && (u64)mm == st->mm && st->ready)
			settle(st);
		if (last) {
			ended(st, task, p->shares);
		} else {
			ts = book_current(st);
			if (ts && ts->marks && ts->mm_id == st->mm_id)
				send_thread(st, task, PP_THREAD_EXIT, ts);
		}
	}
	if (last)
		bpf_map_delete_elem(&procs, &tgid);
	return 0;
}

/*
 * In a pid namespace of its own the tracer knows processes by other numbers than the kernel:
 * userspace reads this iterator for one of them.
 */
SEC("iter/task")
int find_process(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;

	if (task)
		setup.found = task->tgid;
	return 0;
}

/*
 * Attach: userspace put the pids into `procs` with NO_SLOT and reads this iterator once. Threads
 * come one by one, leaders before their threads.
 */
SEC("iter/task")
int adopt_running(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct mm_struct *mm;
	struct proc_state *p;
	struct mm_state *st;
	u32 tgid;

	if (!task)
		return 0;
	tgid = task->tgid;
	p = bpf_map_lookup_elem(&procs, &tgid);
	if (!p)
		return 0;
	mm = task->mm;
	if (!mm)
		return 0;
	if (p->slot == NO_SLOT) {
		st = mm_adopt(mm, pid_here(task));
		if (!st)
			return 0;
		p->mm_id = st->mm_id;
		p->slot = st->slot;
		thread_adopt(task, st->mm_id);
		send_base(st, task, mm, PP_BY_ATTACH, 0);
		return 0;
	}
	if (task->pid != task->tgid)
		thread_adopt(task, p->mm_id);
	return 0;
}

/*
 * The tracing ends: a last edge of every process that goes on. Its window would else end nowhere,
 * and what it holds be lost.
 */
SEC("iter/task")
int detach_running(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct thread_state *ts;
	struct proc_state *p;
	struct mm_state *st;
	struct pp_edge *e;
	u32 tgid;

	if (!task)
		return 0;
	tgid = task->tgid;
	if ((u32)task->pid != tgid)
		return 0;
	p = bpf_map_lookup_elem(&procs, &tgid);
	if (!p || p->shares)
		return 0;
	st = state_of_proc(p);
	if (!st || !st->ready)
		return 0;
	settle(st);
	e = edge_reserve(st, sizeof(*e));
	if (!e)
		return 0;
	/* Not in the thread's context: what it has not booked yet stays its own, and is counted. */
	ts = bpf_task_storage_get(&threads, task, 0, 0);
	fill_edge(e, PP_DETACH, sizeof(*e), st, task, ts);
	if (ts && ts->mm_id == st->mm_id) {
		e->thread_grew += st->solo_grew;
		e->thread_shrank += st->solo_shrank;
	}
	edge_submit(e, false);
	return 0;
}

/* One value per CPU, to see where each CPU's area lies. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u64);
} percpu_probe SEC(".maps");

static long find_offset(u32 cpu, u64 *base)
{
	u32 zero = 0;
	void *elem = bpf_map_lookup_percpu_elem(&percpu_probe, &zero, cpu);

	if (!elem || cpu >= MAX_CPUS)
		return 1;
	percpu_off[cpu & (MAX_CPUS - 1)] = number_of(elem) - *base;
	setup.offsets++;
	return 0;
}

static long free_slot(u32 slot, void *unused)
{
	if (bpf_map_push_elem(&free_slots, &slot, 0))
		return 1;
	setup.slots++;
	return 0;
}

/*
 * Run once by BPF_PROG_TEST_RUN, before anything is attached. The offset of each CPU's percpu
 * area, which no kernel symbol tells: an element of a percpu array lies at base + offset(cpu), and
 * the base is in the map. And the free slots.
 */
SEC("raw_tp")
int set_up(void *ctx)
{
	struct pid *pid;
	u64 base;

	setup.counters = counters_percpu()   ? COUNTERS_PERCPU
			 : counters_atomic() ? COUNTERS_ATOMIC
					     : COUNTERS_UNKNOWN;
	setup.charge = charge_known();
	/* Runs in the tracer's own context. */
	pid = BPF_CORE_READ(bpf_get_current_task_btf(), thread_pid);
	setup.pid_level = BPF_CORE_READ(pid, level);
	setup.pid_ns = ns_of(upid_at(pid, setup.pid_level));
	base = read_u64(number_of(&percpu_probe) + bpf_core_field_offset(struct bpf_array, pptrs));
	if (base)
		bpf_loop(cfg_cpus, find_offset, &base, 0);
	bpf_loop(cfg_slots, free_slot, NULL, 0);
	return 0;
}
