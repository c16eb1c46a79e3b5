/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "print.h"

#include <stddef.h>
#include <stdint.h>

#include "lib/text.h"

#if defined(__linux__) && defined(__LP64__) && (defined(__x86_64__) || defined(__aarch64__))

/*
 * By system calls, as the library needs no libc: whichever it is, this does not touch its errno,
 * its locks or its buffers.
 */
#if defined(__x86_64__)
enum {
	SYS_READ = 0,
	SYS_WRITE = 1,
	SYS_CLOSE = 3,
	SYS_GETPID = 39,
	SYS_OPENAT = 257,
	SYS_PROCESS_VM_READV = 310
};

static long call(long nr, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long ret;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return ret;
}
#else
enum {
	SYS_READ = 63,
	SYS_WRITE = 64,
	SYS_CLOSE = 57,
	SYS_GETPID = 172,
	SYS_OPENAT = 56,
	SYS_PROCESS_VM_READV = 270
};

static long call(long nr, long a, long b, long c, long d, long e, long f)
{
	register long x8 __asm__("x8") = nr;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;
	register long x5 __asm__("x5") = f;

	__asm__ volatile("svc 0"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
			 : "memory");
	return x0;
}
#endif

enum {
	CWD = -100, /* AT_FDCWD */
	CLOEXEC = 02000000,
	LABEL = 255,
	PAGE = 4096, /* the smallest: a label is never read across the edge of one in one piece */
};

struct text {
	char *at, *end;
};

static void put(struct text *t, char c)
{
	if (t->at < t->end)
		*t->at++ = c;
}

static void put_string(struct text *t, const char *s)
{
	while (*s)
		put(t, *s++);
}

static void put_byte(struct text *t, unsigned char c)
{
	static const char hex[] = "0123456789abcdef";

	put_string(t, "\\x");
	put(t, hex[c >> 4]);
	put(t, hex[c & 15]);
}

/* The bytes of what is no character, or none that should reach a terminal, by their numbers. */
static void put_label(struct text *t, const char *label, size_t len)
{
	uint32_t cp;

	for (size_t i = 0, n; i < len; i += n) {
		bool shown;

		n = text_utf8_next(label + i, len - i, &cp);
		shown = n && !text_is_hidden(cp);
		n = n ? n : 1;
		for (size_t k = i; k < i + n; k++) {
			if (shown)
				put(t, label[k]);
			else
				put_byte(t, (unsigned char)label[k]);
		}
	}
}

/* kB as MB (2^20 bytes) with one digit behind the point, rounded. */
static void put_mb(struct text *t, uint64_t kb)
{
	uint64_t tenths = (kb * 10 + 512) / 1024, whole = tenths / 10;
	char digits[20];
	int n = 0;

	do
		digits[n++] = (char)('0' + whole % 10);
	while (whole /= 10);
	while (n)
		put(t, digits[--n]);
	put(t, '.');
	put(t, (char)('0' + tenths % 10));
}

/* Copied by the kernel, which tells a pointer that leads nowhere. The length, or -1. */
static long read_label(const char *label, char *into)
{
	uintptr_t from = (uintptr_t)label, edge = (from | (PAGE - 1)) + 1;
	size_t first = edge - from < LABEL ? edge - from : LABEL;
	struct {
		uintptr_t base;
		size_t len;
	} local = {(uintptr_t)into, LABEL},
	  remote[2] = {{from, first}, {from + first, LABEL - first}};
	long got = call(SYS_PROCESS_VM_READV, call(SYS_GETPID, 0, 0, 0, 0, 0, 0), (long)&local, 1,
			(long)remote, 2, 0);
	long len = 0;

	if (got <= 0)
		return -1;
	while (len < got && into[len])
		len++;
	return len < got || got == LABEL ? len : -1; /* it ends before the memory does */
}

/* The number behind a name at the start of a line, or 0. */
static uint64_t field(const char *status, long len, const char *name)
{
	for (long i = 0; i < len; i++) {
		long j = 0;

		while (name[j] && i + j < len && status[i + j] == name[j])
			j++;
		if (!name[j] && (i == 0 || status[i - 1] == '\n')) {
			uint64_t value = 0;

			for (i += j; i < len && (status[i] == ' ' || status[i] == '\t'); i++)
				;
			for (; i < len && status[i] >= '0' && status[i] <= '9'; i++)
				value = value * 10 + (uint64_t)(status[i] - '0');
			return value;
		}
	}
	return 0;
}

static void print(const char *label)
{
	char line[4 * LABEL + 80], bytes[LABEL], status[4096];
	struct text t = {line, line + sizeof(line)};
	long fd = call(SYS_OPENAT, CWD, (long)"/proc/self/status", CLOEXEC, 0, 0, 0), len = 0, got;

	if (fd < 0)
		return;
	while (len < (long)sizeof(status) && (got = call(SYS_READ, fd, (long)(status + len),
							 (long)sizeof(status) - len, 0, 0, 0)) > 0)
		len += got;
	call(SYS_CLOSE, fd, 0, 0, 0, 0, 0);

	put_string(&t, "RSS [");
	got = label ? read_label(label, bytes) : -1;
	if (got < 0)
		put_string(&t, label ? "(label not readable)" : "(null)");
	else
		put_label(&t, bytes, (size_t)got);
	put_string(&t, "]: ~");
	put_mb(&t, field(status, len, "VmRSS:"));
	put_string(&t, " MB  (peak ");
	put_mb(&t, field(status, len, "VmHWM:"));
	put_string(&t, ")\n");
	call(SYS_WRITE, 2, (long)line, t.at - line, 0, 0, 0);
}

/* Not getenv: there need be no libc that we know. NULL where nothing has one. */
extern char **environ __attribute__((weak));

static int wanted(void)
{
	static const char name[] = "PEAKPHASE_LOG=1";

	if (&environ == NULL || environ == NULL)
		return 0;
	for (char **e = environ; *e; e++) {
		size_t i = 0;

		while (name[i] && (*e)[i] == name[i])
			i++;
		if (!name[i] && !(*e)[i])
			return 1;
	}
	return 0;
}

void print_mark(const char *label)
{
	static int state; /* 0: not asked yet, 1: no, 2: yes */
	int known = __atomic_load_n(&state, __ATOMIC_RELAXED);

	/* At the first mark: the environment of a process that is still loading its libraries may
	 * not be there yet. */
	if (!known) {
		known = 1 + wanted();
		__atomic_store_n(&state, known, __ATOMIC_RELAXED);
	}
	if (known == 2)
		print(label);
}

#else

void print_mark(const char *label)
{
	(void)label;
}

#endif
