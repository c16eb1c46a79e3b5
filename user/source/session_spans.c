/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "source/session_spans.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/say.h"
#include "lib/text.h"
#include "shared.h"
#include "peakphase.skel.h"
#include "source/session_own.h"
#include "source/spans.h"
#include "source/unpreempted.h"

int session_spans_prepare(struct peakphase *skel, const struct session_options *opt,
			  enum probe_way way, bool unpreempted)
{
	struct bpf_program *progs[] = {
	    skel->progs.on_span_entry, skel->progs.on_span_exit, skel->progs.on_span_return,
	    skel->progs.on_caught,     skel->progs.on_longjmp,
	};

	for (size_t i = 0; i < sizeof(progs) / sizeof(progs[0]); i++) {
		bpf_program__set_autoload(progs[i], opt->spans != NULL);
		if (way == PROBE_MULTI)
			bpf_program__set_expected_attach_type(progs[i], PROBE_MULTI_ATTACH_TYPE);
	}
	either_choose(&EITHER(skel, on_exit_in_span, on_exit_in_span_unpreempted),
		      opt->spans != NULL, unpreempted);
	return opt->spans ? 0 : bpf_map__set_max_entries(skel->maps.span_labels, 1);
}

int session_spans_attach(struct peakphase *skel)
{
	return either_attach(&EITHER(skel, on_exit_in_span, on_exit_in_span_unpreempted));
}

void session_spans_programs(const struct peakphase *skel, const struct session_options *opt,
			    struct probe_programs *prog)
{
	prog->spans = opt->spans;
	if (!opt->spans)
		return;
	prog->span_entry = bpf_program__fd(skel->progs.on_span_entry);
	prog->span_exit = bpf_program__fd(skel->progs.on_span_exit);
	prog->span_return = bpf_program__fd(skel->progs.on_span_return);
	prog->caught = bpf_program__fd(skel->progs.on_caught);
	prog->longjmp = bpf_program__fd(skel->progs.on_longjmp);
	prog->span_labels = bpf_map__fd(skel->maps.span_labels);
}

int session_probe_spans(struct session *s)
{
	const char *path;
	char shown[512];
	struct stat st;
	uint64_t since_ns;
	int err = 0;

	for (unsigned int i = 0; s->opt.spans && (path = spans_path(s->opt.spans, i)); i++) {
		err = probes_add(s->probes, path, &since_ns);
		if (err >= 0 && stat(path, &st))
			err = -errno;
		if (err >= 0 && !S_ISREG(st.st_mode))
			err = -EINVAL;
		if (err >= 0)
			continue;
		text_escape(shown, sizeof(shown), path, strlen(path));
		say_error("--span: cannot open %s: %s", shown, strerror(-err));
		say_remedy(
		    "name a program or a library, by its path, or by the name of its file alone");
		return err;
	}
	return session_spans_failed(s) ? -EINVAL : 0;
}

bool session_spans_failed(const struct session *s)
{
	return s->opt.spans && spans_failed(s->opt.spans);
}

unsigned int session_functions(const struct session *s)
{
	return probes_functions(s->probes);
}
