/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One HTTP request at a time, through libcurl, which signs it if asked to. */
#ifndef PEAKPHASE_SINK_HTTP_H
#define PEAKPHASE_SINK_HTTP_H

#include <stdbool.h>
#include <stddef.h>

#include "sink/curl_api.h"

struct http {
	struct curl_api api;
	CURL *easy; /* keeps its connections */
	/* Asked for several times a second: true ends the request. May be NULL. */
	bool (*stop)(void *ctx);
	void *stop_ctx;
	const char *connect_to; /* tests: HOST:PORT:ADDRESS:PORT; NULL: as the URL has it */
};

#define HTTP_HEADERS_MAX 8

struct http_request {
	const char *method, *url;
	const char *headers[HTTP_HEADERS_MAX + 1]; /* "Name: value"; NULL-terminated */
	const void *body;
	size_t len;
	bool metadata; /* a server of the machine's own: no proxy, and it answers soon or never */
	/* Signature version 4: "aws:amz:REGION:s3"; NULL: none. */
	const char *sign, *key_id, *secret;
};

#define HTTP_BODY_MAX 16384
/* An answer that is longer than this has no end that is worth waiting for. */
#define HTTP_ANSWER_MAX 65536

struct http_reply {
	bool arrived; /* else why has the reason */
	bool never;   /* and trying again is no use: a certificate, a bad address */
	long status;
	char why[256];		  /* of the library, escaped */
	char region[32];	  /* of the bucket, if the server tells */
	size_t came;		  /* bytes of the answer */
	size_t len;		  /* of them, those that are kept */
	char body[HTTP_BODY_MAX]; /* terminated */
};

/* 0, -ENOENT (no libcurl), -ENOMEM; said. */
int http_open(struct http *h);
void http_close(struct http *h);
void http_do(struct http *h, const struct http_request *q, struct http_reply *reply);

/* "%XX" for all but unreserved characters, as signatures want it; keep: also these stay. */
void http_encode(char *out, size_t cap, const char *s, const char *keep);

#endif
