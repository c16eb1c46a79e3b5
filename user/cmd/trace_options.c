/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/budgets.h"
#include "cmd/preset_files.h"
#include "cmd/trace.h"
#include "lib/say.h"
#include "lib/text.h"
#include "model/kept.h"
#include "sink/place.h"

/*
 * A sample costs microseconds: the kernel has to take the lock of the address space for it. One in
 * 256 is 512 samples for 512 MiB of 4 KiB pages: shares to a few percent, 30 ns a fault.
 */
#define WHERE_EVERY 256u

enum {
	OPT_NO_RECORD = 256,
	OPT_WHERE,
	OPT_FOLLOW,
	OPT_NO_FOLLOW,
	OPT_JSON,
	OPT_RING_EDGES,
	OPT_RING_SAMPLES,
	OPT_RING_OUTPUT,
	OPT_MARK_OUTPUT,
	OPT_BEGIN_OUTPUT,
	OPT_END_OUTPUT,
	OPT_STEP_OUTPUT,
	OPT_PRESET,
	OPT_OUTPUT,
	OPT_OUTPUT_KEEP,
	OPT_PROCESSES,
	OPT_CONTAINER,
	OPT_CGROUP,
	OPT_COMM,
	OPT_WAIT,
	OPT_LIST,
	OPT_DURATION,
	OPT_DELAY,
	OPT_BATCH,
	OPT_ASCII,
	OPT_CEILING,
	OPT_HEADROOM,
	OPT_ON_CROSS,
	OPT_BUDGET,
	OPT_SINK,
	OPT_SPAN,
};

static const struct option LONG[] = {
    {"recording", required_argument, NULL, 'o'},
    {"mark-output", required_argument, NULL, OPT_MARK_OUTPUT},
    {"begin-output", required_argument, NULL, OPT_BEGIN_OUTPUT},
    {"end-output", required_argument, NULL, OPT_END_OUTPUT},
    {"step-output", required_argument, NULL, OPT_STEP_OUTPUT},
    {"span", required_argument, NULL, OPT_SPAN},
    {"preset", required_argument, NULL, OPT_PRESET},
    {"output", required_argument, NULL, OPT_OUTPUT},
    {"output-keep", required_argument, NULL, OPT_OUTPUT_KEEP},
    {"no-record", no_argument, NULL, OPT_NO_RECORD},
    {"quiet", no_argument, NULL, 'q'},
    {"where", optional_argument, NULL, OPT_WHERE},
    {"follow", no_argument, NULL, OPT_FOLLOW},
    {"no-follow", no_argument, NULL, OPT_NO_FOLLOW},
    {"json", optional_argument, NULL, OPT_JSON},
    {"user", required_argument, NULL, 'u'},
    {"duration", required_argument, NULL, OPT_DURATION},
    {"pid", required_argument, NULL, 'p'},
    {"ring-edges", required_argument, NULL, OPT_RING_EDGES},
    {"ring-output", required_argument, NULL, OPT_RING_OUTPUT},
    {"ring-samples", required_argument, NULL, OPT_RING_SAMPLES},
    {"processes", required_argument, NULL, OPT_PROCESSES},
    {"container", required_argument, NULL, OPT_CONTAINER},
    {"cgroup", required_argument, NULL, OPT_CGROUP},
    {"comm", required_argument, NULL, OPT_COMM},
    {"wait", no_argument, NULL, OPT_WAIT},
    {"list", no_argument, NULL, OPT_LIST},
    {"delay", required_argument, NULL, OPT_DELAY},
    {"frames", required_argument, NULL, 'n'},
    {"batch", no_argument, NULL, OPT_BATCH},
    {"ascii", no_argument, NULL, OPT_ASCII},
    {"ceiling", required_argument, NULL, OPT_CEILING},
    {"headroom", required_argument, NULL, OPT_HEADROOM},
    {"budget", required_argument, NULL, OPT_BUDGET},
    {"on-cross", required_argument, NULL, OPT_ON_CROSS},
    {"sink", required_argument, NULL, OPT_SINK},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

static int bad_value(const char *option, const char *value, const char *remedy)
{
	char shown[128];

	text_escape(shown, sizeof(shown), value, strlen(value));
	say_error("%s: not a valid value: %s", option, shown);
	say_remedy("%s", remedy);
	return -EINVAL;
}

static int parse_ring(const char *option, const char *s, uint32_t *out)
{
	uint64_t v;

	if (text_parse_size(s, &v) || v < 4096 || v > (1u << 30) || (v & (v - 1)))
		return bad_value(option, s, "a power of two from 4K to 1G, such as 16M");
	*out = (uint32_t)v;
	return 0;
}

static int parse_limit(const char *option, const char *s, uint64_t *out)
{
	uint64_t v;

	if (text_parse_size(s, &v) || v < 4096 || v > 1ull << 60)
		return bad_value(option, s, "a size from 4K on, such as 512M or 1.5G");
	*out = v;
	return 0;
}

static int parse_number(const char *option, const char *s, unsigned long max, uint32_t *out)
{
	char *end;
	unsigned long v;

	errno = 0;
	v = strtoul(s, &end, 10);
	if (errno || end == s || *end || *s == '-' || v == 0 || v > max)
		return bad_value(option, s, "a positive whole number");
	*out = (uint32_t)v;
	return 0;
}

/* "-p 1,2,3" and several -p both. */
static int add_pids(struct trace_options *opt, const char *list)
{
	const char *s = list;

	for (;;) {
		char *end;
		long v;

		errno = 0;
		v = strtol(s, &end, 10);
		if (errno || end == s || v <= 0 || v > INT32_MAX || (*end && *end != ','))
			return bad_value("-p", list,
					 "a process id, or several with commas between");
		if (opt->npids == TRACE_PIDS_MAX) {
			say_error("-p: more than %d processes", TRACE_PIDS_MAX);
			say_remedy("attach to fewer at once; children are followed by themselves");
			return -EINVAL;
		}
		opt->pid[opt->npids++] = (pid_t)v;
		if (!*end)
			return 0;
		s = end + 1;
	}
}

/* 1: not one of those that say what to attach to. */
static int take_target(struct trace_options *opt, int c)
{
	static const struct {
		int c;
		enum target_kind kind;
	} named[] = {
	    {OPT_CONTAINER, TARGET_CONTAINER},
	    {OPT_CGROUP, TARGET_CGROUP},
	    {OPT_COMM, TARGET_COMM},
	};

	for (size_t i = 0; i < sizeof(named) / sizeof(named[0]); i++) {
		if (named[i].c != c)
			continue;
		/* Of a variable that is not set, as a rule. */
		if (!*optarg) {
			say_error("nothing to attach to: a name is empty");
			say_remedy("peakphase attach --list shows what there is");
			return -EINVAL;
		}
		if (opt->nnamed == TRACE_NAMED_MAX) {
			say_error("more than %d containers, cgroups and programs", TRACE_NAMED_MAX);
			say_remedy("attach to a cgroup that holds them all");
			return -EINVAL;
		}
		opt->named[opt->nnamed++] = (struct trace_named){named[i].kind, optarg};
		return 0;
	}
	switch (c) {
	case 'p':
		return add_pids(opt, optarg);
	case OPT_WAIT:
		opt->wait = true;
		return 0;
	case OPT_LIST:
		opt->list = true;
		return 0;
	default:
		return 1;
	}
}

static int parse_time(const char *option, uint64_t *ns)
{
	if (text_parse_duration(optarg, ns) || !*ns)
		return bad_value(option, optarg, "a time such as 30, 1.5, 200ms or 2m");
	return 0;
}

static const char *name_of(enum trace_mode mode)
{
	return mode == TRACE_RUN ? "run" : mode == TRACE_ATTACH ? "attach" : "top";
}

/* 1: not one of those that only the live view has. As top(1) has it, -d is the delay there. */
static int take_top(struct trace_options *opt, int c)
{
	uint32_t n;
	int err;

	switch (c) {
	case 'd':
	case OPT_DELAY:
		return parse_time("-d", &opt->delay_ns);
	case 'n':
		err = parse_number("-n", optarg, UINT32_MAX, &n);
		opt->frames = err ? 0 : n;
		return err;
	case OPT_BATCH:
		opt->batch = true;
		return 0;
	case OPT_ASCII:
		opt->ascii = true;
		return 0;
	default:
		return 1;
	}
}

/* A line of the program that is a mark. */
static int add_pattern(struct trace_options *opt, const char *option, enum pattern_kind kind)
{
	char error[PATTERN_ERROR_MAX], shown[256];
	int err;

	if (!opt->patterns)
		opt->patterns = patterns_new();
	if (!opt->patterns)
		return -ENOMEM;
	err = patterns_add(opt->patterns, kind, optarg, NULL, error);
	if (!err)
		return 0;
	text_escape(shown, sizeof(shown), optarg, strlen(optarg));
	say_error("%s '%s': %s", option, shown, err == -ENOMEM ? "no memory" : error);
	say_remedy("a regular expression as in pcre2pattern(3): 'RSS \\[(?<label>.*?)\\]:'");
	return err;
}

/* A function that is a span. */
static int add_span(struct trace_options *opt)
{
	char error[SPANS_ERROR_MAX], shown[256];
	int err;

	if (!opt->spans)
		opt->spans = spans_new();
	if (!opt->spans)
		return -ENOMEM;
	err = spans_add(opt->spans, optarg, error);
	if (!err)
		return 0;
	text_escape(shown, sizeof(shown), optarg, strlen(optarg));
	say_error("--span '%s': %s", shown, err == -ENOMEM ? "no memory" : error);
	say_remedy("--span BINARY:FUNCTION: './etl:transform_*', 'libparse.so:parse::*'");
	return err;
}

static int add_preset(struct trace_options *opt)
{
	if (!opt->patterns)
		opt->patterns = patterns_new();
	return opt->patterns ? preset_files_add(opt->patterns, optarg) : -ENOMEM;
}

static int add_output(struct trace_options *opt)
{
	static const struct {
		const char *name;
		uint32_t bits;
	} streams[] = {
	    {"stdout", 1u << KEPT_STDOUT},
	    {"stderr", 1u << KEPT_STDERR},
	    {"both", 1u << KEPT_STDOUT | 1u << KEPT_STDERR},
	    {"none", 0},
	};

	for (size_t i = 0; i < sizeof(streams) / sizeof(streams[0]); i++) {
		if (strcmp(optarg, streams[i].name) != 0)
			continue;
		opt->keep |= streams[i].bits;
		opt->keep_said = true;
		return 0;
	}
	return bad_value("--output", optarg, "stderr, stdout, both or none");
}

/* "1M,8M" */
static int parse_keep(struct trace_options *opt)
{
	const char *comma = strchr(optarg, ',');
	char first[24];

	if (comma && (size_t)(comma - optarg) < sizeof(first)) {
		snprintf(first, sizeof(first), "%.*s", (int)(comma - optarg), optarg);
		if (!text_parse_size(first, &opt->keep_first) &&
		    !text_parse_size(comma + 1, &opt->keep_last) && opt->keep_first <= KEPT_MOST &&
		    opt->keep_last <= KEPT_MOST)
			return 0;
	}
	return bad_value("--output-keep", optarg,
			 "two sizes of at most 1G with a comma between, such as 1M,8M");
}

static int take(struct trace_options *opt, enum trace_mode mode, int c)
{
	int err = mode == TRACE_TOP ? take_top(opt, c) : 1;

	if (err > 0 && mode != TRACE_RUN)
		err = take_target(opt, c);

	if (err <= 0)
		return err;
	switch (c) {
	case 'o':
		opt->output = optarg;
		return 0;
	case OPT_NO_RECORD:
		opt->no_record = true;
		return 0;
	case 'q':
		opt->quiet = true;
		return 0;
	case OPT_WHERE:
		opt->where_every = WHERE_EVERY;
		return optarg ? parse_number("--where", optarg, 1u << 30, &opt->where_every) : 0;
	case OPT_FOLLOW:
		opt->no_follow = false;
		return 0;
	case OPT_NO_FOLLOW:
		opt->no_follow = true;
		return 0;
	case OPT_JSON:
		opt->json = true;
		opt->json_file = optarg && strcmp(optarg, "-") != 0 ? optarg : NULL;
		if (!optarg || *optarg)
			return 0;
		return bad_value("--json", optarg, "the name of a file: --json=FILE");
	case 'u':
		if (mode == TRACE_ATTACH)
			break;
		opt->user = optarg;
		return 0;
	case 'd':
	case OPT_DURATION:
		return parse_time("-d", &opt->duration_ns);
	case OPT_RING_EDGES:
		return parse_ring("--ring-edges", optarg, &opt->ring_edges);
	case OPT_MARK_OUTPUT:
		return add_pattern(opt, "--mark-output", PATTERN_MARK);
	case OPT_BEGIN_OUTPUT:
		return add_pattern(opt, "--begin-output", PATTERN_BEGIN);
	case OPT_END_OUTPUT:
		return add_pattern(opt, "--end-output", PATTERN_END);
	case OPT_STEP_OUTPUT:
		return add_pattern(opt, "--step-output", PATTERN_STEP);
	case OPT_PRESET:
		return add_preset(opt);
	case OPT_OUTPUT:
		return add_output(opt);
	case OPT_OUTPUT_KEEP:
		return parse_keep(opt);
	case OPT_SPAN:
		return add_span(opt);
	case OPT_RING_OUTPUT:
		return parse_ring("--ring-output", optarg, &opt->ring_output);
	case OPT_RING_SAMPLES:
		return parse_ring("--ring-samples", optarg, &opt->ring_samples);
	case OPT_PROCESSES:
		return parse_number("--processes", optarg, 1u << 20, &opt->mms);
	case OPT_CEILING:
		return parse_limit("--ceiling", optarg, &opt->ceiling);
	case OPT_HEADROOM:
		return parse_limit("--headroom", optarg, &opt->headroom);
	case OPT_BUDGET:
		if (mode == TRACE_TOP)
			break;
		return budget_option(&opt->budgets, optarg);
	case OPT_ON_CROSS:
		opt->on_cross = optarg;
		return 0;
	case OPT_SINK:
		if (mode == TRACE_TOP)
			break;
		opt->sink = optarg;
		return place_parse(&(struct place){0}, optarg);
	case 'h':
		opt->help = true;
		return 0;
	default:
		break;
	}
	say_error("%s has no such option", name_of(mode));
	say_remedy("peakphase %s --help", name_of(mode));
	return -EINVAL;
}

int trace_parse(struct trace_options *opt, enum trace_mode mode, int argc, char **argv)
{
	int c, err;

	memset(opt, 0, sizeof(*opt));
	opt->keep_first = KEPT_FIRST;
	opt->keep_last = KEPT_LAST;
	optind = 0;
	/* "+": the options of the command after it are its own. */
	while ((c = getopt_long(argc, argv, mode == TRACE_TOP ? "+o:qu:d:p:n:h" : "+o:qu:d:p:h",
				LONG, NULL)) != -1) {
		if (c == '?') {
			say_remedy("peakphase %s --help", name_of(mode));
			return -EINVAL;
		}
		err = take(opt, mode, c);
		if (err || opt->help)
			return err;
	}
	opt->first_arg = optind;
	/* Pieces of stderr are part of what a sink has. */
	if (opt->sink && !opt->keep_said)
		opt->keep = 1u << KEPT_STDERR;
	if (opt->no_record && (opt->output || opt->json || opt->budgets || opt->sink)) {
		say_error("--no-record does not go with %s", opt->output    ? "-o"
							     : opt->json    ? "--json"
							     : opt->budgets ? "--budget"
									    : "--sink");
		say_remedy("leave out one of them: it is made from the recording");
		return -EINVAL;
	}
	if (opt->on_cross && !opt->ceiling && !opt->headroom) {
		say_error("--on-cross: nothing is there to be crossed");
		say_remedy("give --ceiling SIZE, --headroom SIZE, or both");
		return -EINVAL;
	}
	return 0;
}
