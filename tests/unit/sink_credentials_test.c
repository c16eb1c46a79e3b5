/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Who a sink is for S3: the environment, the shared files, the endpoints of the platform. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "loopback.h"
#include "sink/credentials.h"

#define ANSWER                                                                                        \
	"200 OK\r\n\r\n{\"AccessKeyId\":\"ASIA1\",\"SecretAccessKey\":\"se/cret\",\"Token\":\"tok\"," \
	"\"Expiration\":\"2026-11-30T14:00:00Z\"}"

struct home {
	char dir[64];
	struct credentials c;
	struct http http;
	char why[CREDENTIALS_WHY_MAX];
};

static int set_up(void **state)
{
	static const char *const variables[] = {
	    "AWS_ACCESS_KEY_ID",
	    "AWS_SECRET_ACCESS_KEY",
	    "AWS_SESSION_TOKEN",
	    "AWS_PROFILE",
	    "AWS_DEFAULT_PROFILE",
	    "AWS_REGION",
	    "AWS_DEFAULT_REGION",
	    "AWS_SHARED_CREDENTIALS_FILE",
	    "AWS_CONFIG_FILE",
	    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
	    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
	    "AWS_CONTAINER_AUTHORIZATION_TOKEN",
	    "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE",
	    "AWS_EC2_METADATA_SERVICE_ENDPOINT",
	    "http_proxy",
	};
	struct home *h = calloc(1, sizeof(*h));
	char path[128];

	for (size_t i = 0; i < sizeof(variables) / sizeof(*variables); i++)
		unsetenv(variables[i]);
	setenv("AWS_EC2_METADATA_DISABLED", "true", 1);
	strcpy(h->dir, "/tmp/peakphase-test-XXXXXX");
	assert_non_null(mkdtemp(h->dir));
	setenv("HOME", h->dir, 1);
	snprintf(path, sizeof(path), "%s/.aws", h->dir);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(http_open(&h->http), 0);
	*state = h;
	return 0;
}

static int tear_down(void **state)
{
	static const char *const names[] = {"/.aws/credentials", "/.aws/config", "/.aws", "/token",
					    ""};
	struct home *h = *state;
	char path[128];

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		snprintf(path, sizeof(path), "%s%s", h->dir, names[i]);
		remove(path);
	}
	http_close(&h->http);
	free(h);
	return 0;
}

static void write_file(const struct home *h, const char *name, const char *text)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", h->dir, name);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static int get(struct home *h)
{
	return credentials_get(&h->c, &h->http, h->why);
}

static void the_environment_comes_first(void **state)
{
	struct home *h = *state;

	write_file(h, ".aws/credentials",
		   "[default]\naws_access_key_id=F\naws_secret_access_key=G\n");
	setenv("AWS_ACCESS_KEY_ID", "AKID", 1);
	setenv("AWS_SECRET_ACCESS_KEY", "secret", 1);
	setenv("AWS_SESSION_TOKEN", "token", 1);
	assert_int_equal(get(h), 0);
	assert_string_equal(h->c.key_id, "AKID");
	assert_string_equal(h->c.secret, "secret");
	assert_string_equal(h->c.token, "token");
	assert_string_equal(h->c.region, "us-east-1");
	/* Half of it is none. */
	unsetenv("AWS_SECRET_ACCESS_KEY");
	assert_int_equal(get(h), 0);
	assert_string_equal(h->c.key_id, "F");
	assert_string_equal(h->c.token, "");
}

static void profiles_of_both_files(void **state)
{
	struct home *h = *state;

	write_file(
	    h, ".aws/credentials",
	    "# mine\n[ default ]\r\naws_access_key_id = A = B \n  aws_access_key_id=indented\n"
	    "aws_secret_access_key\t=\tC#;\n[other]\naws_access_key_id=D\n"
	    "aws_secret_access_key=E\naws_session_token=T\n");
	write_file(h, ".aws/config",
		   "[default]\nregion = eu-west-1\n[profile other]\nregion=eu-north-1\n"
		   "[profile  third]\naws_access_key_id=X\naws_secret_access_key=Y\n"
		   "region=../../evil\n[profile process]\ncredential_process = /bin/false\n");
	assert_int_equal(get(h), 0);
	assert_string_equal(h->c.key_id, "A = B");
	assert_string_equal(h->c.secret, "C#;");
	assert_string_equal(h->c.region, "eu-west-1");
	setenv("AWS_PROFILE", "other", 1);
	assert_int_equal(get(h), 0);
	assert_string_equal(h->c.key_id, "D");
	assert_string_equal(h->c.token, "T");
	assert_string_equal(h->c.region, "eu-north-1");
	setenv("AWS_REGION", "sa-east-1", 1);
	assert_int_equal(get(h), 0);
	assert_string_equal(h->c.region, "sa-east-1");
	unsetenv("AWS_REGION");
	setenv("AWS_PROFILE", "third", 1);
	assert_int_equal(get(h), 0);
	assert_string_equal(h->c.key_id, "X");
	/* It would be part of a host's name. */
	assert_string_equal(h->c.region, "us-east-1");
	setenv("AWS_PROFILE", "process", 1);
	assert_int_equal(get(h), -EINVAL);
	assert_non_null(strstr(h->why, "credential_process"));
	setenv("AWS_PROFILE", "no\nne", 1);
	assert_int_equal(get(h), -ENOENT);
	assert_non_null(strstr(h->why, "no\\nne"));
}

static void a_container_is_asked_with_its_token(void **state)
{
	struct home *h = *state;
	struct loopback server = {.answers = {ANSWER, "500 No\r\n\r\n", "200 OK\r\n\r\n{}"}};
	char url[64], got[2048], path[128];

	loopback_start(&server);
	snprintf(url, sizeof(url), "http://127.0.0.1:%d/creds?x=1", server.port);
	setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", url, 1);
	write_file(h, "token", "Bearer abc\n");
	snprintf(path, sizeof(path), "%s/token", h->dir);
	setenv("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", path, 1);
	assert_int_equal(get(h), 0);
	assert_string_equal(h->c.key_id, "ASIA1");
	assert_string_equal(h->c.secret, "se/cret");
	assert_string_equal(h->c.token, "tok");
	assert_int_equal(h->c.expires, 1796047200);
	/* One that has trouble is asked again, one that talks nonsense is not. */
	assert_int_equal(get(h), -EAGAIN);
	assert_int_equal(get(h), -EINVAL);
	loopback_stop(&server);
	assert_string_equal(loopback_header(&server, 0, "Authorization", got), "Bearer abc");
	assert_int_equal(strncmp(server.requests[0], "GET /creds?x=1 HTTP/1.1\r\n", 25), 0);
	assert_int_equal(get(h), -EAGAIN);
}

static void a_token_does_not_go_to_strangers_in_the_clear(void **state)
{
	static const char *const bad[] = {"http://203.0.113.1/",
					  "http://127.0.0.1.example.com/",
					  "http://127.0.0.1@example.com/",
					  "http://127.0.0.1:80@example.com/",
					  "ftp://127.0.0.1/",
					  "file:///etc/passwd"};
	struct home *h = *state;

	setenv("AWS_CONTAINER_AUTHORIZATION_TOKEN", "abc", 1);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", bad[i], 1);
		assert_int_equal(get(h), -EINVAL);
	}
	/* Nor anything else in its header. */
	setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://127.0.0.1:1/", 1);
	setenv("AWS_CONTAINER_AUTHORIZATION_TOKEN", "abc\r\nX: y", 1);
	assert_int_equal(get(h), -EINVAL);
}

static void an_instance_is_asked_as_version_2_has_it(void **state)
{
	struct home *h = *state;
	struct loopback server = {.answers = {"200 OK\r\n\r\nsess", "200 OK\r\n\r\nrole-1\n",
					      ANSWER, "403 No\r\n\r\n", "200 OK\r\n\r\nsess",
					      "404 Not\r\n\r\n"}};
	char url[64], got[2048];

	loopback_start(&server);
	snprintf(url, sizeof(url), "http://127.0.0.1:%d/", server.port);
	setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", url, 1);
	unsetenv("AWS_EC2_METADATA_DISABLED");
	assert_int_equal(get(h), 0);
	assert_string_equal(h->c.key_id, "ASIA1");
	assert_string_equal(h->c.token, "tok");
	/* No version 2, no role: none. */
	assert_int_equal(get(h), -ENOENT);
	assert_int_equal(get(h), -ENOENT);
	loopback_stop(&server);
	assert_int_equal(strncmp(server.requests[0], "PUT /latest/api/token ", 22), 0);
	assert_string_equal(
	    loopback_header(&server, 0, "X-aws-ec2-metadata-token-ttl-seconds", got), "300");
	assert_int_equal(
	    strncmp(server.requests[1], "GET /latest/meta-data/iam/security-credentials/ ", 48), 0);
	assert_int_equal(strncmp(server.requests[2],
				 "GET /latest/meta-data/iam/security-credentials/role-1 ", 54),
			 0);
	assert_string_equal(loopback_header(&server, 2, "X-aws-ec2-metadata-token", got), "sess");
}

static void none_is_said(void **state)
{
	struct home *h = *state;

	assert_int_equal(get(h), -ENOENT);
	assert_non_null(strstr(h->why, "AWS_ACCESS_KEY_ID"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(the_environment_comes_first, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(profiles_of_both_files, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(a_container_is_asked_with_its_token, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(a_token_does_not_go_to_strangers_in_the_clear, set_up,
					    tear_down),
	    cmocka_unit_test_setup_teardown(an_instance_is_asked_as_version_2_has_it, set_up,
					    tear_down),
	    cmocka_unit_test_setup_teardown(none_is_said, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
