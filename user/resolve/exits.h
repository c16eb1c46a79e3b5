/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where a function is entered, and by which instructions control leaves it for good. x86-64 alone,
 * by Zydis.
 *
 * A function that ends in a jump to another one ends with that one (a tail call): the jump is
 * followed, and the returns of the other are returns of ours, where the stack pointer is as it was
 * at our entry. The same covers parts that the compiler has put elsewhere ("cold" ones).
 */
#ifndef PEAKPHASE_RESOLVE_EXITS_H
#define PEAKPHASE_RESOLVE_EXITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "resolve/functions.h"

#define EXITS_MAX 512u

enum exit_kind {
	EXIT_RETURN,  /* `ret` */
	EXIT_JUMP,    /* to what cannot be known from the file */
	EXIT_LIBRARY, /* a jump to a function of the C library that returns and throws nothing */
};

struct exit_site {
	enum exit_kind kind;
	uint64_t at; /* address as the file has it */
};

struct exits {
	uint64_t
	    entry;  /* where to probe: behind an endbr64 and NOPs, which kernels are slow with */
	bool again; /* the function itself jumps to the entry: a hit there need not be a call */
	bool tails; /* it may end in another one, at whose entry the stack is as at its own */
	unsigned int n;
	unsigned int unknown; /* jumps to what cannot be known */
	struct exit_site site[EXITS_MAX];
};

/*
 * -ENOTSUP: not x86-64. -EILSEQ: there is something that is no code. -E2BIG: more exits, or more to
 * be followed, than there is room for. None at all is right for a function that never returns: it
 * may be left by an exception.
 */
int exits_find(const struct functions *f, const struct function *fn, struct exits *out);

#endif
