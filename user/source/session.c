/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "source/session.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "decode/decode.h"
#include "lib/say.h"
#include "shared.h"
#include "peakphase.skel.h"
#include "source/probe.h"
#include "source/session_iter.h"
#include "source/session_load.h"
#include "source/session_pid.h"

struct session {
	struct session_options opt;
	struct session_facts facts;
	struct peakphase *skel;
	struct probes *probes;
	struct ring_buffer *edges, *samples, *faults;
	uint64_t undecoded;
	int stop; /* what the event function returned */
	int epoll;
	/* --where: fault samples wait until the edges before them have been handed on. */
	struct event *waiting;
	size_t n_waiting, cap_waiting, next_waiting;
	uint64_t horizon; /* edges after it wait: faults before them may still be on their ring */
	struct event held;
	bool holding;
};

static uint64_t mono_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static int hand_on(struct session *s, const struct event *ev)
{
	s->stop = s->opt.event(s->opt.ctx, ev);
	return s->stop ? -ECANCELED : 0;
}

static int hand_on_faults(struct session *s, uint64_t until_ns)
{
	while (s->next_waiting < s->n_waiting) {
		const struct event *ev = &s->waiting[s->next_waiting];

		if (ev->time_ns > until_ns)
			break;
		s->next_waiting++;
		if (hand_on(s, ev))
			return -ECANCELED;
	}
	if (s->next_waiting == s->n_waiting)
		s->next_waiting = s->n_waiting = 0;
	return 0;
}

static int on_edge(void *ctx, void *data, size_t size)
{
	struct session *s = ctx;
	struct event ev;

	if (decode_record(data, size, s->facts.page_size, &ev)) {
		s->undecoded++;
		return 0;
	}
	if (s->faults) {
		if (ev.time_ns > s->horizon) {
			s->held = ev;
			s->holding = true;
			return -EAGAIN;
		}
		if (hand_on_faults(s, ev.time_ns))
			return -ECANCELED;
	}
	return hand_on(s, &ev);
}

static int on_sample(void *ctx, void *data, size_t size)
{
	struct session *s = ctx;
	struct event ev;

	if (decode_record(data, size, s->facts.page_size, &ev)) {
		s->undecoded++;
		return 0;
	}
	return hand_on(s, &ev);
}

static int on_fault(void *ctx, void *data, size_t size)
{
	struct session *s = ctx;
	struct event *more;

	if (s->n_waiting == s->cap_waiting) {
		size_t cap = s->cap_waiting ? 2 * s->cap_waiting : 1024;

		more = realloc(s->waiting, cap * sizeof(*more));
		if (!more)
			return -ENOMEM;
		s->waiting = more;
		s->cap_waiting = cap;
	}
	if (decode_record(data, size, s->facts.page_size, &s->waiting[s->n_waiting]))
		s->undecoded++;
	else
		s->n_waiting++;
	return 0;
}

/*
 * Faults first, then the edges up to the moment at which that was begun: so every fault meets the
 * phases that were open when it happened.
 */
static int drain_with_faults(struct session *s)
{
	int err;

	s->horizon = mono_ns();
	err = ring_buffer__consume(s->faults);
	if (err < 0)
		return err;
	if (s->holding) {
		struct event ev = s->held;

		s->holding = false;
		if (hand_on_faults(s, ev.time_ns) || hand_on(s, &ev))
			return -ECANCELED;
	}
	err = ring_buffer__consume(s->edges);
	if (err < 0 && err != -EAGAIN)
		return err;
	return hand_on_faults(s, s->holding ? s->held.time_ns : s->horizon);
}

static int drain(struct session *s)
{
	int err;

	if (s->faults)
		err = drain_with_faults(s);
	else
		err = ring_buffer__consume(s->edges);
	if (err >= 0)
		err = ring_buffer__consume(s->samples);
	if (err == -ECANCELED && s->stop)
		return s->stop;
	return err < 0 ? err : 0;
}

int session_poll(struct session *s, int timeout_ms)
{
	struct epoll_event ev;
	int n = epoll_wait(s->epoll, &ev, 1, timeout_ms);

	if (n < 0 && errno != EINTR)
		return -errno;
	return drain(s);
}

int session_fd(const struct session *s)
{
	return s->epoll;
}

static struct ring_buffer *new_ring(struct session *s, struct bpf_map *map,
				    ring_buffer_sample_fn fn)
{
	struct ring_buffer *rb = ring_buffer__new(bpf_map__fd(map), fn, s, NULL);

	if (!rb)
		say_error("cannot map the ring %s: %s", bpf_map__name(map), strerror(errno));
	return rb;
}

static int open_rings(struct session *s)
{
	struct epoll_event ev = {.events = EPOLLIN};

	s->edges = new_ring(s, s->skel->maps.ring_edges, on_edge);
	s->samples = new_ring(s, s->skel->maps.ring_samples, on_sample);
	if (!s->edges || !s->samples)
		return -ENOMEM;
	if (s->opt.where_every) {
		s->faults = new_ring(s, s->skel->maps.ring_faults, on_fault);
		if (!s->faults)
			return -ENOMEM;
	}
	s->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (s->epoll < 0)
		return -errno;
	return epoll_ctl(s->epoll, EPOLL_CTL_ADD, ring_buffer__epoll_fd(s->edges), &ev) ? -errno
											: 0;
}

static int calibrate(struct session *s, struct probe_calibration *cal)
{
	int err = probe_calibrate(cal);

	if (!err) {
		s->facts.site = probe_site_name(cal->site);
		s->facts.late_needs_admin = cal->way == PROBE_PERF;
		return 0;
	}
	say_error("cannot probe user programs: %s", strerror(-err));
	if (err == -EPERM || err == -EACCES) {
		say_remedy(
		    "uprobes need CAP_BPF and CAP_PERFMON, before Linux 6.6 also CAP_SYS_ADMIN: run as root");
		return -EPERM;
	}
	say_remedy("uprobes need CONFIG_UPROBE_EVENTS; see `peakphase doctor`");
	return err;
}

static struct probes *new_probes(struct peakphase *skel, const struct probe_calibration *cal)
{
	struct probe_programs prog = {
	    .marker = bpf_program__fd(skel->progs.on_marker),
	    .own_function = bpf_program__fd(skel->progs.on_log_rss),
	    .find_inode = bpf_program__fd(skel->progs.find_inode),
	    .mapped = &skel->bss->mapped,
	};

	return probes_new(&prog, cal);
}

int session_open(struct session **out, const struct session_options *opt)
{
	struct session *s = calloc(1, sizeof(*s));
	struct probe_calibration cal;
	int err;

	if (!s)
		return -ENOMEM;
	s->opt = *opt;
	s->epoll = -1;
	err = calibrate(s, &cal);
	if (!err)
		err = session_load(opt, cal.way, &s->skel, &s->facts);
	if (!err)
		err = open_rings(s);
	if (!err) {
		s->probes = new_probes(s->skel, &cal);
		err = s->probes ? 0 : -ENOMEM;
	}
	if (!s->probes)
		probe_calibration_close(&cal);
	if (!err)
		err = session_attach(s->skel, opt, &s->facts);
	if (err)
		session_close(&s);
	else
		*out = s;
	return err;
}

void session_close(struct session **sp)
{
	struct session *s = *sp;

	if (!s)
		return;
	probes_free(&s->probes);
	ring_buffer__free(s->edges);
	ring_buffer__free(s->samples);
	ring_buffer__free(s->faults);
	if (s->epoll >= 0)
		close(s->epoll);
	peakphase__destroy(s->skel);
	free(s->waiting);
	free(s);
	*sp = NULL;
}

const struct session_facts *session_facts(const struct session *s)
{
	return &s->facts;
}

int session_watch(struct session *s, pid_t pid)
{
	struct proc_state v = {.slot = NO_SLOT};
	uint32_t key;
	int err = session_pid_global(s->skel, pid, &key);

	if (err)
		return err;
	if (bpf_map_update_elem(bpf_map__fd(s->skel->maps.procs), &key, &v, BPF_NOEXIST))
		return -errno;
	return 0;
}

int session_watch_cgroup(struct session *s, uint32_t hierarchy, uint64_t id)
{
	struct cgroup_key key = {.id = id, .hierarchy = hierarchy};
	uint32_t one = 1;

	if (bpf_map_update_elem(bpf_map__fd(s->skel->maps.cgroups), &key, &one, BPF_ANY))
		return -errno;
	return 0;
}

int session_follows(struct session *s, pid_t pid)
{
	struct proc_state v;
	uint32_t key;
	int err = session_pid_global(s->skel, pid, &key);

	if (err)
		return err == -ESRCH ? 0 : err;
	if (bpf_map_lookup_elem(bpf_map__fd(s->skel->maps.procs), &key, &v))
		return errno == ENOENT ? 0 : -errno;
	return v.slot != NO_SLOT;
}

int session_probe(struct session *s, const char *path)
{
	uint64_t since_ns;

	return probes_add(s->probes, path, &since_ns);
}

unsigned int session_probes(const struct session *s)
{
	return probes_count(s->probes);
}

int session_adopt(struct session *s)
{
	return session_iter(s->skel->progs.adopt_running, 0);
}

int session_detach(struct session *s)
{
	return session_iter(s->skel->progs.detach_running, 0);
}

void session_losses(const struct session *s, uint64_t lost[PP_LOSS_MAX], uint64_t *missed)
{
	struct bpf_program *prog;

	*missed = 0;
	for (int i = 0; i < PP_LOSS_MAX; i++)
		lost[i] = s->skel->bss->losses[i];
	bpf_object__for_each_program(prog, s->skel->obj)
	{
		struct bpf_prog_info info = {};
		uint32_t len = sizeof(info);
		int fd = bpf_program__fd(prog);

		if (fd >= 0 && !bpf_obj_get_info_by_fd(fd, &info, &len))
			*missed += info.recursion_misses;
	}
}

uint64_t session_undecoded(const struct session *s)
{
	return s->undecoded;
}

uint64_t session_ring_bytes(const struct session *s)
{
	/* libbpf maps each ring's data twice in a row, so that no record wraps. */
	uint64_t n = 2ull * bpf_map__max_entries(s->skel->maps.ring_edges) +
		     2ull * bpf_map__max_entries(s->skel->maps.ring_samples);

	if (s->faults)
		n += 2ull * bpf_map__max_entries(s->skel->maps.ring_faults);
	return n;
}
