/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A process in the list: "22977 (1 web-1) python3 etl.py  exit status 3". Where there is little
 * room its arguments go first, then words of its end; who it was stays.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "view/container.h"
#include "view/top/view.h"

#define ARGS_MIN 8 /* columns; less of them tells nothing */
#define HOW_MAX 64

static size_t args_len(const struct process *p)
{
	return p->args_len < PP_ARGS_MAX ? p->args_len : PP_ARGS_MAX;
}

/* argv[0] without its folder; what a program has made a sentence of keeps what it says. */
static const char *base_name(const struct process *p, size_t *len)
{
	size_t n = strnlen(p->args, args_len(p)), from = 0;

	for (size_t i = 0; i + 1 < n && p->args[i] != ' '; i++)
		if (p->args[i] == '/')
			from = i + 1;
	*len = n - from;
	return p->args + from;
}

/* " (1 web-1)": its pid where it lives, and where that is. */
static void inside(const struct top_view *v, const struct board_process *bp, char *out, size_t cap)
{
	char in[VIEW_CONTAINER_MAX] = "";
	const struct cgroup *c = board_cgroup_of(v->b, bp->p.cgroup_id);
	const struct process *p = &bp->p;

	out[0] = '\0';
	if (c)
		view_container_name(in, c, v->text);
	if (p->ns_pid && (in[0] || p->ns_pid != p->pid))
		snprintf(out, cap, " (%" PRIu32 "%s%s)", p->ns_pid, in[0] ? " " : "", in);
}

static void program(const struct top_view *v, const struct board_process *bp,
		    char out[static VIEW_COMMAND_MAX])
{
	struct process p = bp->p;
	size_t len;

	if (p.args_len) {
		const char *base = base_name(&bp->p, &len);

		memmove(p.args, base, len);
		p.args_len = (uint32_t)len;
	}
	view_command(out, &p, v->text);
}

/* " etl.py --all" */
static void arguments(const struct top_view *v, const struct board_process *bp,
		      char out[static VIEW_COMMAND_MAX + 8])
{
	struct process p = bp->p;
	size_t len = args_len(&p), first = strnlen(p.args, len) + 1;
	bool cut = len == PP_ARGS_MAX && p.args[len - 1];

	while (len > first && !p.args[len - 1])
		len--;
	out[0] = '\0';
	if (first >= len)
		return;
	p.args_len = (uint32_t)(len - first);
	memmove(p.args, p.args + first, p.args_len);
	out[0] = ' ';
	view_command(out + 1, &p, v->text);
	if (cut)
		strcat(out, v->g->ascii ? "..." : "…");
}

/* "exit 3", "SIGKILL" */
static void how_in_short(const struct process *p, char out[static HOW_MAX])
{
	const char *name = p->exit == PX_SIGNAL ? sigabbrev_np((int)p->status) : NULL;

	if (name)
		snprintf(out, HOW_MAX, "  SIG%s", name);
	else if (p->exit == PX_OOM)
		strcpy(out, "  OOM kill");
	else if (p->exit == PX_EXEC)
		strcpy(out, "  exec");
	else
		snprintf(out, HOW_MAX, "  %s %" PRIu32, p->exit == PX_EXIT ? "exit" : "signal",
			 p->status);
}

static bool has_ended(const struct top_view *v, const struct board_process *bp)
{
	return bp->ended && v->at >= bp->last_ns && bp->p.exit != PX_RUNNING;
}

enum cell_style top_process_style(const struct top_view *v, const struct board_process *bp)
{
	if (!has_ended(v, bp))
		return CELL_STRONG;
	return bp->p.exit == PX_OOM || bp->p.exit == PX_SIGNAL ? CELL_BAD : CELL_FAINT;
}

static int columns(const char *a, const char *b)
{
	return (int)(text_columns(a) + text_columns(b));
}

void top_draw_process(struct top_view *v, const struct board_process *bp, int row, int col,
		      int width, enum cell_style style)
{
	char in[VIEW_CONTAINER_MAX + 24], command[VIEW_COMMAND_MAX],
	    name[sizeof(in) + sizeof(command) + 16], args[VIEW_COMMAND_MAX + 8], how[HOW_MAX] = "",
										 text[HOW_MAX];
	int room, used;

	inside(v, bp, in, sizeof(in));
	program(v, bp, command);
	arguments(v, bp, args);
	snprintf(name, sizeof(name), "%" PRIu32 "%s %s", bp->p.pid, in, command);
	if (has_ended(v, bp)) {
		snprintf(how, sizeof(how), "  %.*s", HOW_MAX - 3, view_exit(text, &bp->p));
		if (columns(name, how) > width)
			how_in_short(&bp->p, how);
		/* That all went well: that nothing is held now says as much. */
		if (columns(name, how) > width && bp->p.exit == PX_EXIT && !bp->p.status)
			how[0] = '\0';
	}
	if (columns(name, how) > width)
		snprintf(name, sizeof(name), "%" PRIu32 " %s", bp->p.pid, command);
	room = width - (int)text_columns(how);
	used = cells_fit(v->g, row, col, room > 0 ? room : 0, style, name);
	if (room - used >= ARGS_MIN || room - used >= (int)text_columns(args))
		used += cells_fit(v->g, row, col + used, room - used, style, args);
	cells_put(v->g, row, col + used, width - used, style, how);
}
