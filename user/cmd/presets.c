/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* peakphase presets: what --preset knows, with the patterns. */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/preset_files.h"
#include "lib/say.h"
#include "lib/text.h"

static const char HELP[] =
    "Usage: peakphase presets [options] [NAME]\n"
    "\n"
    "Lists what --preset of run, attach and top knows: patterns of lines of known programs. More\n"
    "come from files NAME.preset in /etc/peakphase/presets.d and in the folder\n"
    "peakphase/presets.d of $XDG_CONFIG_HOME (~/.config).\n"
    "\n"
    "  -h, --help  this text\n"
    "\n"
    "  peakphase presets oaa\n";

static const struct option LONG[] = {
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

struct listing {
	bool found;
};

/* Backslashes as they are: a pattern is to be copied. */
static void print(const char *s)
{
	uint32_t cp;

	for (size_t left = strlen(s), n; left; s += n, left -= n) {
		n = text_utf8_next(s, left, &cp);
		if (!n || text_is_hidden(cp)) {
			n = n ? n : 1;
			putchar('?');
		} else {
			fwrite(s, 1, n, stdout);
		}
	}
}

static int print_line(void *ctx, const struct preset_line *l)
{
	(void)ctx;
	if (l->label) {
		printf("  label  ");
		print(l->label);
		putchar('\n');
	}
	printf("  %-5s  ", preset_kind_name(l->kind));
	print(l->regex);
	putchar('\n');
	return 0;
}

static int nothing(void *ctx, const struct preset_line *l)
{
	(void)ctx;
	(void)l;
	return 0;
}

static int print_preset(void *ctx, const char *name, const char *from, char *text)
{
	char error[PRESET_ERROR_MAX], copy[PRESET_BYTES_MAX + 1];
	struct listing *l = ctx;
	const char *about = "";

	strcpy(copy, text);
	printf("%s%s", l->found ? "\n" : "", name);
	l->found = true;
	if (!preset_read(copy, &about, nothing, NULL, error) && *about) {
		printf(": ");
		print(about);
	}
	printf("  (");
	print(from);
	printf(")\n");
	if (preset_read(text, NULL, print_line, NULL, error))
		printf("  cannot be used: %s\n", error);
	return 0;
}

int cmd_presets(int argc, char **argv)
{
	struct listing l = {0};
	const char *only;
	char shown[128];
	int c;

	optind = 0;
	while ((c = getopt_long(argc, argv, "h", LONG, NULL)) != -1) {
		if (c != 'h')
			return usage_error("presets", NULL);
		fputs(HELP, stdout);
		return STATUS_DONE;
	}
	if (optind + 1 < argc)
		return usage_error("presets", "presets: at most one name");
	only = argv[optind];
	if (preset_files_each(only, print_preset, &l))
		return STATUS_FAILED;
	if (only && !l.found) {
		text_escape(shown, sizeof(shown), only, strlen(only));
		say_error("there is no preset '%s'", shown);
		say_remedy("`peakphase presets` lists them");
		return STATUS_FAILED;
	}
	return STATUS_DONE;
}
