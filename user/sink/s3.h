/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The parts of sending to S3 that can be looked at alone. */
#ifndef PEAKPHASE_SINK_S3_H
#define PEAKPHASE_SINK_S3_H

#include "sink/credentials.h"
#include "sink/http.h"
#include "sink/outlet.h"

/*
 * endpoint NULL: Amazon's, by the bucket's own name where a certificate can have it. To be freed;
 * NULL: no memory.
 */
char *s3_url(const char *endpoint, const char *region, const char *bucket, const char *prefix,
	     const char *key);

/* Signs and sends; headers: NULL-terminated, of which as many as http.h has room for. */
void s3_put(struct http *h, const struct credentials *who, const char *url,
	    const char *const *headers, const void *data, size_t len, struct http_reply *reply);

/* What an answer means, and as a text for people, escaped. */
enum outlet_result s3_judge(const struct http_reply *r, const char *region,
			    char why[static OUTLET_WHY_MAX]);

#endif
