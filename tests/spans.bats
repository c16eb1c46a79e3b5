#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# --span: calls of native functions as spans. The workload (spans.cc) marks nothing; it prints the
# same with a tracer and without, whatever way its functions are left.

load helpers

setup_file() {
	[ "$(uname -m)" = x86_64 ] || skip "not on this kernel: where functions end is known of x86-64"
}

S=$W/spans

# spans PATTERN STEPS...: with the functions of the workload that it means.
spans() {
	local pattern=$1
	shift
	peak_run --span "$S:$pattern" -- "$S" "$@" || return 1
	"$S" "$@" >"$T/untraced"
	diff "$T/untraced" "$OUT"
}
labels_are() { q "[l for l in labels if l[0] != '('] == [$1]"; }
# 16 pages, and what the C library keeps for itself.
PAGES=262144

@test "a spike that a function frees by its last jump: exact, and nothing of it outside" {
	spans 'etl::spike' hog:10 spike:64 hog:5 spike:32
	labels_are '"etl::spike", "etl::spike"'
	q "near(delta(phs('etl::spike')[0]), 64 * MIB, $PAGES)" "near(delta(phs('etl::spike')[1]), 32 * MIB, $PAGES)" \
		"all(near(p['kept_bytes'], 0, $PAGES) for p in phs('etl::spike'))" \
		'all(p["kind"] == "span" and p["ended_by"] == "end" for p in phs("etl::spike"))' \
		"near(ph('(startup)')['kept_bytes'] - ph('(startup)')['start_bytes'], 10 * MIB, 4 * MIB)"
}

@test "a function that ends in a jump to another: both last until that one returns" {
	spans 'etl::[kw]*' keep:20
	labels_are '"etl::keep", "etl::work"'
	q "near(ph('etl::keep')['kept_bytes'], 20 * MIB, $PAGES)" "near(ph('etl::work')['kept_bytes'], 20 * MIB, $PAGES)" \
		'ph("etl::work")["depth"] == 1' 'ph("etl::keep")["depth"] == 0'
	spans 'etl::keep' hog:1 keep:20
	q "near(ph('etl::keep')['kept_bytes'], 20 * MIB, $PAGES)"
	spans 'etl::far' far:20
	grep -q 'etl::far may end with a jump' "$ERR"
	q "near(ph('etl::far')['kept_bytes'], 0, $PAGES)" 'ph("etl::far")["ended_by"] == "end"'
}

@test "recursion: a span for each call; a jump back to the beginning is none" {
	peak_run --span "$S:etl::deep" --span "$S:again" -- "$S" deep:5 again:100
	labels_are '"etl::deep", "etl::deep", "etl::deep", "etl::deep", "etl::deep", "again"'
	q "[p['depth'] for p in phs('etl::deep')] == [0, 1, 2, 3, 4]" \
		"all(near(delta(p), 4 * (5 - i) * MIB, $PAGES) for i, p in enumerate(phs('etl::deep')))" \
		"all(near(p['kept_bytes'], 0, $PAGES) for p in phs('etl::deep'))"
	grep -q 'deep 15' "$OUT"
	# Deeper than there is room for: those calls go without, and it is said.
	peak_run -q --span "$S:etl::deep" -- "$S" deep:270
	q 'len(phs("etl::deep")) == 256' 'r["losses"]["marks"] == 14' 'max(p["depth"] for p in phs("etl::deep")) == 255'
	grep -q '14 marks could not be read' "$ERR"
}

@test "left by longjmp, by an exception, by the end of the thread: ended at that moment" {
	spans 'etl::jump' jump:3 hog:40
	labels_are '"etl::jump", "etl::jump", "etl::jump"'
	q "[p['depth'] for p in phs('etl::jump')] == [0, 1, 2]" \
		"all(near(delta(p), 4 * (3 - i) * MIB, $PAGES) for i, p in enumerate(phs('etl::jump')))" \
		'all(p["ended_by"] == "end" for p in phs("etl::jump"))'
	spans 'etl::thrown' throw:3 hog:40 throw:1 hog:40
	grep -q 'caught out of all, 3 destroyed' "$OUT"
	q "len(phs('etl::thrown')) == 4" "all(p['ended_by'] == 'end' for p in phs('etl::thrown'))" \
		"all(near(delta(p), 4 * n * MIB, 4 * $PAGES) for n, p in zip([3, 2, 1, 1], phs('etl::thrown')))"
	spans 'etl::leave' leave:6 hog:40
	q "[p['ended_by'] for p in phs('etl::leave')] == ['end', 'end']" \
		"near(phs('etl::leave')[0]['kept_bytes'], 13 * MIB, 4 * $PAGES)" 'all(delta(p) < 16 * MIB for p in phs("etl::leave"))'
}

@test "two threads at once, two stacks by turns, a fork within a call: each its own" {
	spans 'etl::spike' threads:40
	q "len(phs('etl::spike')) == 2" "len({p['tid'] for p in phs('etl::spike')}) == 2" \
		"all(near(p['grew_bytes'], 40 * MIB, $PAGES) for p in phs('etl::spike'))"
	spans 'etl::[fs]*' stacks:8
	labels_are '"etl::first", "etl::second"'
	q "near(ph('etl::first')['kept_bytes'], 24 * MIB, $PAGES)" "near(ph('etl::second')['kept_bytes'], 16 * MIB, $PAGES)" \
		'ph("etl::first")["overlaps"] or ph("etl::second")["depth"] == 1'
	spans 'etl::forked' fork:20
	q 'len(procs) == 2' 'len(phs("etl::forked")) == 1' 'ph("etl::forked")["ended_by"] == "end"' \
		'all(p["bad_ends"] == 0 for p in procs)'
}

@test "names: of C++ with and without parameters, of Rust without the hash, as in the symbol table" {
	spans 'parse::*' rust:16
	labels_are '"parse::rows", "parse::columns::all"'
	q "near(delta(ph('parse::rows')), 32 * MIB, $PAGES)" "near(delta(ph('parse::columns::all')), 32 * MIB, $PAGES)"
	spans 'etl::table<long>::sum(long const\*, int) const' sum:7
	labels_are '"etl::table<long>::sum"'
	spans '_ZN3etl5spikeEi' spike:1
	labels_are '"etl::spike"'
}

@test "what cannot be: said, with the nearest names, and nothing is run" {
	status_of "$PP" run -o "$R" --span "$S:etl::spikes" -- "$S" ready:"$T/ran"
	[ "$STATUS" -eq 1 ]
	grep -q 'has no function etl::spikes' "$T/said"
	grep -q 'nearest are: etl::spike,' "$T/said"
	status_of "$PP" run -o "$R" --span "$T/none:f" -- "$S" ready:"$T/ran"
	[ "$STATUS" -eq 1 ]
	grep -q "cannot open $T/none" "$T/said"
	status_of "$PP" run -o "$R" --span "libc.so.6:*" -- "$S" ready:"$T/ran"
	[ "$STATUS" -eq 1 ]
	grep -q 'all together may be 256' "$T/said"
	status_of "$PP" run --span "$S" -- true
	[ "$STATUS" -eq 2 ]
	grep -q 'a colon is missing' "$T/said"
	refute [ -e "$T/ran" ]
	refute [ -e "$R" ]
	status_of "$PP" run -o "$R" --span "libnothere.so:f" -- "$S" spike:1
	[ "$STATUS" -eq 0 ]
	grep -q 'no program that was traced has mapped libnothere.so' "$T/said"
}

@test "attached to a program that runs, by the name of its file; detached, it goes on" {
	start_target "$S" ready:"$T/ready" wait:"$T/go" spike:30 deep:2 ready:"$T/done" wait:"$T/end" throw:2 spike:5
	retry 10 test -e "$T/ready"
	start_tracer attach -o "$R" --span spans:etl::spike --span spans:etl::deep --span spans:etl::thrown -p "$TARGET"
	retry 20 attached
	grep -q '3 functions' "$ERR"
	touch "$T/go"
	retry 10 test -e "$T/done"
	kill -INT "$TRACER"
	wait_for "$TRACER"
	[ "$STATUS" -eq 0 ]
	touch "$T/end"
	wait_for "$TARGET"
	[ "$STATUS" -eq 0 ]
	labels_are '"etl::spike", "etl::deep", "etl::deep"'
	q "near(delta(ph('etl::spike')), 30 * MIB, $PAGES)"
	[ "$(cat "$OUT")" = "$(printf '%s\n' 'deep 3' 'caught out of all, 2 destroyed' end)" ]
}
