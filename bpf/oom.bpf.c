/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How processes are killed: the OOM killer's choice, and fatal signals with their senders. */
#include "adopt.bpf.h"

#define SIGKILL 9
#define SIGCHLD 17
#define SIGCONT 18
#define SIGSTOP 19
#define SIGTSTP 20
#define SIGTTIN 21
#define SIGTTOU 22
#define SIGURG 23
#define SIGWINCH 28
#define SI_USER 0
#define SI_QUEUE (-1)
#define SI_TKILL (-6)
#define SI_KERNEL 0x80
/* Instead of an address: kernel/signal.c. */
#define SEND_SIG_NOINFO 0
#define SEND_SIG_PRIV 1

#define BIT(n) (1ull << (n))
#define HARMLESS                                                                                   \
	(BIT(SIGCHLD) | BIT(SIGCONT) | BIT(SIGSTOP) | BIT(SIGTSTP) | BIT(SIGTTIN) | BIT(SIGTTOU) | \
	 BIT(SIGURG) | BIT(SIGWINCH))

static __always_inline bool has_handler(struct task_struct *task, u32 sig)
{
	u64 actions = (u64)BPF_CORE_READ(task, sighand) +
		      bpf_core_field_offset(struct sighand_struct, action);

	return read_u64(actions + (u64)(sig - 1) * bpf_core_type_size(struct k_sigaction) +
			bpf_core_field_offset(struct k_sigaction, sa.sa_handler)) != 0;
}

static __always_inline s32 code_of(const struct kernel_siginfo *info)
{
	u64 at = number_of(info);
	s32 code = SI_KERNEL;

	if (at == SEND_SIG_NOINFO)
		return SI_USER;
	if (at != SEND_SIG_PRIV)
		bpf_probe_read_kernel(
		    &code, sizeof(code),
		    (void *)(at + bpf_core_field_offset(struct kernel_siginfo, si_code)));
	return code;
}

/*
 * In the sender's context, for every signal of the machine. What the process is already dying of is
 * not overwritten: from then on the kernel ignores every other signal, and says so in `result`.
 */
SEC("tp_btf/signal_generate")
int BPF_PROG(on_signal, int sig, struct kernel_siginfo *info, struct task_struct *task, int group,
	     int result)
{
	struct task_struct *current;
	struct pp_sender s = {};
	u32 tgid = task->tgid;

	if (result || sig <= 0 || sig > 64 || (sig < 32 && BIT(sig) & HARMLESS))
		return 0;
	if (!bpf_map_lookup_elem(&procs, &tgid))
		return 0;
	if (sig != SIGKILL && has_handler(task, sig))
		return 0;
	s.time_ns = bpf_ktime_get_ns();
	s.sig = sig;
	s.code = code_of(info);
	/* Others come out of timers and faults, where the current task is anybody. */
	if (s.code == SI_USER || s.code == SI_QUEUE || s.code == SI_TKILL) {
		current = bpf_get_current_task_btf();
		s.pid = pid_here(current);
		bpf_probe_read_kernel(s.comm, sizeof(s.comm), current->comm);
	}
	bpf_map_update_elem(&senders, &tgid, &s, BPF_ANY);
	return 0;
}

/*
 * Names, and the cgroup with the least room, from the victim's own (its css) up. A function of its
 * own for the verifier.
 */
__weak int fill_cgroups(struct pp_oom *o, u64 css)
{
	const u32 memory = bpf_core_field_offset(struct mem_cgroup, memory);
	u64 least = PP_NO_LIMIT;

	if (!o)
		return 0;
	o->hit_limit = o->hit_usage = PP_NO_LIMIT;
	o->hit_level = o->levels = 0;
#pragma unroll
	for (u32 i = 0; i < PP_CGROUP_LEVELS; i++) {
		u64 max, usage, room, kn;

		o->names[i][0] = '\0';
		if (!css)
			continue;
		o->levels = i + 1;
		max = read_u64(css + memory + bpf_core_field_offset(struct page_counter, max));
		usage = read_u64(css + memory + bpf_core_field_offset(struct page_counter, usage));
		room = max > usage ? max - usage : 0;
		if (max < NO_LIMIT_PAGES && room < least) {
			least = room;
			o->hit_limit = max;
			o->hit_usage = usage;
			o->hit_level = i;
		}
		kn = read_u64(css + bpf_core_field_offset(struct cgroup_subsys_state, cgroup));
		kn = read_u64(kn + bpf_core_field_offset(struct cgroup, kn));
		bpf_probe_read_kernel_str(
		    o->names[i], sizeof(o->names[i]),
		    (void *)read_u64(kn + bpf_core_field_offset(struct kernfs_node, name)));
		css = read_u64(css + bpf_core_field_offset(struct cgroup_subsys_state, parent));
	}
	return 0;
}

static __always_inline u32 read_u32(u64 addr)
{
	return (u32)read_u64(addr);
}

/* The one that wanted memory: its phase drove the cgroup to its limit, whoever had to die. */
static __always_inline void fill_trigger(struct pp_oom *o)
{
	struct task_struct *task = bpf_get_current_task_btf();
	u32 tgid = task->tgid;
	const struct proc_state *p = bpf_map_lookup_elem(&procs, &tgid);

	o->trigger_pid = pid_here(task);
	o->trigger_mm_id = p && p->slot != NO_SLOT ? p->mm_id : 0;
	bpf_probe_read_kernel(o->trigger_comm, sizeof(o->trigger_comm), task->comm);
}

/* Edges of others have a thread that did something; this one has a victim. */
static __always_inline void fill_victim(struct pp_oom *o, struct mm_state *st, u64 task)
{
	struct pp_edge *e = &o->edge;

	e->hdr.mm_id = st->mm_id;
	e->hdr.pid = e->hdr.tid = st->pid;
	settle(st);
	cut(st, e, task);
}

static __always_inline void fill_identity(struct pp_oom *o, const struct mm_state *st, u32 tgid,
					  u64 task)
{
	u64 leader = read_u64(task + bpf_core_field_offset(struct task_struct, group_leader));

	o->start_boot_ns = 0;
	__builtin_memset(o->comm, 0, sizeof(o->comm));
	o->pid = tgid;
	if (!task)
		return;
	o->start_boot_ns =
	    read_u64(leader + bpf_core_field_offset(struct task_struct, start_boottime));
	bpf_probe_read_kernel(o->comm, sizeof(o->comm),
			      (void *)(leader + bpf_core_field_offset(struct task_struct, comm)));
	if (st)
		o->pid = st->pid;
	else if (cfg_nested)
		o->pid = tid_inside((struct task_struct *)leader);
}

/* st: NULL of one that is not traced. task: 0 where the kernel does not tell it. */
static __always_inline void send_oom(struct mm_state *st, u32 tgid, u64 task)
{
	struct pp_oom *o = edge_reserve(st, sizeof(*o));

	if (!o)
		return;
	__builtin_memset(&o->edge, 0, sizeof(o->edge));
	o->edge.hdr.kind = st ? PP_OOM : PP_OOM_OTHER;
	o->edge.hdr.size = sizeof(*o);
	o->edge.hdr.time_ns = bpf_ktime_get_ns();
	/* Before the window is cut: at its exit the victim's signal is forgotten, and then the exit
	 * has ended the window before this one, which says that it was too late. */
	fill_sender(&o->sender, tgid);
	if (st)
		fill_victim(o, st, task);
	fill_identity(o, st, tgid, task);
	fill_trigger(o);
	fill_cgroups(o, memcg_of(task));
	edge_submit(o, true);
}

static __always_inline struct mm_state *state_of_tgid(u32 tgid)
{
	const struct proc_state *p = bpf_map_lookup_elem(&procs, &tgid);
	struct mm_state *st;

	if (!p || p->shares)
		return NULL;
	st = state_of_proc(p);
	return st && st->ready ? st : NULL;
}

/*
 * In the killer's context, holding the victim's task_lock: its mm is alive. The argument is the
 * victim's address since 6.9 and in stable series after it (72ba14deb40a), its pid before; read as
 * a number, because verifiers differ in what they take it for.
 */
SEC("tp_btf/mark_victim")
int on_mark_victim(u64 *ctx)
{
	bool is_task = bpf_core_field_exists(struct trace_event_raw_mark_victim, anon_rss);
	u64 task = number_of((void *)ctx[0]);
	u32 tgid = task;
	struct mm_state *st;

	if (is_task)
		tgid = read_u32(task + bpf_core_field_offset(struct task_struct, tgid));
	st = state_of_tgid(tgid);
	if (!st) {
		send_oom(NULL, tgid, is_task ? task : 0);
		return 0;
	}
	if (!is_task)
		task = read_u64(st->mm + bpf_core_field_offset(struct mm_struct, owner));
	/* Between two programs: it is in its exec. */
	if (read_u64(task + bpf_core_field_offset(struct task_struct, mm)) != st->mm) {
		send_oom(NULL, tgid, task);
		return 0;
	}
	send_oom(st, tgid, task);
	return 0;
}
