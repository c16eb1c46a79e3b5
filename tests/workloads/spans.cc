/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Native functions that mark nothing, for --span. Each step calls one of them; what the program
 * prints is the same with a tracer and without.
 *
 *   spike:N     touches N MiB and gives them back by a tail call of free(3)
 *   keep:N      touches N MiB and keeps them, through a tail call within the program
 *   far:N       the same through a tail call by a pointer
 *   deep:N      N calls of itself, 4 MiB in each of the last 16 until it returns
 *   again:N     N calls of itself that are jumps: one call in all
 *   jump:N      N calls of itself, 4 MiB kept in each; the innermost one does longjmp out of all
 *   throw:N     the same, by an exception; the middle ones have something to destroy
 *   threads:N   two threads, each spike:N, at once
 *   leave:N     a thread that touches N MiB and ends in pthread_exit, two calls deep
 *   fork:N      forks within a call; the child touches N MiB and returns, too
 *   stacks:N    two calls that are open by turns, on stacks of their own
 *   sum:N       prints N + N + N
 *   rust:N      touches N MiB, in functions whose names are Rust's
 *   hog:N       touches N MiB and keeps them, in no function that is asked about
 *   sleep:MS ready:FILE wait:FILE
 */
#include <csetjmp>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <stdexcept>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define CALLED __attribute__((noinline, noclone))
/* The compiler may neither leave out what is behind it, nor know what is before. */
#define HERE(p) __asm__ volatile("" ::"r"(p) : "memory")

static volatile bool leaves = true;

static char *touch(int mib)
{
	size_t n = static_cast<size_t>(mib) << 20;
	char *p = static_cast<char *>(malloc(n));

	if (!p)
		abort();
	memset(p, 1, n);
	HERE(p);
	return p;
}

namespace etl
{

CALLED void spike(int mib)
{
	free(touch(mib));
}

CALLED int work(int mib)
{
	touch(mib);
	return mib + 1;
}

CALLED int keep(int mib)
{
	HERE(mib);
	return work(mib);
}

static int (*volatile pointer)(int) = work;

CALLED int far(int mib)
{
	return pointer(mib);
}

CALLED int deep(int n)
{
	char *p = touch(n > 16 ? 0 : 4);
	int sum = n > 1 ? deep(n - 1) + n : n;

	free(p);
	return sum;
}

static jmp_buf out;

CALLED void jump(int n)
{
	touch(4);
	if (n <= 1)
		longjmp(out, 1);
	if (leaves)
		jump(n - 1);
	HERE(&n);
}

struct held {
	int *count;
	explicit held(int *c) : count(c)
	{
	}
	~held()
	{
		++*count;
	}
};

static int destroyed;

CALLED void thrown(int n)
{
	held h(&destroyed);

	touch(4);
	if (n <= 1)
		throw std::runtime_error("out of all");
	if (leaves)
		thrown(n - 1);
	HERE(&n);
}

template <typename T> struct table {
	CALLED T sum(const T *rows, int n) const
	{
		T all = 0;

		for (int i = 0; i < n; i++)
			all += rows[i];
		HERE(&all);
		return all;
	}
};

CALLED void leave(int mib)
{
	touch(mib);
	if (mib & 1)
		pthread_exit(nullptr);
	if (leaves)
		leave(mib + 1);
	HERE(&mib);
}

CALLED pid_t forked(int mib)
{
	pid_t pid = fork();

	if (!pid)
		touch(mib);
	HERE(&pid);
	return pid;
}

static ucontext_t home, other;

CALLED void first(int mib)
{
	touch(mib);
	swapcontext(&home, &other);
	HERE(&mib);
}

CALLED void second(int mib)
{
	touch(2 * mib);
	swapcontext(&other, &home);
	HERE(&mib);
}

} // namespace etl

/* A loop as a compiler makes it of a call of itself at the end: a jump to the beginning. */
__asm__(".text\n"
	".globl again\n"
	".type again, @function\n"
	"again:\n"
	"\tdec %edi\n"
	"\tjg again\n"
	"\tret\n"
	".size again, . - again\n");

extern "C" {
void again(int n);
int rust_legacy(int mib) __asm__("_ZN5parse4rows17h0123456789abcdefE");
int rust_v0(int mib) __asm__("_RNvNtCs1234_5parse7columns3all");

CALLED int rust_v0(int mib)
{
	free(touch(mib));
	HERE(&mib);
	return mib;
}

CALLED int rust_legacy(int mib)
{
	free(touch(mib));
	HERE(&mib);
	return rust_v0(2 * mib) + mib;
}
}

static void *in_thread(void *mib)
{
	etl::spike(*static_cast<int *>(mib));
	return nullptr;
}

static void *leaving(void *mib)
{
	etl::leave(*static_cast<int *>(mib));
	return nullptr;
}

static void threads(void *(*fn)(void *), int n, int mib)
{
	pthread_t t[2];

	for (int i = 0; i < n; i++)
		if (pthread_create(&t[i], nullptr, fn, &mib))
			abort();
	for (int i = 0; i < n; i++)
		pthread_join(t[i], nullptr);
	printf("joined %d\n", n);
}

static void on_other_stack(int mib)
{
	etl::second(mib);
	swapcontext(&etl::other, &etl::home);
}

static void stacks(int mib)
{
	size_t size = 256 << 10;

	getcontext(&etl::other);
	etl::other.uc_stack.ss_sp = touch(1);
	etl::other.uc_stack.ss_size = size;
	etl::other.uc_link = nullptr;
	makecontext(&etl::other, reinterpret_cast<void (*)()>(on_other_stack), 1, mib);
	etl::first(mib);
	swapcontext(&etl::home, &etl::other);
	puts("back");
}

static bool step(const char *op, int n, const char *arg)
{
	pid_t pid;

	if (!strcmp(op, "spike")) {
		etl::spike(n);
	} else if (!strcmp(op, "keep")) {
		printf("kept %d\n", etl::keep(n));
	} else if (!strcmp(op, "far")) {
		printf("far %d\n", etl::far(n));
	} else if (!strcmp(op, "deep")) {
		printf("deep %d\n", etl::deep(n));
	} else if (!strcmp(op, "again")) {
		again(n);
	} else if (!strcmp(op, "jump")) {
		if (!setjmp(etl::out))
			etl::jump(n);
		puts("jumped");
	} else if (!strcmp(op, "throw")) {
		try {
			etl::thrown(n);
		} catch (const std::exception &e) {
			printf("caught %s, %d destroyed\n", e.what(), etl::destroyed);
		}
	} else if (!strcmp(op, "sum")) {
		const long rows[] = {n, n, n};

		printf("sum %ld\n", etl::table<long>().sum(rows, 3));
	} else if (!strcmp(op, "threads")) {
		threads(in_thread, 2, n);
	} else if (!strcmp(op, "leave")) {
		threads(leaving, 1, n);
	} else if (!strcmp(op, "fork")) {
		fflush(stdout);
		pid = etl::forked(n);
		if (!pid)
			_exit(0);
		waitpid(pid, nullptr, 0);
		puts("forked");
	} else if (!strcmp(op, "stacks")) {
		stacks(n);
	} else if (!strcmp(op, "rust")) {
		printf("rust %d\n", rust_legacy(n));
	} else if (!strcmp(op, "hog")) {
		touch(n);
	} else if (!strcmp(op, "sleep")) {
		usleep(static_cast<useconds_t>(n) * 1000);
	} else if (!strcmp(op, "ready")) {
		close(open(arg, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
	} else if (!strcmp(op, "wait")) {
		while (access(arg, F_OK))
			usleep(5000);
	} else {
		return false;
	}
	return true;
}

int main(int argc, char **argv)
{
	/* What is freed goes back at once: what a call has touched and freed is its spike. */
	mallopt(M_MMAP_THRESHOLD, 256 << 10);
	for (int i = 1; i < argc; i++) {
		char op[16];
		const char *arg = strchr(argv[i], ':');

		snprintf(op, sizeof(op), "%.*s", arg ? static_cast<int>(arg - argv[i]) : 15, argv[i]);
		arg = arg ? arg + 1 : "";
		if (!step(op, atoi(arg), arg)) {
			fprintf(stderr, "spans: what is %s?\n", argv[i]);
			return 99;
		}
	}
	puts("end");
	return 0;
}
