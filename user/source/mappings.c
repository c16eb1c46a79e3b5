/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "source/mappings.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Some 500 records; what any user may lock for each CPU is 516 KiB. */
#define RING_BYTES (64u << 10)
/* A record's size is a 16-bit number. */
#define RECORD_MAX (64u << 10)

struct ring {
	int fd;
	struct perf_event_mmap_page *page; /* the data lies behind it */
};

struct mappings {
	int epoll;
	size_t bytes; /* mapped for each */
	unsigned int n;
	struct ring *ring;
	uint64_t buf[RECORD_MAX / sizeof(uint64_t)]; /* a record that wraps */
};

static int open_event(int cpu, bool eager)
{
	struct perf_event_attr attr = {
	    .type = PERF_TYPE_SOFTWARE,
	    .config = PERF_COUNT_SW_DUMMY,
	    .size = sizeof(attr),
	    .mmap = 1, /* executable ones */
	    .mmap2 = 1,
	    .comm = 1,
	    .comm_exec = 1,
	    .sample_id_all = 1,
	    .sample_type = PERF_SAMPLE_TIME,
	    .use_clockid = 1,
	    .clockid = CLOCK_MONOTONIC,
	    .watermark = 1,
	    .wakeup_watermark = eager ? 1 : RING_BYTES / 2,
	};
	long fd = syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : (int)fd;
}

static int open_ring(struct mappings *m, int cpu, bool eager)
{
	struct epoll_event ev = {.events = EPOLLIN};
	struct ring *r = &m->ring[m->n];
	int err = 0;

	r->fd = open_event(cpu, eager);
	if (r->fd < 0)
		return r->fd;
	r->page = mmap(NULL, m->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, r->fd, 0);
	if (r->page == MAP_FAILED || epoll_ctl(m->epoll, EPOLL_CTL_ADD, r->fd, &ev))
		err = -errno;
	if (err) {
		if (r->page != MAP_FAILED)
			munmap(r->page, m->bytes);
		close(r->fd);
		return err;
	}
	m->n++;
	return 0;
}

int mappings_open(struct mappings **out, bool eager)
{
	struct mappings *m = calloc(1, sizeof(*m));
	int cpus = libbpf_num_possible_cpus(), err = 0;

	if (!m)
		return -ENOMEM;
	m->bytes = (size_t)sysconf(_SC_PAGESIZE) + RING_BYTES;
	m->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (m->epoll < 0)
		err = -errno;
	else if (cpus <= 0)
		err = cpus ? cpus : -EINVAL;
	else if (!(m->ring = calloc((size_t)cpus, sizeof(*m->ring))))
		err = -ENOMEM;
	for (int cpu = 0; cpu < cpus && !err; cpu++) {
		err = open_ring(m, cpu, eager);
		if (err == -ENODEV)
			err = 0; /* possible, but not there */
	}
	if (!err && !m->n)
		err = -ENODEV;
	if (err)
		mappings_close(&m);
	*out = m;
	return err;
}

void mappings_close(struct mappings **mp)
{
	struct mappings *m = *mp;

	if (!m)
		return;
	for (unsigned int i = 0; i < m->n; i++) {
		munmap(m->ring[i].page, m->bytes);
		close(m->ring[i].fd);
	}
	if (m->epoll >= 0)
		close(m->epoll);
	free(m->ring);
	free(m);
	*mp = NULL;
}

int mappings_fd(const struct mappings *m)
{
	return m->epoll;
}

static void read_ring(struct mappings *m, struct ring *r,
		      void (*fn)(void *ctx, const struct mapped_record *r), void *ctx)
{
	uint64_t head = __atomic_load_n(&r->page->data_head, __ATOMIC_ACQUIRE);
	const char *data = (const char *)r->page + (m->bytes - RING_BYTES);
	uint64_t tail = r->page->data_tail;

	while (tail < head) {
		size_t at = tail % RING_BYTES, size, first;
		const struct perf_event_header *h = (const void *)(data + at);
		struct mapped_record rec;
		const void *whole = h;

		size = h->size; /* records begin at multiples of 8: a header never wraps */
		if (size < sizeof(*h) || size > head - tail)
			break;
		first = RING_BYTES - at;
		if (size > first) {
			memcpy(m->buf, h, first);
			memcpy((char *)m->buf + first, data, size - first);
			whole = m->buf;
		}
		if (!mapped_decode(whole, size, &rec) && rec.kind != MAPPED_NONE)
			fn(ctx, &rec);
		tail += size;
	}
	/* Also past what makes no sense. */
	__atomic_store_n(&r->page->data_tail, head, __ATOMIC_RELEASE);
}

void mappings_read(struct mappings *m, void (*fn)(void *ctx, const struct mapped_record *r),
		   void *ctx)
{
	for (unsigned int i = 0; i < m->n; i++)
		read_ring(m, &m->ring[i], fn, ctx);
}
