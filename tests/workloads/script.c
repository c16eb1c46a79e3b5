/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A program written on its own command line, one step per argument, that prints the truth about
 * each phase it marked. script.py speaks the same language.
 *
 *   begin:LABEL          span begins
 *   end | end:K          the innermost open span ends | the K-th span begun (from 0) ends
 *   mark:LABEL           checkpoint
 *   note:TEXT            a note for the phase that is open
 *   hog:N                touch N MiB; hog4k:N, hog2m:N the same without or with huge pages
 *   reserve:N touch:N    N MiB of address space; touch the next N MiB of it
 *   map:FILE             map FILE and read each page
 *   free                 give back the youngest of hog, reserve and map that is left
 *   sleep:MS
 *   rewrite              write to each page of that one again
 *   repeat:N … done      also nested
 *   fork:N … done        N children run these steps at once, and end; `reap` waits for all of them
 *   meet                 the children of a fork: wait until all of them are here
 *   say:TEXT             print TEXT
 *   smaps                print the RSS by the kernel's page-table walk
 *   ready:FILE wait:FILE make FILE; wait until FILE is there
 *   nextpid:N            what is forked next has that pid, if it is free (in a pid namespace of
 * ours) exec ARGV…           become another program exit:N _exit:N raise:SIGNAL
 */
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "work.h"

#define MAX_SPANS 4096
#define MAX_HOGS 1024

struct phase {
	const char *label;
	uint64_t token;
	uint64_t start, max, grew; /* of what this program holds, bytes */
	int open;
};

struct block {
	char *p;
	size_t bytes, touched;
};

struct script {
	char **ops;
	int nops;
	struct phase spans[MAX_SPANS], checkpoint;
	int nspans, ncheckpoints;
	struct block blocks[MAX_HOGS];
	int nblocks;
	uint64_t held, base;
	pthread_barrier_t *meeting; /* of the children of a fork; NULL: they do not meet */
};

/* "key:value" → value, or NULL when op is something else. */
static const char *arg_of(const char *op, const char *key)
{
	size_t n = strlen(key);

	return !strncmp(op, key, n) && op[n] == ':' ? op + n + 1 : NULL;
}

static void begin_phase(struct phase *p, const char *label, uint64_t held)
{
	*p = (struct phase){.label = label, .start = held, .max = held, .open = 1};
}

static void print_truth(const struct script *s, const struct phase *p, const char *kind, int first)
{
	say("truth kind=%s first=%d base_bytes=%llu peak_delta_bytes=%llu kept_bytes=%lld grew_bytes=%llu at_ns=%llu label=%s\n",
	    kind, first, (unsigned long long)s->base, (unsigned long long)(p->max - p->start),
	    (long long)(s->held - p->start), (unsigned long long)p->grew,
	    (unsigned long long)now_ns(), p->label);
}

static void change(struct script *s, int64_t bytes)
{
	s->held += (uint64_t)bytes;
	for (int i = 0; i <= s->nspans; i++) {
		struct phase *p = i < s->nspans ? &s->spans[i] : &s->checkpoint;

		if (!p->open)
			continue;
		if (bytes > 0)
			p->grew += (uint64_t)bytes;
		if (s->held > p->max)
			p->max = s->held;
	}
}

static struct block *new_block(struct script *s)
{
	if (s->nblocks == MAX_HOGS) {
		errno = ENOSPC;
		die("blocks");
	}
	return &s->blocks[s->nblocks++];
}

static void do_hog(struct script *s, const char *mib, int advice)
{
	size_t bytes = strtoul(mib, NULL, 10) * MIB;

	*new_block(s) = (struct block){hog(bytes, advice), bytes, bytes};
	change(s, (int64_t)bytes);
}

static void do_reserve(struct script *s, const char *mib)
{
	size_t bytes = strtoul(mib, NULL, 10) * MIB;

	*new_block(s) = (struct block){reserve(bytes, MADV_NOHUGEPAGE), bytes, 0};
}

static void do_touch(struct script *s, const char *mib)
{
	struct block *b = &s->blocks[s->nblocks - 1];
	size_t bytes = strtoul(mib, NULL, 10) * MIB;

	if (!s->nblocks || b->touched + bytes > b->bytes) {
		errno = EINVAL;
		die("touch");
	}
	touch(b->p + b->touched, bytes);
	b->touched += bytes;
	change(s, (int64_t)bytes);
}

static void do_map(struct script *s, const char *path)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	volatile char sink;
	char *p;

	if (fd < 0 || fstat(fd, &st))
		die(path);
	p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		die("mmap file");
	close(fd);
	for (off_t i = 0; i < st.st_size; i += (off_t)page)
		sink = p[i];
	(void)sink;
	*new_block(s) = (struct block){p, (size_t)st.st_size, (size_t)st.st_size};
	change(s, st.st_size);
}

static void do_free(struct script *s)
{
	struct block *b = &s->blocks[s->nblocks - 1];

	if (!s->nblocks || munmap(b->p, b->bytes))
		die("free");
	s->nblocks--;
	change(s, -(int64_t)b->touched);
}

static void do_begin(struct script *s, const char *label)
{
	if (s->nspans == MAX_SPANS) {
		errno = ENOSPC;
		die("spans");
	}
	begin_phase(&s->spans[s->nspans], label, s->held);
	s->spans[s->nspans].token = log_rss_begin(label);
	s->nspans++;
}

static void do_end(struct script *s, int k)
{
	while (k < 0 && s->nspans + k >= 0 && !s->spans[s->nspans + k].open)
		k--;
	if (k < 0)
		k += s->nspans;
	if (k < 0 || k >= s->nspans || !s->spans[k].open) {
		errno = EINVAL;
		die("end");
	}
	log_rss_end(s->spans[k].token);
	s->spans[k].open = 0;
	print_truth(s, &s->spans[k], "span", 0);
}

static void do_mark(struct script *s, const char *label)
{
	log_rss(label);
	s->checkpoint.label = label;
	print_truth(s, &s->checkpoint, "checkpoint", s->ncheckpoints++ == 0);
	begin_phase(&s->checkpoint, NULL, s->held);
}

static void print_open(const struct script *s)
{
	for (int i = 0; i < s->nspans; i++)
		if (s->spans[i].open)
			print_truth(s, &s->spans[i], "open", 0);
}

static int step_memory(struct script *s, const char *op)
{
	const char *a;

	if ((a = arg_of(op, "hog")))
		do_hog(s, a, 0);
	else if ((a = arg_of(op, "hog4k")))
		do_hog(s, a, MADV_NOHUGEPAGE);
	else if ((a = arg_of(op, "hog2m")))
		do_hog(s, a, MADV_HUGEPAGE);
	else if ((a = arg_of(op, "reserve")))
		do_reserve(s, a);
	else if ((a = arg_of(op, "touch")))
		do_touch(s, a);
	else if ((a = arg_of(op, "map")))
		do_map(s, a);
	else if (!strcmp(op, "free"))
		do_free(s);
	else if (!strcmp(op, "rewrite") && s->nblocks)
		touch(s->blocks[s->nblocks - 1].p, s->blocks[s->nblocks - 1].touched);
	else
		return 0;
	return 1;
}

static int step_marker(struct script *s, const char *op)
{
	const char *a;

	if ((a = arg_of(op, "begin")))
		do_begin(s, a);
	else if ((a = arg_of(op, "mark")))
		do_mark(s, a);
	else if ((a = arg_of(op, "note")))
		log_rss_note(a);
	else if ((a = arg_of(op, "end")))
		do_end(s, atoi(a));
	else if (!strcmp(op, "end"))
		do_end(s, -1);
	else
		return 0;
	return 1;
}

static int step_ending(struct script *s, int i)
{
	const char *op = s->ops[i], *a;

	if (!strcmp(op, "exec")) {
		print_open(s);
		execv(s->ops[i + 1], s->ops + i + 1);
		die("exec");
	} else if ((a = arg_of(op, "exit"))) {
		print_open(s);
		exit(atoi(a));
	} else if ((a = arg_of(op, "_exit"))) {
		print_open(s);
		_exit(atoi(a));
	} else if ((a = arg_of(op, "raise"))) {
		print_open(s);
		signal(atoi(a), SIG_DFL);
		raise(atoi(a));
	} else {
		return 0;
	}
	return 1;
}

static void set_next_pid(int pid)
{
	int fd = open("/proc/sys/kernel/ns_last_pid", O_WRONLY | O_CLOEXEC);

	if (fd < 0 || dprintf(fd, "%d", pid - 1) < 0)
		die("ns_last_pid");
	close(fd);
}

static void do_reap(void)
{
	while (wait(NULL) > 0 || errno == EINTR)
		;
}

static void step(struct script *s, int i)
{
	const char *op = s->ops[i], *a;

	if (step_memory(s, op) || step_marker(s, op) || step_ending(s, i))
		return;
	if ((a = arg_of(op, "sleep")))
		sleep_ms((unsigned int)atoi(a));
	else if ((a = arg_of(op, "say")))
		say("%s\n", a);
	else if (!strcmp(op, "smaps"))
		say("smaps_rss=%llu\n", (unsigned long long)smaps_rss());
	else if (!strcmp(op, "reap"))
		do_reap();
	else if (!strcmp(op, "meet") && s->meeting)
		pthread_barrier_wait(s->meeting);
	else if ((a = arg_of(op, "nextpid")))
		set_next_pid(atoi(a));
	else if ((a = arg_of(op, "ready")))
		make_file(a);
	else if ((a = arg_of(op, "wait")))
		wait_file(a);
	else {
		errno = EINVAL;
		die(op);
	}
}

static int run_block(struct script *s, int i);

/* The index after the matching `done`. */
static int skip_block(const struct script *s, int i)
{
	for (int depth = 1; i < s->nops && depth; i++)
		depth += !strcmp(s->ops[i], "done")
			     ? -1
			     : arg_of(s->ops[i], "repeat") || arg_of(s->ops[i], "fork");
	return i;
}

/* A page of shared memory, which only those that meet shall have. */
static void arrange_meeting(struct script *s, int n)
{
	pthread_barrierattr_t shared;
	int i = 0;

	while (i < s->nops && strcmp(s->ops[i], "meet") != 0)
		i++;
	if (i == s->nops)
		return;
	if (!s->meeting)
		s->meeting = mmap(NULL, sizeof(*s->meeting), PROT_READ | PROT_WRITE,
				  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (s->meeting == MAP_FAILED)
		die("mmap");
	pthread_barrierattr_init(&shared);
	pthread_barrierattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
	if (pthread_barrier_init(s->meeting, &shared, (unsigned int)n))
		die("barrier");
}

static int do_fork(struct script *s, int i, int n)
{
	arrange_meeting(s, n);
	while (n-- > 0) {
		pid_t pid = fork();

		if (pid < 0)
			die("fork");
		if (!pid) {
			run_block(s, i);
			print_open(s);
			_exit(0);
		}
	}
	return skip_block(s, i);
}

/* Runs from op i to the matching `done`, or to the end; returns the index after it. */
static int run_block(struct script *s, int i)
{
	while (i < s->nops) {
		const char *a = arg_of(s->ops[i], "repeat"), *f = arg_of(s->ops[i], "fork");
		int next = 0;

		if (!strcmp(s->ops[i], "done"))
			return i + 1;
		if (f) {
			i = do_fork(s, i + 1, atoi(f));
			continue;
		}
		if (!a) {
			step(s, i++);
			continue;
		}
		for (int n = atoi(a); n > 0; n--)
			next = run_block(s, i + 1);
		i = next;
	}
	return i;
}

int main(int argc, char **argv)
{
	static struct script s;

	s.ops = argv + 1;
	s.nops = argc - 1;
	settle();
	begin_phase(&s.checkpoint, NULL, 0);
	smaps_rss();
	s.base = smaps_rss();
	run_block(&s, 0);
	print_open(&s);
	return 0;
}
