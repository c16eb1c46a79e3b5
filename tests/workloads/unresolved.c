/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A label on a page whose faults go to a userfaultfd that nobody reads. The program never reads the
 * label itself, so untraced it would not wait; a tracer must not make it.
 */
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#include "work.h"

int main(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct uffdio_api api = {.api = UFFD_API};
	struct uffdio_register reg = {.mode = UFFDIO_REGISTER_MODE_MISSING};
	char *p = reserve(page, 0);
	uint64_t t0 = now_ns();
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);

	reg.range.start = (uintptr_t)p;
	reg.range.len = page;
	if (fd < 0 || ioctl(fd, UFFDIO_API, &api) || ioctl(fd, UFFDIO_REGISTER, &reg))
		die("userfaultfd");
	log_rss("before");
	log_rss(p);
	log_rss("after");
	say("ms=%llu\n", (unsigned long long)(now_ns() - t0) / 1000000);
	return 0;
}
