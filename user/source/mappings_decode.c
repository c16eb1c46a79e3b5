/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>

#include "source/mappings.h"

/* include/uapi/linux/perf_event.h gives the layout in comments only. */
struct mmap2 {
	struct perf_event_header head;
	uint32_t pid, tid;
	uint64_t addr, len, pgoff;
	uint32_t maj, min;
	uint64_t ino, generation;
	uint32_t prot, flags;
	char path[];
};

struct comm {
	struct perf_event_header head;
	uint32_t pid, tid;
	char name[];
};

/* Behind every record: what sample_id_all adds for PERF_SAMPLE_TIME. */
struct tail {
	uint64_t time_ns;
};

static int decode_mmap2(const struct mmap2 *m, size_t size, struct mapped_record *out)
{
	size_t room, len;

	if (size < sizeof(*m) + 1)
		return -EBADMSG;
	room = size - offsetof(struct mmap2, path);
	len = strnlen(m->path, room);
	if (len == room || m->addr + m->len < m->addr)
		return -EBADMSG;
	/* Anonymous memory and the vdso have no inode. */
	if (!m->ino || !(m->prot & PROT_EXEC))
		return 0;
	out->kind = MAPPED_FILE;
	out->pid = (pid_t)m->pid;
	out->start = m->addr;
	out->end = m->addr + m->len;
	out->offset = m->pgoff;
	out->dev_major = m->maj;
	out->dev_minor = m->min;
	out->ino = m->ino;
	out->generation = m->generation;
	if (len >= sizeof(out->path))
		len = sizeof(out->path) - 1;
	memcpy(out->path, m->path, len);
	out->path[len] = '\0';
	return 0;
}

int mapped_decode(const void *record, size_t size, struct mapped_record *out)
{
	const struct perf_event_header *head = record;
	const struct comm *comm = record;
	struct tail tail;

	out->kind = MAPPED_NONE;
	if (size < sizeof(*head) || head->size != size || size % 8)
		return -EBADMSG;
	switch (head->type) {
	case PERF_RECORD_MMAP2:
	case PERF_RECORD_COMM:
	case PERF_RECORD_LOST:
		break;
	default:
		return 0;
	}
	if (size < sizeof(*comm) + sizeof(tail))
		return -EBADMSG;
	size -= sizeof(tail);
	memcpy(&tail, (const char *)record + size, sizeof(tail));
	out->time_ns = tail.time_ns;
	if (head->type == PERF_RECORD_MMAP2)
		return decode_mmap2(record, size, out);
	if (head->type == PERF_RECORD_LOST) {
		out->kind = MAPPED_LOST;
	} else if (head->misc & PERF_RECORD_MISC_COMM_EXEC) {
		out->kind = MAPPED_EXEC;
		out->pid = (pid_t)comm->pid;
	}
	return 0;
}
