#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Attaching to what is running: its memory counts at once, and it never notices.

# bats file_tags=job
load helpers

# Starts script with the steps, which begin with a file that says it is there.
start_script() {
	start_target "$W/script" "$@"
	retry 30 test -e "$T/on"
}

attach() {
	start_tracer attach -o "$R" "$@"
	retry 30 attached
}

# bats test_tags=case
@test "attach: what it holds counts at once; a later phase counts from there" {
	start_script hog:500 "ready:$T/on" smaps "wait:$T/go" begin:late hog:50 end sleep:50
	attach -p "$TARGET"
	touch "$T/go"
	wait_for "$TRACER"
	[ "$STATUS" -eq 0 ]
	q "near(proc()['baseline_bytes'], $(sed -n '1s/^smaps_rss=//p' "$OUT"), 65536)" \
		'near(proc()["baseline_bytes"], 500 * MIB, 5 * MIB)' 'near(delta(ph("late")), 50 * MIB, 65536)' \
		'near(ph("late")["start_bytes"], 500 * MIB, 5 * MIB)' 'r["peak"]["phase"] == "late"' \
		'near(r["peak"]["bytes"], 550 * MIB, 5 * MIB)' 'proc()["exit"]["kind"] == "exit"'
	truth_c
}

@test "the command line of what ran before, in the rows and in the head" {
	start_script hog:20 "ready:$T/on" "wait:$T/go" say:'two words'
	attach -p "$TARGET"
	touch "$T/go"
	wait_for "$TRACER"
	q "proc()['command'].startswith('$W/script hog:20 ready:')" "r['target']['command'].endswith('say:two words')" \
		'proc()["begun_by"] == "attach"'
	"$PP" report "$R" >"$T/text"
	head -n 1 "$T/text" | grep -q "pid $TARGET $W/script hog:20"
	[ "$(sql "$R" "select count(*) from processes where instr(args, cast('hog:20' as blob))")" -eq 1 ]
}

@test "what holds next to nothing is told in KiB" {
	start_target "$W/script" "ready:$T/on" "wait:$T/go"
	retry 30 test -e "$T/on"
	attach -p "$TARGET" -d 0.1
	grep -qE 'attached to 1 process, RSS ([1-9][0-9]* KiB|[1-9][0-9]*\.[0-9] MiB); ' "$ERR"
	wait_for "$TRACER"
}

@test "attach to Python" {
	start_target "$PYTHON" "$PYW/script.py" hog:200 "ready:$T/on" "wait:$T/go" begin:late hog:50 free end mark:x
	retry 30 test -e "$T/on"
	attach -p "$TARGET"
	touch "$T/go"
	wait_for "$TRACER"
	q 'near(proc()["baseline_bytes"], 200 * MIB, 20 * MIB)' 'near(delta(ph("late")), 50 * MIB)' 'len(phs("x")) == 1'
}

@test "a process that stands still: its baseline is there without any event" {
	start_script hog:80 "ready:$T/on" "wait:$T/go"
	attach -p "$TARGET" -d 1
	wait_for "$TRACER"
	[ "$STATUS" -eq 0 ]
	refute gone "$TARGET"
	q 'near(r["peak"]["bytes"], 80 * MIB, 4 * MIB)' 'proc()["exit"]["kind"] == "running"' \
		'all(p["ended_by"] == "trace" for p in proc()["phases"])'
}

@test "a span that began before the attach is no row; its end is counted" {
	start_script begin:early hog:30 "ready:$T/on" "wait:$T/go" end begin:late hog:20 end
	attach -p "$TARGET"
	touch "$T/go"
	wait_for "$TRACER"
	q 'len(phs("early")) == 0' 'near(delta(ph("late")), 20 * MIB, 65536)' 'proc()["bad_ends"] == 1'
}

@test "threads that were there before: their marks, their growth" {
	start_target "$W/threads" overlap 200 100 "$T/go"
	retry 30 threads_of 3
	attach -p "$TARGET"
	touch "$T/go"
	wait_for "$TRACER"
	[ "$STATUS" -eq 0 ]
	q 'ph("left")["peak_bytes"] == ph("right")["peak_bytes"] == r["peak"]["bytes"]' \
		'near(ph("left")["grew_bytes"], 200 * MIB)' 'near(ph("right")["grew_bytes"], 100 * MIB)' 'len(procs) == 1'
}

threads_of() { [ "$(ls "/proc/$TARGET/task" | wc -l)" -eq "$1" ]; }

# What of a process could show that it was traced.
traces_of() {
	# It looks for its file now and then: asleep or running is all the same, stopped is not.
	grep -E '^(State|Tgid|TracerPid|FDSize|Threads|Sig[^Q]|Shd|Cap)' "/proc/$1/status" | sed 's/^State:.[RSD] .*/State: as ever/'
	for f in "/proc/$1/fd"/*; do echo "${f##*/} $(readlink "$f")"; done
	cat "/proc/$1/limits"
}

@test "Ctrl-C leaves the process as it was" {
	start_script hog:40 "ready:$T/on" "wait:$T/go" begin:later hog:10 end say:finished
	traces_of "$TARGET" >"$T/before"
	attach -p "$TARGET"
	kill -INT "$TRACER"
	wait_for "$TRACER"
	[ "$STATUS" -eq 0 ]
	traces_of "$TARGET" >"$T/after"
	diff -u "$T/before" "$T/after"
	touch "$T/go"
	wait_for "$TARGET"
	[ "$STATUS" -eq 0 ]
	grep -q finished "$OUT"
}

@test "several processes in one recording" {
	local first
	start_script hog:30 "ready:$T/on" "wait:$T/go" begin:one hog:20 end
	first=$TARGET
	"$W/script" hog:60 "ready:$T/on2" "wait:$T/go" begin:two hog:50 end >"$T/out2" 3>&- &
	TARGET=$!
	started "$TARGET"
	retry 30 test -e "$T/on2"
	attach -p "$first" -p "$TARGET"
	touch "$T/go"
	wait_for "$TRACER"
	[ "$STATUS" -eq 0 ]
	q 'len(procs) == 2' 'near(delta(ph("one")), 20 * MIB, 65536)' 'near(delta(ph("two")), 50 * MIB, 65536)' \
		"r['peak']['pid'] == $TARGET" 'r["peak"]["phase"] == "two"' 'near(r["peak"]["bytes"], 110 * MIB, 4 * MIB)' \
		'r["job"]["processes"] == 2'
}

has_zombie() {
	local z
	z=$(children "$TARGET")
	[ -n "$z" ] && grep -q '^State:.*Z' "/proc/$z/status"
}

@test "what cannot be attached to is said, by name" {
	local dead
	true &
	dead=$!
	wait "$dead"
	status_of "$PP" attach --no-record -p "$dead"
	[ "$STATUS" -eq 1 ]
	grep -q "$dead" "$T/said"
	# kthreadd, where this pid namespace has it.
	if [ "$(cat /proc/2/comm 2>/dev/null)" = kthreadd ]; then
		status_of "$PP" attach --no-record -p 2
		[ "$STATUS" -eq 1 ]
		grep -qi 'kernel thread' "$T/said"
	fi
	status_of sh -c "exec \"$PP\" attach --no-record -p \$\$"
	[ "$STATUS" -ne 0 ] && [ "$STATUS" -lt 126 ]
	grep -qiE 'itself|own|this tracer' "$T/said"
	# A zombie has no memory left.
	start_target sh -c 'sleep 0.01 & exec sleep 30'
	retry 10 has_zombie
	status_of "$PP" attach --no-record -p "$(children "$TARGET")"
	[ "$STATUS" -eq 1 ]
}

@test "a binary that was deleted while it runs" {
	cp "$W/script" "$T/gone"
	start_target "$T/gone" hog:20 "ready:$T/on" "wait:$T/go" begin:late hog:30 end
	retry 30 test -e "$T/on"
	rm "$T/gone"
	attach -p "$TARGET"
	touch "$T/go"
	wait_for "$TRACER"
	q 'near(delta(ph("late")), 30 * MIB, 65536)'
}

# Between the end of one and the beginning of the next there is nobody: the attach must not end then.
@test "a process that becomes one program after the other is followed to the last" {
	local i steps=()
	for i in {1..40}; do steps+=(exec "$W/script"); done
	start_script hog:5 "ready:$T/on" "wait:$T/go" "${steps[@]}" begin:last hog:10 end
	attach -p "$TARGET"
	touch "$T/go"
	wait_for "$TRACER"
	[ "$STATUS" -eq 0 ]
	q 'len(procs) == 41' 'near(delta(ph("last")), 10 * MIB, 65536)' 'procs[-1]["exit"]["kind"] == "exit"'
}

@test "two tracers on one process: both right, or the second says why not" {
	local second
	start_script hog:20 "ready:$T/on" "wait:$T/go" begin:late hog:30 end
	attach -p "$TARGET"
	"$PP" attach -o "$T/second.peak" -p "$TARGET" >"$T/said" 2>&1 3>&- &
	second=$!
	started $second
	second_is_settled() { gone_or_zombie $second || grep -q 'attached to' "$T/said"; }
	retry 30 second_is_settled
	touch "$T/go"
	wait_for $second
	if [ "$STATUS" -ne 0 ]; then
		grep -qi 'trac' "$T/said"
		rm -f "$T/second.peak"
	else
		report_json "$T/second.peak"
		q 'near(delta(ph("late")), 30 * MIB, 65536)'
	fi
	wait_for "$TRACER"
	[ "$STATUS" -eq 0 ]
	report_json "$R"
	q 'near(delta(ph("late")), 30 * MIB, 65536)'
}

# D4. Rounds go down in guests by PEAKPHASE_SCALE. State T would mean that somebody stopped it.
# bats test_tags=case
@test "200 rounds of attach and detach under load: results unchanged, never stopped" {
	local i rounds watcher
	rounds=$(scaled 200)
	# Loading alone takes seconds under emulation.
	[ "${PEAKPHASE_GUEST:-0}" != 1 ] || rounds=4
	start_target "$W/busy" 2 "$T/stop"
	retry 20 grep -q ready "$OUT"
	"$PYTHON" "$ROOT/tests/lib/states.py" "$TARGET" "$T/stop" >"$T/states" 3>&- &
	watcher=$!
	started $watcher
	for ((i = 0; i < rounds; i++)); do
		timeout $((30 * SLOW)) "$PP" attach --no-record -q -p "$TARGET" -d 0.02 2>"$ERR" || fail "round $i: $(cat "$ERR")"
	done
	touch "$T/stop"
	wait_for "$TARGET"
	cat "$OUT"
	[ "$STATUS" -eq 0 ]
	grep -q 'bad=0' "$OUT"
	wait_for $watcher
	cat "$T/states"
	grep -qE '^[RS] [0-9]+$' "$T/states"
	refute grep -q '^[TtX]' "$T/states"
}

# What another processor is counting at that instant is in the base or in the growth, never in both.
@test "attach while counters move on every processor: base and growth are the end, to the byte" {
	local i
	for i in $(seq "$(scaled 10)"); do
		rm -f "$T/stop"
		start_target "$W/growing" 4 "$T/stop"
		attach --no-follow -p "$TARGET"
		touch "$T/stop"
		wait_for "$TRACER"
		[ "$STATUS" -eq 0 ]
		[ "$(sql "$R" 'select count(*) from processes where end_ns > 0 and lost = 0 and (not exact or
			grew_bytes - shrank_bytes + ext_grew_bytes - ext_shrank_bytes = end_bytes - baseline_bytes)')" -eq 1 ] || fail "round $i"
		mv "$R" "$T/round$i.peak"
	done
}

# Before, while, and after it is taken in.
@test "a process that ends while it is attached to: the attach ends too, whenever that is" {
	local i status
	for i in $(seq "$(scaled 20)"); do
		start_target "$W/script" hog:60 "sleep:$((i * 20 * SLOW))"
		# Its end is somebody else's to wait for: a zombie until the test is over.
		status=0
		timeout $((20 * SLOW)) "$PP" attach --no-record -q -p "$TARGET" 2>"$ERR" || status=$?
		[ $status -le 1 ] || fail "round $i: status $status: $(cat "$ERR")"
		[ $status -eq 0 ] || grep -qE 'ended before|no process' "$ERR"
	done
}
