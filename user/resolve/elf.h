/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the tracer needs to know of an executable or a library: where its markers are, what it
 * loads, and what really runs when it is a script.
 *
 * The files belong to traced programs: any bytes, truncated or rewritten while we read. All
 * functions are total: they read by pread (never mmap: a truncated mapping would be a SIGBUS), a
 * bounded number of bytes, and use at most about 1 MiB of memory whatever the file says. The
 * position of the descriptor is neither used nor changed. No global state: thread-safe.
 *
 * Common errors: -ENOEXEC (not a 64-bit ELF executable or library, or not a regular file), -errno
 * of pread and fstat, -ENOMEM.
 */
#ifndef PEAKPHASE_RESOLVE_ELF_H
#define PEAKPHASE_RESOLVE_ELF_H

#include <stddef.h>
#include <stdint.h>

enum elf_site_kind {
	/* peakphase_marker() of log_rss.h, found by its note: op, label, token in the first three
	 * argument registers at each of the sites */
	ELF_SITE_MARKER = 1,
	/* a function log_rss(const char *, …) of the program's own: label in the first argument
	 * register at entry; a checkpoint */
	ELF_SITE_OWN_FUNCTION,
	/* the entry of a function that is called where an exception is caught */
	ELF_SITE_CAUGHT,
	/* the entry of a longjmp(jmp_buf, int), of whatever name */
	ELF_SITE_LONGJMP,
};

/* Offsets in the file, as uprobes want them; 0: there is none. */
struct elf_site {
	enum elf_site_kind kind;
	uint64_t
	    entry; /* own function: where to probe, past an endbr64; marker: first of the sites */
	uint64_t nop1, nop5, nop10; /* marker only */
};

#define ELF_SITES_MAX 16u
#define ELF_PASSED_MAX 256u

struct elf_sites {
	unsigned int n;	   /* sites found, no offset twice */
	unsigned int more; /* valid ones that there was no room for */
	struct elf_site site[ELF_SITES_MAX];
	/* a function of that name whose label may not be its first argument, as in the source; "":
	 * there is none, or something else to probe */
	char passed[ELF_PASSED_MAX];
};

/*
 * Finds all markers of an object. Markers with a note come first and alone: an object that has
 * them may also export log_rss() and so on, which only call them. Each site has been checked: it
 * lies in the file part of an executable segment, and the expected instruction is there. Returns
 * the number of sites, 0 when the object has none, or -errno.
 */
int elf_find_markers(int fd, struct elf_sites *out);

/* The same of the functions by which programs leave others without a return. */
int elf_find_unwinding(int fd, struct elf_sites *out);

/* Is it an ELF file, of any kind, that this module can read? 1 or 0. */
int elf_is_elf(int fd);

/*
 * Has it a table of symbols for its own functions (.symtab)? 0: it is stripped, so a log_rss() of
 * its own, which nobody imports, is not found. 1, 0 or -errno.
 */
int elf_has_symbols(int fd);

/* Build id into buf (20 bytes as a rule); its length, at most cap, 0 when there is none, or -errno.
 */
int elf_build_id(int fd, uint8_t *buf, size_t cap);

/* Path of the dynamic loader, NUL-terminated; its length, 0 when static, -ENAMETOOLONG, or -errno.
 */
int elf_interp(int fd, char *buf, size_t cap);

enum elf_dynamic { ELF_NEEDED, ELF_RUNPATH, ELF_RPATH, ELF_SONAME };

/* Not 0 ends the walk, and is what the walk returns. */
typedef int (*elf_dynamic_fn)(void *ctx, enum elf_dynamic what, const char *string);

/*
 * The names in the dynamic section, in its order: what the loader will look for, and where. At
 * most 4096 entries, strings of PATH_MAX or more are passed over. 0, what fn returned, or -errno.
 */
int elf_dynamic_strings(int fd, elf_dynamic_fn fn, void *ctx);

/* The kernel reads that much of a script's first line (BINPRM_BUF_SIZE, Linux 5.1). */
#define ELF_SCRIPT_LINE 256u

struct elf_script {
	char path[ELF_SCRIPT_LINE]; /* what the kernel executes, relative ones as written */
	char arg[ELF_SCRIPT_LINE];  /* its one argument, blanks within; "" when there is none */
};

/* First line of a script "#!path [arg]", cut as the kernel does. 0, or -ENOEXEC when it is none. */
int elf_script_interpreter(int fd, struct elf_script *out);

#endif
