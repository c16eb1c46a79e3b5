/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The part of a session that makes spans of functions. Private to its files. */
#ifndef PEAKPHASE_SOURCE_SESSION_SPANS_H
#define PEAKPHASE_SOURCE_SESSION_SPANS_H

#include "source/probe.h"
#include "source/session.h"

struct peakphase;

/* Between open and load: nothing of it is loaded where nobody asked for it. 0 or -errno. */
int session_spans_prepare(struct peakphase *skel, const struct session_options *opt,
			  enum probe_way way, bool unpreempted);
/* Before on_exit is attached, which sends the thread's last edge. 0 or -errno, said. */
int session_spans_attach(struct peakphase *skel);
void session_spans_programs(const struct peakphase *skel, const struct session_options *opt,
			    struct probe_programs *prog);

#endif
