/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Objects in a bucket: one PUT each. */
#include <errno.h>
#include <sha256.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/say.h"
#include "lib/text.h"
#include "sink/credentials.h"
#include "sink/http.h"
#include "sink/outlet.h"
#include "sink/s3.h"

#define REFRESH_SECONDS 300 /* before they expire */
#define PUT_MOST (5ull << 30)

struct s3 {
	struct place place;
	struct http http;
	struct credentials who;
	bool known;
};

char *s3_url(const char *endpoint, const char *region, const char *bucket, const char *prefix,
	     const char *key)
{
	char path[3 * (PLACE_PREFIX_MAX + PLACE_KEY_MAX) + 1], *whole, *url;
	size_t len = endpoint ? strlen(endpoint) : 0;
	int n;

	while (len && endpoint[len - 1] == '/')
		len--;
	if (asprintf(&whole, "%s%s%s", prefix, *prefix ? "/" : "", key) < 0)
		return NULL;
	http_encode(path, sizeof(path), whole, "/");
	free(whole);
	if (len)
		n = asprintf(&url, "%.*s/%s/%s", (int)len, endpoint, bucket, path);
	else if (strchr(bucket, '.'))
		/* No certificate has two names below Amazon's. */
		n = asprintf(&url, "https://s3.%s.amazonaws.com%s/%s/%s", region,
			     strncmp(region, "cn-", 3) ? "" : ".cn", bucket, path);
	else
		n = asprintf(&url, "https://%s.s3.%s.amazonaws.com%s/%s", bucket, region,
			     strncmp(region, "cn-", 3) ? "" : ".cn", path);
	return n < 0 ? NULL : url;
}

/* The text of an element of the answer, escaped; "": it has none. */
static void element(char *out, size_t cap, const char *body, const char *name)
{
	char open[32];
	const char *at, *end;

	snprintf(open, sizeof(open), "<%s>", name);
	at = strstr(body, open);
	*out = '\0';
	if (!at)
		return;
	at += strlen(open);
	end = strchr(at, '<');
	text_escape(out, cap, at, end ? (size_t)(end - at) : 0);
}

static const char *remedy_of(const char *code, long status)
{
	static const struct {
		const char *code, *remedy;
	} known[] = {
	    {"SignatureDoesNotMatch", ": is AWS_SECRET_ACCESS_KEY right?"},
	    {"InvalidAccessKeyId", ": is AWS_ACCESS_KEY_ID right?"},
	    {"XAdminUserNotFound", ": is AWS_ACCESS_KEY_ID right?"},
	    {"NoSuchBucket", ": make it, or name another one"},
	    {"RequestTimeTooSkewed", ": is the clock of this machine right?"},
	    {"AccessDenied", ": this user needs s3:PutObject there"},
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (!strcmp(code, known[i].code))
			return known[i].remedy;
	return status == 404 && !*code ? ": is AWS_ENDPOINT_URL right?" : "";
}

enum outlet_result s3_judge(const struct http_reply *r, const char *region,
			    char why[static OUTLET_WHY_MAX])
{
	char code[64], message[200], place[32];

	if (!r->arrived) {
		snprintf(why, OUTLET_WHY_MAX, "%s", r->why);
		return r->never ? OUTLET_NEVER : OUTLET_LATER;
	}
	if (r->status >= 200 && r->status < 300)
		return OUTLET_DONE;
	element(code, sizeof(code), r->body, "Code");
	element(message, sizeof(message), r->body, "Message");
	element(place, sizeof(place), r->body, "Region");
	if (*r->region)
		snprintf(place, sizeof(place), "%s", r->region);
	if (*place && strcmp(place, region) != 0)
		snprintf(why, OUTLET_WHY_MAX, "the bucket is in another region: set AWS_REGION=%s",
			 place);
	else
		snprintf(why, OUTLET_WHY_MAX, "HTTP %ld%s%s%s%s%s%s", r->status, *code ? " " : "",
			 code, *message ? " (" : "", message, *message ? ")" : "",
			 remedy_of(code, r->status));
	if (r->status >= 500 || r->status == 429 || r->status == 408 || r->status == 409 ||
	    !strcmp(code, "RequestTimeout") || !strcmp(code, "SlowDown"))
		return OUTLET_LATER;
	/* Fresh ones are asked for. */
	if (!strcmp(code, "ExpiredToken"))
		return OUTLET_LATER;
	return OUTLET_NEVER;
}

static enum outlet_result learn_who(struct s3 *s, char why[static OUTLET_WHY_MAX])
{
	int err;

	if (s->known && (!s->who.expires || s->who.expires - time(NULL) > REFRESH_SECONDS))
		return OUTLET_DONE;
	err = credentials_get(&s->who, &s->http, why);
	s->known = !err;
	return !err ? OUTLET_DONE : err == -EAGAIN ? OUTLET_LATER : OUTLET_NEVER;
}

static const char *endpoint_of(void)
{
	const char *url = getenv("AWS_ENDPOINT_URL_S3");

	if (!url || !*url)
		url = getenv("AWS_ENDPOINT_URL");
	return url && *url ? url : NULL;
}

void s3_put(struct http *h, const struct credentials *who, const char *url,
	    const char *const *headers, const void *data, size_t len, struct http_reply *reply)
{
	char sign[64], token[sizeof(who->token) + 32], digest[SHA256_DIGEST_STRING_LENGTH];
	char hash[sizeof(digest) + 32];
	struct http_request q = {
	    .method = "PUT",
	    .url = url,
	    .body = data,
	    .len = len,
	    .sign = sign,
	    .key_id = who->key_id,
	    .secret = who->secret,
	};
	int n = 1;

	/* Before 8.0 the library signs the contents, but does not tell their hash. */
	snprintf(hash, sizeof(hash), "x-amz-content-sha256: %s",
		 SHA256Data((const uint8_t *)data, len, digest));
	q.headers[0] = hash;
	snprintf(sign, sizeof(sign), "aws:amz:%s:s3", who->region);
	for (; *headers && n + 1 < HTTP_HEADERS_MAX; headers++)
		q.headers[n++] = *headers;
	if (*who->token) {
		snprintf(token, sizeof(token), "x-amz-security-token: %s", who->token);
		q.headers[n] = token;
	}
	http_do(h, &q, reply);
	explicit_bzero(token, sizeof(token));
}

static enum outlet_result s3_object(void *ctx, const char *key, const void *data, size_t len,
				    const char *type, char why[static OUTLET_WHY_MAX])
{
	struct s3 *s = ctx;
	enum outlet_result result = learn_who(s, why);
	char content[80];
	const char *headers[] = {content, NULL};
	struct http_reply reply;
	char *url;

	if (result != OUTLET_DONE)
		return result;
	url = s3_url(endpoint_of(), s->who.region, s->place.bucket, s->place.prefix, key);
	if (!url) {
		snprintf(why, OUTLET_WHY_MAX, "no memory");
		return OUTLET_LATER;
	}
	snprintf(content, sizeof(content), "Content-Type: %s", type);
	s3_put(&s->http, &s->who, url, headers, data, len, &reply);
	free(url);
	result = s3_judge(&reply, s->who.region, why);
	if (result == OUTLET_LATER && reply.arrived && reply.status < 500)
		s->known = false;
	return result;
}

static void s3_close(void *ctx)
{
	struct s3 *s = ctx;

	http_close(&s->http);
	explicit_bzero(&s->who, sizeof(s->who));
	free(s);
}

int outlet_open_s3(struct outlet *o, const struct place *p, bool (*stop)(void *ctx), void *stop_ctx)
{
	struct s3 *s = calloc(1, sizeof(*s));
	int err;

	if (!s) {
		say_error("no memory for the sink");
		return -ENOMEM;
	}
	s->place = *p;
	s->http.stop = stop;
	s->http.stop_ctx = stop_ctx;
	err = http_open(&s->http);
	if (err) {
		free(s);
		return err;
	}
	*o = (struct outlet){.ctx = s, .put = s3_object, .close = s3_close, .most = PUT_MOST};
	return 0;
}
