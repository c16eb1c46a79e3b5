/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The shared files: ~/.aws/credentials and ~/.aws/config. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/text.h"
#include "sink/credentials.h"

static char *trim(char *s)
{
	size_t len;

	s += strspn(s, " \t");
	len = strlen(s);
	while (len && strchr(" \t\r\n", s[len - 1]))
		s[--len] = '\0';
	return s;
}

/* "[profile  name ]" is "profile name". */
static bool is_section(char *line, const char *section)
{
	char *end = strchr(line, ']');
	size_t word = strcspn(section, " ");

	if (!end)
		return false;
	*end = '\0';
	line = trim(line + 1);
	if (!section[word])
		return !strcmp(line, section);
	return !strncmp(line, section, word) && strchr(" \t", line[word]) && line[word] &&
	       !strcmp(trim(line + word), section + word + 1);
}

char *credentials_ini(const char *path, const char *section, const char *key)
{
	FILE *f = fopen(path, "re");
	char *line = NULL, *found = NULL;
	bool inside = false;
	size_t cap = 0;

	if (!f)
		return NULL;
	while (getline(&line, &cap, f) > 0) {
		char *s = trim(line), *value;

		/* What is indented belongs to the line before it. */
		if (*s == '#' || *s == ';' || s != line)
			continue;
		if (*s == '[') {
			inside = is_section(s, section);
			continue;
		}
		value = inside ? strchr(s, '=') : NULL;
		if (!value)
			continue;
		*value++ = '\0';
		if (strcmp(trim(s), key) != 0)
			continue;
		free(found); /* the last one counts */
		found = strdup(trim(value));
	}
	free(line);
	fclose(f);
	return found;
}

/* A file of the two, by its variable or in the home directory; to be freed. */
static char *file_name(const char *variable, const char *name)
{
	const char *given = getenv(variable), *home = getenv("HOME");
	char *path;

	if (given && *given)
		return strdup(given);
	return home && asprintf(&path, "%s/.aws/%s", home, name) >= 0 ? path : NULL;
}

static const char *profile_name(void)
{
	const char *name = getenv("AWS_PROFILE");

	if (!name || !*name)
		name = getenv("AWS_DEFAULT_PROFILE");
	return name && *name ? name : "default";
}

/* Of the profile in force; to be freed. */
static char *value_of(const char *key)
{
	char *credentials = file_name("AWS_SHARED_CREDENTIALS_FILE", "credentials");
	char *config = file_name("AWS_CONFIG_FILE", "config");
	const char *profile = profile_name();
	char *value = NULL, *section = NULL;

	if (credentials)
		value = credentials_ini(credentials, profile, key);
	if (!value && config && !strcmp(profile, "default"))
		value = credentials_ini(config, profile, key);
	if (!value && config && asprintf(&section, "profile %s", profile) >= 0) {
		value = credentials_ini(config, section, key);
		free(section);
	}
	free(credentials);
	free(config);
	return value;
}

void credentials_region(char out[static 32])
{
	static const char *const variables[] = {"AWS_REGION", "AWS_DEFAULT_REGION"};
	char *value = NULL;

	for (int i = 0; i < 2 && !value; i++) {
		const char *given = getenv(variables[i]);

		value = given && *given ? strdup(given) : NULL;
	}
	if (!value)
		value = value_of("region");
	/* It becomes part of a host's name. */
	if (!value || !*value || strlen(value) > 31 ||
	    value[strspn(value, "abcdefghijklmnopqrstuvwxyz0123456789-")])
		strcpy(out, "us-east-1");
	else
		strcpy(out, value);
	free(value);
}

int credentials_from_files(struct credentials *c, char *why)
{
	static const char *const others[] = {"credential_process", "sso_session", "sso_account_id",
					     "role_arn"};
	char *id = value_of("aws_access_key_id"), *secret = value_of("aws_secret_access_key");
	char *token = value_of("aws_session_token"), *other = NULL, shown[160];
	int err = 1;

	if (id && *id && secret && *secret) {
		int a = snprintf(c->key_id, sizeof(c->key_id), "%s", id);
		int b = snprintf(c->secret, sizeof(c->secret), "%s", secret);
		int d = snprintf(c->token, sizeof(c->token), "%s", token ? token : "");

		c->from = "the shared files";
		err = a >= (int)sizeof(c->key_id) || b >= (int)sizeof(c->secret) ||
			      d >= (int)sizeof(c->token)
			  ? -EINVAL
			  : 0;
		if (err)
			snprintf(why, CREDENTIALS_WHY_MAX,
				 "the credentials in the shared files are too long");
	}
	text_escape(shown, sizeof(shown), profile_name(), strlen(profile_name()));
	for (size_t i = 0; err > 0 && i < sizeof(others) / sizeof(*others); i++) {
		other = value_of(others[i]);
		if (other) {
			snprintf(
			    why, CREDENTIALS_WHY_MAX,
			    "the profile %s has no keys but %s, which peakphase does not follow: `aws configure export-credentials --format env` gives keys",
			    shown, others[i]);
			err = -EINVAL;
		}
		free(other);
	}
	if (err > 0 && strcmp(profile_name(), "default") != 0) {
		snprintf(why, CREDENTIALS_WHY_MAX, "the profile %s has no keys in the shared files",
			 shown);
		err = -ENOENT;
	}
	free(id);
	free(secret);
	free(token);
	return err;
}
