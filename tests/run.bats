#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# `run` stands between nobody and the command: what goes in, what comes out, and what the command
# finds around itself are as without it.

load helpers

@test "the command's status is the tracer's; 128 + N for signal N" {
	local n
	for n in 0 1 2 3 77 255; do
		status_of peak_run -q -- sh -c "exit $n"
		[ "$STATUS" -eq "$n" ] || fail "exit $n gave $STATUS"
	done
	for n in 1 6 9 11 15; do
		status_of peak_run -q -- "$W/script" "raise:$n"
		[ "$STATUS" -eq $((128 + n)) ] || fail "signal $n gave $STATUS"
	done
}

@test "a command that is not there: 127; one that cannot be run: 126; each with a clear line" {
	status_of "$PP" run -o "$T/a.peak" -- no-such-command-here
	[ "$STATUS" -eq 127 ]
	grep -q 'no-such-command-here' "$T/said"
	status_of "$PP" run -o "$T/b.peak" -- "$T/no/such/path"
	[ "$STATUS" -eq 127 ]
	echo 'not a program' >"$T/data"
	status_of "$PP" run -o "$T/c.peak" -- "$T/data"
	[ "$STATUS" -eq 126 ]
	grep -q "$T/data" "$T/said"
	status_of "$PP" run -o "$T/d.peak" -- /etc
	[ "$STATUS" -eq 126 ]
	grep -q 'cannot run /etc: it is a directory' "$T/said"
	grep -q '→ name a program in it' "$T/said"
	refute grep -q chmod "$T/said"
	# What was not run leaves no recording that looks like a run.
	rm -f "$T"/?.peak
}

@test "wrong use: 2, and a hint" {
	local words
	for words in "run" "run --" "run --no-such-option -- true" "run -d never -- true" "report" "no-such-command" \
		"attach" "attach -p x" "attach -p -5" "attach -p 0"; do
		# shellcheck disable=SC2086  # words
		status_of "$PP" $words
		[ "$STATUS" -eq 2 ] || fail "peakphase $words: status $STATUS"
		[ -s "$T/said" ]
	done
	status_of "$PP" --help
	[ "$STATUS" -eq 0 ] && grep -q attach "$T/said"
	status_of "$PP" run --help
	[ "$STATUS" -eq 0 ] && grep -q -- '--where' "$T/said"
}

@test "stdin and stdout pass through, bytes and all" {
	head -c 3000000 /dev/urandom >"$T/bytes"
	"$PP" run -o "$R" -q -- cat <"$T/bytes" >"$OUT" 2>"$ERR"
	cmp "$T/bytes" "$OUT"
	# Nothing of the tracer's on stdout, nor on stderr with -q.
	[ ! -s "$ERR" ] || fail "said: $(cat "$ERR")"
	printf 'one\0two' | "$PP" run --no-record -q -- cat | cmp - <(printf 'one\0two')
	# A reader that goes away ends the command, not the tracer's recording.
	rm -f "$R"
	"$PP" run -o "$R" -q -- "$W/script" begin:a hog:5 end repeat:100000 say:line done 2>"$ERR" | head -n 1 >"$OUT"
	[ "$(wc -l <"$OUT")" -eq 1 ]
	report_json "$R"
	q 'ph("a")["ended_by"] == "end"'
}

@test "the command's own stderr comes through between the lines" {
	peak_run -- sh -c "echo to-stderr >&2; $W/script begin:a hog:5 end"
	grep -qx 'to-stderr' "$ERR"
	grep -q '^peak RSS \[a\]: ~' "$ERR"
}

@test "descriptors, signals, limits, environment, directory, masks: as without the tracer" {
	cd "$T"
	mkdir here
	cd here
	umask 027
	trap '' USR2
	exec 7<"$ROOT/Makefile"
	(
		ulimit -n 200
		ulimit -c 0
		export PEAKPHASE_TEST_VARIABLE='a b'
		nice -n 3 "$W/identity" x 'y z' <"$ROOT/LICENSE" >"$T/id" 2>"$T/id.err"
		mv "$T/id" "$T/untraced"
		nice -n 3 "$PP" run -o "$R" -q -- "$W/identity" x 'y z' <"$ROOT/LICENSE" >"$T/id" 2>"$T/id.err"
		mv "$T/id" "$T/traced"
	) 7<&0
	[ "$(wc -l <"$T/untraced")" -gt 60 ]
	diff -u "$T/untraced" "$T/traced"
}

@test "ignored signals stay ignored, blocked ones stay blocked" {
	"$PYTHON" "$ROOT/tests/lib/with_signals.py" "$W/identity" >"$T/id"
	mv "$T/id" "$T/untraced"
	"$PYTHON" "$ROOT/tests/lib/with_signals.py" "$PP" run -o "$R" -q -- "$W/identity" >"$T/id"
	mv "$T/id" "$T/traced"
	grep -q 'signal 2 ignored' "$T/untraced"
	diff -u "$T/untraced" "$T/traced"
}

@test "-u: the command is that user's in every way, the recording is ours" {
	peak_run -q -u nobody -- "$W/identity"
	grep -qE "^status Uid:\s+65534\s+65534\s+65534\s+65534" "$OUT"
	grep -qE "^status Gid:\s+65534\s+65534\s+65534\s+65534" "$OUT"
	grep -qE '^status CapEff:\s+0+$' "$OUT"
	grep -qE '^status CapPrm:\s+0+$' "$OUT"
	grep -qE '^status NoNewPrivs:\s+0$' "$OUT"
	refute grep -qE '^status Groups:.*\b0\b' "$OUT"
	[ "$(stat -c %u "$R")" -eq 0 ]
	peak_run -u nobody -- "$W/script" begin:a hog:20 end
	q 'near(delta(ph("a")), 20 * MIB, 131072)'
	status_of "$PP" run --no-record -u no-such-user-here -- touch "$T/ran"
	[ "$STATUS" -ne 0 ] && [ ! -e "$T/ran" ]
	grep -q no-such-user-here "$T/said"
}

@test "Ctrl-C reaches the command once, from the terminal; a second one kills it" {
	"$PYTHON" "$ROOT/tests/lib/terminal.py" "expect:ready,ctrl:C,expect:SIGINT 1,sleep:1" \
		"$PP" run -o "$R" -q -- "$W/signals" 4 >"$OUT" 2>"$ERR"
	[ "$(grep -c '^.*SIGINT [0-9]* from 0' "$OUT")" -eq 1 ]
	refute grep -q 'SIGINT 2' "$OUT"
	grep -q '^over' "$OUT"
	grep -qx 'status 0' "$ERR"
	rm -f "$R"
	"$PYTHON" "$ROOT/tests/lib/terminal.py" "expect:ready,ctrl:C,expect:SIGINT 1,sleep:0.5,ctrl:C" \
		"$PP" run -o "$R" -q -- "$W/signals" 100 >"$OUT" 2>"$ERR"
	refute grep -q '^over' "$OUT"
	grep -qx 'status 137' "$ERR"
	q 'proc()["exit"]["kind"] == "signal" and proc()["exit"]["signal"] == 9'
}

@test "Ctrl-C ends a program that does not mind: status 130, phases ended by the signal" {
	"$PYTHON" "$ROOT/tests/lib/terminal.py" "expect:on,ctrl:C" \
		"$PP" run -o "$R" -- "$W/script" begin:a hog:20 say:on sleep:60000 >"$OUT" 2>"$ERR"
	grep -qx 'status 130' "$ERR"
	q 'ph("a")["ended_by"] == "signal"' 'proc()["exit"]["signal"] == 2' 'near(delta(ph("a")), 20 * MIB, 65536)'
}

@test "SIGTERM to the tracer goes to the command" {
	start_tracer run -o "$R" -- "$W/script" begin:a hog:20 "ready:$T/on" sleep:60000
	retry 20 test -e "$T/on"
	kill -TERM "$TRACER"
	wait_for "$TRACER"
	[ "$STATUS" -eq 143 ]
	q 'proc()["exit"]["signal"] == 15' 'ph("a")["ended_by"] == "signal"'
}

@test "-d ends the tracing, not the command" {
	start_tracer run -o "$R" -d 1 -- "$W/script" begin:a hog:20 end begin:open "ready:$T/on" "wait:$T/go" say:finished
	retry 20 test -e "$T/on"
	# What is open while the tracing goes on is "trace" too: only its end makes the recording a finished one.
	ended() { "$PP" report "$R" --json 2>/dev/null | grep -q '"running": false' || gone_or_zombie "$TRACER"; }
	retry 20 ended
	touch "$T/go"
	wait_for "$TRACER"
	[ "$STATUS" -eq 0 ]
	grep -q finished "$T/tracer.out"
	q 'near(delta(ph("a")), 20 * MIB, 65536)' 'ph("open")["ended_by"] == "trace"'
}

@test "--json prints the report to stdout when the command has ended" {
	"$PP" run -o "$R" --json -- "$W/script" begin:a hog:20 end >"$OUT" 2>"$ERR"
	grep -v '^truth' "$OUT" >"$T/report.json"
	q 'near(delta(ph("a")), 20 * MIB, 65536)'
}

@test "--json=FILE: the report there, and the command's output alone on stdout" {
	"$PP" run -o "$R" --json="$T/report.json" -- "$W/script" begin:a hog:20 end say:mine >"$OUT" 2>"$ERR"
	[ "$(grep -vc '^truth' "$OUT")" -eq 1 ] && grep -qx mine "$OUT"
	q 'near(delta(ph("a")), 20 * MIB, 65536)' 'r["finished"]' 'r["error"] is None'
	# Again over what is there, which is longer.
	head -c 100000 /dev/zero >"$T/report.json"
	rm "$R"
	"$PP" run -o "$R" --json="$T/report.json" -- "$W/script" begin:b hog:10 end >"$OUT" 2>"$ERR"
	q 'near(delta(ph("b")), 10 * MIB, 65536)'
	# What cannot be written is said before anything runs; a full device when it is seen.
	status_of "$PP" run -o "$T/a.peak" --json="$T/no/such" -- touch "$T/ran"
	[ "$STATUS" -eq 1 ] && [ ! -e "$T/ran" ] && grep -q 'no/such: No such file' "$T/said"
	status_of "$PP" run -o "$T/b.peak" --json=/dev/full -- true
	[ "$STATUS" -eq 1 ] && grep -q 'No space left' "$T/said"
	rm -f "$T"/?.peak
}

# bats test_tags=host
@test "an argument on a file system that does not answer, a pipe: the command begins all the same, its markers are found" {
	local fs
	mkdir "$T/stuck"
	mkfifo "$T/fifo"
	"$PYTHON" "$ROOT/tests/lib/stuck_fs.py" "$T/stuck" >"$T/fs" 2>&1 3>&- &
	fs=$!
	started $fs
	retry 10 grep -q mounted "$T/fs"
	# What is behind it is looked at; and whoever reads what the command writes is not kept waiting.
	# shellcheck disable=SC2016
	timeout -k 5 $((30 * SLOW)) "$PP" run -o "$R" -- sh -c 'exec "$3" begin:x hog:5 end' sh "$T/stuck/page" "$T/fifo" "$W/script" 2>"$ERR" | cat >"$OUT"
	[ "${PIPESTATUS[0]}" -eq 0 ]
	grep -q asked "$T/fs"
	grep -q 'warning: .*/stuck/page was not looked at for markers: its file system does not answer' "$ERR"
	[ "$(grep -c 'not looked at' "$ERR")" -eq 1 ]
	q 'near(delta(ph("x")), 5 * MIB, 65536)'
	kill $fs
	wait_for $fs
}

# bats test_tags=host
@test "a thread that is stuck in a probe holds up nobody: recording and report are there before" {
	local fs
	mkdir "$T/stuck"
	"$PYTHON" "$ROOT/tests/lib/stuck_fs.py" "$T/stuck" >"$T/fs" 2>&1 3>&- &
	fs=$!
	started $fs
	retry 10 grep -q mounted "$T/fs"
	"$PP" run -o "$R" -d 1 --json="$T/report.json" -- "$W/unresolved" - <"$T/stuck/page" >"$OUT" 2>"$ERR" 3>&- &
	TRACER=$!
	started $TRACER
	retry 20 "$PYTHON" -m json.tool "$T/report.json" "$T/pretty"
	grep -q asked "$T/fs"
	q 'r["finished"]' 'labels[0] == "before"' 'proc()["exit"]["kind"] == "running"'
	report_json "$R"
	q 'r["finished"]' 'labels[0] == "before"'
	refute gone_or_zombie $TRACER
	kill $fs
	wait_for $TRACER
	[ "$STATUS" -eq 0 ]
	grep -q '^ms=' "$OUT"
}

@test "-d in the middle of a flood of marks: a clean cut, no event of nobody" {
	# It never lets the ring run empty; so the tracer must not wait for that.
	start_tracer run -o "$R" -q -d 0.3 --ring-edges 1M -- "$W/flood" 100000000 2
	has_end() { "$PP" report "$R" --json >"$T/report.json" 2>/dev/null && grep -q '"finished": true' "$T/report.json"; }
	retry 20 has_end
	q 'r["losses"]["orphan_events"] == 0' 'proc()["exit"]["kind"] == "running"' \
		'[p["ended_by"] for p in proc()["phases"]].count("trace") == 1' \
		"r['end_ns'] - r['start_ns'] < $((2 * SLOW)) * 10**9" >"$T/q" 2>&1 || fail "$(head -n 5 "$T/q" | cut -c1-300)"
	kill "$(child_of "$TRACER")"
	wait_for "$TRACER"
}

@test "--where: which mappings a phase's faults fell in" {
	truncate -s 64M "$T/input"
	peak_run --where -- "$W/script" begin:own hog4k:100 end begin:file "map:$T/input" end
	q 'ph("own")["where"][0]["mapping"].startswith("anon")' 'ph("own")["where"][0]["share"] > 0.9' \
		'near(ph("own")["where"][0]["bytes_est"], 100 * MIB, 20 * MIB)' \
		'"input" in ph("file")["where"][0]["mapping"]' 'ph("file")["where"][0]["share"] > 0.5' \
		'25600 <= ph("own")["faults_minor"] < 25700'
	"$PP" report "$R" >"$T/text"
	grep -q 'input' "$T/text"
	# Without it nobody pays, and nothing is shown.
	peak_run -- "$W/script" begin:own hog4k:10 end
	q 'not ph("own").get("where")' 'abs(ph("own")["faults_minor"] - 2560) <= 64'
}

@test "faults are the thread's own" {
	peak_run -- "$W/threads" overlap 20 10
	q 'abs(ph("left")["faults_minor"] - 5120) <= 64' 'abs(ph("right")["faults_minor"] - 2560) <= 64'
}

@test "without root: status 3, what is missing, and the command is not run" {
	mkdir -m 777 "$T/open"
	status_of as_nobody "$PP" run --no-record -- touch "$T/open/ran"
	[ "$STATUS" -eq 3 ]
	[ ! -e "$T/open/ran" ]
	grep -qiE 'root|CAP_' "$T/said"
	status_of as_nobody "$PP" attach --no-record -p $$
	[ "$STATUS" -eq 3 ]
	status_of as_nobody "$PP" doctor
	grep -qiE 'root|CAP_' "$T/said"
}

@test "doctor: all that the tests need works here; --json" {
	"$PP" doctor >"$T/text"
	"$PP" doctor --json >"$T/doctor.json"
	"$PYTHON" -m json.tool "$T/doctor.json" >/dev/null
	grep -q "$(uname -r)" "$T/doctor.json"
}
