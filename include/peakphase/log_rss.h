/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Markers: tell peakphase where the phases of a program begin and end.
 *
 *	#include <peakphase/log_rss.h>
 *
 *	load_users();
 *	log_rss("load:users");                 a checkpoint: names what has just ended
 *
 *	uint64_t t = log_rss_begin("transform:users");
 *	transform_users();                     a span: nested and overlapping as you like
 *	log_rss_end(t);                        also on another thread
 *
 * Header-only: nothing to link, no library, no initialisation, no output, no file, no thread. C99
 * and C++98 or later; gcc 8 or later and clang; executables and libraries, static and shared, LTO.
 * Other languages load liblogrss.so, which exports the same functions; with PEAKPHASE_LOG=1 in
 * the environment its log_rss() also prints the RSS and the peak so far on stderr.
 *
 * Labels   a NUL-terminated string, or NULL. The program never reads it: a tracer does, and copes
 *          with any pointer. Up to 255 bytes are kept as they are, longer ones are cut with a
 *          mark. It has to be valid only during the call.
 * Tokens   never 0, differ within a process, also between the objects it has loaded. Ending a
 *          token that is not open, or ending one twice, is counted by the tracer and harmless.
 * Cost     x86-64, no tracer: 1 to 2 ns for a checkpoint and an end, 4 ns for a begin. Traced: one
 *          probe, about 1 us.
 * Threads  every function may be called from any thread at any time, and from signal handlers:
 *          no locks, no memory, errno untouched. A checkpoint's phase is its thread's.
 * fork     the child's marks are the child's own. Spans that were open at the fork stay the
 *          parent's; their tokens mean nothing in the child.
 * Elsewhere the functions exist and do nothing where there is nothing to probe: other
 *          processors than x86-64 and arm64 (LP64), other systems than Linux, older compilers.
 *
 * How it works: all calls of one linked object go through one function, peakphase_marker(), which
 * holds instructions that do nothing. The tracer finds them by an ELF note, so also in stripped
 * files, and puts its probe on the one that is cheapest on the running kernel: a 1-byte NOP
 * (trap; any kernel), a 5-byte NOP (a call, but not where a forked child that passes it would
 * die: Linux 6.18 makes it a call into a mapping that fork does not copy, so it is not used there)
 * or a 10-byte NOP (a call from 7.x on). The function is never inlined: probes made as calls push
 *onto the stack, and only at the entry of a function is no red zone in use.
 *
 * The note: section .note.peakphase (allocated), name "peakphase", type 1. Descriptor, in the
 * byte order of the file: u32 version 1; u32 e_machine; then for the 1-, 5- and 10-byte NOP one
 * signed 64-bit distance from the field itself to the instruction, 0 where there is none.
 * Registers at every site: x86-64 rdi, rsi, rdx and arm64 x0, x1, x2 hold op (enum below), label,
 *token.
 */
#ifndef PEAKPHASE_LOG_RSS_H
#define PEAKPHASE_LOG_RSS_H

#include <stdint.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Linkage of the four functions; liblogrss.so overrides it to export them. */
#ifndef PEAKPHASE_API
#define PEAKPHASE_API static __inline__
#endif

#ifdef __cplusplus
#define PEAKPHASE_ADDRESS(x) reinterpret_cast<uintptr_t>(x)
#define PEAKPHASE_POINTER(type, x) reinterpret_cast<type>(x)
#else
#define PEAKPHASE_ADDRESS(x) ((uintptr_t)(x))
#define PEAKPHASE_POINTER(type, x) ((type)(x))
#endif

/* liblogrss.so's own: what log_rss() does beside the marker. */
#ifndef PEAKPHASE_MARKED
#define PEAKPHASE_MARKED(label) ((void)0)
#endif

enum peakphase_op {
	PEAKPHASE_MARK = 0,
	PEAKPHASE_BEGIN = 1,
	PEAKPHASE_END = 2,
	PEAKPHASE_TEXT = 3 /* of a note; tracers that do not know it pass over it */
};

/* What this translation unit can probe. */
#if defined(__linux__) && defined(__ELF__) && defined(__LP64__) && !defined(__TINYC__) &&          \
    (defined(__clang__) || (defined(__GNUC__) && __GNUC__ >= 8))
#if defined(__x86_64__)
#define PEAKPHASE_X86_64 1
#elif defined(__aarch64__)
#define PEAKPHASE_ARM64 1
#endif
#endif
/* DataFlowSanitizer renames every function, but not in the note. */
#ifdef __has_feature
#if __has_feature(dataflow_sanitizer)
#undef PEAKPHASE_X86_64
#undef PEAKPHASE_ARM64
#endif
#endif

#if defined(PEAKPHASE_X86_64) || defined(PEAKPHASE_ARM64)

/*
 * Compiler options that put code at the start of every function, copy functions or drop their
 * arguments must leave this one alone. Each attribute is asked for, as compilers know different
 * ones.
 */
#if __has_attribute(noipa)
#define PEAKPHASE_A1 __attribute__((noipa))
#else
#define PEAKPHASE_A1
#endif
#if __has_attribute(no_profile_instrument_function)
#define PEAKPHASE_A2 __attribute__((no_profile_instrument_function))
#else
#define PEAKPHASE_A2
#endif
#if __has_attribute(patchable_function_entry)
#define PEAKPHASE_A3 __attribute__((patchable_function_entry(0, 0)))
#else
#define PEAKPHASE_A3
#endif
#if __has_attribute(no_sanitize_thread)
#define PEAKPHASE_A4 __attribute__((no_sanitize_thread))
#else
#define PEAKPHASE_A4
#endif
#if defined(__clang__)
#define PEAKPHASE_A5 __attribute__((no_sanitize("coverage")))
#elif __has_attribute(no_sanitize_coverage)
#define PEAKPHASE_A5 __attribute__((no_sanitize_coverage))
#else
#define PEAKPHASE_A5
#endif
#if __has_attribute(no_stack_protector)
#define PEAKPHASE_A6 __attribute__((no_stack_protector))
#else
#define PEAKPHASE_A6
#endif
#if __has_attribute(xray_never_instrument)
#define PEAKPHASE_A7 __attribute__((xray_never_instrument))
#elif __has_attribute(no_split_stack)
#define PEAKPHASE_A7 __attribute__((no_split_stack))
#else
#define PEAKPHASE_A7
#endif
/* gcc -O0 loads a pointer to the GOT, needed or not, in all but the small code model. */
#if defined(PEAKPHASE_X86_64) && !defined(__clang__) && !defined(__OPTIMIZE__) &&                  \
    !defined(__code_model_small__)
#define PEAKPHASE_A8 __attribute__((optimize("O1")))
#else
#define PEAKPHASE_A8
#endif
/* No endbr64 in front: only direct calls reach it. Part of the type, so also on the definition. */
#if defined(PEAKPHASE_X86_64) && defined(__CET__) && (__CET__ & 1)
#define PEAKPHASE_NOCF __attribute__((nocf_check))
#else
#define PEAKPHASE_NOCF
#endif

#if defined(PEAKPHASE_X86_64)
#define PEAKPHASE_NAKED __attribute__((naked, aligned(32))) /* no site crosses a cache line */
#else
#define PEAKPHASE_NAKED
#endif

/*
 * Weak and hidden: each linked object has exactly one that is called, however many of its
 * translation units include this. The notes of the copies that lose name the one that stays.
 */
#define PEAKPHASE_MARKER                                                                           \
	__attribute__((weak, visibility("hidden"), noinline, used, no_instrument_function))        \
	PEAKPHASE_NAKED PEAKPHASE_A1 PEAKPHASE_A2 PEAKPHASE_A3 PEAKPHASE_A4 PEAKPHASE_A5           \
	    PEAKPHASE_A6 PEAKPHASE_A7 PEAKPHASE_A8 PEAKPHASE_NOCF

/* machine: e_machine; the rest: where the sites are, as an assembler's expressions */
#define PEAKPHASE_NOTE(machine, nop1, nop5, nop10)                                                 \
	".pushsection .note.peakphase,\"a\",@note\n\t"                                             \
	".balign 4\n\t"                                                                            \
	".long 10, 32, 1\n\t"                                                                      \
	".asciz \"peakphase\"\n\t"                                                                 \
	".balign 4\n\t"                                                                            \
	".long 1, " machine "\n\t"                                                                 \
	".quad " nop1 "\n\t"                                                                       \
	".quad " nop5 "\n\t"                                                                       \
	".quad " nop10 "\n\t"                                                                      \
	".popsection"

extern __attribute__((weak, visibility("hidden"))) uint64_t peakphase_tokens;
__attribute__((weak, visibility("hidden"))) uint64_t peakphase_tokens = 0;

PEAKPHASE_MARKER void peakphase_marker(unsigned long op, const char *label, uint64_t token);

#if defined(PEAKPHASE_X86_64)

/* nop; nop5; nop10; ret: in bytes, so that no assembler chooses others. */
PEAKPHASE_NOCF void peakphase_marker(unsigned long op __attribute__((unused)),
				     const char *label __attribute__((unused)),
				     uint64_t token __attribute__((unused)))
{
	__asm__(".byte 0x90\n\t"
		".byte 0x0f, 0x1f, 0x44, 0x00, 0x00\n\t"
		".byte 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00\n\t"
		".byte 0xc3\n\t" PEAKPHASE_NOTE("62", "peakphase_marker - .",
						"peakphase_marker + 1 - .",
						"peakphase_marker + 6 - ."));
}

#else /* arm64: no naked functions in gcc, so the site carries a symbol of its own */

extern __attribute__((weak, visibility("hidden"))) const char peakphase_site[];

void peakphase_marker(unsigned long op, const char *label, uint64_t token)
{
	register unsigned long x0 __asm__("x0") = op;
	register const char *x1 __asm__("x1") = label;
	register uint64_t x2 __asm__("x2") = token;

	__asm__ volatile(".weak peakphase_site\n\t"
			 ".hidden peakphase_site\n"
			 "peakphase_site:\n\t"
			 "nop\n\t" PEAKPHASE_NOTE("183", "peakphase_site - .", "0", "0")
			 :
			 : "r"(x0), "r"(x1), "r"(x2)
			 : "memory");
}

#endif

#else /* nothing to probe here */

static __inline__ void peakphase_marker(unsigned long op, const char *label, uint64_t token)
{
	(void)op;
	(void)label;
	(void)token;
}

#endif

/* A checkpoint: label names the interval of this thread that has just ended. */
PEAKPHASE_API void log_rss(const char *label);
PEAKPHASE_API void log_rss(const char *label)
{
	peakphase_marker(PEAKPHASE_MARK, label, 0);
	PEAKPHASE_MARKED(label);
}

/* A span begins. Returns the token that ends it, never 0. */
PEAKPHASE_API uint64_t log_rss_begin(const char *label);
PEAKPHASE_API uint64_t log_rss_begin(const char *label)
{
	uint64_t token = 1;
#if defined(PEAKPHASE_X86_64) || defined(PEAKPHASE_ARM64)
	/* Every object counts for itself: its counter's address, spread over 64 bits, is its share
	 * of the numbers. */
	uint64_t base = PEAKPHASE_ADDRESS(&peakphase_tokens) * 0x9e3779b97f4a7c15ul;

	do
		token = base + __atomic_add_fetch(&peakphase_tokens, 1, __ATOMIC_RELAXED);
	while (!token);
#endif
	peakphase_marker(PEAKPHASE_BEGIN, label, token);
	return token;
}

/* The span of that token ends. */
PEAKPHASE_API void log_rss_end(uint64_t token);
PEAKPHASE_API void log_rss_end(uint64_t token)
{
	peakphase_marker(PEAKPHASE_END, NULL, token);
}

/*
 * A note: text that is kept with the innermost phase that this thread has open; without a span that
 * is the one which its next checkpoint names. For what explains a phase: a query's plan, a file's
 * name. Up to 1 MiB is kept; any pointer will do, as for labels. Without a tracer nothing happens:
 * where the text itself is expensive, make it only if log_rss_enabled().
 */
PEAKPHASE_API void log_rss_note(const char *text);
PEAKPHASE_API void log_rss_note(const char *text)
{
	peakphase_marker(PEAKPHASE_TEXT, text, 0);
}

/* The same of the span with that token, which may have begun on another thread. */
PEAKPHASE_API void log_rss_note_span(uint64_t token, const char *text);
PEAKPHASE_API void log_rss_note_span(uint64_t token, const char *text)
{
	peakphase_marker(PEAKPHASE_TEXT, text, token);
}

/*
 * Does a tracer listen to the markers of this linked object now? 1 or 0. It looks whether a probe
 * sits on one of them: good for skipping the making of an expensive label, not for
 * anything the program's result depends on.
 */
PEAKPHASE_API int log_rss_enabled(void);
PEAKPHASE_API int log_rss_enabled(void)
{
#if defined(PEAKPHASE_X86_64)
	/* volatile: another process changes these bytes */
	const volatile unsigned char *code;

#if defined(__code_model_large__)
	code =
	    PEAKPHASE_POINTER(const volatile unsigned char *, PEAKPHASE_ADDRESS(peakphase_marker));
#else
	/* Not &peakphase_marker: with -fsanitize=cfi that would move the name, and so the note, to
	 * an entry of a jump table. */
	__asm__("{leaq peakphase_marker(%%rip), %0|lea %0, peakphase_marker[rip]}" : "=r"(code));
#endif
	return code[0] != 0x90 || code[1] != 0x0f || code[6] != 0x66;
#elif defined(PEAKPHASE_ARM64)
	return *PEAKPHASE_POINTER(const volatile uint32_t *, PEAKPHASE_ADDRESS(peakphase_site)) !=
	       0xd503201fu;
#else
	return 0;
#endif
}

#ifdef __cplusplus
}
#endif

#endif
