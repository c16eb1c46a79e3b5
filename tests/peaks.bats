#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The number itself: what each phase's peak must be, to a few pages in C (C_TOLERANCE), within
# max(1 MiB, 1 %) in Python. The workloads' own truth is checked too, in every test that has one.

load helpers

# Both languages; extra arguments are steps of tests/workloads/script.c.
in_c_and_python() {
	run_c "$@"
	truth_c
	run_py "$@"
	truth_py
}

@test "a spike freed within its phase is its peak, and the phase ends where it began" {
	run_c begin:transform:users hog4k:300 free end
	truth_c
	q 'near(delta(ph("transform:users")), 300 * MIB, 65536)' \
		'near(ph("transform:users")["end_bytes"], ph("transform:users")["start_bytes"], 65536)' \
		'near(ph("transform:users")["spike_bytes"], 300 * MIB, 65536)' \
		'r["peak"]["phase"] == "transform:users"'
	run_py begin:transform:users hog:300 free end
	truth_py
	q 'near(delta(ph("transform:users")), 300 * MIB)' \
		'near(ph("transform:users")["kept_bytes"], 0)' \
		'r["peak"]["phase"] == "transform:users"'
}

@test "a spike on huge pages, over in milliseconds, is seen whole" {
	run_c begin:huge hog2m:256 free end
	truth_c
	q 'near(delta(ph("huge")), 256 * MIB, 65536)' 'r["peak"]["phase"] == "huge"'
}

@test "each of three phases has its own spike, rising or falling" {
	in_c_and_python begin:a hog:300 free end begin:b hog:200 free end begin:c hog:100 free end
	q 'near(delta(ph("a")), 300 * MIB)' 'near(delta(ph("b")), 200 * MIB)' 'near(delta(ph("c")), 100 * MIB)' \
		'r["peak"]["phase"] == "a"'
	run_c begin:c hog:17 free end begin:b hog:61 free end begin:a hog:93 free end
	truth_c
	q 'near(delta(ph("a")), 93 * MIB, 65536)' 'near(delta(ph("b")), 61 * MIB, 65536)' 'near(delta(ph("c")), 17 * MIB, 65536)' \
		'r["peak"]["phase"] == "a"'
}

@test "a hundred small pieces that are kept add up, and the peak is at the end" {
	in_c_and_python begin:pieces repeat:100 hog:2 sleep:5 done end
	run_c begin:pieces repeat:100 hog:2 sleep:5 done end
	q 'near(delta(ph("pieces")), 200 * MIB, 65536)' 'near(ph("pieces")["kept_bytes"], 200 * MIB, 65536)' \
		'ph("pieces")["spike_bytes"] <= 65536' \
		'(ph("pieces")["end_ns"] - ph("pieces")["peak_at_ns"]) * 10 < ph("pieces")["end_ns"] - ph("pieces")["start_ns"]'
}

@test "a program of 30 ms without a mark has its startup row and its peak" {
	run_c hog:64
	q 'labels == ["(startup)"]' 'near(ph("(startup)")["peak_bytes"], 64 * MIB, 4 * MIB)' \
		'ph("(startup)")["peak_bytes"] >= 64 * MIB' 'r["peak"]["phase"] == "(startup)"' \
		'proc()["exit"]["kind"] == "exit" and proc()["exit"]["status"] == 0'
	# A program that has no marker in it at all; the kernel itself touches the pages.
	peak_run -- dd if=/dev/zero of=/dev/null bs=64M count=1
	q 'labels == ["(startup)"]' 'near(r["peak"]["bytes"], 64 * MIB, 6 * MIB)' 'r["peak"]["bytes"] >= 64 * MIB'
}

@test "address space is no memory until it is touched" {
	run_c begin:reserve reserve:1024 end begin:touch touch:100 end begin:more touch:31 end
	truth_c
	q 'delta(ph("reserve")) <= 65536' 'near(delta(ph("touch")), 100 * MIB, 65536)' \
		'near(delta(ph("more")), 31 * MIB, 65536)'
}

@test "a mapped input is file memory, not the program's own" {
	# On tmpfs, as in a guest's root, the pages of a file are counted as shared memory.
	local member=file
	[ "$(stat -f -c %T "$T")" != tmpfs ] || member=shmem
	truncate -s 150M "$T/input"
	run_c begin:before end begin:map "map:$T/input" end begin:own hog:50 end
	truth_c
	q "near(ph('map')['peak_members']['$member'] - ph('before')['peak_members']['$member'], 150 * MIB, 65536)" \
		'near(ph("map")["peak_members"]["anon"], ph("before")["peak_members"]["anon"], 65536)' \
		'near(ph("own")["peak_members"]["anon"] - ph("map")["peak_members"]["anon"], 50 * MIB, 65536)'
	run_py begin:before end begin:map "map:$T/input" end
	truth_py
	q "near(ph('map')['peak_members']['$member'] - ph('before')['peak_members']['$member'], 150 * MIB)" \
		'near(ph("map")["peak_members"]["anon"], ph("before")["peak_members"]["anon"])'
}

@test "an outer phase carries the largest of its inner ones" {
	in_c_and_python begin:outer begin:i1 hog:50 free end begin:i2 hog:100 free end \
		begin:i3 hog:150 free end hog:20 end
	q 'near(delta(ph("i1")), 50 * MIB)' 'near(delta(ph("i2")), 100 * MIB)' 'near(delta(ph("i3")), 150 * MIB)' \
		'near(delta(ph("outer")), 150 * MIB)' 'near(ph("outer")["kept_bytes"], 20 * MIB)' \
		'ph("outer")["depth"] == 0 and ph("i3")["depth"] == 1' \
		'r["peak"]["phase"] == "i3"' 'r["peak"]["open"] == ["outer", "i3"]'
	# The outer phase's own memory on top of what an inner one kept.
	run_c begin:outer begin:i1 hog:40 end hog:30 free begin:i2 hog:10 free end end
	truth_c
	q 'near(delta(ph("outer")), 70 * MIB, 65536)' 'r["peak"]["phase"] == "outer"'
}

@test "nesting deeper than any program has" {
	local -a ops=()
	local i
	for i in {1..60}; do ops+=("begin:level $i" hog:1); done
	for i in {1..60}; do ops+=(end free); done
	run_c "${ops[@]}"
	truth_c
	q 'near(delta(ph("level 1")), 60 * MIB, 65536)' 'ph("level 60")["depth"] == 59' \
		'r["peak"]["phase"] == "level 60"' 'len(r["peak"]["open"]) == 60'
}

overlap_of_200_and_100() {
	q 'ph("left")["peak_bytes"] == ph("right")["peak_bytes"] == r["peak"]["bytes"]' \
		'near(delta(ph("left")), 300 * MIB)' 'near(delta(ph("right")), 100 * MIB)' \
		'near(ph("left")["grew_bytes"], 200 * MIB)' 'near(ph("right")["grew_bytes"], 100 * MIB)' \
		'ph("left")["overlaps"] and ph("right")["overlaps"]' \
		'sorted(r["peak"]["open"]) == ["left", "right"]' \
		'ph("left")["tid"] != ph("right")["tid"]'
}

@test "two threads at once: both carry the common peak, each its own growth" {
	peak_run -- "$W/threads" overlap 200 100
	overlap_of_200_and_100
	peak_run -- "$PYTHON" "$PYW/threads.py" overlap 200 100
	overlap_of_200_and_100
	peak_run -- "$W/threads" overlap 30 170
	q 'near(delta(ph("left")), 200 * MIB)' 'near(ph("right")["grew_bytes"], 170 * MIB)' \
		'near(ph("left")["grew_bytes"], 30 * MIB)'
}

@test "what a thread brings in while another marks is its own, huge pages and small" {
	peak_run -q -- "$W/threads" marked 20
	q 'near(ph("huge")["grew_bytes"], 640 * MIB, MIB)' 'near(ph("huge")["shrank_bytes"], 640 * MIB, MIB)' \
		'near(ph("small")["grew_bytes"], 640 * MIB, 4 * MIB)' 'near(ph("small")["shrank_bytes"], 640 * MIB, 4 * MIB)' \
		'len(phs("between")) > 100'
}

@test "a span that ends on another thread" {
	peak_run -- "$W/threads" handoff 70
	q 'len(phs("handed over")) == 1' 'near(delta(ph("handed over")), 70 * MIB)' \
		'ph("handed over")["ended_by"] == "end"' 'near(ph("handed over")["grew_bytes"], 70 * MIB)'
	peak_run -- "$PYTHON" "$PYW/threads.py" handoff 70
	q 'len(phs("handed over")) == 1' 'near(delta(ph("handed over")), 70 * MIB)'
}

@test "the checkpoints of four threads are four chains" {
	peak_run -- "$W/threads" chains 4 20
	q 'sum(p["kind"] == "checkpoint" for p in proc()["phases"]) == 80' \
		'all(len({p["tid"] for p in proc()["phases"] if p["label"].startswith(f"t{t} ")}) == 1 for t in range(4))' \
		'all([p["label"] for p in proc()["phases"] if p["label"].startswith(f"t{t} ")] == [f"t{t} step {i}" for i in range(20)] for t in range(4))' \
		'all(near(ph(f"t{t} step {i}")["grew_bytes"], (i & 1) * MIB, 65536) for t in range(4) for i in range(1, 20))' \
		'all(p["spike_bytes"] <= 65536 + proc()["error_bytes"] for p in proc()["phases"] if p["kind"] == "checkpoint")' # nothing is ever given back
}

@test "asyncio: tasks end out of order, two of one name are kept apart" {
	peak_run -- "$PYTHON" "$PYW/tasks.py" A:100:0.1:1 B:150:0.2:1 A:10:0.3:1
	q 'len(phs("A")) == 2 and len(phs("B")) == 1' \
		'near(ph("A", 0)["grew_bytes"], 260 * MIB)' \
		'near(ph("A", 0)["peak_bytes"], ph("A", 0)["start_bytes"] + 260 * MIB)' \
		'near(delta(ph("B")), 160 * MIB)' 'near(delta(ph("A", 1)), 10 * MIB)' \
		'ph("A", 0)["end_ns"] < ph("B")["end_ns"] < ph("A", 1)["end_ns"]' \
		'near(ph("A", 1)["kept_bytes"], -250 * MIB)' \
		'ph("A", 0)["overlaps"] and ph("B")["overlaps"] and ph("A", 1)["overlaps"]' \
		'sorted(r["peak"]["open"]) == ["A", "A", "B"]'
	# The same shape by tokens in C: ends in the order of the begins.
	run_c begin:A hog:100 begin:B hog:150 begin:A hog:10 sleep:20 end:0 sleep:20 end:1 free end:2
	q 'near(delta(ph("A", 0)), 260 * MIB, 65536)' 'near(delta(ph("B")), 160 * MIB, 65536)' \
		'near(delta(ph("A", 1)), 10 * MIB, 65536)' 'ph("A", 0)["overlaps"]'
}

@test "checkpoints name what has just ended, and the rest is (after)" {
	run_c hog:60 mark:load:users hog:40 mark:hook:PRE_PUSH:x
	truth_c
	q 'labels == ["load:users", "hook:PRE_PUSH:x", "(after)"]' \
		'near(ph("load:users")["peak_bytes"], 60 * MIB, 4 * MIB)' \
		'near(delta(ph("hook:PRE_PUSH:x")), 40 * MIB, 65536)' \
		'ph("load:users")["end_ns"] == ph("hook:PRE_PUSH:x")["start_ns"]' \
		'ph("hook:PRE_PUSH:x")["end_bytes"] == ph("(after)")["start_bytes"]' \
		'ph("(after)")["ended_by"] == "exit"'
	run_py hog:60 mark:load:users hog:40 free mark:hook:PRE_PUSH:x hog:70
	truth_py
	q 'labels == ["load:users", "hook:PRE_PUSH:x", "(after)"]' 'near(delta(ph("(after)")), 70 * MIB)' \
		'r["peak"]["phase"] == "(after)"'
}

@test "what lies between spans has a row of its own" {
	run_c hog:5 begin:a hog:10 end hog:80 free begin:b hog:20 end hog:3
	truth_c
	q 'labels == ["(startup)", "a", "(between)", "b", "(after)"]' \
		'near(delta(ph("(between)")), 80 * MIB, 65536)' 'r["peak"]["phase"] == "(between)"' \
		'near(delta(ph("(after)")), 3 * MIB, 65536)'
}

@test "phases without growth are listed, with nothing" {
	in_c_and_python begin:nothing sleep:10 end begin:again sleep:10 end
	q 'delta(ph("nothing")) <= MIB' 'ph("again")["end_ns"] - ph("again")["start_ns"] >= 10_000_000'
	run_c begin:nothing sleep:10 end begin:again sleep:10 end
	q 'near(delta(ph("nothing")), 0, 16384)' 'near(delta(ph("again")), 0, 16384)'
}

@test "a phase that gives memory back, or begins in the middle of another's spike" {
	run_c hog:80 begin:frees free end begin:outer hog:120 begin:late sleep:1 free end end
	truth_c
	q 'near(ph("frees")["kept_bytes"], -80 * MIB, 65536)' 'near(delta(ph("frees")), 0, 65536)' \
		'ph("late")["peak_bytes"] == ph("outer")["peak_bytes"]'
}

# What the test reads from outside while the program runs, and what the program reads at rest.
@test "the peak is at least every smaps_rollup reading, and equal to it at rest" {
	local page rest top
	page=$(getconf PAGESIZE)
	start_tracer run -o "$R" -q -- "$W/script" "ready:$T/on" repeat:12 begin:up hog:20 sleep:20 end done smaps \
		begin:rest end repeat:6 begin:down free "sleep:$((80 * SLOW))" end done begin:spike hog4k:40 free end
	retry 20 test -e "$T/on"
	TARGET=$(child_of "$TRACER")
	: >"$T/readings"
	while awk '/^Rss:/ { print $2 * 1024 }' "/proc/$TARGET/smaps_rollup" >>"$T/readings" 2>/dev/null; do
		sleep 0.005
	done
	wait_for "$TRACER"
	[ "$STATUS" -eq 0 ]
	[ "$(wc -l <"$T/readings")" -ge $((SLOW > 1 ? 3 : 5)) ]
	report_json "$R"
	top=$(sort -n "$T/readings" | tail -n 1)
	q "r['peak']['bytes'] + proc()['error_bytes'] >= $top"
	rest=$(sed -n 's/^smaps_rss=//p' "$T/tracer.out")
	q "near(ph('rest')['start_bytes'], $rest, $page)" "near(r['peak']['bytes'], $rest, $page)"
}

@test "run of /bin/true: one process, nothing of the tracer's own in it" {
	peak_run -- /bin/true
	q 'len(procs) == 1' 'r["peak"]["bytes"] < 4 * MIB' 'r["peak"]["bytes"] > 0' 'labels == ["(startup)"]'
}

@test "run of a shell: the peak is its child's" {
	peak_run -- sh -c "true; $W/script begin:child hog:64 free end"
	q 'near(delta(ph("child")), 64 * MIB, 65536)' 'r["peak"]["phase"] == "child"' \
		'r["peak"]["bytes"] < 72 * MIB'
}

@test "100,000 marks flat out (a fifth in guests): as many rows, in order, none lost, the tracer bounded" {
	local rss most=0 n
	n=$(scaled 100000)
	start_tracer run -o "$R" -q -- "$W/flood" $n
	# Its own memory, without the rings that it maps (they are file-backed).
	while rss=$(awk '/^RssAnon:/ { print $2 }' "/proc/$TRACER/status" 2>/dev/null) && [ -n "$rss" ]; do
		[ "$rss" -le "$most" ] || most=$rss
		sleep 0.01
	done
	wait_for "$TRACER"
	[ "$STATUS" -eq 0 ]
	[ "$(sql "$R" 'select count(*) from phases where kind = 1')" -eq $n ]
	[ "$(sql "$R" "select count(*) from (select cast(label as text) l, row_number() over (order by start_win) - 1 n
		from phases where kind = 1) where l <> printf('m%07d', n)")" -eq 0 ]
	report_json "$R"
	q 'r["losses"]["edges"] == 0' 'r["exact"] or proc()["error_bytes"] > 0' "len(procs) == 1"
	echo "tracer: at most $most KiB of its own"
	# Four buffers of 8 MiB before the recording (store/queue.h), which a flood fills; SQLite's cache of 2 MiB; and 4 MiB for the
	# programs' descriptions, the model and the threads' stacks: 2.2 MiB at rest.
	[ "$most" -gt 0 ] && [ "$most" -le $((4 * 8192 + 2048 + 4096)) ]
}

@test "10,000 marks from Python, and from four threads" {
	peak_run -q -- "$PYTHON" "$PYW/flood.py" 10000
	q 'sum(p["kind"] == "checkpoint" for p in proc()["phases"]) == 10000' 'r["losses"]["edges"] == 0' \
		'[p["label"] for p in proc()["phases"] if p["kind"] == "checkpoint"] == [f"m{i:07d}" for i in range(10000)]'
	peak_run -q -- "$W/flood" 2500 4
	q 'sum(p["kind"] == "checkpoint" for p in proc()["phases"]) == 10000' 'r["losses"]["edges"] == 0'
}

@test "what a phase kept and the process gave back right after it is said at its row" {
	run_c begin:sink hog:60 hog:20 end sleep:300 free begin:next hog:30 end begin:last hog:10 hog:15 end sleep:200 free sleep:2300 free free
	q 'near(ph("sink")["kept_bytes"], 80 * MIB, 65536)' 'near(ph("sink")["freed_later_bytes"], 20 * MIB, 65536)' \
		'ph("next")["freed_later_bytes"] < 65536' 'not any(ph(p)["freed_later_bytes"] for p in ("(startup)", "(between)", "(after)"))' \
		'near(ph("last")["kept_bytes"], 25 * MIB, 65536)' 'near(ph("last")["freed_later_bytes"], 15 * MIB, 2 * MIB)'
	"$PP" report "$R" >"$T/text"
	grep -Eq '^  sink .* ~?(19|20)\.[0-9] freed later$' "$T/text" || fail "$(cat "$T/text")"
	# What lasts longer than 2 s is by the timeline, and what was given back after that is not counted.
	grep -Eq '^  last .* ~1[3-6]\.[0-9] freed later$' "$T/text" || fail "$(cat "$T/text")"
	[ "$(grep -c 'freed later' "$T/text")" -eq 2 ]
}
