/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Values of columns.h as JSON and as text. */
#include "view/columns.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "view/container.h"

const char *where_name(const struct phase_where *w, size_t *len)
{
	static const char *const names[PP_MAPPING_MAX] = {
	    [PP_MAP_UNKNOWN] = "unknown",     [PP_MAP_HEAP] = "heap",
	    [PP_MAP_STACK] = "stack",	      [PP_MAP_ANON] = "anonymous",
	    [PP_MAP_SHMEM] = "shared memory", [PP_MAP_FILE] = "file",
	};
	const char *name = w->mapping < PP_MAPPING_MAX ? names[w->mapping] : names[0];

	if (w->name[0]) {
		*len = strnlen(w->name, sizeof(w->name));
		return w->name;
	}
	*len = strlen(name);
	return name;
}

static const char *where_kind(const struct phase_where *w)
{
	static const char *const kinds[PP_MAPPING_MAX] = {
	    [PP_MAP_UNKNOWN] = "unknown", [PP_MAP_HEAP] = "heap",   [PP_MAP_STACK] = "stack",
	    [PP_MAP_ANON] = "anon",	  [PP_MAP_SHMEM] = "shmem", [PP_MAP_FILE] = "file",
	};

	return kinds[w->mapping < PP_MAPPING_MAX ? w->mapping : PP_MAP_UNKNOWN];
}

static void where_json(struct jw *j, const struct phase *ph)
{
	uint64_t hits = 0;

	for (uint32_t i = 0; i < ph->nwhere; i++)
		hits += ph->where[i].hits;
	jw_begin_array(j);
	for (uint32_t i = 0; i < ph->nwhere; i++) {
		const struct phase_where *w = &ph->where[i];
		size_t len;
		const char *name = where_name(w, &len);

		jw_begin_object(j);
		jw_key(j, "mapping");
		jw_string(j, name, len);
		jw_key(j, "kind");
		jw_text(j, where_kind(w));
		jw_key(j, "share");
		jw_ratio(j, w->hits, hits);
		jw_key(j, "hits");
		jw_u64(j, w->hits);
		jw_key(j, "bytes_est");
		if (ph->grew_bytes == EV_NONE)
			jw_null(j);
		else
			jw_u64(j,
			       hits ? (uint64_t)((unsigned __int128)ph->grew_bytes * w->hits / hits)
				    : 0);
		jw_end_object(j);
	}
	jw_end_array(j);
}

void members_json(struct jw *j, const struct ev_members *m)
{
	static const struct {
		const char *name;
		enum pp_member member;
	} members[] = {
	    {"file", PP_FILE}, {"anon", PP_ANON}, {"shmem", PP_SHMEM}, {"swap", PP_SWAP}};

	jw_inline(j);
	jw_begin_object(j);
	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
		jw_key(j, members[i].name);
		jw_u64(j, m->m[members[i].member]);
	}
	jw_end_object(j);
}

void label_json(struct jw *j, const struct phase *ph)
{
	const struct ev_label *l = &ph->label;
	const char *implied = view_implied_name(ph->kind);
	char s[PP_LABEL_MAX + 32];
	size_t len = l->len > PP_LABEL_MAX ? PP_LABEL_MAX : l->len;

	if (implied) {
		jw_text(j, implied);
		return;
	}
	if (l->flags & PP_LABEL_CUT)
		len = view_whole_chars(l->bytes, len);
	memcpy(s, l->bytes, len);
	if (l->flags & PP_LABEL_NULL)
		len += (size_t)sprintf(s + len, "(null)");
	else if (l->flags & PP_LABEL_UNREADABLE)
		len += (size_t)sprintf(s + len, "%s(unreadable)", len ? "…" : "");
	else if (l->flags & PP_LABEL_CUT)
		len += (size_t)sprintf(s + len, "…#%08" PRIx32, (uint32_t)l->hash);
	jw_string(j, s, len);
}

static void command_json(struct jw *j, const struct process *p)
{
	char args[PP_ARGS_MAX];
	size_t len = p->args_len > PP_ARGS_MAX ? PP_ARGS_MAX : p->args_len;

	while (len && !p->args[len - 1])
		len--;
	if (!len) {
		jw_string(j, p->comm, strnlen(p->comm, sizeof(p->comm)));
		return;
	}
	for (size_t i = 0; i < len; i++)
		args[i] = p->args[i] ? p->args[i] : ' ';
	jw_string(j, args, len);
}

bool column_marked(const struct column *c, const struct row *r)
{
	bool marked = (c->flags & COLUMN_MARKED && !r->ph->exact) ||
		      (c->flags & COLUMN_COUNTED && phase_open(r->ph)) ||
		      (c->flags & COLUMN_MEMBERS && !r->ph->peak.members_exact);

	return marked && c->get(r).kind != VALUE_NONE;
}

void column_json(struct jw *j, const struct column *c, const struct row *r)
{
	struct value v;

	if (!c->json)
		return;
	v = c->get(r);
	if (v.kind == VALUE_NONE && c->flags & COLUMN_OPTIONAL)
		return;
	jw_key(j, c->json);
	switch (v.kind) {
	case VALUE_NONE:
		jw_null(j);
		break;
	case VALUE_U64:
		jw_u64(j, v.u);
		break;
	case VALUE_I64:
		jw_i64(j, v.i);
		break;
	case VALUE_BOOL:
		jw_bool(j, v.b);
		break;
	case VALUE_TEXT:
		jw_text(j, v.text);
		break;
	case VALUE_LABEL:
		label_json(j, r->ph);
		break;
	case VALUE_HEX:
		jw_hex(j, r->ph->label.bytes, r->ph->label.len);
		break;
	case VALUE_COMMAND:
		command_json(j, r->p);
		break;
	case VALUE_CONTAINER:
		view_container_json(j, r->cgroup);
		break;
	case VALUE_MEMBERS:
		members_json(j, v.members);
		break;
	case VALUE_WHERE:
		where_json(j, r->ph);
		break;
	}
}

static void number_text(char out[static 24], enum unit unit, uint64_t u, int64_t i)
{
	switch (unit) {
	case UNIT_BYTES:
		text_mib(out, i);
		break;
	case UNIT_DURATION:
	case UNIT_INSTANT:
		text_duration(out, u);
		break;
	case UNIT_COUNT:
		text_count(out, u);
		break;
	case UNIT_NONE:
		text_u64(out, u);
		break;
	}
}

size_t column_text(char out[static 24], const struct column *c, const struct row *r)
{
	struct value v = c->get(r);

	if (v.kind == VALUE_U64)
		number_text(out, c->unit, v.u, v.u > INT64_MAX ? INT64_MAX : (int64_t)v.u);
	else if (v.kind == VALUE_I64)
		number_text(out, c->unit, (uint64_t)v.i, v.i);
	else
		strcpy(out, "-");
	return strlen(out);
}
