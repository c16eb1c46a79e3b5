/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <dirent.h>
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/budgets.h"
#include "cmd/cmd.h"
#include "cmd/show.h"
#include "lib/say.h"
#include "lib/text.h"

#define SUFFIX ".peak"

static const char usage[] =
    "Usage: peakphase report [options] [RECORDING]\n\n"
    "Which phase set the memory peak: the answer, then every phase. Without RECORDING: the newest *.peak here.\n\n"
    "      --json               for programs: docs/json.md\n"
    "      --why[=PHASE]        what the peak is made of, or that of PHASE: a label, or a glob\n"
    "      --rank KIND          the phases with most memory of a KIND: anon, file, total\n"
    "      --budget GLOB=SIZE   exit with 4 if a phase needs more: 'transform:*=500M'\n"
    "      --members            anonymous, file and shared memory at the peak of each phase\n"
    "      --notes              the texts that the program gave to its phases\n"
    "      --output[=LABEL]     what the program wrote (run --output), in every phase or in that one\n"
    "      --no-color           no bold text (also: NO_COLOR in the environment)\n"
    "  -q, --quiet              errors only on stderr\n"
    "  -h, --help               this text\n\n"
    "Exit status: 0 done, 1 the recording cannot be read, 2 usage, 4 over a budget.\n";

static bool is_recording_name(const char *name)
{
	size_t len = strlen(name), suffix = strlen(SUFFIX);

	return name[0] != '.' && len > suffix && !strcmp(name + len - suffix, SUFFIX);
}

static bool newer(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec != b->tv_sec ? a->tv_sec > b->tv_sec : a->tv_nsec > b->tv_nsec;
}

/* 0, -ENOENT: there is none, -errno. */
static int newest_recording(char out[static NAME_MAX + 1])
{
	struct timespec best = {.tv_sec = -1};
	const struct dirent *e;
	DIR *dir = opendir(".");
	struct stat st;

	if (!dir)
		return -errno;
	out[0] = '\0';
	while ((e = readdir(dir))) {
		if (!is_recording_name(e->d_name) || stat(e->d_name, &st) || !S_ISREG(st.st_mode))
			continue;
		if (!newer(&st.st_mtim, &best))
			continue;
		best = st.st_mtim;
		snprintf(out, NAME_MAX + 1, "%s", e->d_name);
	}
	closedir(dir);
	return out[0] ? 0 : -ENOENT;
}

static int report_newest(const struct show_options *opt)
{
	char name[NAME_MAX + 1], escaped[(NAME_MAX + 1) * TEXT_ESCAPED_MAX];
	int err = newest_recording(name);

	if (err == -ENOENT) {
		say_error("no RECORDING was given, and there is no *%s here", SUFFIX);
		say_remedy("peakphase run -- COMMAND makes one");
		return STATUS_USAGE;
	}
	if (err) {
		say_error("cannot look for recordings here: %s", strerror(-err));
		return STATUS_FAILED;
	}
	text_escape(escaped, sizeof(escaped), name, strlen(name));
	say_info("the newest recording here: %s", escaped);
	return show_recording(name, opt, stdout);
}

/* A label in a word of its own: `--why load:users` as `--why=load:users`, unless it is a recording.
 */
static const char *label_word(int argc, char **argv)
{
	const char *word = optind < argc ? argv[optind] : NULL;

	if (!word || *word == '-' || is_recording_name(word) || !access(word, F_OK))
		return NULL;
	optind++;
	return word;
}

int cmd_report(int argc, char **argv)
{
	enum { JSON = 256, WHY, RANK, BUDGET, MEMBERS, NOTES, OUTPUT, NO_COLOR };
	static const struct option options[] = {
	    {"json", no_argument, NULL, JSON},
	    {"why", optional_argument, NULL, WHY},
	    {"rank", required_argument, NULL, RANK},
	    {"budget", required_argument, NULL, BUDGET},
	    {"members", no_argument, NULL, MEMBERS},
	    {"notes", no_argument, NULL, NOTES},
	    {"output", optional_argument, NULL, OUTPUT},
	    {"no-color", no_argument, NULL, NO_COLOR},
	    {"quiet", no_argument, NULL, 'q'},
	    {"help", no_argument, NULL, 'h'},
	    {0},
	};
	struct show_options opt = {0};
	const char *label;
	int c, status;

	while ((c = getopt_long(argc, argv, "hq", options, NULL)) != -1) {
		switch (c) {
		case JSON:
			opt.json = true;
			break;
		case WHY:
			opt.why = true;
			opt.why_phase = optarg ? optarg : label_word(argc, argv);
			break;
		case RANK:
			opt.rank = rank_named(optarg);
			if (opt.rank == RANK_NONE)
				return usage_error("report", "--rank: anon, file or total");
			break;
		case BUDGET:
			if (budget_option(&opt.budgets, optarg))
				return STATUS_USAGE;
			break;
		case MEMBERS:
			opt.members = true;
			break;
		case NOTES:
			opt.notes = true;
			break;
		case OUTPUT:
			opt.output = true;
			label = optarg ? optarg : label_word(argc, argv);
			if (label && opt.noutput_of == SHOW_OUTPUT_MAX)
				return usage_error("report", "--output: too many labels");
			if (label)
				opt.output_of[opt.noutput_of++] = label;
			break;
		case NO_COLOR:
			opt.no_color = true;
			break;
		case 'q':
			say_quiet(1);
			break;
		case 'h':
			fputs(usage, stdout);
			return STATUS_DONE;
		default:
			return usage_error("report", NULL);
		}
	}
	if (argc - optind > 1)
		return usage_error("report", "one RECORDING at a time");
	status = optind < argc ? show_recording(argv[optind], &opt, stdout) : report_newest(&opt);
	budgets_free(&opt.budgets);
	return status;
}
