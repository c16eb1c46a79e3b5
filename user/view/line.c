/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "view/line.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *ended_text(enum phase_ended by)
{
	switch (by) {
	case PH_BY_EXIT:
		return ", open at exit";
	case PH_BY_EXEC:
		return ", ended by exec";
	case PH_BY_SIGNAL:
		return ", open when killed";
	case PH_BY_OOM:
		return ", open at the OOM kill";
	case PH_BY_TRACE:
		return ", open when the tracing ended";
	case PH_BY_MARK:
	case PH_BY_END:
		break;
	}
	return "";
}

/* "(after)" and the like end with their process by nature: nobody left them open. */
static bool left_open(const struct phase *ph)
{
	return !view_implied_name(ph->kind) ||
	       (ph->ended_by != PH_BY_EXIT && ph->ended_by != PH_BY_EXEC);
}

/* " ±2.0" before the unit, " (3 marks lost)" behind it. */
static void sureness(char bound[32], char lost[64], const struct process *p, const struct phase *ph,
		     unsigned flags)
{
	char mib[24];

	bound[0] = lost[0] = '\0';
	if (p->error_bytes)
		snprintf(bound, 32, " %s%s", flags & LINE_ASCII ? "+-" : "±",
			 text_mib(mib, (int64_t)p->error_bytes));
	if (ph->lost)
		snprintf(lost, 64, " (%" PRIu32 " mark%s lost)", ph->lost,
			 ph->lost == 1 ? "" : "s");
	else if (!ph->exact && !p->error_bytes)
		strcpy(lost, " (inexact)");
}

static char *mib(char out[static 24], uint64_t bytes)
{
	return text_mib(out, bytes > INT64_MAX ? INT64_MAX : (int64_t)bytes);
}

size_t line_format(char out[static LINE_TEXT_MAX], const struct process *p, const struct phase *ph,
		   unsigned flags)
{
	char label[VIEW_LABEL_MAX], bound[32], lost[64], peak[24], grew[24], kept[24], now[24];
	char time[24], pid[24] = "";
	uint64_t ns = ph->end_ns > ph->start_ns ? ph->end_ns - ph->start_ns : 0;
	int n;

	view_label(label, ph, flags & TEXT_ASCII);
	sureness(bound, lost, p, ph, flags);
	if (flags & LINE_PID)
		snprintf(pid, sizeof(pid), "  pid %" PRIu32, p->pid);
	n = snprintf(out, LINE_TEXT_MAX,
		     "peak RSS [%s]: ~%s%s MB%s  (grew %s, kept %s, now %s; %s%s)%s\n", label,
		     mib(peak, ph->peak.bytes), bound, lost,
		     ph->grew_bytes == EV_NONE ? "-" : mib(grew, ph->grew_bytes),
		     text_mib(kept, phase_kept(ph)), mib(now, ph->end_bytes),
		     text_duration(time, ns), left_open(ph) ? ended_text(ph->ended_by) : "", pid);
	return (size_t)n < LINE_TEXT_MAX ? (size_t)n : LINE_TEXT_MAX - 1;
}
