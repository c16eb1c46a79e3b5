/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * counted N   writes N lines "R[i]" to stdout, one write(2) each, and says on stderr how many
 *             entries of write(2) perf has counted of this thread meanwhile: "counted=N"
 *
 * As root, with tracefs: `perf stat -e syscalls:sys_enter_write` in small.
 */
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#include "work.h"

static int open_counter(void)
{
	struct perf_event_attr attr = {
	    .type = PERF_TYPE_TRACEPOINT, .size = sizeof(attr), .disabled = 1};
	FILE *f = fopen("/sys/kernel/tracing/events/syscalls/sys_enter_write/id", "re");
	unsigned long long id;
	int fd;

	if (!f || fscanf(f, "%llu", &id) != 1)
		die("tracefs");
	fclose(f);
	attr.config = id;
	fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		die("perf_event_open");
	return fd;
}

int main(int argc, char **argv)
{
	unsigned long n = argc > 1 ? strtoul(argv[1], NULL, 10) : 1;
	int fd = open_counter();
	unsigned long long count;
	char line[32];

	if (ioctl(fd, PERF_EVENT_IOC_ENABLE, 0))
		die("ioctl");
	for (unsigned long i = 0; i < n; i++) {
		size_t len = (size_t)snprintf(line, sizeof(line), "R[%lu]\n", i);

		if (write(STDOUT_FILENO, line, len) != (ssize_t)len)
			die("write");
	}
	if (ioctl(fd, PERF_EVENT_IOC_DISABLE, 0) ||
	    read(fd, &count, sizeof(count)) != sizeof(count))
		die("perf");
	fprintf(stderr, "counted=%llu\n", count);
	return 0;
}
