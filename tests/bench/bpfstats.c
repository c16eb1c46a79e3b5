/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * bpfstats: has the kernel time every BPF run while it lives, and for each line on stdin prints
 * "ID NAME RUN_TIME_NS RUN_CNT" of all programs, then ".".
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void print_all(void)
{
	__u32 id = 0;

	while (!bpf_prog_get_next_id(id, &id)) {
		struct bpf_prog_info info = {};
		__u32 len = sizeof(info);
		int fd = bpf_prog_get_fd_by_id(id);

		if (fd < 0)
			continue; /* gone meanwhile */
		if (!bpf_obj_get_info_by_fd(fd, &info, &len))
			printf("%u %s %llu %llu\n", id, info.name[0] ? info.name : "-",
			       info.run_time_ns, info.run_cnt);
		close(fd);
	}
	puts(".");
	fflush(stdout);
}

int main(void)
{
	char line[16];

	if (bpf_enable_stats(BPF_STATS_RUN_TIME) < 0) {
		fprintf(stderr, "bpfstats: bpf_enable_stats: %s\n", strerror(errno));
		return 1;
	}
	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin))
		print_all();
	return 0;
}
