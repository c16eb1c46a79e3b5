/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A live tracing session: BPF programs loaded and attached, rings read, events handed on.
 *
 * One thread uses a session. The order is: open, watch (pids), adopt (running ones), probe (marker
 * files), poll until done, stop, poll the rest, close. Closing leaves the traced programs as if
 * nothing had been.
 */
#ifndef PEAKPHASE_SOURCE_SESSION_H
#define PEAKPHASE_SOURCE_SESSION_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "decode/event.h"
#include "decode/unheard.h"

#define SESSION_LITERALS_MAX 16

/* What programs write to stdout and stderr. */
struct session_output {
	/* Ends of literals: a write that completes one ends a window. */
	struct session_literal {
		uint32_t len;
		char bytes[8];
	} literal[SESSION_LITERALS_MAX];
	uint32_t nliterals;
	bool every;    /* every write ends one */
	uint32_t keep; /* streams that are handed on as a whole: bit 1 stdout, bit 2 stderr */
	uint32_t ring; /* bytes; 0: default */
	/* Before the edges of its write. As session_options.event. NULL: none of this. */
	int (*piece)(void *ctx, const struct ev_output *out);
};

struct spans;

struct session_options {
	uint32_t ring_edges, ring_samples, ring_faults; /* bytes; 0: default */
	uint32_t mms;	      /* processes that can be traced at once; 0: default */
	uint32_t where_every; /* attach the fault tracepoints, one fault in so many; 0: off */
	bool no_follow;	      /* do not follow fork */
	bool cgroups;	      /* session_watch_cgroup() will be asked for */
	uint64_t ceiling;     /* bytes of RSS whose first crossing is an event; 0: off */
	uint64_t headroom;    /* the same for what is left below the smallest limit */
	struct session_output output;
	struct spans
	    *spans; /* functions that are spans; NULL: none. The caller's, until the close */
	/* Returns 0; anything else ends the poll and is returned by it. */
	int (*event)(void *ctx, const struct event *ev);
	/* Marks that may be missing; called by a poll. */
	void (*unheard)(void *ctx, const struct unheard *h);
	void *ctx;
};

enum session_counters { SESSION_COUNTERS_ATOMIC = 1, SESSION_COUNTERS_PERCPU };

/* What was found out while setting up. */
struct session_facts {
	enum session_counters counters;
	bool charge;		   /* the memory controller can be read */
	uint32_t cpus;		   /* possible CPUs */
	uint32_t page_size;	   /* bytes */
	uint64_t error_per_thread; /* bytes that a counter may lag by; 0 since Linux 6.2 */
	const char *site;	   /* of the marker that is probed: "nop10", "nop5", "nop1" */
	bool joins;		   /* the kernel tells of what comes into a watched cgroup */
	bool unpreempted;      /* fork, exec and exit come by classic tracepoints (unpreempted.h) */
	bool late_needs_admin; /* probing more files asks for CAP_SYS_ADMIN (before 6.6) */
};

struct session;

/*
 * Loads and attaches. Says what failed and the remedy. -EPERM: not allowed here; -ENOTSUP: this
 * kernel cannot; other -errno as libbpf gave it. A tracer whose open failed has left nothing.
 */
int session_open(struct session **s, const struct session_options *opt);
void session_close(struct session **s);

const struct session_facts *session_facts(const struct session *s);

/*
 * Follow pid from its next exec, or, with session_adopt(), from now. Pids here and in events are
 * those of the tracer's own pid namespace. -ESRCH: no such process. -EEXIST: it is followed or
 * watched already.
 */
int session_watch(struct session *s, pid_t pid);
/*
 * Take in what comes into a cgroup, or into one below it, from now on; what is in it already is for
 * session_watch(). hierarchy: the kernel's number of it, 0 for v2; id: inode of the folder.
 */
int session_watch_cgroup(struct session *s, uint32_t hierarchy, uint64_t id);
/* Cgroups that are gone are forgotten, and all others too: to be asked for again. */
void session_forget_cgroups(struct session *s);
/*
 * Watch a cgroup as soon as it is made: by its path within the hierarchy, or, by_name, by the last
 * part of it alone. Nothing where the kernel does not tell (facts: joins). Asked again: 0.
 */
int session_await_cgroup(struct session *s, uint32_t hierarchy, const char *path, bool by_name);
/* Takes in all watched processes that have not been exec'ed yet, as they are. */
int session_adopt(struct session *s);
/*
 * After session_adopt(): lets go of watched processes that it could not take in, as they had given
 * their memory back already. Their end has been told, or never will be.
 */
void session_forget_ended(struct session *s);
/*
 * The tracing ends: nothing new is sent or counted from here on but a last edge of every process,
 * to be polled after this. Probes stay until session_close(), which may take long: the kernel waits
 * for threads that are within one.
 */
int session_stop(struct session *s);
/* Is it followed (adopted, not ended)? 1, 0, -errno. */
int session_follows(struct session *s, pid_t pid);
/* Is any process followed? */
bool session_follows_any(struct session *s);

/*
 * Probes the markers of one file; quiet when it has none, or has been probed before. Returns the
 * number of markers, 0, or -errno (said).
 */
int session_probe(struct session *s, const char *path);
/*
 * Begins to probe code as traced processes map it. Makes a thread: after privileges were given up.
 * What was mapped since session_open() is made up for. Says what fails; tracing goes on without.
 */
void session_listen(struct session *s);
bool session_listens(const struct session *s);
/* The same for what a process has mapped already, that came to be traced at from_ns. */
void session_look(struct session *s, pid_t pid, uint64_t from_ns);
/* Mappings that were not looked into, because the kernel had no room to tell of them. */
uint64_t session_unseen(const struct session *s);
/* Marker sites that are probed. */
unsigned int session_probes(const struct session *s);
/*
 * Functions that are to be spans, of the files that are named by their paths: probed before anybody
 * has mapped them. 0 or -errno, said: also if one of them is not there.
 */
int session_probe_spans(struct session *s);
/* Something was wrong with what was asked for, of any file: said. */
bool session_spans_failed(const struct session *s);
/* Functions that are probed. */
unsigned int session_functions(const struct session *s);

/*
 * Waits up to timeout_ms for something urgent, then hands on all events that there are at that
 * moment, not those that come meanwhile. 0, -errno, or what the event function returned.
 */
int session_poll(struct session *s, int timeout_ms);
/* More came while the last poll handed on: no time to wait. */
bool session_behind(const struct session *s);
/* The last poll: of what may be missing nothing is kept back for a later one. */
int session_poll_last(struct session *s);
/* For callers with a loop of their own: readable when something urgent is there. */
int session_fd(const struct session *s);

/* Records that rings could not take, by class; and runs that the kernel skipped. */
void session_losses(const struct session *s, uint64_t lost[PP_LOSS_MAX], uint64_t *missed);
/* Records whose bytes made no event: 0 unless kernel and tracer are of different builds. */
uint64_t session_undecoded(const struct session *s);

/* Bytes of the rings that this process has mapped: in its RSS, but not its memory. */
uint64_t session_ring_bytes(const struct session *s);

#endif
