/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a phase is called, kept for longer than the phase: the key of tables by label. A checkpoint
 * and a span of one label have one name; no label is the name of an implied phase.
 */
#ifndef PEAKPHASE_MODEL_NAME_H
#define PEAKPHASE_MODEL_NAME_H

#include <string.h>

#include "model/phase.h"

/* Without padding: its first name_size() bytes are the key. */
struct name {
	uint64_t hash;	  /* of a label that was cut; else 0 */
	uint32_t implied; /* enum phase_kind of an implied phase; 0: it has a label */
	uint16_t len, flags;
	char bytes[PP_LABEL_MAX];
};

static inline size_t name_size(const struct name *n)
{
	return offsetof(struct name, bytes) + n->len;
}

static inline void name_of(struct name *n, const struct phase *ph)
{
	const struct ev_label *l = &ph->label;

	n->hash = n->len = n->flags = 0;
	n->implied = ph->kind >= PH_STARTUP ? ph->kind : 0;
	if (n->implied)
		return;
	n->hash = l->flags & PP_LABEL_CUT ? l->hash : 0;
	n->flags = l->flags;
	n->len = l->len < PP_LABEL_MAX ? l->len : PP_LABEL_MAX;
	memcpy(n->bytes, l->bytes, n->len);
}

/* Kind and label of a phase of that name, for who prints it; all else is 0. */
static inline void name_phase(struct phase *ph, const struct name *n)
{
	memset(ph, 0, sizeof(*ph));
	ph->kind = n->implied ? (enum phase_kind)n->implied : PH_SPAN;
	ph->label.len = n->len;
	ph->label.flags = n->flags;
	ph->label.hash = n->hash;
	memcpy(ph->label.bytes, n->bytes, n->len);
}

#endif
