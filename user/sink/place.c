/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sink/place.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/say.h"
#include "lib/text.h"
#include "view/label.h"

#define HASH_CHARS 17 /* "~" and 16 digits */

static int refuse(const char *text, const char *why, const char *remedy)
{
	char shown[256];

	text_escape(shown, sizeof(shown), text, strlen(text));
	say_error("sink %s: %s", shown, why);
	say_remedy("%s", remedy);
	return -EINVAL;
}

static bool bucket_is_good(const char *name, size_t len)
{
	if (len < 3 || len > 63)
		return false;
	for (size_t i = 0; i < len; i++) {
		bool plain =
		    (name[i] >= 'a' && name[i] <= 'z') || (name[i] >= '0' && name[i] <= '9');
		bool inner = i && i + 1 < len && (name[i] == '-' || name[i] == '.');

		if (!plain && !inner)
			return false;
	}
	return true;
}

/* Parts like ".." mean something to those who read the bucket into a folder. */
static bool prefix_is_good(const char *prefix)
{
	if (!text_is_utf8(prefix, strlen(prefix)))
		return false;
	for (const char *s = prefix; *s;) {
		size_t len = strcspn(s, "/");

		if (!len || (len <= 2 && !strncmp(s, "..", len)))
			return false;
		for (size_t i = 0; i < len; i++)
			if ((unsigned char)s[i] < 0x20 || s[i] == 0x7f)
				return false;
		s += len + (s[len] == '/');
	}
	return true;
}

int place_parse(struct place *p, const char *text)
{
	const char *name, *rest;
	size_t len;

	*p = (struct place){.kind = PLACE_DIR, .text = text};
	if (!*text)
		return refuse(text, "no place is named", "a folder, or s3://BUCKET/PREFIX");
	if (strncmp(text, "s3://", 5) != 0)
		return strstr(text, "://")
			   ? refuse(
				 text, "no such kind of place",
				 "a folder, or s3://BUCKET/PREFIX; another server than Amazon's is named by AWS_ENDPOINT_URL")
			   : 0;
	p->kind = PLACE_S3;
	name = text + 5;
	len = strcspn(name, "/");
	if (!bucket_is_good(name, len))
		return refuse(text, "that is no name of a bucket",
			      "3 to 63 small letters, digits, dots and dashes: s3://BUCKET/PREFIX");
	memcpy(p->bucket, name, len);
	rest = name + len + strspn(name + len, "/");
	len = strlen(rest);
	while (len && rest[len - 1] == '/')
		len--;
	if (len > PLACE_PREFIX_MAX)
		return refuse(text, "the prefix is too long", "at most 512 bytes");
	memcpy(p->prefix, rest, len);
	if (!prefix_is_good(p->prefix))
		return refuse(text, "the prefix has a part that is empty, dots or not text",
			      "s3://BUCKET/PREFIX, such as s3://logs/peakphase/run-1");
	return 0;
}

/* Not in front: dots and dashes mislead, and "(" is for phases that no mark named. */
static bool is_plain(unsigned char c, bool first)
{
	if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'))
		return true;
	return c && strchr(first ? "_" : "_-.:=@,()", c);
}

static void escape(char *out, const char *bytes, size_t len, uint64_t hash, bool cut)
{
	char whole[3 * (PP_LABEL_MAX + 1) + 1];
	size_t n = 0, at = 0, room = PLACE_LABEL_MAX;

	if (len > PP_LABEL_MAX) {
		len = PP_LABEL_MAX;
		cut = true;
	}
	for (size_t i = 0; i < len; i++)
		n += (size_t)sprintf(whole + n,
				     is_plain((unsigned char)bytes[i], !i) ? "%c" : "%%%02X",
				     (unsigned char)bytes[i]);
	whole[n] = '\0';
	if (n > room || cut)
		room -= HASH_CHARS;
	while (at < n) {
		size_t step = whole[at] == '%' ? 3 : 1;

		if (at + step > room)
			break;
		at += step;
	}
	memcpy(out, whole, at);
	out[at] = '\0';
	if (at < n || cut)
		sprintf(out + at, "~%016llx", (unsigned long long)hash);
}

void place_label(char out[static PLACE_LABEL_MAX + 1], const struct phase *ph)
{
	const char *implied = view_implied_name(ph->kind);

	if (implied) {
		strcpy(out, implied);
		return;
	}
	escape(out, ph->label.bytes, ph->label.len, ph->label.hash, ph->label.flags != 0);
}

void place_file(char out[static PLACE_LABEL_MAX + 1], const char *path)
{
	const char *base = strrchr(path, '/');

	base = base ? base + 1 : path;
	escape(out, base, strlen(base), text_hash(base, strlen(base)), false);
}
