/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "source/tracepoint.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PART_MAX 64

/* Its number, as tracefs tells it. 0: it does not. */
static unsigned long long number_of(const char *category, const char *name)
{
	static const char *const roots[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};
	unsigned long long number = 0;
	char path[64 + 2 * PART_MAX];

	for (size_t i = 0; i < 2 && !number; i++) {
		FILE *f;

		snprintf(path, sizeof(path), "%s/events/%s/%s/id", roots[i], category, name);
		f = fopen(path, "re");
		if (f && fscanf(f, "%llu", &number) != 1)
			number = 0;
		if (f)
			fclose(f);
	}
	return number;
}

int tracepoint_open(const char *category, const char *name)
{
	struct perf_event_attr attr = {
	    .type = PERF_TYPE_TRACEPOINT,
	    .size = sizeof(attr),
	    .config = number_of(category, name),
	    .disabled = 1,
	};
	long fd;

	if (!attr.config)
		return -ENOENT;
	fd = syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
	return fd < 0 ? -errno : (int)fd;
}

int tracepoint_attach(struct bpf_program *prog, struct bpf_link **link)
{
	char category[PART_MAX], name[PART_MAX];
	int fd, err;

	if (sscanf(bpf_program__section_name(prog), "tp/%63[^/]/%63s", category, name) != 2)
		return -EINVAL;
	fd = tracepoint_open(category, name);
	if (fd < 0)
		return fd;
	*link = bpf_program__attach_perf_event(prog, fd);
	if (!*link) {
		err = -errno;
		close(fd);
		return err;
	}
	/* Which libbpf has switched on. */
	return ioctl(fd, PERF_EVENT_IOC_DISABLE, 0) ? -errno : 0;
}
