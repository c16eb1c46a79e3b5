/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sites PEAKPHASE [HITS]: ns per hit of an empty probe on each site of the marker, which one
 *PEAKPHASE chooses, and that one's cost over the best one's. A program alone, for guests that have
 *no Python.
 *
 *	nop1 1012.3		nop10 refused: ...
 *	chosen nop5
 *	ratio 1.00
 */
#include "attach.h"

#include <sys/wait.h>
#include <time.h>

#include "peakphase/log_rss.h"

#define ROUNDS 7
#define NSITES 3

static const char *const names[NSITES] = {"nop1", "nop5", "nop10"};

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* In a child of its own: a fresh address space, with no trace of the probes before. */
static double cost(unsigned int hits)
{
	double ns = 0;
	int fd[2];
	pid_t pid;

	if (pipe(fd))
		return 0;
	pid = fork();
	if (!pid) {
		double start;

		/* The first hits make the call, where there is one. */
		for (int i = 0; i < 16; i++)
			log_rss("warm");
		start = now_ns();
		for (unsigned int i = 0; i < hits; i++)
			log_rss("x");
		ns = (now_ns() - start) / hits;
		_exit(write(fd[1], &ns, sizeof(ns)) != sizeof(ns));
	}
	close(fd[1]);
	if (read(fd[0], &ns, sizeof(ns)) != sizeof(ns))
		ns = 0;
	close(fd[0]);
	waitpid(pid, NULL, 0);
	return ns;
}

/* Rounds go round the sites, so that a change of the machine's speed meets all of them. */
static int measure(struct empty *skel, unsigned int hits, double out[NSITES])
{
	double ns[NSITES][ROUNDS];
	int refused[NSITES] = {};

	for (int r = 0; r < ROUNDS; r++)
		for (int s = 0; s < NSITES; s++) {
			struct bpf_link *link = attach_site(skel, "/proc/self/exe", names[s]);

			if (!link) {
				refused[s] = errno;
				continue;
			}
			ns[s][r] = cost(hits);
			bpf_link__destroy(link);
		}
	for (int s = 0; s < NSITES; s++) {
		out[s] = 0;
		if (refused[s]) {
			printf("%s refused: %s\n", names[s], strerror(refused[s]));
			continue;
		}
		qsort(ns[s], ROUNDS, sizeof(double), by_value);
		out[s] = ns[s][ROUNDS / 2];
		printf("%s %.1f\n", names[s], out[s]);
	}
	return 0;
}

/* What its report says: "probe": "nop5". The report is made from a recording, which is removed
 * again. */
static int chosen(const char *peakphase)
{
	char dir[] = "/tmp/peakphase-sites-XXXXXX", command[4096], line[4096], name[16] = "";
	FILE *f;

	if (!mkdtemp(dir))
		return -1;
	snprintf(command, sizeof(command),
		 "'%s' run -q --json -o %s/t.peak -- /bin/true; rm -rf %s", peakphase, dir, dir);
	f = popen(command, "r");
	if (!f)
		return -1;
	while (fgets(line, sizeof(line), f)) {
		char *p = strstr(line, "\"probe\": \"");

		if (p && !name[0])
			sscanf(p + 10, "%15[a-z0-9]", name);
	}
	pclose(f);
	for (int s = 0; s < NSITES; s++)
		if (!strcmp(name, names[s]))
			return s;
	return -1;
}

int main(int argc, char **argv)
{
	unsigned int hits = argc > 2 ? (unsigned int)strtoul(argv[2], NULL, 10) : 2000;
	double ns[NSITES], best = 0;
	struct empty *skel;
	int mine;

	if (argc < 2 || !hits)
		return 2;
	skel = empty_open_only(0, 0, 1);
	if (!skel) {
		fprintf(stderr, "sites: load: %s\n", strerror(errno));
		return 1;
	}
	measure(skel, hits, ns);
	empty__destroy(skel);
	mine = chosen(argv[1]);
	if (mine < 0) {
		fprintf(stderr, "sites: %s does not say what it probes\n", argv[1]);
		return 1;
	}
	for (int s = 0; s < NSITES; s++)
		if (ns[s] > 0 && (best == 0 || ns[s] < best))
			best = ns[s];
	printf("chosen %s\n", names[mine]);
	if (ns[mine] > 0)
		printf("ratio %.2f\n", ns[mine] / best);
	else
		puts("ratio inf");
	return 0;
}
