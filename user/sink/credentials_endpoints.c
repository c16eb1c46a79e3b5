/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Credentials that the platform hands out: to a container (ECS, EKS), to an instance (EC2). */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "sink/credentials.h"

#define CONTAINER "http://169.254.170.2"
#define INSTANCE "http://169.254.169.254"
#define URL_MAX 1024
#define SECRET_HEADER_MAX 8300

static int take(char *out, size_t cap, const json_t *o, const char *name)
{
	const char *s = json_string_value(json_object_get(o, name));

	if (!s || strlen(s) >= cap || strpbrk(s, "\r\n"))
		return -EINVAL;
	strcpy(out, s);
	return 0;
}

static int64_t parse_time(const char *s)
{
	struct tm tm = {0};

	return s && strptime(s, "%Y-%m-%dT%H:%M:%S", &tm) ? timegm(&tm) : 0;
}

static int take_answer(struct credentials *c, const struct http_reply *r, const char *from,
		       char *why)
{
	json_t *o = json_loadb(r->body, r->len, 0, NULL);
	int err = -EINVAL;

	if (!take(c->key_id, sizeof(c->key_id), o, "AccessKeyId") &&
	    !take(c->secret, sizeof(c->secret), o, "SecretAccessKey")) {
		err = 0;
		c->from = from;
		/* Those of an instance always have one. */
		if (take(c->token, sizeof(c->token), o, "Token"))
			c->token[0] = '\0';
		c->expires = parse_time(json_string_value(json_object_get(o, "Expiration")));
	}
	json_decref(o);
	if (err)
		snprintf(why, CREDENTIALS_WHY_MAX, "what %s answers has no credentials", from);
	return err;
}

static int failed(const struct http_reply *r, const char *from, char *why)
{
	if (r->arrived)
		snprintf(why, CREDENTIALS_WHY_MAX, "%s answers %ld", from, r->status);
	else
		snprintf(why, CREDENTIALS_WHY_MAX, "%s does not answer: %s", from, r->why);
	return !r->arrived || r->status >= 500 || r->status == 429 ? -EAGAIN : -EINVAL;
}

/* Only to the machine itself may a secret go in the clear. */
static bool may_ask(const char *url)
{
	static const char *const hosts[] = {"http://127.0.0.1",	     "http://localhost",
					    "http://[::1]",	     CONTAINER,
					    "http://169.254.170.23", "http://[fd00:ec2::23]"};

	const char *authority = strstr(url, "://");

	/* A name before the host's would look like one. */
	if (authority && memchr(authority + 3, '@', strcspn(authority + 3, "/?#\\")))
		return false;
	if (!strncasecmp(url, "https://", 8))
		return true;
	for (size_t i = 0; i < sizeof(hosts) / sizeof(*hosts); i++) {
		size_t len = strlen(hosts[i]);

		if (!strncasecmp(url, hosts[i], len) && (!url[len] || strchr(":/", url[len])))
			return true;
	}
	return false;
}

/* The token that the endpoint wants to see, as a header. 0, 1: none is wanted, -EINVAL. */
static int container_token(char header[static SECRET_HEADER_MAX], char *why)
{
	const char *path = getenv("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE");
	const char *token = getenv("AWS_CONTAINER_AUTHORIZATION_TOKEN");
	char read[8192] = "";
	FILE *f;

	if (path && *path) {
		f = fopen(path, "re");
		if (!f || !fgets(read, sizeof(read), f)) {
			snprintf(why, CREDENTIALS_WHY_MAX,
				 "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE cannot be read");
			if (f)
				fclose(f);
			return -EINVAL;
		}
		fclose(f);
		read[strcspn(read, "\r\n")] = '\0';
		token = read;
	}
	if (!token || !*token)
		return 1;
	if (strpbrk(token, "\r\n") ||
	    snprintf(header, SECRET_HEADER_MAX, "Authorization: %s", token) >= SECRET_HEADER_MAX) {
		snprintf(why, CREDENTIALS_WHY_MAX,
			 "the container's authorization token is no token");
		return -EINVAL;
	}
	return 0;
}

int credentials_from_container(struct credentials *c, struct http *h, char *why)
{
	static const char from[] = "the container's endpoint for credentials";
	const char *relative = getenv("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI");
	const char *full = getenv("AWS_CONTAINER_CREDENTIALS_FULL_URI");
	char header[SECRET_HEADER_MAX], url[URL_MAX];
	struct http_request q = {.method = "GET", .url = url, .metadata = true};
	struct http_reply reply;
	int err, len;

	if (relative && *relative)
		len = snprintf(url, sizeof(url), CONTAINER "%s", relative);
	else if (full && *full)
		len = snprintf(url, sizeof(url), "%s", full);
	else
		return 1;
	if (len >= (int)sizeof(url) || !may_ask(url)) {
		snprintf(
		    why, CREDENTIALS_WHY_MAX,
		    "AWS_CONTAINER_CREDENTIALS_FULL_URI is neither https nor the machine's own");
		return -EINVAL;
	}
	err = container_token(header, why);
	if (err < 0)
		return err;
	if (!err)
		q.headers[0] = header;
	http_do(h, &q, &reply);
	err = reply.arrived && reply.status == 200 ? take_answer(c, &reply, from, why)
						   : failed(&reply, from, why);
	explicit_bzero(header, sizeof(header));
	explicit_bzero(&reply, sizeof(reply));
	return err;
}

static int instance_get(struct http *h, const char *base, const char *path, const char *token,
			struct http_reply *reply)
{
	struct http_request q = {.method = "GET", .metadata = true, .headers = {token}};
	char url[URL_MAX];

	q.url = url;
	if (snprintf(url, sizeof(url), "%s/latest/meta-data/%s", base, path) >= (int)sizeof(url))
		return -EINVAL;
	http_do(h, &q, reply);
	return reply->arrived && reply->status == 200 ? 0 : -EAGAIN;
}

/* Version 2 alone: version 1 can be had by whoever makes us fetch a URL. */
int credentials_from_instance(struct credentials *c, struct http *h, char *why)
{
	static const char from[] = "the instance's endpoint for credentials";
	static const char roles[] = "iam/security-credentials/";
	const char *off = getenv("AWS_EC2_METADATA_DISABLED");
	const char *base = getenv("AWS_EC2_METADATA_SERVICE_ENDPOINT");
	char url[URL_MAX], token[512], path[256];
	struct http_request q = {
	    .method = "PUT",
	    .url = url,
	    .metadata = true,
	    .headers = {"X-aws-ec2-metadata-token-ttl-seconds: 300"},
	};
	struct http_reply reply;
	int err, len;

	if (off && !strcasecmp(off, "true"))
		return 1;
	if (!base || !*base)
		base = INSTANCE;
	len = (int)strlen(base);
	while (len && base[len - 1] == '/')
		len--;
	snprintf(url, sizeof(url), "%.*s/latest/api/token", len, base);
	http_do(h, &q, &reply);
	/* Nobody there: this is no instance. */
	if (!reply.arrived || reply.status != 200 || !reply.len || strpbrk(reply.body, "\r\n"))
		return 1;
	snprintf(token, sizeof(token), "X-aws-ec2-metadata-token: %.400s", reply.body);
	snprintf(url, sizeof(url), "%.*s", len, base);
	err = instance_get(h, url, roles, token, &reply);
	if (err && reply.arrived && reply.status == 404)
		return 1; /* no role was given to it */
	if (!err) {
		reply.body[strcspn(reply.body, "\r\n")] = '\0';
		len = snprintf(path, sizeof(path), "%s%.200s", roles, reply.body);
		err = instance_get(h, url, path, token, &reply);
	}
	err = err ? failed(&reply, from, why) : take_answer(c, &reply, from, why);
	explicit_bzero(&reply, sizeof(reply));
	explicit_bzero(token, sizeof(token));
	return err;
}
