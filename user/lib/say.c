/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "lib/say.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/text.h"

#define MESSAGE_MAX (PATH_MAX + 1024) /* a path of any length must not hide the rest */
/* Room for every byte escaped, and the newline. */
#define LINE_MAX_BYTES (MESSAGE_MAX * TEXT_ESCAPED_MAX + 64)

/* -q holds for the whole program, and messages come from places that know no options. */
static atomic_int quiet;
/* The same holds for where they go. */
static struct {
	pthread_mutex_t lock;
	say_fn fn;
	void *ctx;
} to = {.lock = PTHREAD_MUTEX_INITIALIZER};

void say_quiet(int on)
{
	atomic_store(&quiet, on);
}

void say_to(say_fn fn, void *ctx)
{
	pthread_mutex_lock(&to.lock);
	to.fn = fn;
	to.ctx = ctx;
	pthread_mutex_unlock(&to.lock);
}

static bool given_away(enum say_kind kind, const char *line, size_t len)
{
	bool away;

	pthread_mutex_lock(&to.lock);
	away = to.fn;
	if (away)
		to.fn(to.ctx, kind, line, len);
	pthread_mutex_unlock(&to.lock);
	return away;
}

static void write_all(const char *s, size_t len)
{
	while (len) {
		ssize_t n = write(STDERR_FILENO, s, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return; /* nobody left to tell */
		s += n;
		len -= (size_t)n;
	}
}

/*
 * One write, so that lines of threads and of the traced program do not mix. Callers escape what
 * comes from outside; controls that slipped through are made harmless here all the same.
 */
static void __attribute__((format(printf, 3, 0)))
say_line(enum say_kind kind, const char *prefix, const char *fmt, va_list ap)
{
	char text[MESSAGE_MAX], line[LINE_MAX_BYTES];
	unsigned flags = TEXT_KEEP_BACKSLASH | (text_utf8_locale() ? 0 : TEXT_ASCII);
	int saved = errno, n = vsnprintf(text, sizeof(text), fmt, ap);
	size_t len, room = sizeof(line) - 2, have = n < 0 ? 0 : (size_t)n;

	if (have >= sizeof(text)) {
		have = sizeof(text) - 1;
		memcpy(text + have - 3, "...", 3);
	}
	len = strlen(prefix);
	memcpy(line, prefix, len);
	text_escape_as(line + len, room - len, text, have, flags);
	len += strlen(line + len);
	line[len++] = '\n';
	if (!given_away(kind, line, len))
		write_all(line, len);
	errno = saved;
}

void say_error(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say_line(SAY_ERROR, "peakphase: error: ", fmt, ap);
	va_end(ap);
}

void say_remedy(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say_line(SAY_REMEDY, text_utf8_locale() ? "  → " : "  -> ", fmt, ap);
	va_end(ap);
}

void say_warning(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say_line(SAY_WARNING, "peakphase: warning: ", fmt, ap);
	va_end(ap);
}

void say_info(const char *fmt, ...)
{
	va_list ap;

	if (atomic_load(&quiet))
		return;
	va_start(ap, fmt);
	say_line(SAY_INFO, "peakphase: ", fmt, ap);
	va_end(ap);
}
