/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "view/label.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const char *view_implied_name(enum phase_kind kind)
{
	switch (kind) {
	case PH_STARTUP:
		return "(startup)";
	case PH_BETWEEN:
		return "(between)";
	case PH_AFTER:
		return "(after)";
	case PH_CHECKPOINT:
	case PH_SPAN:
		break;
	}
	return NULL;
}

static size_t put(char *out, const char *s)
{
	size_t len = strlen(s);

	memcpy(out, s, len + 1);
	return len;
}

/* A character that the cut has halved is left to the hash, not shown as bytes that are no text. */
size_t view_whole_chars(const char *bytes, size_t len)
{
	uint32_t cp;

	for (size_t back = 1; back <= 3 && back <= len; back++) {
		unsigned char b = (unsigned char)bytes[len - back];

		if ((b & 0xc0) == 0x80)
			continue;
		return b >= 0xc2 && b <= 0xf4 && !text_utf8_next(bytes + len - back, back, &cp)
			   ? len - back
			   : len;
	}
	return len;
}

static bool needs_quotes(const struct ev_label *l)
{
	if (l->flags & (PP_LABEL_NULL | PP_LABEL_UNREADABLE))
		return l->len && (l->bytes[0] == '(' || l->bytes[0] == '"');
	return !l->len || l->bytes[0] == '(' || l->bytes[0] == '"';
}

size_t view_label(char out[static VIEW_LABEL_MAX], const struct phase *ph, unsigned flags)
{
	const char *implied = view_implied_name(ph->kind);
	const char *ellipsis = flags & TEXT_ASCII ? "..." : "…";
	const struct ev_label *l = &ph->label;
	size_t n = 0, len = l->len > PP_LABEL_MAX ? PP_LABEL_MAX : l->len;
	bool quotes;

	if (implied)
		return put(out, implied);
	quotes = needs_quotes(l);
	if (l->flags & PP_LABEL_CUT)
		len = view_whole_chars(l->bytes, len);
	if (quotes)
		out[n++] = '"';
	n += text_escape_as(out + n, PP_LABEL_MAX * TEXT_ESCAPED_MAX + 1, l->bytes, len, flags);
	if (quotes)
		out[n++] = '"';
	out[n] = '\0';
	if (l->flags & PP_LABEL_NULL)
		return n + put(out + n, "(null)");
	if (l->flags & PP_LABEL_UNREADABLE) {
		if (n)
			n += put(out + n, ellipsis);
		return n + put(out + n, "(unreadable)");
	}
	if (l->flags & PP_LABEL_CUT) {
		n += put(out + n, ellipsis);
		n += (size_t)sprintf(out + n, "#%08" PRIx32, (uint32_t)l->hash);
	}
	return n;
}

size_t view_command(char out[static VIEW_COMMAND_MAX], const struct process *p, unsigned flags)
{
	char args[PP_ARGS_MAX];
	size_t len = p->args_len > PP_ARGS_MAX ? PP_ARGS_MAX : p->args_len, n = 0;
	bool cut = len == PP_ARGS_MAX && p->args[len - 1] != '\0';

	while (len && !p->args[len - 1])
		len--;
	if (!len) {
		out[n++] = '[';
		n += text_escape_as(out + n, VIEW_COMMAND_MAX - 2, p->comm,
				    strnlen(p->comm, sizeof(p->comm)), flags);
		out[n++] = ']';
		out[n] = '\0';
		return n;
	}
	for (size_t i = 0; i < len; i++)
		args[i] = p->args[i] ? p->args[i] : ' ';
	if (cut)
		len = view_whole_chars(args, len);
	n = text_escape_as(out, VIEW_COMMAND_MAX - 8, args, len, flags);
	if (cut)
		n += put(out + n, flags & TEXT_ASCII ? "..." : "…");
	return n;
}

char *view_signal(char out[static 40], uint32_t sig)
{
	const char *name = sigabbrev_np((int)sig);

	if (name)
		snprintf(out, 40, "signal %" PRIu32 " (SIG%s)", sig, name);
	else
		snprintf(out, 40, "signal %" PRIu32, sig);
	return out;
}

char *view_exit(char out[static 64], const struct process *p)
{
	char sig[40];

	switch (p->exit) {
	case PX_EXIT:
		snprintf(out, 64, "exit status %" PRIu32, p->status);
		break;
	case PX_SIGNAL:
		snprintf(out, 64, "killed by %s", view_signal(sig, p->status));
		break;
	case PX_OOM:
		strcpy(out, "killed by the kernel's OOM killer");
		break;
	case PX_EXEC:
		strcpy(out, "ended by exec");
		break;
	case PX_RUNNING:
		strcpy(out, "still running");
		break;
	}
	return out;
}
