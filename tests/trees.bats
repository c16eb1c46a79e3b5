#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Trees of processes: fork, vfork, clone, exec.

load helpers

attach() {
	start_tracer attach -o "$R" "$@"
	retry 30 attached
}

@test "a sibling on the same memory outlives the first process: the end is the last one's, the status the first's" {
	start_target "$W/script" "wait:$T/go" exec "$W/sharers" sibling
	attach -p "$TARGET"
	touch "$T/go"
	wait_for "$TRACER"
	[ "$STATUS" -eq 0 ]
	cat "$ERR"
	refute grep -q warning "$ERR"
	# The script's image, and the one of both processes.
	q 'len(procs) == 2' 'proc(1)["exit"] == {"kind": "exit", "status": 3, "signal": None}' \
		'near(delta(ph("left")), 100 * MIB, 65536)' 'near(ph("left")["grew_bytes"], 100 * MIB, 65536)' \
		'near(r["peak"]["bytes"], 120 * MIB, 4 * MIB)' 'r["peak"]["phase"] == "left"' \
		"proc(1)['pid'] == $TARGET" 'ph("left")["ended_by"] == "end"'
}

@test "the tracing ends while only the sibling is left: it is still running, and runs on" {
	start_target "$W/script" "wait:$T/go" exec "$W/sharers" sibling "$T/more"
	attach -p "$TARGET" -d 2
	touch "$T/go"
	wait_for "$TRACER"
	gone_or_zombie "$TARGET"
	q 'len(procs) == 2' 'proc(1)["exit"]["kind"] == "running"' 'near(r["peak"]["bytes"], 20 * MIB, 3 * MIB)' \
		'len([p for p in proc(1)["phases"] if p["ended_by"] == "trace"]) == 1' 'not any(r["losses"].values())'
	touch "$T/more"
}

@test "attach to both processes of one memory: one row, no loss" {
	start_target "$W/sharers" pair "$T/go"
	retry 30 grep -q '^second ' "$OUT"
	attach -p "$TARGET" -p "$(sed -n 's/^second //p' "$OUT")"
	touch "$T/go"
	wait_for "$TRACER"
	[ "$STATUS" -eq 0 ]
	refute grep -q warning "$ERR"
	q 'len(procs) == 1' 'not any(r["losses"].values())' 'near(ph("first")["grew_bytes"], 10 * MIB, 65536)' \
		'near(ph("second")["grew_bytes"], 30 * MIB, 65536)' 'proc()["exit"]["kind"] == "exit"'
}

@test "a vfork child's growth is its parent's memory's, its mark begins with it, its exec ends nothing of the parent" {
	peak_run -- "$W/sharers" vfork "$W/script" hog:10 || STATUS=$?
	[ "$STATUS" -eq 4 ]
	refute grep -q warning "$ERR"
	q 'len(procs) == 2' 'proc()["exit"]["status"] == 4' 'not any(r["losses"].values())' \
		'near(delta(ph("in the child")), 30 * MIB, 131072)' 'near(ph("in the child")["grew_bytes"], 30 * MIB, 131072)' \
		'ph("in the child")["start_ns"] >= ph("before")["end_ns"]' 'near(delta(ph("after")), 30 * MIB, 131072)' \
		'near(ph("after")["grew_bytes"], 0, 131072)' 'proc(1)["begun_by"] == "exec"' \
		'near(proc(1)["peak"]["bytes"], 10 * MIB, 3 * MIB)' 'proc(1)["exit"]["status"] == 0'
}

@test "--no-follow: what a vfork child does to the memory is told, what it becomes is not" {
	peak_run --no-follow -- "$W/sharers" vfork "$W/script" hog:10 || STATUS=$?
	[ "$STATUS" -eq 4 ]
	refute grep -q warning "$ERR"
	q 'len(procs) == 1' 'near(ph("in the child")["grew_bytes"], 30 * MIB, 131072)' 'not any(r["losses"].values())'
}

@test "a vfork child that outlives its killed parent: the parent's end is the signal, the child's exec is its own" {
	peak_run -- "$W/script" exec /bin/sh -c "'$W/sharers' orphan '$W/script' hog:10 ready:$T/there; while [ ! -e $T/there ]; do sleep 0.01; done; sleep 0.1"
	q '[p["exit"]["signal"] for p in procs if "orphan" in p["command"] and "sharers" in p["command"] and p["exit"]["kind"] == "signal"] == [9]' \
		'[near(p["peak"]["bytes"], 70 * MIB, 4 * MIB) for p in procs if p["exit"]["signal"] == 9] == [True]' \
		'[(p["exit"]["status"], near(p["peak"]["bytes"], 10 * MIB, 3 * MIB)) for p in procs if "hog:10 ready" in p["command"] and p["begun_by"] == "exec" and "script" in p["command"].split()[0]] == [(0, True)]'
}
