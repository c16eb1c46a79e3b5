/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Marks from the first instruction on, and through a library that it loads while it runs.
 *
 *   mark:LABEL           a checkpoint of its own marker
 *   load:FILE            dlopen(FILE), a liblogrss.so
 *   lib:LABEL            a checkpoint by that library
 *   hog:N                touch N MiB
 *   map:FILE             map FILE executable by hand, as no loader does, and forget it
 *   fork                 a child goes on with the same steps
 *   sleep:MS ready:FILE wait:FILE
 *   repeat:N STEP        one step N times
 *
 * For each mark one line `called pid=PID at_ns=TIME label=LABEL`, after the call; TIME is of before
 * it.
 */
#include <dlfcn.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "work.h"

static void (*lib_log_rss)(const char *label);

static const char *arg_of(const char *op, const char *key)
{
	size_t n = strlen(key);

	return !strncmp(op, key, n) && op[n] == ':' ? op + n + 1 : NULL;
}

static void called(uint64_t at_ns, const char *label)
{
	say("called pid=%d at_ns=%llu label=%s\n", (int)getpid(), (unsigned long long)at_ns, label);
}

#ifdef NO_DLOPEN /* a static program has no loader */
static void load(const char *file)
{
	errno = ENOSYS;
	die(file);
}
#else
static void load(const char *file)
{
	void *lib = dlopen(file, RTLD_NOW);

	if (!lib) {
		dprintf(2, "late: %s\n", dlerror());
		_exit(99);
	}
	lib_log_rss = (void (*)(const char *))(uintptr_t)dlsym(lib, "log_rss");
	if (!lib_log_rss)
		die("no log_rss in the library");
}
#endif

static void map_by_hand(const char *file)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		die(file);
	if (mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == MAP_FAILED)
		die("mmap");
	close(fd);
}

static void step(const char *op)
{
	const char *a;
	uint64_t at = now_ns();

	if ((a = arg_of(op, "mark"))) {
		log_rss(a);
		called(at, a);
	} else if ((a = arg_of(op, "lib"))) {
		lib_log_rss(a);
		called(at, a);
	} else if ((a = arg_of(op, "load"))) {
		load(a);
	} else if (!strcmp(op, "fork")) {
		if (fork() < 0)
			die("fork");
	} else if ((a = arg_of(op, "map"))) {
		map_by_hand(a);
	} else if ((a = arg_of(op, "hog"))) {
		hog(strtoul(a, NULL, 10) * MIB, 0);
	} else if ((a = arg_of(op, "sleep"))) {
		sleep_ms((unsigned int)atoi(a));
	} else if ((a = arg_of(op, "ready"))) {
		make_file(a);
	} else if ((a = arg_of(op, "wait"))) {
		wait_file(a);
	} else {
		errno = EINVAL;
		die(op);
	}
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		const char *times = arg_of(argv[i], "repeat");
		int n = times ? atoi(times) : 1;

		if (times && ++i == argc)
			break;
		while (n-- > 0)
			step(argv[i]);
	}
	/* Of the child, if there is one. */
	while (wait(NULL) > 0)
		;
	return 0;
}
