/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "source/try_load.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "shared.h"
#include "peakphase.skel.h"
#include "source/unpreempted.h"

#define SOME 64u       /* processes: enough for a verifier */
#define LOG_SIZE 65536 /* of the verifier's words only the end is of use */

static int silence(enum libbpf_print_level level, const char *fmt, va_list args)
{
	(void)level;
	(void)fmt;
	(void)args;
	return 0;
}

/* Small ones: the verifier does not care, and memory is given back late. */
static int shrink_maps(struct peakphase *skel)
{
	uint32_t page = (uint32_t)sysconf(_SC_PAGESIZE);
	struct bpf_map *m;
	int err = 0;

	bpf_object__for_each_map(m, skel->obj)
	{
		if (bpf_map__type(m) == BPF_MAP_TYPE_RINGBUF)
			err = err ? err : bpf_map__set_max_entries(m, page);
		else if (bpf_map__type(m) != BPF_MAP_TYPE_TASK_STORAGE &&
			 !bpf_map__is_internal(m) && bpf_map__max_entries(m) != 1)
			err = err ? err : bpf_map__set_max_entries(m, SOME);
	}
	return err;
}

/* The object with the program of this name alone. */
static int load_alone(const char *name, struct peakphase **out, char *log, size_t cap)
{
	struct peakphase *skel = peakphase__open();
	struct bpf_program *p;
	int err;

	*log = '\0';
	if (!skel)
		return -errno;
	bpf_object__for_each_program(p, skel->obj)
	{
		bool it = !strcmp(bpf_program__name(p), name);

		bpf_program__set_autoload(p, it);
		if (it)
			bpf_program__set_log_buf(p, log, cap);
	}
	err = shrink_maps(skel);
	err = err ? err : peakphase__load(skel);
	if (err)
		peakphase__destroy(skel);
	else
		*out = skel;
	return err;
}

/* The last line that is not the verifier's statistics. */
static const char *last_words(char *log)
{
	char *line = "";

	for (char *save, *l = strtok_r(log, "\n", &save); l; l = strtok_r(NULL, "\n", &save)) {
		if (strncmp(l, "processed ", 10) != 0)
			line = l;
	}
	return line;
}

static bool is_in(const char *section, const char *group)
{
	return !strncmp(section, group, strlen(group));
}

int try_load(int (*fn)(void *ctx, const struct try_program *p), void *ctx)
{
	libbpf_print_fn_t print = libbpf_set_print(silence);
	struct peakphase *all = peakphase__open(), *skel = NULL;
	static const char *const optional[] = {"tp_btf/page_fault_user",
					       "tp_btf/page_fault_kernel"};
	bool unpreempted = unpreempted_wanted(), functions = unpreempted_calls_wanted();
	char log[LOG_SIZE];
	struct bpf_program *p;
	int err = all ? 0 : -errno;

	if (err)
		goto out;
	bpf_object__for_each_program(p, all->obj)
	{
		struct try_program t = {.name = bpf_program__name(p),
					.section = bpf_program__section_name(p)};

		/* Never loaded here. */
		if ((!unpreempted && is_in(t.section, "tp/sched/")) ||
		    (functions ? is_in(t.section, "tp/syscalls/")
			       : strstr(t.section, "probe.multi") != NULL))
			continue;
		for (size_t i = 0; i < 2; i++)
			t.optional |= !strcmp(t.section, optional[i]);
		t.error = load_alone(t.name, &skel, log, sizeof(log));
		t.why = t.error ? last_words(log) : "";
		if (!t.error)
			peakphase__destroy(skel);
		err = fn(ctx, &t);
		if (err)
			break;
	}
	peakphase__destroy(all);
out:
	libbpf_set_print(print);
	return err;
}

int try_calibrate(struct probe_calibration *out)
{
	int err = probe_calibrate(probe_way_here(), out);

	probe_calibration_close(out);
	return err;
}
