/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What an executable brings with it when it is started: loader, libraries, a script's interpreter.
 */
#include "resolve/elf.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "resolve/elf_file.h"

#define DYNAMIC_MAX 4096u
#define DYNAMIC_PIECE 64u

static const Elf64_Phdr *find_segment(const struct elf_file *f, uint32_t type)
{
	for (unsigned int i = 0; i < f->nphdr; i++)
		if (f->phdr[i].p_type == type)
			return &f->phdr[i];
	return NULL;
}

int elf_interp(int fd, char *buf, size_t cap)
{
	const Elf64_Phdr *p;
	struct elf_file f;
	int err = elf_file_init(&f, fd);

	if (err)
		return err;
	p = find_segment(&f, PT_INTERP);
	if (!p) {
		buf[0] = 0;
		return 0;
	}
	return elf_file_string(&f, p->p_offset, buf, cap);
}

/* One entry of the dynamic section after the other, up to DT_NULL. */
typedef int (*dyn_fn)(void *ctx, const Elf64_Dyn *dyn);

static int walk_dynamic(const struct elf_file *f, const Elf64_Phdr *p, dyn_fn fn, void *ctx)
{
	Elf64_Dyn dyn[DYNAMIC_PIECE];
	uint64_t left = p->p_filesz / sizeof(*dyn), off = p->p_offset;

	if (left > DYNAMIC_MAX)
		left = DYNAMIC_MAX;
	while (left) {
		size_t n = left < DYNAMIC_PIECE ? left : DYNAMIC_PIECE;
		int err = elf_file_records(f, off, dyn, n, sizeof(*dyn), ELF_T_DYN);

		for (size_t i = 0; i < n && !err; i++) {
			if (dyn[i].d_tag == DT_NULL)
				return 0;
			err = fn(ctx, &dyn[i]);
		}
		if (err)
			return err;
		left -= n;
		off += n * sizeof(*dyn);
	}
	return 0;
}

struct dynamic {
	const struct elf_file *f;
	uint64_t strings; /* offset in the file; 0: not known */
	uint64_t size;
	elf_dynamic_fn fn;
	void *ctx;
};

static int dyn_strings(void *ctx, const Elf64_Dyn *dyn)
{
	struct dynamic *d = ctx;

	if (dyn->d_tag == DT_STRTAB && elf_file_offset(d->f, dyn->d_un.d_ptr, 1, 0, &d->strings))
		d->strings = 0;
	if (dyn->d_tag == DT_STRSZ)
		d->size = dyn->d_un.d_val;
	return 0;
}

static int dyn_name(void *ctx, const Elf64_Dyn *dyn)
{
	const struct dynamic *d = ctx;
	char string[PATH_MAX];
	enum elf_dynamic what;

	switch (dyn->d_tag) {
	case DT_NEEDED:
		what = ELF_NEEDED;
		break;
	case DT_RUNPATH:
		what = ELF_RUNPATH;
		break;
	case DT_RPATH:
		what = ELF_RPATH;
		break;
	case DT_SONAME:
		what = ELF_SONAME;
		break;
	default:
		return 0;
	}
	if (dyn->d_un.d_val >= d->size || d->size > d->f->size ||
	    elf_file_string(d->f, d->strings + dyn->d_un.d_val, string, sizeof(string)) < 0)
		return 0;
	return d->fn(d->ctx, what, string);
}

int elf_dynamic_strings(int fd, elf_dynamic_fn fn, void *ctx)
{
	struct elf_file f;
	struct dynamic d = {.f = &f, .fn = fn, .ctx = ctx};
	const Elf64_Phdr *p;
	int err = elf_file_init(&f, fd);

	if (err)
		return err;
	p = find_segment(&f, PT_DYNAMIC);
	if (!p)
		return 0;
	err = walk_dynamic(&f, p, dyn_strings, &d);
	if (!err && d.strings)
		err = walk_dynamic(&f, p, dyn_name, &d);
	return err == -ENODATA ? -ENOEXEC : err;
}

static ssize_t read_line(int fd, char *buf, size_t cap)
{
	ssize_t n;

	do
		n = pread(fd, buf, cap, 0);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

/*
 * As load_script() of fs/binfmt_script.c does: blanks around the path are dropped, the rest of the
 * line is one argument, trailing blanks dropped. A line longer than the buffer may lose the
 * end of its argument, but an interpreter that does not fit is refused.
 */
int elf_script_interpreter(int fd, struct elf_script *out)
{
	char line[ELF_SCRIPT_LINE + 1] = "";
	char *path, *arg, *end;
	struct stat st;
	ssize_t n;

	memset(out, 0, sizeof(*out));
	if (fstat(fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -ENOEXEC;
	n = read_line(fd, line, ELF_SCRIPT_LINE);
	if (n < 0)
		return (int)n;
	if (strncmp(line, "#!", 2))
		return -ENOEXEC;
	path = line + 2 + strspn(line + 2, " \t");
	end = strchr(path, '\n');
	if (!end && strlen(path) == (size_t)(line + ELF_SCRIPT_LINE - path) &&
	    !strpbrk(path, " \t"))
		return -ENOEXEC;
	if (end)
		*end = 0;
	end = path + strlen(path);
	while (end > path && (end[-1] == ' ' || end[-1] == '\t'))
		*--end = 0;
	if (!*path)
		return -ENOEXEC;
	arg = path + strcspn(path, " \t");
	memcpy(out->path, path, (size_t)(arg - path));
	arg += strspn(arg, " \t");
	memcpy(out->arg, arg, strlen(arg));
	return 0;
}
