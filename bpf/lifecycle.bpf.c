/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Processes and threads: fork, exec, exit; adoption of running ones; the set-up program. */
#include "lifecycle.bpf.h"

SEC("tp_btf/sched_process_fork")
int BPF_PROG(on_fork, struct task_struct *parent, struct task_struct *child)
{
	return forked(parent, child);
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(on_exec, struct task_struct *task)
{
	return execed(task);
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_exit, struct task_struct *task)
{
	return exited(task);
}

/* What a task of an iteration belongs to, if it is followed. */
static __always_inline struct proc_state *proc_of(struct task_struct *task)
{
	u32 tgid;

	if (!task)
		return NULL;
	tgid = task->tgid;
	return bpf_map_lookup_elem(&procs, &tgid);
}

/* The first thread that is met of a process: as a rule its leader, if that has not ended. */
static __always_inline void adopt_process(struct proc_state *p, struct task_struct *task,
					  struct mm_struct *mm)
{
	struct mm_state *st = state_of(mm);
	u32 tgid = task->tgid;

	if (st) {
		share_mm(st, task, tgid);
		return;
	}
	st = mm_adopt(mm, pid_here(task));
	if (!st)
		return;
	p->mm_id = st->mm_id;
	p->slot = st->slot;
	thread_first(task, st);
	send_base(st, task, mm, PP_BY_ATTACH, 0);
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
	struct proc_state *p = proc_of(task);
	struct thread_state *ts;
	struct mm_struct *mm;
	struct mm_state *st;

	if (!p)
		return 0;
	mm = task->mm;
	if (!mm)
		return 0;
	if (p->slot == NO_SLOT) {
		adopt_process(p, task, mm);
		return 0;
	}
	ts = bpf_task_storage_get(&threads, task, 0, 0);
	st = state_of_proc(p);
	if (!st || is_first(st, task) || (ts && ts->mm_id == st->mm_id))
		return 0; /* by fork, or by an earlier reading */
	if (p->shares)
		join(st, task); /* its mm may have been traced for long */
	else
		thread_adopt(task, st);
	return 0;
}

/*
 * The tracing ends: a last edge of every mm that goes on. Its window would else end nowhere, and
 * what it holds be lost.
 */
SEC("iter/task")
int detach_running(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct proc_state *p = proc_of(task);
	struct thread_state *ts;
	struct mm_state *st;
	struct pp_edge *e;

	if (!p || task->pid != task->tgid)
		return 0;
	st = state_of_proc(p);
	if (!st || !st->ready)
		return 0;
	settle(st);
	e = last_edge_reserve(st, sizeof(*e));
	if (!e)
		return 0;
	/* Not in the thread's context: what it has not booked yet stays its own, and is counted. */
	ts = bpf_task_storage_get(&threads, task, 0, 0);
	fill_edge(e, PP_DETACH, sizeof(*e), st, task, ts);
	e->hdr.pid = st->pid;
	if ((ts && ts->mm_id == st->mm_id) || is_first(st, task)) {
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
