/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* peakphase push: sends a recording, and all that --sink would have, to a folder or S3. */
#include <getopt.h>
#include <stdio.h>

#include "cmd/cmd.h"
#include "lib/say.h"
#include "sink/pump.h"
#include "store/store.h"

static const char HELP[] =
    "Usage: peakphase push [options] RECORDING DIR\n"
    "       peakphase push [options] RECORDING s3://BUCKET[/PREFIX]\n"
    "\n"
    "Sends a recording and its samples and phases as objects, as --sink of run and attach does\n"
    "while it traces: what is there already is replaced by the same. Needs no root.\n"
    "\n"
    "  -q, --quiet  say what went wrong only\n"
    "  -h, --help   this text\n"
    "\n"
    "Credentials, region and endpoint are those that other tools for S3 use: AWS_ACCESS_KEY_ID\n"
    "and AWS_SECRET_ACCESS_KEY, AWS_PROFILE and ~/.aws, or those of the container or instance;\n"
    "AWS_REGION; AWS_ENDPOINT_URL for another server than Amazon's.\n"
    "\n"
    "Exit status: 0 all is there, 1 not all is, 2 usage.\n"
    "\n"
    "  peakphase push etl.peak s3://logs/etl/2026-11-30\n";

static const struct option LONG[] = {
    {"quiet", no_argument, NULL, 'q'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

static int check(const char *path)
{
	struct recording *r;
	int status = recording_open(&r, path) ? STATUS_FAILED : STATUS_DONE;

	if (!status && recording_end(r)->running) {
		say_error("%s is still being written", path);
		say_remedy("wait for its end, or trace with --sink, which sends as it goes");
		status = STATUS_FAILED;
	}
	recording_close(&r);
	return status;
}

static int push(const char *path, const struct place *place)
{
	struct outlet outlet;
	struct pump pump;
	int status;

	status = check(path);
	if (status || outlet_open(&outlet, place, NULL, NULL))
		return STATUS_FAILED;
	if (pump_begin(&pump, path, place, &outlet)) {
		status = STATUS_FAILED;
	} else {
		status = pump_finish(&pump, NULL, NULL) ? STATUS_FAILED : STATUS_DONE;
		pump_end(&pump);
	}
	outlet_close(&outlet);
	return status;
}

int cmd_push(int argc, char **argv)
{
	struct place place;
	int c;

	optind = 0;
	while ((c = getopt_long(argc, argv, "qh", LONG, NULL)) != -1) {
		switch (c) {
		case 'q':
			say_quiet(1);
			break;
		case 'h':
			fputs(HELP, stdout);
			return STATUS_DONE;
		default:
			return usage_error("push", NULL);
		}
	}
	if (optind + 2 != argc)
		return usage_error("push", "push: a recording and a place, nothing else");
	if (place_parse(&place, argv[optind + 1]))
		return STATUS_USAGE;
	return push(argv[optind], &place);
}
