#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Seeds of recording_fuzz from a small recording (with --where): whole, unfinished, and smaller still, in
# pages of 512 bytes, so that a mutation finds something. To be run again when the tables change.
set -eu
[ $# -eq 1 ] || {
	echo "usage: ${0##*/} RECORDING" >&2
	exit 2
}
out=$(dirname "$0")/recording.seeds
mkdir -p "$out"

# seed NAME STATEMENTS
seed() {
	local work
	work=$(mktemp -d)
	cp "$recording" "$work/r"
	rm -f "$out/$1"
	# What is neither read by peakphase nor needed to open it would only be in the way.
	sqlite3 -bail "$work/r" "DROP VIEW report; DROP VIEW owners; DROP VIEW labelled;
		DELETE FROM samples WHERE id NOT IN (SELECT id FROM samples ORDER BY id LIMIT 8);
		DELETE FROM faults WHERE id NOT IN (SELECT id FROM faults ORDER BY id LIMIT 8);
		DELETE FROM output WHERE id NOT IN (SELECT id FROM output ORDER BY id LIMIT 8);
		UPDATE meta SET value = '{}' WHERE key = 'options'; UPDATE meta SET value = 'x' WHERE key IN ('command', 'kernel');
		$2; PRAGMA page_size = 512; VACUUM INTO '$out/$1'"
	rm -rf "$work"
}

recording=$1
seed finished ""
seed unfinished "UPDATE meta SET value = 0 WHERE key = 'finished'; DELETE FROM phases; DELETE FROM phase_where; DELETE FROM processes"
seed empty "DELETE FROM phases; DELETE FROM phase_where; DELETE FROM processes; DELETE FROM edges; DELETE FROM bases; DELETE FROM deaths; DELETE FROM verdicts; DELETE FROM samples; DELETE FROM faults; DELETE FROM notes; DELETE FROM output"
ls -l "$out"
