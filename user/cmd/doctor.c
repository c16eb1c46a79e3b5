/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cmd/doctor.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "lib/json.h"
#include "lib/say.h"
#include "lib/text.h"

static const char usage[] =
    "Usage: peakphase doctor [--json]\n\n"
    "What this kernel and this user can do, and the remedy for what they cannot.\n"
    "Ends with 0 if tracing works here, with 3 if not. Traces nothing, changes nothing.\n\n"
    "      --json       for programs: docs/doctor.md\n"
    "  -h, --help       this text\n";

static int note_program(void *ctx, const struct try_program *t)
{
	struct doctor_facts *f = ctx;
	struct doctor_program *p = &f->program[f->nprograms];

	if (f->nprograms == DOCTOR_PROGRAMS_MAX)
		return -E2BIG;
	f->nprograms++;
	snprintf(p->name, sizeof(p->name), "%s", t->name);
	snprintf(p->section, sizeof(p->section), "%s", t->section);
	text_escape(p->why, sizeof(p->why), t->why, strlen(t->why));
	p->optional = t->optional;
	p->error = t->error;
	return 0;
}

void doctor_facts_get(struct doctor_facts *f)
{
	char missing[256];

	memset(f, 0, sizeof(*f));
	abilities_get(&f->abilities, "");
	if (f->abilities.btf_error ||
	    privilege_missing(PRIVILEGE_TRACE, missing, sizeof(missing)) != 0)
		return;
	f->tried = !try_load(note_program, f);
	if (f->tried)
		f->calibration_error = try_calibrate(&f->calibration);
}

static const char *word(enum answer a)
{
	switch (a) {
	case ANSWER_YES:
		return "yes";
	case ANSWER_NO:
		return "no";
	case ANSWER_UNKNOWN:
		break;
	}
	return "unknown";
}

static void print_sysctl(const char *name, int value)
{
	if (value == ABILITIES_UNKNOWN)
		printf("  %-36s not in this kernel\n", name);
	else
		printf("  %-36s %d\n", name, value);
}

static void print_text(const struct doctor_facts *f, bool can)
{
	const struct abilities *a = &f->abilities;

	printf("Linux %s %s, %u CPU%s\n\n", a->release, a->machine, a->cpus,
	       a->cpus == 1 ? "" : "s");
	for (size_t i = 0; i < ndoctor_checks; i++) {
		const struct doctor_check *c = &doctor_checks[i];
		struct doctor_finding found = {ANSWER_UNKNOWN, ""};

		c->run(f, &found);
		printf("  %-7s  %-31s  %s\n", word(found.answer), c->title, found.detail);
		if (found.answer != ANSWER_NO)
			continue;
		printf("  %9s%s\n", "", c->consequence);
		printf("  %9s→ %s\n", "", c->remedy(f));
	}
	for (unsigned int i = 0; i < f->nprograms; i++) {
		const struct doctor_program *p = &f->program[i];

		if (p->error)
			printf("\n  refused: %s (%s): %s\n    %s\n", p->name, p->section,
			       strerror(-p->error), p->why);
	}
	/* Nothing depends on these; people who look for the reason of a refusal ask for them. */
	printf("\n");
	print_sysctl("kernel.unprivileged_bpf_disabled", a->unprivileged_bpf_disabled);
	print_sysctl("kernel.perf_event_paranoid", a->perf_event_paranoid);
	print_sysctl("kernel.yama.ptrace_scope", a->ptrace_scope);
	printf("  %-36s %s\n", "bpffs, tracefs mounted",
	       a->bpffs && a->tracefs ? "both"
	       : a->bpffs	      ? "bpffs"
	       : a->tracefs	      ? "tracefs"
				      : "neither");
	printf("\n%s\n", can ? "Tracing works here." : "Tracing does not work here.");
}

static void json_sysctl(struct jw *j, const char *name, int value)
{
	jw_key(j, name);
	if (value == ABILITIES_UNKNOWN)
		jw_null(j);
	else
		jw_i64(j, value);
}

static void json_checks(struct jw *j, const struct doctor_facts *f)
{
	jw_key(j, "checks");
	jw_begin_array(j);
	for (size_t i = 0; i < ndoctor_checks; i++) {
		const struct doctor_check *c = &doctor_checks[i];
		struct doctor_finding found = {ANSWER_UNKNOWN, ""};
		bool no;

		c->run(f, &found);
		no = found.answer == ANSWER_NO;
		jw_begin_object(j);
		jw_key(j, "name");
		jw_text(j, c->name);
		jw_key(j, "answer");
		jw_text(j, word(found.answer));
		jw_key(j, "needed");
		jw_bool(j, c->needed);
		jw_key(j, "detail");
		jw_text(j, found.detail);
		jw_key(j, "consequence");
		jw_text(j, no ? c->consequence : NULL);
		jw_key(j, "remedy");
		jw_text(j, no ? c->remedy(f) : NULL);
		jw_end_object(j);
	}
	jw_end_array(j);
}

static void json_programs(struct jw *j, const struct doctor_facts *f)
{
	jw_key(j, "programs");
	jw_begin_array(j);
	for (unsigned int i = 0; i < f->nprograms; i++) {
		const struct doctor_program *p = &f->program[i];

		jw_inline(j);
		jw_begin_object(j);
		jw_key(j, "name");
		jw_text(j, p->name);
		jw_key(j, "section");
		jw_text(j, p->section);
		jw_key(j, "optional");
		jw_bool(j, p->optional);
		jw_key(j, "error");
		jw_text(j, p->error ? strerror(-p->error) : NULL);
		jw_key(j, "why");
		jw_text(j, p->error && *p->why ? p->why : NULL);
		jw_end_object(j);
	}
	jw_end_array(j);
}

static int print_json(const struct doctor_facts *f, bool can)
{
	const struct abilities *a = &f->abilities;
	struct jw j;
	int err = jw_open(&j, stdout);

	if (err)
		return err;
	jw_begin_object(&j);
	jw_key(&j, "format");
	jw_u64(&j, 1);
	jw_key(&j, "peakphase");
	jw_text(&j, PEAKPHASE_VERSION);
	jw_key(&j, "kernel");
	jw_text(&j, a->release);
	jw_key(&j, "machine");
	jw_text(&j, a->machine);
	jw_key(&j, "cpus");
	jw_u64(&j, a->cpus);
	jw_key(&j, "can_trace");
	jw_bool(&j, can);
	jw_key(&j, "site");
	jw_text(&j,
		f->tried && !f->calibration_error ? probe_site_name(f->calibration.site) : NULL);
	json_checks(&j, f);
	json_programs(&j, f);
	jw_key(&j, "sysctl");
	jw_begin_object(&j);
	json_sysctl(&j, "unprivileged_bpf_disabled", a->unprivileged_bpf_disabled);
	json_sysctl(&j, "perf_event_paranoid", a->perf_event_paranoid);
	json_sysctl(&j, "ptrace_scope", a->ptrace_scope);
	jw_end_object(&j);
	jw_key(&j, "lockdown");
	jw_text(&j, *a->lockdown ? a->lockdown : NULL);
	jw_end_object(&j);
	return jw_close(&j);
}

static int report(bool json)
{
	struct doctor_facts *f = calloc(1, sizeof(*f));
	bool can;
	int err = 0;

	if (!f) {
		say_error("not enough memory");
		return STATUS_FAILED;
	}
	doctor_facts_get(f);
	can = doctor_can_trace(f);
	if (json)
		err = print_json(f, can);
	else
		print_text(f, can);
	free(f);
	if (!err && (fflush(stdout) || ferror(stdout)))
		err = -errno;
	if (err) {
		say_error("cannot write the answer: %s", strerror(-err));
		return STATUS_FAILED;
	}
	return can ? STATUS_DONE : STATUS_CANNOT_TRACE;
}

int cmd_doctor(int argc, char **argv)
{
	enum { JSON = 256 };
	static const struct option options[] = {
	    {"json", no_argument, NULL, JSON}, {"help", no_argument, NULL, 'h'}, {0}};
	bool json = false;
	int c;

	while ((c = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		switch (c) {
		case JSON:
			json = true;
			break;
		case 'h':
			fputs(usage, stdout);
			return STATUS_DONE;
		default:
			return usage_error("doctor", NULL);
		}
	}
	if (optind < argc)
		return usage_error("doctor", "doctor takes no arguments");
	return report(json);
}
