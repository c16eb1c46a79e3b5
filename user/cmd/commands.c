/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cmd/cmd.h"

#include <string.h>

#include "lib/say.h"

#define NAME_MAX_LEN 32
#define CLOSE 2 /* edits that a typing error may have made */

/* In the order of `peakphase --help`. */
const struct subcommand subcommands[] = {
    {"run", "trace a command from its first instruction", cmd_run},
    {"attach", "trace processes that run already", cmd_attach},
    {"top", "the live view: which phase each process is in, how high it went", cmd_top},
    {"report", "which phase set the peak, phase by phase, of a recording", cmd_report},
    {"diff", "what changed between recordings, label by label", cmd_diff},
    {"push", "send a recording to a folder or to S3", cmd_push},
    {"presets", "patterns of lines of known programs, for --preset", cmd_presets},
    {"doctor", "what this kernel and this user can do, and the remedy for what they cannot",
     cmd_doctor},
};
const size_t nsubcommands = sizeof(subcommands) / sizeof(subcommands[0]);

const struct subcommand *subcommand_find(const char *name)
{
	for (size_t i = 0; i < nsubcommands; i++)
		if (!strcmp(subcommands[i].name, name))
			return &subcommands[i];
	return NULL;
}

static unsigned min3(unsigned a, unsigned b, unsigned c)
{
	unsigned least = a < b ? a : b;

	return least < c ? least : c;
}

/* Edit distance; one row of the matrix at a time. */
static unsigned distance(const char *a, const char *b)
{
	size_t la = strlen(a), lb = strlen(b);
	unsigned row[NAME_MAX_LEN + 1], diagonal, above;

	if (la > NAME_MAX_LEN || lb > NAME_MAX_LEN)
		return NAME_MAX_LEN;
	for (size_t j = 0; j <= lb; j++)
		row[j] = (unsigned)j;
	for (size_t i = 1; i <= la; i++) {
		diagonal = row[0];
		row[0] = (unsigned)i;
		for (size_t j = 1; j <= lb; j++) {
			above = row[j];
			row[j] = min3(above + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1]));
			diagonal = above;
		}
	}
	return row[lb];
}

const struct subcommand *subcommand_closest(const char *name)
{
	const struct subcommand *best = NULL;
	unsigned least = CLOSE + 1, d;

	for (size_t i = 0; i < nsubcommands; i++) {
		/* The first letter is seldom wrong; without it any short word is close to "top". */
		d = distance(name, subcommands[i].name) + (name[0] != subcommands[i].name[0]);
		/* "rep" for "report": what was typed so far is right. */
		if (strlen(name) >= 2 && !strncmp(subcommands[i].name, name, strlen(name)))
			d = 1;
		if (d < least && d < strlen(subcommands[i].name)) {
			least = d;
			best = &subcommands[i];
		}
	}
	return best;
}

int usage_error(const char *command, const char *reason)
{
	if (reason)
		say_error("%s", reason);
	say_remedy("peakphase %s --help", command);
	return STATUS_USAGE;
}
