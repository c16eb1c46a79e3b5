/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The functions of an executable or a library, by its symbol tables: for a file that somebody asked
 * about by name, so its tables are read as a whole, up to a bound. As elf.h otherwise: total, by
 * pread, no global state.
 */
#ifndef PEAKPHASE_RESOLVE_FUNCTIONS_H
#define PEAKPHASE_RESOLVE_FUNCTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct function {
	uint64_t at;   /* address as the file has it */
	uint64_t size; /* bytes, up to the next one at most; 0: not known */
	uint32_t section;
	const char *name; /* as in the symbol table; lives as long as the list */
};

struct functions;

/*
 * The descriptor is the caller's, and is to stay open: code is read when it is asked for.
 * -ENOEXEC: no ELF file. -E2BIG: tables larger than 64 MiB of symbols or 512 MiB of names.
 */
int functions_open(struct functions **f, int fd);
void functions_free(struct functions **f);

/* By address; several have one where they are aliases. */
const struct function *functions_list(const struct functions *f, size_t *n);
/* The one that an address lies in, or NULL. */
const struct function *functions_at(const struct functions *f, uint64_t at);
/* The first of that name, or NULL. */
const struct function *functions_named(const struct functions *f, const char *name);

/* Is it of x86-64? */
bool functions_x86_64(const struct functions *f);
/*
 * Has a Go compiler made the code at this address? Of a file with Go in it whose symbols do not
 * tell where that begins and ends: all of it.
 */
bool functions_is_go(const struct functions *f, uint64_t at);

/* Up to len bytes of code at an address; how many. */
size_t functions_code(const struct functions *f, uint64_t at, uint8_t *code, size_t len);
/* Offset in the file of the code at an address, 0: there is none. */
uint64_t functions_offset(const struct functions *f, uint64_t at);
#define FUNCTIONS_NAME_MAX 256u

/* What the loader puts into a word of the program (a slot of the GOT), for good. */
struct functions_slot {
	char name[FUNCTIONS_NAME_MAX]; /* the address of this symbol; "": */
	uint64_t at;		       /* this address in the file itself */
};
/* 0 or -ENOENT: it cannot be told. */
int functions_slot(const struct functions *f, uint64_t word, struct functions_slot *out);

#endif
