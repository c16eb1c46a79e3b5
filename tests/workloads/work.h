/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the workloads share: memory whose size they know, and the truth about it.
 *
 * A truth line is `truth KEY=VALUE … label=LABEL`, the label last and raw; sizes in bytes, times in
 * ns of CLOCK_MONOTONIC. It is written with write(2) from the stack, so that saying the truth
 * does not change it.
 */
#ifndef PEAKPHASE_TESTS_WORK_H
#define PEAKPHASE_TESTS_WORK_H

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "peakphase/log_rss.h"

#define MIB ((size_t)1 << 20)

__attribute__((noreturn)) static inline void die(const char *what)
{
	dprintf(2, "workload: %s: %s\n", what, strerror(errno));
	_exit(99);
}

static inline uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static inline void sleep_ms(unsigned int ms)
{
	struct timespec ts = {ms / 1000, (long)(ms % 1000) * 1000000};

	while (nanosleep(&ts, &ts) && errno == EINTR)
		;
}

__attribute__((format(printf, 1, 2))) static inline void say(const char *fmt, ...)
{
	char line[512];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	if (n > (int)sizeof(line) - 1)
		n = sizeof(line) - 1;
	if (write(1, line, (size_t)n) != n)
		die("write");
}

/* Writes to one byte of each page: every page is then resident, and the program's own. */
static inline void touch(void *p, size_t bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	for (size_t i = 0; i < bytes; i += page)
		((volatile char *)p)[i] = 1;
}

/* advice: 0, MADV_HUGEPAGE or MADV_NOHUGEPAGE. A kernel without huge pages refuses both: fine. */
static inline void *reserve(size_t bytes, int advice)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		die("mmap");
	if (advice && madvise(p, bytes, advice) && errno != EINVAL)
		die("madvise");
	return p;
}

static inline void *hog(size_t bytes, int advice)
{
	void *p = reserve(bytes, advice);

	touch(p, bytes);
	return p;
}

/*
 * Makes all of the program that is mapped now resident, and keeps it so: no page of libc faults in
 * at its first use, no idle one is reclaimed. What the RSS does afterwards is the workload's doing.
 * Not allowed to every user: then the numbers are a few pages rougher.
 */
static inline void settle(void)
{
	mlockall(MCL_CURRENT);
}

/* The page-table walk of the kernel: exact, unlike statm and VmRSS. */
static inline uint64_t smaps_rss(void)
{
	char buf[2048], *line;
	unsigned long kb = 0;
	ssize_t n;
	int fd = open("/proc/self/smaps_rollup", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		die("smaps_rollup");
	n = read(fd, buf, sizeof(buf) - 1);
	close(fd);
	if (n < 0)
		die("read smaps_rollup");
	buf[n] = '\0';
	line = strstr(buf, "\nRss:");
	if (!line)
		die("no Rss in smaps_rollup");
	kb = strtoul(line + 5, NULL, 10);
	return (uint64_t)kb << 10;
}

/* For tests and workloads to meet: a file that one makes and the other waits for. */
static inline void make_file(const char *path)
{
	int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0644);

	if (fd < 0)
		die(path);
	close(fd);
}

static inline void wait_file(const char *path)
{
	/* Two minutes: a guest under emulation is slow, a forgotten workload must still end. */
	for (int i = 0; i < 12000; i++) {
		if (!access(path, F_OK))
			return;
		sleep_ms(10);
	}
	errno = ETIMEDOUT;
	die(path);
}

#endif
