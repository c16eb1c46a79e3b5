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

/*
 * "OOM kill: pid 42 (python3) in [load:users]", "killed: …", "ceiling 100.0 MiB crossed: …". flags:
 * TEXT_ASCII. All of these return the bytes written, without the NUL.
 */
size_t verdict_what(char out[static VERDICT_TEXT_MAX], const struct verdict *v, unsigned flags);
/*
 * "limit 256.0 MiB of /a/b (docker web-1) hit, charge 256.0 MiB", "signal 9 (SIGKILL), sent by pid
 * 7 (bash)". c: names of its cgroup; NULL: the container's id, where the path has one, is all there
 * is.
 */
size_t verdict_why(char out[static VERDICT_TEXT_MAX], const struct verdict *v,
		   const struct cgroup *c, unsigned flags);
/* "RSS 250.1 MiB (anon 247.0 file 3.1 shmem 0.0), grew 130.2 MiB in the last 2.0 s"; "" if not
 * known. */
size_t verdict_memory(char out[static VERDICT_TEXT_MAX], const struct verdict *v);
/* What the charge held besides; "" where there is nothing to say. */
size_t verdict_held(char out[static VERDICT_TEXT_MAX], const struct verdict *v, unsigned flags);

/* ", sent by pid 7 (bash)", ", sent by the kernel", "" when nobody was seen. */
size_t verdict_sender(char out[static VERDICT_TEXT_MAX], const struct verdict *v, unsigned flags);

#define VERDICT_LINE_MAX (3 * VERDICT_TEXT_MAX + 32)
/* The live line: what, why and memory, with "peakphase: " in front and a newline. */
size_t verdict_line(char out[static VERDICT_LINE_MAX], const struct verdict *v, unsigned flags);
/* Is it worth a live line? Not the end of a pipe whose reader has enough. */
bool verdict_is_news(const struct verdict *v);

#endif
