/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The environment, and the chain. */
#include "sink/credentials.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int put(char *out, size_t cap, const char *s)
{
	size_t len = s ? strlen(s) : 0;

	if (len >= cap)
		return -EINVAL;
	memcpy(out, s ? s : "", len + 1);
	return 0;
}

int credentials_from_environment(struct credentials *c, char *why)
{
	const char *id = getenv("AWS_ACCESS_KEY_ID"), *secret = getenv("AWS_SECRET_ACCESS_KEY");

	if (!id || !*id || !secret || !*secret)
		return 1;
	if (put(c->key_id, sizeof(c->key_id), id) || put(c->secret, sizeof(c->secret), secret) ||
	    put(c->token, sizeof(c->token), getenv("AWS_SESSION_TOKEN"))) {
		snprintf(why, CREDENTIALS_WHY_MAX,
			 "the credentials in the environment are too long");
		return -EINVAL;
	}
	c->from = "the environment";
	return 0;
}

int credentials_get(struct credentials *c, struct http *h, char why[static CREDENTIALS_WHY_MAX])
{
	int err;

	*c = (struct credentials){0};
	credentials_region(c->region);
	err = credentials_from_environment(c, why);
	if (err > 0)
		err = credentials_from_files(c, why);
	if (err > 0)
		err = credentials_from_container(c, h, why);
	if (err > 0)
		err = credentials_from_instance(c, h, why);
	if (err > 0) {
		snprintf(
		    why, CREDENTIALS_WHY_MAX,
		    "no credentials: neither AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY nor a profile in ~/.aws/credentials");
		err = -ENOENT;
	}
	return err;
}
