/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Uses every marker from two translation units, untraced and with a trap on each of the three
 * sites, and checks what the trap saw. Compiled in many ways by tests/marker.bats, also as C++.
 * Usage: main NUMBER-OF-MARKERS. Exit status 0, or the number of the check that failed.
 */
#include <peakphase/log_rss.h>

#include <stdlib.h>

#include "other.h"
#include "trap.h"

#define CALLS 9

static const char label_a[] = "transform:users", label_b[] = "load:users";

static int scenario(struct trap_hit *want)
{
	uint64_t first = 0, second = 0, theirs = 0;

	log_rss(label_a);
	log_rss(NULL);
	first = log_rss_begin(label_a);
	second = log_rss_begin(label_b);
	theirs = other_begin(label_b);
	log_rss_end(second);
	log_rss_end(theirs);
	log_rss_end(first);
	if (!first || !second || !theirs)
		return 1;
	if (first == second || first == theirs || second == theirs)
		return 2;
	want[0].op = PEAKPHASE_MARK, want[0].label = label_a, want[0].token = 0;
	want[1].op = PEAKPHASE_MARK, want[1].label = NULL, want[1].token = 0;
	want[2].op = PEAKPHASE_BEGIN, want[2].label = label_a, want[2].token = first;
	want[3].op = PEAKPHASE_BEGIN, want[3].label = label_b, want[3].token = second;
	want[4].op = PEAKPHASE_MARK, want[4].label = label_b, want[4].token = 0;
	want[5].op = PEAKPHASE_BEGIN, want[5].label = label_b, want[5].token = theirs;
	want[6].op = PEAKPHASE_END, want[6].label = NULL, want[6].token = second;
	want[7].op = PEAKPHASE_END, want[7].label = NULL, want[7].token = theirs;
	want[8].op = PEAKPHASE_END, want[8].label = NULL, want[8].token = first;
	return 0;
}

static int trapped(unsigned int site)
{
	struct trap_hit want[CALLS];
	const struct trap_hit *got = NULL;
	int failed, on, theirs_on;
	int i;

	if (trap_set(site))
		return 20;
	on = log_rss_enabled();
	theirs_on = other_enabled();
	failed = scenario(want);
	trap_clear();
	if (failed)
		return failed;
	if (!on || !theirs_on)
		return 21;
	if (trap_hits(&got) != CALLS)
		return 22;
	for (i = 0; i < CALLS; i++)
		if (got[i].op != want[i].op || got[i].label != want[i].label ||
		    got[i].token != want[i].token)
			return 30 + i;
	return 0;
}

int main(int argc, char **argv)
{
	struct trap_hit ignored[CALLS];
	int failed = scenario(ignored);
	unsigned int site;

	if (argc != 2 || trap_markers() != atoi(argv[1]))
		return 10;
	for (site = 0; site < 3 && !failed; site++)
		failed = trapped(site);
	if (!failed && (log_rss_enabled() || other_enabled()))
		failed = 40;
	return failed;
}
