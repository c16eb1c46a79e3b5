/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "resolve/demangle.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <string.h>

struct text {
	char *out;
	size_t len;
	jmp_buf full;
};

static void append(const char *s, size_t n, void *ctx)
{
	struct text *t = ctx;
	size_t room = DEMANGLED_MAX - 1 - t->len;

	memcpy(t->out + t->len, s, n < room ? n : room);
	t->len += n < room ? n : room;
	/* The library has no other way to be told. It keeps what it has on the stack. */
	if (n >= room)
		longjmp(t->full, 1);
}

static bool demangle_into(const char *symbol, int options, struct text *t)
{
	if (setjmp(t->full))
		return true;
	if (symbol[1] == 'Z' && rust_demangle_callback(symbol, options, append, t))
		return true;
	t->len = 0;
	if (symbol[1] == 'R')
		return rust_demangle_callback(symbol, options, append, t);
	return cplus_demangle_v3_callback(symbol, options, append, t);
}

size_t demangle(const char *symbol, bool parameters, char out[static DEMANGLED_MAX])
{
	struct text t = {.out = out};
	bool ok;

	if (symbol[0] != '_' || (symbol[1] != 'Z' && symbol[1] != 'R') ||
	    strnlen(symbol, MANGLED_MAX) == MANGLED_MAX)
		return 0;
	ok = demangle_into(symbol, parameters ? DMGL_PARAMS | DMGL_ANSI : DMGL_ANSI, &t);
	out[t.len] = '\0';
	return ok ? t.len : 0;
}
