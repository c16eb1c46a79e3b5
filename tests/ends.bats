#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# How phases, processes and the tracer itself end, on purpose and otherwise.

load helpers

@test "an exception closes its phase; one never ended is open at exit, status 3" {
	local status=0
	run_py boom:boom:50 begin:never_ended hog:40 _exit:3 || status=$?
	[ $status -eq 3 ]
	truth_py
	q 'near(delta(ph("boom")), 50 * MIB)' 'ph("boom")["ended_by"] == "end"' \
		'ph("never_ended")["ended_by"] == "exit"' 'near(delta(ph("never_ended")), 40 * MIB)' \
		'proc()["exit"]["kind"] == "exit" and proc()["exit"]["status"] == 3'
	"$PP" report "$R" >"$T/text"
	grep -q 'never_ended.*open at exit' "$T/text"
	status=0
	run_c begin:never_ended hog:40 begin:inner hog:10 _exit:3 || status=$?
	[ $status -eq 3 ]
	truth_c
	q 'ph("never_ended")["ended_by"] == "exit" and ph("inner")["ended_by"] == "exit"' \
		'near(delta(ph("never_ended")), 50 * MIB, 65536)' 'r["peak"]["phase"] == "inner"'
}

@test "an exception that nobody catches: the interpreter's status, the phase open at exit" {
	local status=0
	run_py begin:doomed hog:35 fail || status=$?
	[ $status -eq 1 ]
	q 'ph("doomed")["ended_by"] == "exit"' 'near(delta(ph("doomed")), 35 * MIB)'
}

@test "SIGKILL within a phase: named, killed by signal 9, and no word of OOM" {
	local status=0
	run_c begin:done hog:10 end begin:victim hog:90 free hog:30 raise:9 || status=$?
	[ $status -eq 137 ]
	truth_c
	q 'ph("victim")["ended_by"] == "signal"' 'near(delta(ph("victim")), 90 * MIB, 65536)' \
		'proc()["exit"]["kind"] == "signal" and proc()["exit"]["signal"] == 9' \
		'near(ph("victim")["end_bytes"], ph("victim")["start_bytes"] + 30 * MIB, 65536)'
	"$PP" report "$R" >"$T/text"
	grep -q 'killed by signal 9' "$T/text"
	refute grep -iqE '\boom|out of memory' "$T/text" "$ERR" "$T/report.json"
}

@test "SIGKILL from outside, and other signals, are told apart" {
	local status=0
	start_tracer run -o "$R" -- "$W/script" begin:waiting hog:20 "ready:$T/on" "wait:$T/never"
	retry 20 test -e "$T/on"
	kill -KILL "$(child_of "$TRACER")"
	wait_for "$TRACER"
	[ "$STATUS" -eq 137 ]
	q 'ph("waiting")["ended_by"] == "signal"' 'proc()["exit"]["signal"] == 9'
	run_c begin:segv hog:20 raise:11 || status=$?
	[ $status -eq 139 ]
	q 'proc()["exit"]["kind"] == "signal" and proc()["exit"]["signal"] == 11'
}

@test "a killed process's teardown is not memory that its phase freed" {
	local status=0
	run_c begin:full hog:120 raise:9 || status=$?
	[ $status -eq 137 ]
	q 'near(ph("full")["end_bytes"], ph("full")["peak_bytes"], 65536)' 'near(ph("full")["kept_bytes"], 120 * MIB, 65536)'
}

@test "exec: the old phase ends by it with its peak, the new program starts near 0" {
	run_c begin:before_exec hog:200 exec "$W/script" begin:after_exec hog:40 end exit:0
	q 'ph("before_exec")["ended_by"] == "exec"' 'near(delta(ph("before_exec")), 200 * MIB, 65536)' \
		'ph("after_exec")["start_bytes"] < 4 * MIB' 'near(delta(ph("after_exec")), 40 * MIB, 65536)' \
		'r["peak"]["phase"] == "before_exec"' 'len(procs) == 2 and procs[0]["pid"] == procs[1]["pid"]' \
		'procs[0]["exit"]["kind"] == "exec" and procs[1]["exit"]["kind"] == "exit"'
	run_py begin:before_exec hog:60 exec "$W/script" begin:after_exec hog:140 end exit:4 || [ $? -eq 4 ]
	q 'near(delta(ph("before_exec")), 60 * MIB)' 'near(delta(ph("after_exec")), 140 * MIB, 65536)' \
		'r["peak"]["phase"] == "after_exec"' 'procs[1]["exit"]["status"] == 4'
}

# The recording is committed at most 100 ms behind; the program's own clock says what it must hold.
@test "the tracer killed: the program is unharmed, the recording opens and is at most 100 ms behind" {
	local killed allowed=$((100000000 * SLOW))
	start_tracer run -o "$R" -q -- sh -c "$W/script repeat:60 begin:step hog:1 sleep:20 end done say:all_done >$OUT; echo \$? >$T/status"
	retry 30 grep -q 'label=step' "$OUT"
	sleep 0.5
	# One program for both: the time of the kill, not of a start of Python later.
	killed=$("$PYTHON" -c 'import os, sys, time; os.kill(int(sys.argv[1]), 9); print(time.monotonic_ns())' "$TRACER")
	wait "$TRACER" || true
	retry 60 test -s "$T/status"
	[ "$(cat "$T/status")" = 0 ]
	grep -q '^all_done' "$OUT"
	[ "$(grep -c 'label=step' "$OUT")" -eq 60 ]
	report_json "$R"
	awk -v until=$((killed - allowed)) '/^truth/ { sub(/.*at_ns=/, ""); if ($1 < until) n++ } END { print n + 0 }' "$OUT" >"$T/due"
	[ "$(cat "$T/due")" -ge 3 ]
	q "sum(p['ended_by'] == 'end' for p in phs('step')) >= $(cat "$T/due")" \
		'all(near(delta(p), MIB, 65536) for p in phs("step") if p["ended_by"] == "end")' \
		'not any(p["exact"] for q in procs for p in q["phases"] if p["ended_by"] == "trace")'
	"$PP" report "$R" >"$T/text" 2>&1
}

# SIGKILL leaves no time for anything; the probes go with the tracer, and a new one can come.
@test "after a killed tracer another one attaches" {
	start_target "$W/script" hog:50 "ready:$T/on" "wait:$T/go" begin:late hog:30 end
	retry 20 test -e "$T/on"
	start_tracer attach -o "$T/first.peak" -p "$TARGET"
	retry 20 attached
	# It says how far it has come while nothing happens: 2 s and more, and its death is not long after.
	sleep 2.2
	kill -KILL "$TRACER"
	wait "$TRACER" || true
	"$PP" report --json "$T/first.peak" >"$T/report.json"
	q '1.1e9 < ph("(startup)")["end_ns"] - ph("(startup)")["start_ns"] < 60e9' 'ph("(startup)")["ended_by"] == "trace"'
	rm "$T/report.json"
	start_tracer attach -o "$R" -p "$TARGET"
	retry 20 attached
	touch "$T/go"
	wait_for "$TRACER"
	[ "$STATUS" -eq 0 ]
	q 'near(delta(ph("late")), 30 * MIB, 65536)' 'near(proc()["baseline_bytes"], 50 * MIB, 4 * MIB)' '2.2e9 < proc()["untraced_ns"] < 60e9'
	"$PP" report "$R" | grep -Eqx '  held ~?5[0-9]\.[0-9] MiB when it was attached to; not traced before: [0-9.]+ s since it began'
}

@test "what is open where the tracer was killed: numbers that are not known say so, and keep no budget" {
	start_target "$W/script" "ready:$T/on" "wait:$T/go" begin:held hog:40 begin:sp hog:20 "ready:$T/full" "wait:$T/end"
	retry 20 test -e "$T/on"
	start_tracer attach -o "$R" -p "$TARGET"
	retry 20 attached
	touch "$T/go"
	retry 20 test -e "$T/full"
	# The sample of the growth has to be on the disk, and nothing else will tell of it.
	rose() { "$PP" report -q --json "$R" >"$T/report.json" && q 'near(delta(ph("sp")), 20 * MIB, 2 * MIB)' 2>"$T/why"; }
	retry 20 rose || fail "$(cat "$T/why")"
	kill -KILL "$TRACER"
	wait "$TRACER" || true
	report_json "$R"
	q 'near(ph("sp")["kept_bytes"], 20 * MIB, 2 * MIB)' 'near(ph("sp")["grew_bytes"], 20 * MIB, 2 * MIB)' 'near(ph("held")["grew_bytes"], 60 * MIB, 3 * MIB)' \
		'ph("sp")["faults_minor"] is None and ph("sp")["shrank_bytes"] is None' 'ph("held")["faults_minor"] > 0 and not ph("held")["exact"]'
	"$PP" report "$R" | grep -Eq '^    sp +[0-9.]+ m?s +~[0-9.]+ +~(1[89]|2[01])\.[0-9] +~(1[89]|2[01])\.[0-9] +~[0-9.]+ +- +◀ peak, open when the tracing ended$' ||
		fail "$("$PP" report "$R")"
	status_of "$PP" report --budget 'sp=grew:5M' "$R"
	[ "$STATUS" -eq 4 ]
	status_of "$PP" report --budget 'sp=grew:50M' "$R"
	[ "$STATUS" -eq 4 ]
	"$PP" report --budget 'sp=grew:50M' --budget 'sp=kept:50M' --budget 'sp=500M' "$R" 2>"$ERR" >"$OUT" || true
	[ "$(grep -c 'not known to be within budget: \[sp\] is open, ' "$ERR")" -eq 2 ]
	[ "$(grep -c error "$ERR")" -eq 2 ]
	touch "$T/end"
}

@test "ends that end nothing are counted, and no row is invented" {
	local want
	peak_run -- "$W/tokens" 0
	want=$(sed -n 's/^bad_ends=//p' "$OUT")
	q 'len(phs("outer")) == 1 and len(phs("once")) == 1' \
		'sum(p["kind"] == "span" for p in proc()["phases"]) == 2' \
		"proc()['bad_ends'] == $want" \
		'near(delta(ph("outer")), 60 * MIB, 65536)' 'near(delta(ph("once")), 10 * MIB, 65536)'
}

@test "a token of another process ends nothing there, and the parent is unharmed" {
	peak_run -- "$W/tokens" 1
	q 'len(phs("outer")) == 1' 'near(delta(ph("outer")), 60 * MIB, 65536)' 'ph("outer")["ended_by"] == "end"' \
		'sum(p["kind"] == "span" for q in procs for p in q["phases"]) == 2'
}

full_disk_cleanup() { umount "$T/small" 2>/dev/null || true; }

@test "disk full: tracing and its lines go on, one message, status not 0, what is there opens" {
	local status=0
	mkdir "$T/small"
	mount -t tmpfs -o size=512k none "$T/small"
	timeout 120 "$PP" run -o "$T/small/r.peak" -- "$W/script" repeat:1000 begin:step sleep:2 end done begin:last hog:80 end say:finished \
		>"$OUT" 2>"$ERR" || status=$?
	"$PP" report "$T/small/r.peak" --json >"$T/report.json" || { full_disk_cleanup; false; }
	full_disk_cleanup
	[ $status -ne 0 ] && [ $status -lt 126 ]
	grep -q '^finished' "$OUT"
	[ "$(grep -c 'peak RSS \[step\]' "$ERR")" -eq 1000 ]
	grep -q 'peak RSS \[last\]: ~8[0-9]' "$ERR"
	[ "$(grep -ciE 'no space|disk.*full|full.*disk' "$ERR")" -eq 1 ]
	[ "$(sed -n 's/.*is incomplete: \([0-9]*\) rows are missing/\1/p' "$ERR")" -gt 0 ]
	q 'len(phs("step")) > 10' 'len(phs("step")) < 1000'
}

@test "a recording that cannot be made stops it before the command starts" {
	local status=0
	"$PP" run -o "$T/no/such/folder/r.peak" -- touch "$T/ran" 2>"$ERR" || status=$?
	[ $status -eq 1 ]
	grep -q 'no/such/folder' "$ERR"
	[ ! -e "$T/ran" ]
}

@test "run ends with the command: who outlives it is counted, and its row says that no more is recorded" {
	left() {
		rm -f "$T/on" "$T/go"
		peak_run "$@" -- sh -c "$W/script begin:serve ready:$T/on wait:$T/go hog:30 end & while [ ! -e $T/on ]; do sleep 0.02; done"
		touch "$T/go"
	}
	left
	grep -q '^peakphase: 1 process that the command started goes on, not recorded' "$ERR"
	q '[p["exit"]["kind"] for p in procs if "script begin:serve" in p["command"] and p["begun_by"] == "exec" and not p["command"].startswith("sh")] == ["running"]'
	"$PP" report "$R" | grep -q 'script begin:serve .*still running when the tracing ended, not recorded from then on$'
	left -q
	[ ! -s "$ERR" ] || fail "$(cat "$ERR")"
	# Not of those that end before it, nor when it is the tracing that ends first.
	peak_run -- sh -c "$W/script begin:serve sleep:50 end & wait"
	refute grep 'not recorded' "$ERR"
	peak_run -d 200ms -- sleep 0.5
	refute grep 'not recorded' "$ERR"
}
