/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "view/out.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/text.h"

#define BUF_SIZE (64 * 1024)

int out_open(struct out *o, FILE *f)
{
	*o = (struct out){.f = f, .buf = malloc(BUF_SIZE)};
	return o->buf ? 0 : -ENOMEM;
}

static void flush(struct out *o)
{
	if (!o->err && o->len && fwrite(o->buf, 1, o->len, o->f) != o->len)
		o->err = errno ? -errno : -EIO;
	o->len = 0;
}

int out_close(struct out *o)
{
	flush(o);
	if (!o->err && fflush(o->f))
		o->err = errno ? -errno : -EIO;
	free(o->buf);
	o->buf = NULL;
	return o->err;
}

void out_bytes(struct out *o, const char *s, size_t len)
{
	while (len > BUF_SIZE - o->len) {
		size_t n = BUF_SIZE - o->len;

		memcpy(o->buf + o->len, s, n);
		o->len += n;
		flush(o);
		s += n;
		len -= n;
	}
	memcpy(o->buf + o->len, s, len);
	o->len += len;
}

void out_str(struct out *o, const char *s)
{
	out_bytes(o, s, strlen(s));
}

void out_u64(struct out *o, uint64_t n)
{
	char s[24];

	out_bytes(o, s, text_u64(s, n));
}

void out_mib(struct out *o, uint64_t bytes)
{
	char s[24];

	out_str(o, text_mib(s, bytes > INT64_MAX ? INT64_MAX : (int64_t)bytes));
}

void out_spaces(struct out *o, size_t n)
{
	static const char spaces[] =
	    "                                                                ";

	for (size_t k; n; n -= k) {
		k = n < sizeof(spaces) - 1 ? n : sizeof(spaces) - 1;
		out_bytes(o, spaces, k);
	}
}

void out_right(struct out *o, const char *s, size_t len, size_t width)
{
	out_spaces(o, len < width ? width - len : 1);
	out_bytes(o, s, len);
}
