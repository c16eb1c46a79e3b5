#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Rings made tiny: what cannot be sent is counted, and peaks are still right. The tracer is
# stopped while the flood runs, so that loss does not depend on how fast this machine is.

load helpers

PAGE=$(getconf PAGESIZE)

# stalled_run OPTIONS... -- STEPS...: the steps run while the tracer is stopped.
stalled_run() {
	local -a options=()
	while [ "$1" != -- ]; do options+=("$1"); shift; done
	shift
	start_tracer run -o "$R" "${options[@]}" -- "$W/script" begin:before hog:10 end "ready:$T/1" "wait:$T/go" \
		"$@" "ready:$T/2" "wait:$T/on" begin:after hog:30 end
	retry 20 test -e "$T/1"
	kill -STOP "$TRACER"
	retry 10 stopped "$TRACER"
	touch "$T/go"
	retry 60 test -e "$T/2"
	kill -CONT "$TRACER"
	touch "$T/on"
	wait_for "$TRACER"
	[ "$STATUS" -eq 0 ]
	"$PP" report "$R" >"$T/text"
}

stopped() { grep -q '^State:[[:space:]]*T' "/proc/$1/status"; }

@test "a tiny edge ring and a flood: loss is counted and shown everywhere, peaks are right" {
	stalled_run --ring-edges "$PAGE" -- repeat:500 begin:lost hog:1 free end done begin:spike hog:200 free end
	q 'r["losses"]["edges"] > 400' 'not r["exact"] or any(not p["exact"] for p in proc()["phases"])' \
		'near(r["peak"]["bytes"], ph("before")["end_bytes"] + 200 * MIB, 131072)' \
		'near(delta(ph("before")), 10 * MIB, 65536)' 'near(delta(ph("after")), 30 * MIB, 65536)' \
		'sum(p["lost"] for p in proc()["phases"]) > 0' 'proc()["lost"] == r["losses"]["edges"]' \
		'max(p["peak_bytes"] for p in proc()["phases"]) == r["peak"]["bytes"]'
	grep -qi 'lost' "$T/text"
	grep -qi 'lost' "$ERR"
	[ "$(sql "$R" "select count from losses where class = 'edges'")" -gt 400 ]
}

@test "a tiny sample ring: points of the timeline are lost and counted, every phase is exact" {
	stalled_run --ring-samples "$PAGE" -- repeat:50 begin:step hog:20 free end done
	q 'r["losses"]["samples"] > 0' 'r["losses"]["edges"] == 0' 'len(phs("step")) == 50' \
		'all(near(delta(p), 20 * MIB, 65536) for p in phs("step"))' 'all(p["lost"] == 0 for p in proc()["phases"])'
	grep -qi 'samples\|timeline' "$T/text"
}

@test "the default rings hold 2,000 phases while the tracer sleeps" {
	stalled_run -- repeat:2000 begin:step end done begin:spike hog:100 free end
	q 'r["losses"]["edges"] == 0' 'len(phs("step")) == 2000' 'near(delta(ph("spike")), 100 * MIB, 65536)' \
		'r["peak"]["phase"] == "spike"'
}

@test "two floods into the smallest rings: counted, and no total is falsified" {
	peak_run --ring-edges "$PAGE" --ring-samples "$PAGE" -q -- "$W/flood" 20000 2
	q 'sum(p["kind"] == "checkpoint" for p in proc()["phases"]) + r["losses"]["edges"] >= 40000' \
		'max(p["peak_bytes"] for p in proc()["phases"]) == r["peak"]["bytes"]'
}

@test "a write that is lost on both of its rings is one write" {
	peak_run --ring-edges "$PAGE" --ring-output "$PAGE" -q --mark-output "(mark) " -- "$PYTHON" -c '
import os
for i in range(30000):
    os.write(1, b"mark ")'
	q '10000 < r["losses"]["output"] <= 30000'
}

@test "sizes that no ring can have are refused" {
	local size
	for size in 0 1 5000 -4096 x 1e99; do
		status_of "$PP" run -o "$R" --ring-edges "$size" -- true
		[ "$STATUS" -eq 2 ] || fail "--ring-edges $size: status $STATUS"
		grep -q -- '--ring-edges' "$T/said"
	done
	[ ! -e "$R" ]
}
