/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "source/unpreempted.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/btf.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/say.h"
#include "source/tracepoint.h"

static const char running[] = "/sys/kernel/btf/vmlinux";

static bool has_name(const char *strings, size_t len, const char *name, size_t size)
{
	const char *at = memmem(strings, len, name, size);

	/* Each begins behind the end of another. */
	while (at && at > strings && at[-1] != '\0')
		at = memmem(at + 1, len - (size_t)(at + 1 - strings), name, size);
	return at && at > strings;
}

/* Is each of them a whole name in the BTF? The strings alone are asked: to take the types apart
 * takes 15 ms. */
static bool names_all(const void *btf, size_t size, const char *const names[], size_t n)
{
	struct btf_header h;
	const char *strings;

	if (size < sizeof(h))
		return false;
	memcpy(&h, btf, sizeof(h));
	if (h.magic != BTF_MAGIC || h.hdr_len > size || h.str_off > size - h.hdr_len ||
	    h.str_len > size - h.hdr_len - h.str_off)
		return false;
	strings = (const char *)btf + h.hdr_len + h.str_off;
	for (size_t i = 0; i < n; i++) {
		if (!has_name(strings, h.str_len, names[i], strlen(names[i]) + 1))
			return false;
	}
	return true;
}

/*
 * Tracepoints are guarded by SRCU-fast then: there is a domain of it for them (also before 6.13,
 * when it was an ordinary one beside the disabled preemption), and SRCU-fast itself (since 6.15).
 */
bool unpreempted_needed(const void *btf, size_t size)
{
	static const char *const names[] = {"tracepoint_srcu_srcu_data", "srcu_ctr"};

	return names_all(btf, size, names, 2);
}

bool unpreempted_calls_needed(const void *btf, size_t size)
{
	static const char *const names[] = {"trace_call_bpf_faultable"};

	return names_all(btf, size, names, 1);
}

/* Mapped, not read: it has megabytes. Kernels before 6.16 refuse that, and do not need it. */
static bool says(const char *path, bool (*fn)(const void *btf, size_t size))
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	bool needed;
	void *btf;

	if (fd < 0)
		return false;
	btf = fstat(fd, &st) || st.st_size <= 0
		  ? MAP_FAILED
		  : mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (btf == MAP_FAILED)
		return false;
	needed = fn(btf, (size_t)st.st_size);
	munmap(btf, (size_t)st.st_size);
	return needed;
}

bool unpreempted_needed_by(const char *path)
{
	return says(path, unpreempted_needed);
}

bool unpreempted_allowed(void)
{
	int fd = tracepoint_open("sched", "sched_process_fork");

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

bool unpreempted_wanted(void)
{
	return unpreempted_needed_by(running) && unpreempted_allowed();
}

bool unpreempted_calls_wanted(void)
{
	return says(running, unpreempted_calls_needed);
}

void either_choose(const struct either *e, bool wanted, bool unpreempted)
{
	bpf_program__set_autoload(e->prog, wanted && !unpreempted);
	bpf_program__set_autoload(e->unpreempted, wanted && unpreempted);
}

static int attached(struct bpf_program *prog, int err)
{
	if (!err)
		return 0;
	say_error("cannot attach %s: %s", bpf_program__name(prog), strerror(-err));
	say_remedy("`peakphase doctor` says what this kernel allows");
	return err;
}

int attach_one(struct bpf_program *prog, struct bpf_link **link)
{
	*link = bpf_program__attach(prog);
	return attached(prog, *link ? 0 : -errno);
}

int either_attach(const struct either *e)
{
	if (bpf_program__autoload(e->unpreempted))
		return attached(e->unpreempted,
				tracepoint_attach(e->unpreempted, e->unpreempted_link));
	return bpf_program__autoload(e->prog) ? attach_one(e->prog, e->link) : 0;
}
