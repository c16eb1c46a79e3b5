/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A C++ or Rust program's own log_rss(), by its symbol. Pure, thread-safe. */
#ifndef PEAKPHASE_RESOLVE_OWN_LOG_RSS_H
#define PEAKPHASE_RESOLVE_OWN_LOG_RSS_H

enum own_log_rss {
	OWN_NONE, /* no function of that name that takes text */
	/* the label is its first argument: log_rss(const char *, …), global, static or in an
	 * unnamed namespace */
	OWN_LABEL_FIRST,
	/*
	 * Perhaps it is not: `app` of app::log_rss(const char *) is a namespace or a class, and of
	 * a method the object comes first; or the label is a std::string, or Rust's.
	 */
	OWN_UNSURE,
};

enum own_log_rss own_log_rss(const char *symbol);

#endif
