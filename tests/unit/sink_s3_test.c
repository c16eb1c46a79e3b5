/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * S3: signatures against the examples of Amazon's own documentation ("Signature Calculations for
 * the Authorization Header", Amazon S3 API reference), made by libcurl as it makes ours; names of
 * objects, and what answers mean.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "loopback.h"
#include "sink/s3.h"

#define DATE "x-amz-date: 20130524T000000Z"
#define EMPTY                                                                                      \
	"x-amz-content-sha256: e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
#define SIGNED_BY                                                                                  \
	"AWS4-HMAC-SHA256 "                                                                        \
	"Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, SignedHeaders="

static const struct credentials WHO = {
    .key_id = "AKIAIOSFODNN7EXAMPLE",
    .secret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    .region = "us-east-1",
};

struct wire {
	struct loopback server;
	struct http http;
	char to[128];
};

/* Everything goes to the loopback, whatever host it is for. */
static void open_wire(struct wire *w)
{
	unsetenv("http_proxy");
	loopback_start(&w->server);
	assert_int_equal(http_open(&w->http), 0);
	snprintf(w->to, sizeof(w->to), "::127.0.0.1:%d", w->server.port);
	w->http.connect_to = w->to;
}

static void close_wire(struct wire *w)
{
	http_close(&w->http);
	loopback_stop(&w->server);
}

static void check_authorization(struct wire *w, int i, const char *want)
{
	char got[2048];

	loopback_header(&w->server, i, "Authorization", got);
	assert_string_equal(got, want);
}

/* What never ends, or is that long: it would hold up the end of the tracing. */
static void an_answer_without_end_is_given_up(void **state)
{
	static const char *const headers[] = {DATE, NULL};
	static char answer[HTTP_ANSWER_MAX + 1024] = "200 OK\r\n\r\n";
	struct wire w = {.server.answers = {answer}};
	struct http_reply reply;

	(void)state;
	signal(SIGPIPE, SIG_IGN); /* we hang up while it speaks */
	memset(answer + strlen(answer), 'x', sizeof(answer) - 1 - strlen(answer));
	open_wire(&w);
	s3_put(&w.http, &WHO, "http://examplebucket.s3.amazonaws.com/a", headers, "a", 1, &reply);
	close_wire(&w);
	assert_false(reply.arrived);
	assert_false(reply.never);
	assert_string_equal(reply.why, "the server's answer has no end");
	assert_int_equal(reply.len, HTTP_BODY_MAX - 1);
}

static void put_as_published(void **state)
{
	static const char *const headers[] = {"Date: Fri, 24 May 2013 00:00:00 GMT", DATE,
					      "x-amz-storage-class: REDUCED_REDUNDANCY", NULL};
	struct wire w = {.server.answers = {"200 OK\r\n\r\n"}};
	struct http_reply reply;

	(void)state;
	open_wire(&w);
	s3_put(&w.http, &WHO, "http://examplebucket.s3.amazonaws.com/test%24file.text", headers,
	       "Welcome to Amazon S3.", 21, &reply);
	close_wire(&w);
	assert_true(reply.arrived);
	assert_int_equal(reply.status, 200);
	check_authorization(
	    &w, 0,
	    SIGNED_BY "date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class, "
		      "Signature=98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd");
	assert_non_null(strstr(w.server.requests[0], "\r\n\r\nWelcome to Amazon S3."));
	assert_non_null(strstr(w.server.requests[0],
			       "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072"));
}

static void get_as_published(void **state)
{
	struct wire w = {.server.answers = {"200 OK\r\n\r\n", "200 OK\r\n\r\n"}};
	struct http_request q = {
	    .method = "GET",
	    .url = "http://examplebucket.s3.amazonaws.com/test.txt",
	    .headers = {DATE, EMPTY, "Range: bytes=0-9"},
	    .sign = "aws:amz:us-east-1:s3",
	    .key_id = WHO.key_id,
	    .secret = WHO.secret,
	};
	struct http_reply reply;

	(void)state;
	open_wire(&w);
	http_do(&w.http, &q, &reply);
	assert_true(reply.arrived);
	q.url = "http://examplebucket.s3.amazonaws.com/?max-keys=2&prefix=J";
	q.headers[2] = NULL;
	http_do(&w.http, &q, &reply);
	assert_true(reply.arrived);
	close_wire(&w);
	check_authorization(
	    &w, 0,
	    SIGNED_BY "host;range;x-amz-content-sha256;x-amz-date, "
		      "Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41");
	check_authorization(
	    &w, 1,
	    SIGNED_BY "host;x-amz-content-sha256;x-amz-date, "
		      "Signature=34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7");
}

static void a_sessions_token_is_sent_and_signed(void **state)
{
	static const char *const headers[] = {DATE, "Content-Type: application/json", NULL};
	struct wire w = {.server.answers = {"200 OK\r\n\r\n"}};
	struct credentials who = WHO;
	struct http_reply reply;
	char got[2048];

	(void)state;
	strcpy(who.token, "AQoDYXdzEPT//////////wEXAMPLEtc764bNrC9SAPBSM22wDOk4x4HIZ8j4FZTwdQW");
	open_wire(&w);
	s3_put(&w.http, &who, "http://127.0.0.1/b/k", headers, "{}", 2, &reply);
	close_wire(&w);
	loopback_header(&w.server, 0, "x-amz-security-token", got);
	assert_string_equal(got, who.token);
	loopback_header(&w.server, 0, "Authorization", got);
	assert_non_null(strstr(got, "SignedHeaders=content-type;host;x-amz-content-sha256;x-amz-"
				    "date;x-amz-security-token,"));
	/* Nothing that the library likes to add. */
	assert_string_equal(loopback_header(&w.server, 0, "Expect", got), "");
	assert_string_equal(loopback_header(&w.server, 0, "Content-Type", got), "application/json");
	assert_null(strstr(w.server.requests[0], who.secret));
}

static void urls(void **state)
{
	static const struct {
		const char *endpoint, *region, *bucket, *prefix, *key, *url;
	} cases[] = {
	    {NULL, "eu-west-1", "logs", "a/b", "c/d_1.json",
	     "https://logs.s3.eu-west-1.amazonaws.com/a/b/c/d_1.json"},
	    {NULL, "us-east-1", "logs.x", "", "k", "https://s3.us-east-1.amazonaws.com/logs.x/k"},
	    {NULL, "cn-north-1", "logs", "", "k", "https://logs.s3.cn-north-1.amazonaws.com.cn/k"},
	    {"http://127.0.0.1:9000/", "us-east-1", "logs", "r", "checkpoints/a:b%2Fc_(1).json",
	     "http://127.0.0.1:9000/logs/r/checkpoints/a%3Ab%252Fc_%281%29.json"},
	    {"https://s3.example", "x", "logs", "\xc3\xa9 +", "k",
	     "https://s3.example/logs/%C3%A9%20%2B/k"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char *url = s3_url(cases[i].endpoint, cases[i].region, cases[i].bucket,
				   cases[i].prefix, cases[i].key);

		assert_string_equal(url, cases[i].url);
		free(url);
	}
}

static void what_answers_mean(void **state)
{
	static const struct {
		long status;
		const char *body;
		enum outlet_result result;
		const char *why;
	} cases[] = {
	    {200, "", OUTLET_DONE, ""},
	    {503, "<Error><Code>SlowDown</Code></Error>", OUTLET_LATER, "HTTP 503 SlowDown"},
	    {500, "not XML", OUTLET_LATER, "HTTP 500"},
	    {429, "", OUTLET_LATER, "HTTP 429"},
	    {403, "<Error><Code>SignatureDoesNotMatch</Code></Error>", OUTLET_NEVER,
	     "HTTP 403 SignatureDoesNotMatch: is AWS_SECRET_ACCESS_KEY right?"},
	    {403, "<Error><Code>AccessDenied</Code><Message>No\n\x1b[31m</Message></Error>",
	     OUTLET_NEVER,
	     "HTTP 403 AccessDenied (No\\n\\x1b[31m): this user needs s3:PutObject there"},
	    {400, "<Error><Code>ExpiredToken</Code></Error>", OUTLET_LATER,
	     "HTTP 400 ExpiredToken"},
	    {400, "<Error><Code>RequestTimeout</Code>", OUTLET_LATER, "HTTP 400 RequestTimeout"},
	    {301, "<Error><Region>eu-west-1</Region>", OUTLET_NEVER,
	     "the bucket is in another region: set AWS_REGION=eu-west-1"},
	    {404, "<html>", OUTLET_NEVER, "HTTP 404: is AWS_ENDPOINT_URL right?"},
	    {403, "<Code>", OUTLET_NEVER, "HTTP 403"},
	};
	struct http_reply *r = calloc(1, sizeof(*r));

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char why[OUTLET_WHY_MAX] = "";

		r->arrived = true;
		r->status = cases[i].status;
		strcpy(r->body, cases[i].body);
		assert_int_equal(s3_judge(r, "us-east-1", why), cases[i].result);
		assert_string_equal(why, cases[i].why);
	}
	/* Its answers may be as long as they like. */
	memset(r->body, 'x', HTTP_BODY_MAX - 1);
	memcpy(r->body, "<Code>", 6);
	r->status = 400;
	assert_int_equal(s3_judge(r, "us-east-1", (char[OUTLET_WHY_MAX]){""}), OUTLET_NEVER);
	free(r);
}

static void nobody_there_is_no_reason_to_give_up(void **state)
{
	struct wire w = {.server.answers = {"200 OK\r\n\r\n"}};
	static const char *const headers[] = {NULL};
	char why[OUTLET_WHY_MAX] = "";
	struct http_reply reply;

	(void)state;
	open_wire(&w);
	loopback_stop(&w.server);
	s3_put(&w.http, &WHO, "http://127.0.0.1/b/k", headers, "", 0, &reply);
	assert_false(reply.arrived);
	assert_int_equal(s3_judge(&reply, "us-east-1", why), OUTLET_LATER);
	assert_true(*why);
	http_close(&w.http);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(an_answer_without_end_is_given_up),
	    cmocka_unit_test(put_as_published),
	    cmocka_unit_test(get_as_published),
	    cmocka_unit_test(a_sessions_token_is_sent_and_signed),
	    cmocka_unit_test(urls),
	    cmocka_unit_test(what_answers_mean),
	    cmocka_unit_test(nobody_there_is_no_reason_to_give_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
