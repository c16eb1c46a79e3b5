#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The tracer in a pid namespace of its own, as in a privileged container: pids are that namespace's.

load helpers

setup_file() { unshare -pf --mount-proc true || { echo "cannot make a pid namespace" >&2; return 1; }; }

# inside CODE: a shell in a new pid namespace with its own /proc. All that it starts ends with it.
inside() {
	PP=$PP W=$W T=$T R=$R PYTHON=$PYTHON timeout -k 5 $((60 * SLOW)) \
		unshare -pf --kill-child --mount-proc sh -euc "$1" >"$OUT" 2>"$ERR" 3>&-
}

@test "pid namespace: run traces the command, pids are the namespace's" {
	inside '"$PP" run -o "$R" -- "$W/script" begin:a hog:30 end mark:x'
	truth_c
	# The shell is 1, the tracer its child, the command the tracer's.
	q 'len(procs) == 1' 'proc()["pid"] == proc()["ns_pid"] == ph("a")["tid"] == 3' 'proc()["ppid"] == 2' \
		'r["peak"]["phase"] == "x" or r["peak"]["phase"] == "a"' 'near(delta(ph("a")), 30 * MIB, 65536)'
}

@test "pid namespace: children and threads are followed, each by its number there" {
	inside '"$PP" run -o "$R" -- sh -c "\"$W/script\" begin:one hog:10 end; \"$W/threads\" overlap 20 10; true"'
	# The tracer's threads have numbers too.
	q 'len(procs) == 3' 'procs[0]["pid"] == 3' 'all(p["ppid"] == 3 and 3 < p["pid"] < 20 for p in procs[1:])' \
		'all(p["pid"] == p["ns_pid"] for p in procs)' \
		'3 < ph("left")["tid"] < ph("right")["tid"] < 20' 'near(ph("right")["grew_bytes"], 10 * MIB)' \
		'near(delta(ph("one")), 10 * MIB, 65536)'
}

@test "pid namespace: attach takes the pid that is seen there" {
	inside '"$W/script" hog:20 "ready:$T/on" "wait:$T/go" begin:late hog:30 end 3>&- &
		pid=$!
		until [ -e "$T/on" ]; do sleep 0.05; done
		"$PP" attach -o "$R" -p $pid &
		tracer=$!
		until [ -s "$R" ] && "$PP" report "$R" >/dev/null 2>&1 && grep -q "attached to 1" "'"$ERR"'"; do sleep 0.05; done
		touch "$T/go"
		wait $tracer
		echo pid=$pid'
	q "proc()['pid'] == $(sed -n 's/^pid=//p' "$OUT")" 'near(proc()["baseline_bytes"], 22 * MIB, 2 * MIB)' \
		'near(delta(ph("late")), 30 * MIB, 65536)'
}

@test "pid namespace: a process of a deeper one shows both its numbers" {
	inside 'unshare -pf --kill-child --mount-proc "$W/script" hog:20 "ready:$T/on" "wait:$T/go" begin:late hog:30 end &
		until [ -e "$T/on" ]; do sleep 0.05; done
		"$PP" attach -o "$R" -p "$(pgrep -n script)" &
		tracer=$!
		until grep -q "attached to 1" "'"$ERR"'"; do sleep 0.05; done
		touch "$T/go"
		wait $tracer'
	q 'proc()["pid"] > 1' 'proc()["ns_pid"] == 1' 'ph("late")["tid"] == proc()["pid"]'
}

@test "pid namespace: a process that ended is no process, not one that was missed" {
	status_of inside '"$PP" attach --no-record -p 999'
	[ "$STATUS" -eq 1 ]
	grep -q 'there is no process 999' "$ERR"
}

@test "a /proc of another pid namespace is refused, with the remedy" {
	STATUS=0
	unshare -pf --kill-child "$PP" run --no-record -- "$W/script" "ready:$T/ran" >"$OUT" 2>"$ERR" || STATUS=$?
	[ "$STATUS" -eq 3 ]
	grep -q 'another pid namespace' "$ERR"
	grep -q -- '--pid=host' "$ERR"
	[ ! -e "$T/ran" ]
}
