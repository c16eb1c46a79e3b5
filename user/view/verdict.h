/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Verdicts as text, escaped for terminals. Pure, thread-safe. */
#ifndef PEAKPHASE_VIEW_VERDICT_H
#define PEAKPHASE_VIEW_VERDICT_H

#include "model/verdict.h"
#include "view/container.h"
#include "view/label.h"

/* Room for each of the texts below: one label, one path, one container, the words around them. */
#define VERDICT_TEXT_MAX                                                                           \
	(VIEW_LABEL_MAX + EV_CGROUP_MAX * TEXT_ESCAPED_MAX + VIEW_CONTAINER_MAX + 512)

/* What is known of the one that it is about, beside what the verdict itself says. */
struct verdict_who {
	uint32_t ns_pid;	 /* its pid in its own namespace; 0: not known */
	const struct cgroup *in; /* names of its cgroup; NULL: not known */
};

/*
 * "OOM kill: pid 42 (python3, 7 in docker web-1) in [load:users], when pid 43 (python3) wanted
 * memory", "killed: …", "ceiling 100.0 MiB crossed: …". flags: TEXT_ASCII. All of these return the
 * bytes written, without the NUL.
 */
size_t verdict_what(char out[static VERDICT_TEXT_MAX], const struct verdict *v,
		    const struct verdict_who *who, unsigned flags);
/*
 * "limit 256.0 MiB of docker web-1 hit, charge 256.0 MiB", "… of /pods/12 hit, …" where it is not
 * the container's own, "signal 9 (SIGKILL), sent by pid 7 (bash)".
 */
size_t verdict_why(char out[static VERDICT_TEXT_MAX], const struct verdict *v,
		   const struct verdict_who *who, unsigned flags);
/* "RSS 250.1 MiB (anon 247.0 file 3.1 shmem 0.0), grew 130.2 MiB in the last 2.0 s"; "" if not
 * known. */
size_t verdict_memory(char out[static VERDICT_TEXT_MAX], const struct verdict *v);
/* What the charge held besides; "" where there is nothing to say. */
size_t verdict_held(char out[static VERDICT_TEXT_MAX], const struct verdict *v, unsigned flags);

/* ", sent by pid 7 (bash)", ", sent by the kernel", "" when nobody was seen. */
size_t verdict_sender(char out[static VERDICT_TEXT_MAX], const struct verdict *v, unsigned flags);

#define VERDICT_LINE_MAX (3 * VERDICT_TEXT_MAX + 32)
/* The live line: what, why and memory, with "peakphase: " in front and a newline. */
size_t verdict_line(char out[static VERDICT_LINE_MAX], const struct verdict *v,
		    const struct verdict_who *who, unsigned flags);
/* Is it worth a live line? Not the end of a pipe whose reader has enough. */
bool verdict_is_news(const struct verdict *v);

#endif
