/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Names as they stand in the source: C++ (Itanium ABI) and Rust (both schemes), by libiberty.
 *
 * Symbols belong to traced programs. A name of a hundred bytes may stand for one of 2^30: what
 * comes out is cut at DEMANGLED_MAX, and nothing is worked out beyond that.
 */
#ifndef PEAKPHASE_RESOLVE_DEMANGLE_H
#define PEAKPHASE_RESOLVE_DEMANGLE_H

#include <stdbool.h>
#include <stddef.h>

#define MANGLED_MAX 8192u /* longer ones stay as they are */
#define DEMANGLED_MAX 4096u

/*
 * parameters: with those of the function, and what it returns. Rust's hash is left out. The length;
 * 0: it is no mangled name. Thread-safe.
 */
size_t demangle(const char *symbol, bool parameters, char out[static DEMANGLED_MAX]);

#endif
