/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "source/probe_spans.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/say.h"
#include "lib/text.h"
#include "resolve/elf.h"
#include "source/spans.h"

static int set_label(void *ctx, unsigned int number, const struct span_label *label)
{
	const struct probe_programs *prog = ctx;

	return bpf_map_update_elem(prog->span_labels, &number, label, BPF_ANY) ? -errno : 0;
}

static int attach(struct probe_spans *out, int prog_fd, enum probe_way way, const char *path,
		  const struct probe_many *many)
{
	int *link, n;

	if (!many->n)
		return 0;
	link = reallocarray(out->link, out->n + many->n, sizeof(*link));
	if (!link)
		return -ENOMEM;
	out->link = link;
	n = probe_attach_many(prog_fd, way, path, many, link + out->n);
	if (n > 0)
		out->n += (unsigned int)n;
	return n < 0 ? n : 0;
}

/* Exits first: what begins has an end. */
static int attach_functions(const struct probe_programs *prog, enum probe_way way, const char *path,
			    const struct span_sites *s, struct probe_spans *out)
{
	const struct probe_many exits = {.offset = s->exit, .n = s->exits};
	const struct probe_many library = {
	    .offset = s->library, .n = s->libraries, .at_return = true};
	const struct probe_many entries = {
	    .offset = s->entry, .cookie = s->cookie, .n = s->entries};
	int err = attach(out, prog->span_exit, way, path, &exits);

	err = err ? err : attach(out, prog->span_return, way, path, &library);
	err = err ? err : attach(out, prog->span_entry, way, path, &entries);
	if (!err)
		out->functions = s->entries;
	return err;
}

static int attach_unwinding(const struct probe_programs *prog, enum probe_way way, const char *path,
			    int fd, struct probe_spans *out)
{
	struct elf_sites sites;
	int err = elf_find_unwinding(fd, &sites);

	if (err < 0)
		return err == -ENOMEM ? err : 0;
	err = 0;
	for (unsigned int i = 0; !err && i < sites.n; i++) {
		const struct probe_many one = {.offset = &sites.site[i].entry, .n = 1};

		err = attach(out,
			     sites.site[i].kind == ELF_SITE_CAUGHT ? prog->caught : prog->longjmp,
			     way, path, &one);
	}
	return err;
}

int probe_spans_attach(const struct probe_programs *prog, enum probe_way way, const char *name,
		       int fd, struct probe_spans *out)
{
	struct probe_programs with = *prog;
	char path[64], shown[512];
	struct span_sites sites;
	int err;

	if (!prog->spans)
		return 0;
	/* Not by name: the process by whose mapping it was found may be gone by now. */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	err = attach_unwinding(prog, way, path, fd, out);
	if (!err && spans_want(prog->spans, fd)) {
		err = spans_find(prog->spans, fd, set_label, &with, &sites);
		err = err ? err : attach_functions(prog, way, path, &sites, out);
		span_sites_free(&sites);
	}
	if (err) {
		text_escape(shown, sizeof(shown), name, strlen(name));
		say_error("--span: cannot probe %s: %s", shown, strerror(-err));
		say_remedy("`peakphase doctor` says what this kernel allows");
	}
	return err;
}
