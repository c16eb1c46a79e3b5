/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Putting a program on a site, and finding out which site of the marker is the best here. */
#include "source/probe.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "peakphase/log_rss.h"
#include "resolve/elf.h"

const char *probe_site_name(enum probe_site site)
{
	switch (site) {
	case PROBE_NOP10:
		return "nop10";
	case PROBE_NOP5:
		return "nop5";
	case PROBE_NOP1:
		return "nop1";
	case PROBE_SITES:
		break;
	}
	return "?";
}

/* The kernel's number for the kind of perf events that are uprobes. */
static int uprobe_type(void)
{
	FILE *f = fopen("/sys/bus/event_source/devices/uprobe/type", "re");
	int type = -1;

	if (!f)
		return -ENOTSUP;
	if (fscanf(f, "%d", &type) != 1)
		type = -ENOTSUP;
	fclose(f);
	return type;
}

/* perf_event_attr.config: the format "retprobe" of the kernel's uprobe events. */
#define AT_RETURN 1

static int attach_perf(int prog_fd, const char *path, const struct probe_many *many, unsigned int i,
		       pid_t pid)
{
	LIBBPF_OPTS(bpf_link_create_opts, opts);
	struct perf_event_attr attr = {.size = sizeof(attr)};
	int type = uprobe_type(), fd, link, err;

	if (type < 0)
		return type;
	attr.type = (uint32_t)type;
	attr.config = many->at_return ? AT_RETURN : 0;
	attr.config1 = (uint64_t)(uintptr_t)path; /* uprobe_path */
	attr.config2 = many->offset[i];
	/* For all processes: of one CPU, which is how the kernel wants it said; it fires on all. */
	fd = (int)syscall(SYS_perf_event_open, &attr, pid, pid < 0 ? 0 : -1, -1,
			  PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (!many->cookie) {
		if (!ioctl(fd, PERF_EVENT_IOC_SET_BPF, prog_fd) &&
		    !ioctl(fd, PERF_EVENT_IOC_ENABLE, 0))
			return fd;
		err = -errno;
		close(fd);
		return err;
	}
	/* The link holds the event. */
	opts.perf_event.bpf_cookie = many->cookie[i];
	link = ioctl(fd, PERF_EVENT_IOC_ENABLE, 0)
		   ? -errno
		   : bpf_link_create(prog_fd, fd, BPF_PERF_EVENT, &opts);
	err = link < 0 ? -errno : 0;
	close(fd);
	return err ? err : link;
}

/* link_create.uprobe_multi of union bpf_attr; Debian 12's headers do not have it yet. */
struct multi_attr {
	uint32_t prog_fd, target_fd, attach_type, flags;
	uint64_t path, offsets, ref_ctr_offsets, cookies;
	uint32_t count, multi_flags, pid, pad;
};
#define MULTI_AT_RETURN 1 /* BPF_F_UPROBE_MULTI_RETURN */

static int attach_multi(int prog_fd, const char *path, const struct probe_many *many, pid_t pid)
{
	struct multi_attr attr = {
	    .prog_fd = (uint32_t)prog_fd,
	    .attach_type = PROBE_MULTI_ATTACH_TYPE,
	    .path = (uint64_t)(uintptr_t)path,
	    .offsets = (uint64_t)(uintptr_t)many->offset,
	    .cookies = (uint64_t)(uintptr_t)many->cookie,
	    .count = many->n,
	    .multi_flags = many->at_return ? MULTI_AT_RETURN : 0,
	    .pid = pid < 0 ? 0 : (uint32_t)pid,
	};
	long fd = syscall(SYS_bpf, BPF_LINK_CREATE, &attr, sizeof(attr));

	return fd < 0 ? -errno : (int)fd;
}

int probe_attach(int prog_fd, enum probe_way way, const char *path, uint64_t offset, pid_t pid)
{
	const struct probe_many one = {.offset = &offset, .n = 1};

	return way == PROBE_MULTI ? attach_multi(prog_fd, path, &one, pid)
				  : attach_perf(prog_fd, path, &one, 0, pid);
}

int probe_attach_many(int prog_fd, enum probe_way way, const char *path,
		      const struct probe_many *many, int *link)
{
	if (!many->n)
		return 0;
	if (way == PROBE_MULTI) {
		link[0] = attach_multi(prog_fd, path, many, -1);
		return link[0] < 0 ? link[0] : 1;
	}
	for (unsigned int i = 0; i < many->n; i++) {
		link[i] = attach_perf(prog_fd, path, many, i, -1);
		if (link[i] < 0) {
			int err = link[i];

			while (i)
				close(link[--i]);
			return err;
		}
	}
	return (int)many->n;
}

/* A program that does nothing: its descriptor, or -errno. */
static int load_nothing(enum probe_way way)
{
	static const struct bpf_insn nothing[] = {
	    {.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
	    {.code = BPF_JMP | BPF_EXIT},
	};
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .prog_flags = BPF_F_SLEEPABLE);

	if (way == PROBE_MULTI)
		opts.expected_attach_type = PROBE_MULTI_ATTACH_TYPE;
	return bpf_prog_load(BPF_PROG_TYPE_KPROBE, "on_nothing", "GPL", nothing, 2, &opts);
}

/* Sites of our own marker in our own executable. */
static int own_sites(struct elf_site *site)
{
	struct elf_sites sites;
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), n;

	if (fd < 0)
		return -errno;
	n = elf_find_markers(fd, &sites);
	close(fd);
	if (n < 0)
		return n;
	if (n == 0 || sites.site[0].kind != ELF_SITE_MARKER)
		return -ENOENT;
	*site = sites.site[0];
	return 0;
}

#if defined(__x86_64__)
/* The instruction in memory, behind the marker's 1-byte NOP. */
static uint8_t nop5_first_byte(void)
{
	const volatile uint8_t *code = (const volatile uint8_t *)(uintptr_t)&peakphase_marker;

	return code[1];
}
#endif

/* Does the probe that is on the 5-byte NOP become a call (0xe8) after the first hits? */
static bool call_after_hits(void)
{
#if defined(__x86_64__)
	for (int i = 0; i < 2; i++)
		log_rss("calibrate");
	return nop5_first_byte() == 0xe8;
#else
	return false;
#endif
}

static void on_segv(int sig)
{
	(void)sig;
	_exit(1);
}

/*
 * Does a forked child survive its marker? On 6.17 and 6.18 it does not once the site has become a
 * call: fork copies the changed page, but not the mapping that the call goes to. A program that is
 * traced must be able to fork, so there the site is of no use.
 */
static bool survives_fork(void)
{
	struct sigaction act = {.sa_handler = on_segv};
	pid_t pid = fork();
	int status = -1;

	if (pid == 0) {
		/* Handled, so that neither the kernel's log nor a core file tells of our trial. */
		sigaction(SIGSEGV, &act, NULL);
		sigaction(SIGTRAP, &act, NULL);
		sigaction(SIGILL, &act, NULL);
		log_rss("calibrate");
		_exit(0);
	}
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static int try_own(struct probe_calibration *out, int prog, enum probe_site site, uint64_t offset)
{
	int fd =
	    offset ? probe_attach(prog, out->way, "/proc/self/exe", offset, getpid()) : -ENOENT;

	out->tried[site] = fd < 0 ? -1 : fd;
	return fd < 0 ? fd : 0;
}

/* The site, once one way of attaching works: the 5-byte NOP has been tried. */
static void choose_site(struct probe_calibration *out, int prog, const struct elf_site *own)
{
	out->becomes_call = out->tried[PROBE_NOP5] >= 0 && call_after_hits();
	out->survives_fork = !out->becomes_call || survives_fork();
	if (out->becomes_call && out->survives_fork) {
		out->site = PROBE_NOP5;
		return;
	}
	/* No kernel makes a call of both; a refusal would cost a tenth of a second. */
	if (!out->becomes_call && !try_own(out, prog, PROBE_NOP10, own->nop10)) {
		call_after_hits();
		out->survives_fork = survives_fork();
		if (out->survives_fork) {
			out->site = PROBE_NOP10;
			return;
		}
	}
	out->site = PROBE_NOP1;
}

enum probe_way probe_way_here(void)
{
	const uint64_t offset = 0;
	const struct probe_many one = {.offset = &offset, .n = 1};
	int prog = load_nothing(PROBE_MULTI), err;

	if (prog < 0)
		return PROBE_PERF;
	/* A folder cannot be probed: who says so knows what was asked. */
	err = attach_multi(prog, "/", &one, -1);
	close(prog);
	return err == -EBADF ? PROBE_MULTI : PROBE_PERF;
}

int probe_calibrate(enum probe_way way, struct probe_calibration *out)
{
	struct elf_site own;
	int prog, err = own_sites(&own);

	memset(out, 0, sizeof(*out));
	out->way = way;
	for (int i = 0; i < PROBE_SITES; i++)
		out->tried[i] = -1;
	if (err)
		return err;
	prog = load_nothing(way);
	if (prog < 0)
		return prog;
	/* A copy without the 5-byte NOP (not x86-64) has one site only. */
	if (own.nop5)
		err = try_own(out, prog, PROBE_NOP5, own.nop5);
	else
		err = try_own(out, prog, PROBE_NOP1, own.nop1);
	if (!err)
		choose_site(out, prog, &own);
	close(prog);
	return err;
}

void probe_calibration_close(struct probe_calibration *cal)
{
	for (int i = 0; i < PROBE_SITES; i++) {
		if (cal->tried[i] >= 0)
			close(cal->tried[i]);
		cal->tried[i] = -1;
	}
}
