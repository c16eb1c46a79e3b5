/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * outside PID ADDRESS MIB: pages another process's memory out (process_madvise), in a phase of its
 * own. Prints how many bytes the kernel advised.
 */
#include <sys/syscall.h>
#include <sys/uio.h>

#include "work.h"

int main(int argc, char **argv)
{
	struct iovec v;
	uint64_t token;
	ssize_t n;
	int fd;

	if (argc != 4)
		return 2;
	v.iov_base = (void *)strtoul(argv[2], NULL, 16);
	v.iov_len = strtoul(argv[3], NULL, 10) * MIB;
	fd = (int)syscall(SYS_pidfd_open, atoi(argv[1]), 0);
	if (fd < 0)
		die("pidfd_open");
	token = log_rss_begin("paging out");
	n = syscall(SYS_process_madvise, fd, &v, 1, MADV_PAGEOUT, 0);
	log_rss_end(token);
	if (n < 0)
		die("process_madvise");
	say("advised %zd\n", n);
	return 0;
}
