/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "source/session_output.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/say.h"
#include "source/tracepoint.h"
#include "source/unpreempted.h"
#include "shared.h"
#include "peakphase.skel.h"

#define DEFAULT_RING (8u << 20)

_Static_assert(SESSION_LITERALS_MAX == OUT_LITERALS, "literals of a session");

/* A ring's size is a power of two of at least a page. */
uint32_t session_ring_size(uint32_t want, uint32_t dflt, uint32_t page)
{
	uint32_t size = page;

	if (!want)
		want = dflt;
	while (size < want && size < (1u << 30))
		size <<= 1;
	return size;
}

/* In the order in which BPF shifts bytes into its word. */
static struct out_literal word_of(const struct session_literal *l)
{
	struct out_literal w = {0};

	for (uint32_t i = 0; i < l->len && i < sizeof(l->bytes); i++) {
		w.word = w.word << 8 | (unsigned char)l->bytes[i];
		w.mask = w.mask << 8 | 0xff;
	}
	return w;
}

/* c is the last byte of some literal. */
static void end_byte(struct peakphase *skel, unsigned char c)
{
	uint32_t n = skel->rodata->cfg_nend_words;

	if (skel->rodata->cfg_ends[c])
		return;
	skel->rodata->cfg_ends[c] = 1;
	if (n < OUT_END_WORDS)
		skel->rodata->cfg_end_words[n] = c * 0x0101010101010101ull;
	skel->rodata->cfg_nend_words = n + 1;
}

void output_constants(struct peakphase *skel, const struct session_output *out)
{
	struct bpf_program *classic[] = {skel->progs.on_write, skel->progs.on_writev,
					 skel->progs.on_written, skel->progs.on_writtenv};
	struct bpf_program *probes[] = {skel->progs.on_write_unpreempted,
					skel->progs.on_writev_unpreempted,
					skel->progs.on_written_unpreempted};
	bool wanted = out->piece != NULL, unpreempted = wanted && unpreempted_calls_wanted();

	for (size_t i = 0; i < sizeof(classic) / sizeof(classic[0]); i++)
		bpf_program__set_autoload(classic[i], wanted && !unpreempted);
	for (size_t i = 0; i < sizeof(probes) / sizeof(probes[0]); i++)
		bpf_program__set_autoload(probes[i], unpreempted);
	skel->rodata->cfg_every = out->every;
	skel->rodata->cfg_keep = out->keep;
	skel->rodata->cfg_nliterals = out->nliterals;
	for (uint32_t i = 0; i < out->nliterals; i++) {
		const struct session_literal *l = &out->literal[i];
		struct out_literal w = word_of(l);

		skel->rodata->cfg_literals[i].word = w.word;
		skel->rodata->cfg_literals[i].mask = w.mask;
		end_byte(skel, (unsigned char)l->bytes[l->len - 1]);
	}
}

int output_sizes(struct peakphase *skel, const struct session_output *out, uint32_t page,
		 uint32_t edges)
{
	uint32_t ring = out->piece ? session_ring_size(out->ring, DEFAULT_RING, page) : page;
	int err = bpf_map__set_max_entries(skel->maps.ring_output, ring);

	if (!err && !out->piece)
		err = bpf_map__set_max_entries(skel->maps.out_files, 1);
	skel->rodata->cfg_wake_output = ring / 4;
	skel->rodata->cfg_room_edges = edges / 2;
	return err;
}

static int attach_to_call(struct bpf_program *prog, struct bpf_link **link)
{
	int err = tracepoint_attach(prog, link);

	if (!err)
		return 0;
	say_error("cannot see what the program prints: %s: %s", bpf_program__section_name(prog),
		  strerror(-err));
	if (err == -ENOENT)
		say_remedy(
		    "mount -t tracefs tracefs /sys/kernel/tracing; the kernel needs CONFIG_FTRACE_SYSCALLS");
	else
		say_remedy("run as root");
	return err;
}

/* The first n of the functions, or their returns. */
static int attach_to_functions(struct bpf_program *prog, struct bpf_link **link,
			       const char *const functions[], size_t n, bool returns)
{
	DECLARE_LIBBPF_OPTS(bpf_kprobe_multi_opts, opts, .syms = (const char **)functions, .cnt = n,
			    .retprobe = returns);

	*link = bpf_program__attach_kprobe_multi_opts(prog, NULL, &opts);
	return *link ? 0 : -errno;
}

#if defined(__aarch64__)
#define CALL(name) "__arm64_sys_" name
#else
#define CALL(name) "__x64_sys_" name
#endif

/* Functions are not probed while the sysctl is 0, and nobody says so. */
static bool functions_are_traced(void)
{
	FILE *f = fopen("/proc/sys/kernel/ftrace_enabled", "re");
	int on = 0;

	if (f && fscanf(f, "%d", &on) != 1)
		on = 0;
	if (f)
		fclose(f);
	return on != 0;
}

static int attach_unpreempted(struct peakphase *skel)
{
	static const char *const calls[] = {CALL("write"), CALL("writev")};
	int err = functions_are_traced() ? 0 : -EOPNOTSUPP;

	err = err ? err
		  : attach_to_functions(skel->progs.on_written_unpreempted,
					&skel->links.on_written_unpreempted, calls, 2, true);
	err = err ? err
		  : attach_to_functions(skel->progs.on_write_unpreempted,
					&skel->links.on_write_unpreempted, calls, 1, false);
	err = err ? err
		  : attach_to_functions(skel->progs.on_writev_unpreempted,
					&skel->links.on_writev_unpreempted, calls + 1, 1, false);
	if (!err)
		return 0;
	say_error("cannot see what the program prints: the functions %s and %s: %s", calls[0],
		  calls[1], strerror(-err));
	if (err == -EOPNOTSUPP)
		say_remedy("sysctl kernel.ftrace_enabled=1; the kernel needs CONFIG_FPROBE");
	else
		say_remedy("run as root");
	return err;
}

int output_attach(struct peakphase *skel)
{
	int err;

	if (bpf_program__autoload(skel->progs.on_write_unpreempted))
		return attach_unpreempted(skel);
	err = attach_to_call(skel->progs.on_written, &skel->links.on_written);
	err = err ? err : attach_to_call(skel->progs.on_writtenv, &skel->links.on_writtenv);
	err = err ? err : attach_to_call(skel->progs.on_write, &skel->links.on_write);
	return err ? err : attach_to_call(skel->progs.on_writev, &skel->links.on_writev);
}
