/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * storm [-g] ROUNDS [MIB]: maps MIB (512) of 4 KiB pages, touches each, unmaps them, ROUNDS times,
 * and prints "ns_per_round=N cpu_per_round=N pages=N". It times its own loop: neither its start nor
 * the tracer's counts. -g: prints "ready" and waits for a line on stdin first, and for its end
 * afterwards.
 */
#include "cpu.h"

#include "../workloads/work.h"

int main(int argc, char **argv)
{
	int gate = argc > 1 && !strcmp(argv[1], "-g");
	unsigned long rounds = argc > 1 + gate ? strtoul(argv[1 + gate], NULL, 10) : 1;
	size_t bytes = (argc > 2 + gate ? strtoul(argv[2 + gate], NULL, 10) : 512) * MIB;
	uint64_t start, cpu;
	char c = 0;

	munmap(hog(16 * MIB, MADV_NOHUGEPAGE), 16 * MIB); /* warm */
	if (gate) {
		say("ready\n");
		while (c != '\n' && read(0, &c, 1) > 0)
			;
	}
	cpu = cpu_ns();
	start = now_ns();
	for (unsigned long i = 0; i < rounds; i++)
		munmap(hog(bytes, MADV_NOHUGEPAGE), bytes);
	start = now_ns() - start;
	cpu = cpu_ns() - cpu;
	if (!rounds)
		rounds = 1;
	say("ns_per_round=%llu cpu_per_round=%llu pages=%zu\n",
	    (unsigned long long)(start / rounds), (unsigned long long)(cpu / rounds),
	    bytes / (size_t)sysconf(_SC_PAGESIZE));
	while (gate && read(0, &c, 1) > 0)
		;
	return 0;
}
