/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * unresolved [-]: a label on a page whose faults go to a userfaultfd that nobody reads, or on the
 * first one of the file that stdin is. The program never reads the label itself, so untraced it
 * would not wait; a tracer must not make it, as far as it can tell.
 */
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#include "work.h"

static char *own_page(size_t page)
{
	struct uffdio_api api = {.api = UFFD_API};
	struct uffdio_register reg = {.mode = UFFDIO_REGISTER_MODE_MISSING};
	char *p = reserve(page, 0);
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);

	reg.range.start = (uintptr_t)p;
	reg.range.len = page;
	if (fd < 0 || ioctl(fd, UFFDIO_API, &api) || ioctl(fd, UFFDIO_REGISTER, &reg))
		die("userfaultfd");
	return p;
}

static char *page_of_stdin(size_t page)
{
	char *p = mmap(NULL, page, PROT_READ, MAP_PRIVATE, STDIN_FILENO, 0);

	if (p == MAP_FAILED)
		die("stdin");
	return p;
}

int main(int argc, char **argv)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *p = argc > 1 && !strcmp(argv[1], "-") ? page_of_stdin(page) : own_page(page);
	uint64_t t0 = now_ns();

	log_rss("before");
	log_rss(p);
	log_rss("after");
	say("ms=%llu\n", (unsigned long long)(now_ns() - t0) / 1000000);
	return 0;
}
