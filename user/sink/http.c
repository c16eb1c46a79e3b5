/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sink/http.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "lib/say.h"
#include "lib/text.h"

#define CONNECT_MS 5000L
#define METADATA_MS 1000L
/* A connection that moves less than this, both ways, for so long is dead. */
#define STALLED_SECONDS 15L
#define STALLED_BYTES 1024L /* a second */

int http_open(struct http *h)
{
	int err = curl_api_load(&h->api);

	if (err)
		return err;
	h->easy = h->api.init();
	if (!h->easy) {
		say_error("no memory for a connection");
		return -ENOMEM;
	}
	return 0;
}

void http_close(struct http *h)
{
	if (h->easy)
		h->api.cleanup(h->easy);
	h->easy = NULL;
}

static size_t on_body(char *data, size_t size, size_t n, void *ctx)
{
	struct http_reply *r = ctx;
	size_t len = size * n, room = sizeof(r->body) - 1 - r->len;

	memcpy(r->body + r->len, data, len < room ? len : room);
	r->len += len < room ? len : room;
	r->came += len;
	return r->came > HTTP_ANSWER_MAX ? 0 : len; /* 0: ends the request */
}

static size_t on_header(char *data, size_t size, size_t n, void *ctx)
{
	static const char name[] = "x-amz-bucket-region:";
	struct http_reply *r = ctx;
	size_t len = size * n, at = sizeof(name) - 1, out = 0;

	if (len > at && !strncasecmp(data, name, at)) {
		while (at < len && data[at] == ' ')
			at++;
		while (at < len && out + 1 < sizeof(r->region) &&
		       strchr("abcdefghijklmnopqrstuvwxyz0123456789-", data[at]))
			r->region[out++] = data[at++];
		r->region[out] = '\0';
	}
	return len;
}

static int on_progress(void *ctx, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
	struct http *h = ctx;

	(void)a, (void)b, (void)c, (void)d;
	return h->stop && h->stop(h->stop_ctx);
}

static bool is_hopeless(CURLcode rc)
{
	return rc == CURLE_URL_MALFORMAT || rc == CURLE_UNSUPPORTED_PROTOCOL ||
	       rc == CURLE_PEER_FAILED_VERIFICATION || rc == CURLE_SSL_CACERT_BADFILE ||
	       rc == CURLE_NOT_BUILT_IN || rc == CURLE_UNKNOWN_OPTION;
}

static void set_request(struct http *h, const struct http_request *q, struct http_reply *reply)
{
	const struct curl_api *a = &h->api;

	a->setopt(h->easy, CURLOPT_URL, q->url);
	a->setopt(h->easy, CURLOPT_PROTOCOLS_STR, "http,https");
	a->setopt(h->easy, CURLOPT_NOSIGNAL, 1L);
	a->setopt(h->easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	a->setopt(h->easy, CURLOPT_USERAGENT, "peakphase/" PEAKPHASE_VERSION);
	a->setopt(h->easy, CURLOPT_CONNECTTIMEOUT_MS, q->metadata ? METADATA_MS : CONNECT_MS);
	a->setopt(h->easy, CURLOPT_LOW_SPEED_LIMIT, STALLED_BYTES);
	a->setopt(h->easy, CURLOPT_LOW_SPEED_TIME, STALLED_SECONDS);
	a->setopt(h->easy, CURLOPT_WRITEFUNCTION, on_body);
	a->setopt(h->easy, CURLOPT_WRITEDATA, reply);
	a->setopt(h->easy, CURLOPT_HEADERFUNCTION, on_header);
	a->setopt(h->easy, CURLOPT_HEADERDATA, reply);
	a->setopt(h->easy, CURLOPT_NOPROGRESS, 0L);
	a->setopt(h->easy, CURLOPT_XFERINFOFUNCTION, on_progress);
	a->setopt(h->easy, CURLOPT_XFERINFODATA, h);
	if (q->metadata) {
		a->setopt(h->easy, CURLOPT_NOPROXY, "*");
		a->setopt(h->easy, CURLOPT_TIMEOUT_MS, 2 * METADATA_MS);
	}
	/* As a POST of memory, whatever its name: the library then signs the contents, too. */
	if (q->body) {
		a->setopt(h->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)q->len);
		a->setopt(h->easy, CURLOPT_POSTFIELDS, q->body);
	}
	a->setopt(h->easy, CURLOPT_CUSTOMREQUEST, q->method);
	if (q->sign) {
		a->setopt(h->easy, CURLOPT_AWS_SIGV4, q->sign);
		a->setopt(h->easy, CURLOPT_USERNAME, q->key_id);
		a->setopt(h->easy, CURLOPT_PASSWORD, q->secret);
	}
}

void http_do(struct http *h, const struct http_request *q, struct http_reply *reply)
{
	const struct curl_api *a = &h->api;
	/* None without a value ("Expect:"): 7.88 signs it as one that is sent. */
	struct curl_slist *headers = NULL, *target = NULL;
	char error[CURL_ERROR_SIZE] = "";
	CURLcode rc;

	memset(reply, 0, sizeof(*reply));
	a->reset(h->easy);
	set_request(h, q, reply);
	for (int i = 0; q->headers[i]; i++)
		headers = a->slist_append(headers, q->headers[i]);
	a->setopt(h->easy, CURLOPT_HTTPHEADER, headers);
	a->setopt(h->easy, CURLOPT_ERRORBUFFER, error);
	if (h->connect_to) {
		target = a->slist_append(NULL, h->connect_to);
		a->setopt(h->easy, CURLOPT_CONNECT_TO, target);
	}
	rc = a->perform(h->easy);
	a->getinfo(h->easy, CURLINFO_RESPONSE_CODE, &reply->status);
	reply->body[reply->len] = '\0';
	reply->arrived = rc == CURLE_OK;
	reply->never = is_hopeless(rc);
	if (reply->came > HTTP_ANSWER_MAX)
		snprintf(reply->why, sizeof(reply->why), "the server's answer has no end");
	else if (rc)
		text_escape(reply->why, sizeof(reply->why), *error ? error : a->strerror(rc),
			    strlen(*error ? error : a->strerror(rc)));
	a->reset(h->easy); /* it points to what is ours */
	a->slist_free_all(headers);
	a->slist_free_all(target);
}

void http_encode(char *out, size_t cap, const char *s, const char *keep)
{
	static const char plain[] =
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
	size_t n = 0;

	for (; *s && n + 4 <= cap; s++)
		n += (size_t)sprintf(out + n,
				     strchr(plain, *s) || strchr(keep, *s) ? "%c" : "%%%02X",
				     (unsigned char)*s);
	out[n] = '\0';
}
