/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "source/session.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/say.h"
#include "source/session_own.h"
#include "source/session_spans.h"

/* Which site of the marker is the best is found out while the programs are loaded. */
struct calibrating {
	enum probe_way way;
	struct probe_calibration cal;
	int err;
	pthread_t thread;
	bool beside; /* in a thread of its own */
};

static void *calibrate(void *arg)
{
	struct calibrating *c = arg;

	c->err = probe_calibrate(c->way, &c->cal);
	return NULL;
}

static void calibrate_begin(struct calibrating *c)
{
	c->way = probe_way_here();
	c->beside = !pthread_create(&c->thread, NULL, calibrate, c);
	if (!c->beside)
		calibrate(c);
}

static void calibrate_wait(struct calibrating *c)
{
	if (c->beside)
		pthread_join(c->thread, NULL);
}

static int calibrated(struct session *s, const struct calibrating *c)
{
	if (!c->err) {
		s->facts.site = probe_site_name(c->cal.site);
		s->facts.late_needs_admin = c->way == PROBE_PERF;
		return 0;
	}
	say_error("cannot probe user programs: %s", strerror(-c->err));
	if (c->err == -EPERM || c->err == -EACCES) {
		say_remedy(
		    "uprobes need CAP_BPF and CAP_PERFMON, before Linux 6.6 also CAP_SYS_ADMIN: run as root");
		return -EPERM;
	}
	say_remedy("uprobes need CONFIG_UPROBE_EVENTS; see `peakphase doctor`");
	return c->err;
}

static struct probes *new_probes(struct peakphase *skel, const struct session_options *opt,
				 const struct probe_calibration *cal)
{
	struct probe_programs prog = {
	    .marker = bpf_program__fd(skel->progs.on_marker),
	    .find_inode = bpf_program__fd(skel->progs.find_inode),
	    .mapped = &skel->bss->mapped,
	};

	session_spans_programs(skel, opt, &prog);
	return probes_new(&prog, cal);
}

int session_open(struct session **out, const struct session_options *opt)
{
	struct session *s = calloc(1, sizeof(*s));
	struct calibrating c;
	int err;

	if (!s)
		return -ENOMEM;
	s->opt = *opt;
	s->epoll = -1;
	pthread_mutex_init(&s->lock, NULL);
	calibrate_begin(&c);
	err = session_load(opt, c.way, &s->skel, &s->facts);
	calibrate_wait(&c);
	if (!err)
		err = calibrated(s, &c);
	if (!err)
		err = session_open_rings(s);
	if (!err) {
		s->probes = new_probes(s->skel, opt, &c.cal);
		err = s->probes ? 0 : -ENOMEM;
	}
	if (!s->probes)
		probe_calibration_close(&c.cal);
	if (!err)
		session_open_late(s);
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
	late_close(&s->late);
	probes_free(&s->probes);
	ring_buffer__free(s->edges);
	ring_buffer__free(s->samples);
	ring_buffer__free(s->notes);
	ring_buffer__free(s->faults);
	ring_buffer__free(s->output);
	if (s->epoll >= 0)
		close(s->epoll);
	peakphase__destroy(s->skel);
	pthread_mutex_destroy(&s->lock);
	free(s->waiting);
	free(s);
	*sp = NULL;
}

const struct session_facts *session_facts(const struct session *s)
{
	return &s->facts;
}

int session_probe(struct session *s, const char *path)
{
	uint64_t since_ns;

	/* What cannot be opened is gone since it was found. */
	return probes_add(s->probes, path, &since_ns);
}

unsigned int session_probes(const struct session *s)
{
	return probes_count(s->probes);
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
