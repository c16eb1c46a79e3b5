/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "resolve/exits.h"

#include <Zydis/Zydis.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define REGIONS_MAX 32u
#define CODE_MAX (1u << 20) /* bytes of one region */
#define SWITCH_WITHIN 8u    /* instructions between the load of a table's entry and the jump */

struct walk {
	const struct functions *f;
	const struct function *fn;
	struct exits *out;
	ZydisDecoder decoder;
	struct function region[REGIONS_MAX];
	unsigned int nregions;
	unsigned int since_table; /* instructions since one has read a table's entry */
};

struct insn {
	uint64_t at;
	ZydisDecodedInstruction i;
	ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
};

static bool decode(const struct walk *w, uint64_t at, const uint8_t *code, size_t len,
		   struct insn *in)
{
	in->at = at;
	return ZYAN_SUCCESS(ZydisDecoderDecodeFull(&w->decoder, code, len, &in->i, in->op));
}

static bool decode_at(const struct walk *w, uint64_t at, struct insn *in)
{
	uint8_t code[ZYDIS_MAX_INSTRUCTION_LENGTH];

	return decode(w, at, code, functions_code(w->f, at, code, sizeof(code)), in);
}

static int add_exit(struct walk *w, enum exit_kind kind, uint64_t at)
{
	struct exits *out = w->out;

	for (unsigned int i = 0; i < out->n; i++)
		if (out->site[i].at == at)
			return 0;
	if (out->n == EXITS_MAX)
		return -E2BIG;
	out->site[out->n++] = (struct exit_site){kind, at};
	return 0;
}

static int add_region(struct walk *w, const struct function *fn)
{
	for (unsigned int i = 0; i < w->nregions; i++)
		if (fn->at >= w->region[i].at && fn->at - w->region[i].at < w->region[i].size)
			return 0;
	if (w->nregions == REGIONS_MAX || fn->size > CODE_MAX)
		return -E2BIG;
	w->out->tails |= w->nregions > 0;
	w->region[w->nregions++] = *fn;
	return 0;
}

/* A jump that cannot be followed. */
static int unknown(struct walk *w, const struct insn *in)
{
	w->out->unknown++;
	w->out->tails = true;
	/* A probe on a conditional one is hit also where it does not jump. */
	return in->i.mnemonic == ZYDIS_MNEMONIC_JMP ? add_exit(w, EXIT_JUMP, in->at) : 0;
}

/* They give memory back, or take it, as the last thing that many functions do. */
static bool throws_nothing(const char *name)
{
	static const char *const plain[] = {"free",   "cfree",	 "malloc", "calloc", "realloc",
					    "munmap", "madvise", "memset", "memcpy", "memmove"};

	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
		if (!strcmp(name, plain[i]))
			return true;
	/* operator delete and delete[], whatever their parameters */
	return !strncmp(name, "_Zdl", 4) || !strncmp(name, "_Zda", 4);
}

/* A tail call, by name where the file does not have it. */
static int to_function(struct walk *w, const struct insn *in, const char *name,
		       const struct function *fn)
{
	if (throws_nothing(name) && in->i.mnemonic == ZYDIS_MNEMONIC_JMP)
		return add_exit(w, EXIT_LIBRARY, in->at);
	return fn && fn->size ? add_region(w, fn) : unknown(w, in);
}

static int jump_to(struct walk *w, const struct insn *in, uint64_t to, bool plt);

/* A jump by a word that the loader fills. */
static int by_slot(struct walk *w, const struct insn *in, const struct insn *jump)
{
	struct functions_slot slot;
	ZyanU64 word;

	if (!ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(&jump->i, &jump->op[0], jump->at, &word)) ||
	    functions_slot(w->f, word, &slot))
		return unknown(w, in);
	if (!*slot.name)
		return jump_to(w, in, slot.at, false);
	return to_function(w, in, slot.name, functions_named(w->f, slot.name));
}

static bool is_by_slot(const struct insn *in)
{
	return in->i.mnemonic == ZYDIS_MNEMONIC_JMP &&
	       in->op[0].type == ZYDIS_OPERAND_TYPE_MEMORY &&
	       in->op[0].mem.base == ZYDIS_REGISTER_RIP &&
	       in->op[0].mem.index == ZYDIS_REGISTER_NONE;
}

/* An entry of the PLT has no symbol: [endbr64] jmp *slot(%rip). */
static int by_plt(struct walk *w, const struct insn *in, uint64_t at)
{
	struct insn stub;

	if (decode_at(w, at, &stub) && stub.i.mnemonic == ZYDIS_MNEMONIC_ENDBR64)
		at += stub.i.length;
	if (!decode_at(w, at, &stub) || !is_by_slot(&stub))
		return unknown(w, in);
	return by_slot(w, in, &stub);
}

static int jump_to(struct walk *w, const struct insn *in, uint64_t to, bool plt)
{
	const struct function *fn;

	if (to >= w->fn->at && to <= w->out->entry) {
		w->out->again = true;
		return 0;
	}
	for (unsigned int i = 0; i < w->nregions; i++)
		if (to >= w->region[i].at && to - w->region[i].at < w->region[i].size)
			return 0;
	fn = functions_at(w->f, to);
	if (fn)
		return to_function(w, in, fn->name, fn);
	return plt ? by_plt(w, in, to) : unknown(w, in);
}

/* A switch goes on within the function; its cases are part of it, and looked at with it. */
static bool is_switch(const struct walk *w, const struct insn *in)
{
	if (in->i.attributes & ZYDIS_ATTRIB_HAS_NOTRACK)
		return true;
	if (in->op[0].type == ZYDIS_OPERAND_TYPE_MEMORY)
		return in->op[0].mem.index != ZYDIS_REGISTER_NONE;
	return w->since_table <= SWITCH_WITHIN;
}

static int branch(struct walk *w, const struct insn *in)
{
	ZyanU64 to;

	if (in->op[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
		return ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(&in->i, &in->op[0], in->at, &to))
			   ? jump_to(w, in, to, true)
			   : unknown(w, in);
	if (is_by_slot(in))
		return by_slot(w, in, in);
	return is_switch(w, in) ? 0 : unknown(w, in);
}

static bool reads_table(const struct insn *in)
{
	for (unsigned int i = 0; i < in->i.operand_count_visible; i++)
		if (in->op[i].type == ZYDIS_OPERAND_TYPE_MEMORY &&
		    in->op[i].mem.type == ZYDIS_MEMOP_TYPE_MEM && in->op[i].mem.scale >= 4)
			return true;
	return false;
}

static int walk_code(struct walk *w, uint64_t at, const uint8_t *code, size_t len)
{
	struct insn in;
	int err = 0;

	w->since_table = SWITCH_WITHIN + 1;
	for (size_t pos = 0; !err && pos < len; pos += in.i.length) {
		if (!decode(w, at + pos, code + pos, len - pos, &in))
			return -EILSEQ;
		w->since_table = reads_table(&in) ? 0 : w->since_table + 1;
		if (in.i.meta.category == ZYDIS_CATEGORY_RET)
			err = add_exit(w, EXIT_RETURN, in.at);
		else if (in.i.meta.category == ZYDIS_CATEGORY_UNCOND_BR ||
			 in.i.meta.category == ZYDIS_CATEGORY_COND_BR)
			err = branch(w, &in);
	}
	return err;
}

static int walk_region(struct walk *w, const struct function *fn)
{
	uint8_t *code = malloc(fn->size + 1);
	int err = -ENOMEM;

	if (code)
		err = functions_code(w->f, fn->at, code, fn->size) == fn->size
			  ? walk_code(w, fn->at, code, fn->size)
			  : -EILSEQ;
	free(code);
	return err;
}

/*
 * The first instruction that does something. A 5-byte NOP above all: a probe makes a call of it on
 * some kernels, and on 6.17 and 6.18 a forked child then dies of it.
 */
static uint64_t entry_of(const struct walk *w)
{
	uint64_t at = w->fn->at;
	struct insn in;

	while (decode_at(w, at, &in) &&
	       (in.i.mnemonic == ZYDIS_MNEMONIC_ENDBR64 || in.i.mnemonic == ZYDIS_MNEMONIC_NOP) &&
	       at + in.i.length - w->fn->at < w->fn->size)
		at += in.i.length;
	return at;
}

int exits_find(const struct functions *f, const struct function *fn, struct exits *out)
{
	struct walk *w;
	int err;

	memset(out, 0, sizeof(*out));
	if (!functions_x86_64(f))
		return -ENOTSUP;
	if (!fn->size)
		return -EILSEQ;
	w = calloc(1, sizeof(*w));
	if (!w)
		return -ENOMEM;
	w->f = f;
	w->fn = fn;
	w->out = out;
	ZydisDecoderInit(&w->decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	out->entry = entry_of(w);
	err = add_region(w, fn);
	for (unsigned int i = 0; !err && i < w->nregions; i++)
		err = walk_region(w, &w->region[i]);
	free(w);
	return err;
}
