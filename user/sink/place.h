/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Where a sink leads, and the names of what goes there. Pure but for what place_parse() says. */
#ifndef PEAKPHASE_SINK_PLACE_H
#define PEAKPHASE_SINK_PLACE_H

#include <stddef.h>
#include <stdint.h>

#include "model/phase.h"

#define PLACE_PREFIX_MAX 512 /* a key of S3 has at most 1024 bytes */
/* A label in a key, with a hash where it was cut; a name of a file has at most 255 bytes. */
#define PLACE_LABEL_MAX 200
#define PLACE_KEY_MAX 256

enum place_kind { PLACE_DIR, PLACE_S3 };

struct place {
	enum place_kind kind;
	const char *text; /* as it was given; a folder's name */
	char bucket[64];
	char prefix[PLACE_PREFIX_MAX + 1]; /* without slashes at its ends; "": none */
};

/* DIR or s3://BUCKET[/PREFIX]; text must outlive *p. 0 or -EINVAL, said. */
int place_parse(struct place *p, const char *text);

/*
 * Bytes → what is plain in keys, URLs, names of files and shells' listings: letters, digits and a
 * few marks; all else as %XX, so that no label can lead out of its folder or hide. A long one is
 * cut and ends in ~ and the hash of it all. The name of an implied phase stands as it is.
 */
void place_label(char out[static PLACE_LABEL_MAX + 1], const struct phase *ph);

/* Last part of a path, escaped in the same way. */
void place_file(char out[static PLACE_LABEL_MAX + 1], const char *path);

#endif
