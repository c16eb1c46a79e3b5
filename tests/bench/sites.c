/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sites PEAKPHASE [HITS]: ns per hit of an empty probe on each site of the marker, which one
 *PEAKPHASE chooses, and that one's cost over the best one's. A site that the kernel refuses, or
 *that kills a child which the program forks, is of no use and never the best. A program alone, for
 *guests that have no Python.
 *
 *	nop1 1012.3
 *	nop5 870.1 unsafe: a forked child dies of it
 *	nop10 refused: ...
 *	chosen nop1
 *	ratio 1.00
 */
#include "attach.h"

#include <signal.h>
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

struct trial {
	double ns;  /* 0: no probe */
	int unsafe; /* a forked child of the probed program dies at the site */
};

/* Handled, so that neither the kernel's log nor a core file tells of it. */
static void on_death(int sig)
{
	(void)sig;
	_exit(1);
}

static int fork_dies(void)
{
	struct sigaction act = {.sa_handler = on_death};
	pid_t pid = fork();
	int status = -1;

	if (!pid) {
		sigaction(SIGSEGV, &act, NULL);
		sigaction(SIGTRAP, &act, NULL);
		sigaction(SIGILL, &act, NULL);
		log_rss("child");
		_exit(0);
	}
	waitpid(pid, &status, 0);
	return status != 0;
}

/* In a child of its own: a fresh address space, with no trace of the probes before. */
static struct trial try_site(unsigned int hits)
{
	struct trial t = {};
	int fd[2];
	pid_t pid;

	if (pipe(fd))
		return t;
	pid = fork();
	if (!pid) {
		double start;

		/* The first hits make the call, where there is one. */
		for (int i = 0; i < 16; i++)
			log_rss("warm");
		start = now_ns();
		for (unsigned int i = 0; i < hits; i++)
			log_rss("x");
		t.ns = (now_ns() - start) / hits;
		t.unsafe = fork_dies();
		_exit(write(fd[1], &t, sizeof(t)) != sizeof(t));
	}
	close(fd[1]);
	if (read(fd[0], &t, sizeof(t)) != sizeof(t))
		t = (struct trial){};
	close(fd[0]);
	waitpid(pid, NULL, 0);
	return t;
}

static void print_site(int s, int refused, struct trial t)
{
	if (refused)
		printf("%s refused: %s\n", names[s], strerror(refused));
	else
		printf("%s %.1f%s\n", names[s], t.ns,
		       t.unsafe ? " unsafe: a forked child dies of it" : "");
}

/* Rounds go round the sites, so that a change of the machine's speed meets all of them. */
static void measure(struct empty *skel, unsigned int hits, struct trial out[NSITES])
{
	double ns[NSITES][ROUNDS];
	int refused[NSITES] = {};

	memset(out, 0, NSITES * sizeof(*out));
	for (int r = 0; r < ROUNDS; r++)
		for (int s = 0; s < NSITES; s++) {
			struct bpf_link *link = attach_site(skel, "/proc/self/exe", names[s]);
			struct trial t;

			if (!link) {
				refused[s] = errno;
				continue;
			}
			t = try_site(hits);
			ns[s][r] = t.ns;
			out[s].unsafe |= t.unsafe;
			bpf_link__destroy(link);
		}
	for (int s = 0; s < NSITES; s++) {
		if (!refused[s]) {
			qsort(ns[s], ROUNDS, sizeof(double), by_value);
			out[s].ns = ns[s][ROUNDS / 2];
		}
		print_site(s, refused[s], out[s]);
	}
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
	struct trial site[NSITES];
	struct empty *skel;
	double best = 0;
	int mine;

	if (argc < 2 || !hits)
		return 2;
	skel = empty_open_only(0, 0, 1);
	if (!skel) {
		fprintf(stderr, "sites: load: %s\n", strerror(errno));
		return 1;
	}
	measure(skel, hits, site);
	empty__destroy(skel);
	mine = chosen(argv[1]);
	if (mine < 0) {
		fprintf(stderr, "sites: %s does not say what it probes\n", argv[1]);
		return 1;
	}
	for (int s = 0; s < NSITES; s++)
		if (site[s].ns > 0 && !site[s].unsafe && (best == 0 || site[s].ns < best))
			best = site[s].ns;
	printf("chosen %s\n", names[mine]);
	if (site[mine].ns > 0 && !site[mine].unsafe)
		printf("ratio %.2f\n", site[mine].ns / best);
	else
		puts("ratio inf");
	return 0;
}
