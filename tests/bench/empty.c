/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * empty [rss] [faults] [FILE:SITE]: attaches programs that do nothing to the tracepoints that
 * peakphase uses, or to a marker's site (nop1, nop5, nop10) in FILE; prints "ready" and keeps them
 * until stdin ends.
 */
#include "attach.h"

static int fail(const char *what)
{
	fprintf(stderr, "empty: %s: %s\n", what, strerror(errno));
	return 1;
}

static int attach(struct empty *skel, int rss, int faults, const char *marker)
{
	char file[4096];
	const char *site;

	if (rss && !bpf_program__attach(skel->progs.empty_rss_stat))
		return fail("tp_btf/rss_stat");
	if (faults && (!bpf_program__attach(skel->progs.empty_user) ||
		       !bpf_program__attach(skel->progs.empty_kernel)))
		return fail("tp_btf/page_fault");
	if (!marker)
		return 0;
	site = strrchr(marker, ':');
	snprintf(file, sizeof(file), "%.*s", (int)(site - marker), marker);
	return attach_site(skel, file, site + 1) ? 0 : fail(marker);
}

int main(int argc, char **argv)
{
	const char *marker = NULL;
	int rss = 0, faults = 0;
	struct empty *skel;
	char c;

	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "rss"))
			rss = 1;
		else if (!strcmp(argv[i], "faults"))
			faults = 1;
		else if (strchr(argv[i], ':'))
			marker = argv[i];
		else
			return 2;
	}
	skel = empty_open_only(rss, faults, marker != NULL);
	if (!skel)
		return fail("load");
	if (attach(skel, rss, faults, marker))
		return 1;
	puts("ready");
	fflush(stdout);
	while (read(0, &c, 1) > 0)
		;
	return 0; /* links go with the process */
}
