/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Who we are for S3, looked for as other tools do: the environment, the shared files, the endpoint
 * of the container, that of the instance. Secrets are never printed, recorded or handed on.
 */
#ifndef PEAKPHASE_SINK_CREDENTIALS_H
#define PEAKPHASE_SINK_CREDENTIALS_H

#include <stdint.h>

#include "sink/http.h"

struct credentials {
	char key_id[160], secret[160];
	char token[8192]; /* of a session; "": none */
	char region[32];
	int64_t expires; /* seconds of the epoch; 0: never */
	const char *from;
};

#define CREDENTIALS_WHY_MAX 320

/*
 * 0; -ENOENT: there are none; -EINVAL: what is there cannot be used; -EAGAIN: an endpoint does not
 * answer now. why: the reason as a text for people.
 */
int credentials_get(struct credentials *c, struct http *h, char why[static CREDENTIALS_WHY_MAX]);

/* Parts of it: each 0 (filled), 1 (nothing there: look on), or an error as above. */
int credentials_from_environment(struct credentials *c, char *why);
int credentials_from_files(struct credentials *c, char *why);
int credentials_from_container(struct credentials *c, struct http *h, char *why);
int credentials_from_instance(struct credentials *c, struct http *h, char *why);

/* By the environment and the files; "us-east-1" if nobody says. */
void credentials_region(char out[static 32]);

/* The value of a key in a section of an INI file, to be freed; NULL: none. */
char *credentials_ini(const char *path, const char *section, const char *key);

#endif
