/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The BPF object of a session: loading it for this host, attaching it. Private to source/. */
#ifndef PEAKPHASE_SOURCE_SESSION_LOAD_H
#define PEAKPHASE_SOURCE_SESSION_LOAD_H

#include "source/probe.h"
#include "source/session.h"

struct peakphase;

/* Loads, runs the set-up program, fills the facts (but the site). Says errors. */
int session_load(const struct session_options *opt, enum probe_way way, struct peakphase **skel,
		 struct session_facts *facts);
/* Attaches the tracepoints. Says errors. */
int session_attach(struct peakphase *skel, const struct session_options *opt,
		   const struct session_facts *facts);

#endif
