// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A program that marks nothing and prints: its arguments are steps, done in order.
 *
 *   hog:N free          touch N MiB more; give all of them back
 *   line:TEXT           one write, with a newline
 *   raw:TEXT            one write, as it is
 *   bytes:TEXT          one write for each byte, and one for the newline
 *   vec:TEXT            one writev, a byte each, and the newline
 *   batch:N:TEXT        N lines in one write, each TEXT and its number in brackets
 *   flood:N:TEXT        N writes of one line each, the last of them TEXT
 *   cold:FILE           one write straight from a mapping of FILE that nobody has read
 *   threads:N           two threads write N lines "T A n]: 5 MB" each, byte by byte, in turn
 *   handed:TEXT         its first half by one thread, the rest by another
 *   err out             where the next steps write: fd 2, fd 1
 *   dup                 fd 1 becomes fd 10, and /dev/null fd 1
 *   full                writes without blocking into a pipe that is full, then makes room
 *   sleep:MS ready:FILE wait:FILE kill exit:N
 */
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/uio.h>

#include "work.h"

#define HOGS 64

static int fd = 1;
static struct {
	void *at;
	size_t bytes;
} hogs[HOGS];
static int nhogs;

static void put(const char *s, size_t n)
{
	while (n) {
		ssize_t done = write(fd, s, n);

		if (done < 0)
			die("write");
		s += done;
		n -= (size_t)done;
	}
}

static void line(const char *text)
{
	char buf[8192];
	int n = snprintf(buf, sizeof(buf), "%s\n", text);

	put(buf, (size_t)n);
}

static void bytes(const char *text)
{
	for (; *text; text++)
		put(text, 1);
	put("\n", 1);
}

static void vec(const char *text)
{
	struct iovec v[64];
	int n = 0;

	for (; *text && n < 63; text++)
		v[n++] = (struct iovec){(void *)(uintptr_t)text, 1};
	v[n++] = (struct iovec){(void *)(uintptr_t) "\n", 1};
	if (writev(fd, v, n) != n)
		die("writev");
}

static void batch(const char *spec)
{
	char *text, *buf;
	int n = (int)strtol(spec, &text, 10);
	size_t room = (size_t)n * (strlen(text) + 16), at = 0;

	buf = malloc(room);
	for (int i = 0; i < n; i++)
		at += (size_t)sprintf(buf + at, "%s[%d]\n", text + 1, i);
	put(buf, at);
	free(buf);
}

static void flood(const char *spec)
{
	static const char dull[] = "2026-11-30 10:00:00 INFO nothing to see in this line at all\n";
	char *text;
	long n = strtol(spec, &text, 10);

	for (long i = 1; i < n; i++)
		put(dull, sizeof(dull) - 1);
	line(text + 1);
}

static void cold(const char *path)
{
	int file = open(path, O_RDONLY);
	off_t size = lseek(file, 0, SEEK_END);
	void *p = mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, file, 0);

	if (p == MAP_FAILED)
		die(path);
	madvise(p, (size_t)size, MADV_RANDOM);
	put(p, (size_t)size);
}

static pthread_barrier_t barrier;
static int rounds, width;
static const char dashes[] = "------------------------------------------------------------------"
			     "------------------------------------------------------------------";

static void *writer(void *arg)
{
	bool first = arg == NULL;
	char text[256];

	for (int i = 0; i < rounds; i++) {
		int n = snprintf(text, sizeof(text), "T [%c%d%.*s]: 5 MB\n", first ? 'a' : 'b', i,
				 width, dashes);

		for (int k = 0; k < width + 24; k++) {
			if (first && k < n)
				put(text + k, 1);
			pthread_barrier_wait(&barrier);
			if (!first && k < n)
				put(text + k, 1);
			pthread_barrier_wait(&barrier);
		}
	}
	return NULL;
}

/* "N[:WIDTH]": N lines of each of two threads, byte by byte in turn, labels made longer by WIDTH.
 */
static void threads(const char *arg)
{
	pthread_t other;

	if (sscanf(arg, "%d:%d", &rounds, &width) < 1 || width > (int)sizeof(dashes) - 1)
		die("threads");
	pthread_barrier_init(&barrier, NULL, 2);
	if (pthread_create(&other, NULL, writer, &rounds))
		die("thread");
	writer(NULL);
	pthread_join(other, NULL);
}

static void *rest(void *text)
{
	line(text);
	return NULL;
}

static void handed(const char *text)
{
	size_t half = strlen(text) / 2;
	pthread_t other;

	put(text, half);
	if (pthread_create(&other, NULL, rest, (void *)(uintptr_t)(text + half)))
		die("thread");
	pthread_join(other, NULL);
}

/* The first write is cut short, the second refused; what was not taken is written again. */
static void full(void)
{
	static char big[1 << 20], sink[1 << 20];
	int p[2], old = dup(1);
	size_t done = 0;

	if (pipe2(p, O_NONBLOCK) || dup2(p[1], 1) < 0)
		die("pipe");
	for (size_t i = 0; i < sizeof(big); i += 16)
		memcpy(big + i, "RSS [full]: 5MB\n", 16);
	while (done < 8 * 65536) {
		ssize_t n = write(1, big + done, 8 * 65536 - done);

		if (n > 0)
			done += (size_t)n;
		else if (read(p[0], sink, sizeof(sink)) < 0)
			die("read");
	}
	dup2(old, 1);
}

static bool step(const char *s)
{
	const char *arg = strchr(s, ':');

	arg = arg ? arg + 1 : "";
	if (!strncmp(s, "hog:", 4)) {
		hogs[nhogs].bytes = strtoul(arg, NULL, 10) * MIB;
		hogs[nhogs].at = hog(hogs[nhogs].bytes, MADV_NOHUGEPAGE);
		nhogs++;
	} else if (!strcmp(s, "free")) {
		while (nhogs--)
			munmap(hogs[nhogs].at, hogs[nhogs].bytes);
		nhogs = 0;
	} else if (!strncmp(s, "line:", 5)) {
		line(arg);
	} else if (!strncmp(s, "raw:", 4)) {
		put(arg, strlen(arg));
	} else if (!strncmp(s, "bytes:", 6)) {
		bytes(arg);
	} else if (!strncmp(s, "vec:", 4)) {
		vec(arg);
	} else if (!strncmp(s, "batch:", 6)) {
		batch(arg);
	} else if (!strncmp(s, "flood:", 6)) {
		flood(arg);
	} else if (!strncmp(s, "cold:", 5)) {
		cold(arg);
	} else if (!strncmp(s, "threads:", 8)) {
		threads(arg);
	} else if (!strncmp(s, "handed:", 7)) {
		handed(arg);
	} else if (!strcmp(s, "err")) {
		fd = 2;
	} else if (!strcmp(s, "out")) {
		fd = 1;
	} else if (!strcmp(s, "dup")) {
		fd = dup2(1, 10);
		dup2(open("/dev/null", O_WRONLY), 1);
	} else if (!strcmp(s, "full")) {
		full();
	} else if (!strncmp(s, "sleep:", 6)) {
		sleep_ms((unsigned int)atoi(arg));
	} else if (!strncmp(s, "ready:", 6)) {
		make_file(arg);
	} else if (!strncmp(s, "wait:", 5)) {
		wait_file(arg);
	} else if (!strcmp(s, "kill")) {
		kill(getpid(), SIGKILL);
	} else if (!strncmp(s, "exit:", 5)) {
		_exit(atoi(arg));
	} else {
		return false;
	}
	return true;
}

int main(int argc, char **argv)
{
	settle();
	for (int i = 1; i < argc; i++) {
		if (!step(argv[i])) {
			dprintf(2, "printer: no such step: %s\n", argv[i]);
			return 98;
		}
	}
	return 0;
}
