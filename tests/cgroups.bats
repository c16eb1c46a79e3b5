#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Attaching to whole cgroups and to programs by name: who is in it, who comes into it, whose limit counts.

load helpers
load lib/cgroup

setup() {
	T=$BATS_TEST_TMPDIR R=$BATS_TEST_TMPDIR/r.peak OUT=$BATS_TEST_TMPDIR/out ERR=$BATS_TEST_TMPDIR/err
	again
	require_root
	require_bpf
	cgroup_setup
}

teardown() {
	local failed=0 f
	reap
	cgroup_teardown || failed=1
	for f in "$BATS_TEST_TMPDIR"/*.peak; do
		[ ! -e "$f" ] || "$PYTHON" "$ROOT/tests/check-recording" --peakphase "$PP" "$f" || failed=1
	done
	return $failed
}

# inside DIR STEPS...: script in that cgroup, in the background; its first steps say that it is there.
inside() {
	local dir=$1
	shift
	rm -f "$T/on"
	start_target cgroup_run_exec "$dir" "$W/script" "$@"
	retry 30 test -e "$T/on"
}
cgroup_run_exec() {
	# shellcheck disable=SC2016
	exec sh -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$@"
}

attach() {
	start_tracer attach -o "$R" "$@"
	retry 30 attached
}

@test "a cgroup: who is in it, who is moved in, and who comes into one made below it later" {
	inside "$CG" hog:30 "ready:$T/on" "wait:$T/go" begin:late hog:10 end
	attach --cgroup "$CG_PATH"
	cgroup_run "$CG" "$W/script" begin:joined hog:50 end >>"$OUT"
	if [ "$CG_V" = 1 ]; then
		cgroup_make "$CG/inner"
	else
		# A v2 cgroup with processes has no controllers for cgroups below: those are counted in it.
		mkdir "$CG/inner"
		CG_MADE=("$CG/inner" "${CG_MADE[@]}")
	fi
	cgroup_run "$CG/inner" "$W/script" begin:deep hog:20 end >>"$OUT"
	refute gone "$TRACER"
	touch "$T/go"
	wait_for "$TRACER"
	[ "$STATUS" -eq 0 ]
	q 'near(delta(ph("joined")), 50 * MIB, 65536)' 'near(delta(ph("deep")), 20 * MIB, 65536)' \
		'near(delta(ph("late")), 10 * MIB, 65536)' 'near(ph("late")["start_bytes"], 30 * MIB, 3 * MIB)' \
		'r["job"]["processes"] == 3' 'sorted(p["begun_by"] for p in procs) == ["attach", "exec", "exec", "join", "join"]' \
		'all(p["container"] is None for p in procs)' 'r["losses"]["growth_pages"] == 0'
	[ "$(sql "$R" "select count(distinct cgroup_id) from processes")" -eq 2 ] || [ "$CG_V" = 2 ]
	sql "$R" "select cast(path as text) from cgroups" | grep -qx "$CG_PATH"
}

@test "a cgroup by its folder, by its path, and by its path without the slash" {
	local name
	for name in "$CG" "$CG_PATH" "${CG_PATH#/}" "$CG/"; do
		inside "$CG" hog:30 "ready:$T/on" "wait:$T/go" begin:late hog:10 end
		attach --cgroup "$name"
		touch "$T/go"
		wait_for "$TRACER"
		[ "$STATUS" -eq 0 ]
		report_json "$R"
		q 'near(delta(ph("late")), 10 * MIB, 65536)' 'len(procs) == 1'
		rm -f "$R" "$T/go"
	done
}

@test "a child that is born in the cgroup" {
	local v2
	v2=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
	[ -n "$v2" ] || skip "not on this kernel: no v2 hierarchy is mounted"
	mkdir -p "$v2$CG_PATH"
	CG_MADE=("$v2$CG_PATH" "${CG_MADE[@]}")
	inside "$v2$CG_PATH" hog:10 "ready:$T/on" "wait:$T/go"
	attach --cgroup "$v2$CG_PATH"
	"$PYTHON" "$ROOT/tests/lib/clone_into.py" "$v2$CG_PATH" "$W/script" begin:born hog:40 end >>"$OUT"
	touch "$T/go"
	wait_for "$TRACER"
	[ "$STATUS" -eq 0 ]
	q 'near(delta(ph("born")), 40 * MIB, 65536)' 'r["job"]["processes"] == 2' 'sum(p["begun_by"] == "join" for p in procs) == 1'
}

@test "a process that comes in with threads: each thread's growth is its own, none is lost" {
	inside "$CG" hog:10 "ready:$T/on" "wait:$T/end"
	attach --cgroup "$CG_PATH"
	"$W/threads" overlap 200 100 "$T/go" >"$T/out2" 2>&1 3>&- &
	TARGET=$!
	started "$TARGET"
	retry 30 threads_of 3
	echo "$TARGET" >"$CG/cgroup.procs"
	retry 30 knows "$TARGET"
	sleep 0.3
	touch "$T/go"
	wait_for "$TARGET"
	touch "$T/end"
	wait_for "$TRACER"
	[ "$STATUS" -eq 0 ]
	q 'near(ph("left")["grew_bytes"], 200 * MIB)' 'near(ph("right")["grew_bytes"], 100 * MIB)' \
		'r["losses"]["growth_pages"] == 0' 'len(procs) == 2'
}
threads_of() { [ "$(ls "/proc/$TARGET/task" | wc -l)" -eq "$1" ]; }
knows() { [ "$(sql "$R" "select count(*) from processes where pid = $1" 2>/dev/null)" -ge 1 ]; }

# C12.
@test "whose limit: none at all, the smallest on the way up, and its owner by name" {
	local inner=$CG/inner
	cgroup_make "$inner"
	inside "$inner" hog:30 "ready:$T/on" "wait:$T/go" begin:late hog:10 end
	cgroup_limit "$CG" $((200 * MIB))
	attach --cgroup "$CG_PATH/inner"
	touch "$T/go"
	wait_for "$TRACER"
	q 'proc()["limit_bytes"] == 200 * MIB' 'r["job"]["limit_owner"]["level"] == 1' \
		"r['job']['limit_owner']['cgroup'] == '$CG_PATH'" 'r["job"]["limit_owner"]["container"] is None' \
		'near(r["job"]["headroom_min_bytes"], 160 * MIB, 8 * MIB)'
	"$PP" report "$R" | grep -q "^limit 200.0 MiB (cgroup $CG_PATH), lowest headroom 1"
	rm -f "$R" "$T/go"
	cgroup_limit "$inner" $((100 * MIB))
	inside "$inner" hog:30 "ready:$T/on" "wait:$T/go" begin:late hog:10 end
	attach --cgroup "$CG_PATH/inner"
	touch "$T/go"
	wait_for "$TRACER"
	report_json "$R"
	q 'proc()["limit_bytes"] == 100 * MIB' 'r["job"]["limit_owner"]["level"] == 0' 'near(r["job"]["headroom_min_bytes"], 60 * MIB, 8 * MIB)'
	rm -f "$R" "$T/go"
	cgroup_limit "$inner" -1
	cgroup_limit "$CG" -1
	inside "$inner" hog:30 "ready:$T/on" "wait:$T/go" begin:late hog:10 end
	attach --cgroup "$CG_PATH/inner"
	touch "$T/go"
	wait_for "$TRACER"
	report_json "$R"
	q 'proc()["limit_bytes"] is None' 'proc()["headroom_min_bytes"] is None' 'proc()["charge_peak_bytes"] > 40 * MIB'
	refute grep -q '^limit' <("$PP" report "$R")
}

@test "programs by name: all of them, and what they start" {
	cp "$W/script" "$T/nightly-with-a-long-name"
	start_target "$T/nightly-with-a-long-name" hog:20 "ready:$T/on" "wait:$T/go" begin:one hog:10 end
	"$T/nightly-with-a-long-name" hog:20 "ready:$T/on2" "wait:$T/go" begin:two hog:30 end >"$T/out2" 3>&- &
	started $!
	retry 30 test -e "$T/on2"
	retry 30 test -e "$T/on"
	attach --comm nightly-with-a-long-name
	touch "$T/go"
	wait_for "$TRACER"
	[ "$STATUS" -eq 0 ]
	q 'len(procs) == 2' 'near(delta(ph("one")), 10 * MIB, 65536)' 'near(delta(ph("two")), 30 * MIB, 65536)'
}

@test "--wait: for a cgroup that is not there yet, and for the next one of that name" {
	local i
	rmdir "$CG"
	start_tracer attach -o "$R" --wait --cgroup "$CG_PATH"
	retry 30 grep -q "waiting for $CG_PATH" "$ERR"
	for i in 1 2; do
		mkdir "$CG"
		cgroup_run "$CG" "$W/script" sleep:400 "begin:run$i" "hog:${i}0" end sleep:300 >>"$OUT"
		retry 10 rmdir_quiet "$CG"
		sleep 0.3
		refute gone "$TRACER"
	done
	kill -INT "$TRACER"
	wait_for "$TRACER"
	[ "$STATUS" -eq 0 ]
	q 'near(delta(ph("run1")), 10 * MIB, 65536)' 'near(delta(ph("run2")), 20 * MIB, 65536)'
}

@test "--wait: what starts the moment its cgroup is made is followed from its exec" {
	local i
	rmdir "$CG"
	start_tracer attach -o "$R" --wait --cgroup "$CG_PATH"
	retry 30 grep -q "waiting for $CG_PATH" "$ERR"
	for i in 1 2 3; do
		mkdir "$CG"
		cgroup_run "$CG" "$W/script" "hog:${i}0" >>"$OUT"
		retry 10 rmdir_quiet "$CG"
	done
	# The same name elsewhere is another cgroup.
	mkdir "${CG%/*}/other$$" "${CG%/*}/other$$/${CG##*/}"
	CG_MADE=("${CG%/*}/other$$/${CG##*/}" "${CG%/*}/other$$" "${CG_MADE[@]}")
	cgroup_run "${CG_MADE[0]}" "$W/script" hog:40 >>"$OUT"
	kill -INT "$TRACER"
	wait_for "$TRACER"
	[ "$STATUS" -eq 0 ]
	q '[round((p["peak"]["bytes"] - 1.2 * MIB) / MIB / 10) for p in procs if p["begun_by"] == "exec"] == [1, 2, 3]' \
		'sum(p["begun_by"] == "join" for p in procs) == 3' 'all(p["baseline_bytes"] < MIB for p in procs if p["begun_by"] == "exec")'
}

@test "--wait: after more starts than the kernel side has room for" {
	rmdir "$CG"
	start_tracer attach -o "$R" --wait --cgroup "$CG_PATH"
	retry 30 grep -q "waiting for $CG_PATH" "$ERR"
	"$PYTHON" -c 'import os, sys
for _ in range(1100):
    os.mkdir(sys.argv[1])
    os.rmdir(sys.argv[1])' "$CG"
	mkdir "$CG"
	cgroup_run "$CG" "$W/script" sleep:1500 begin:last hog:20 end >>"$OUT"
	kill -INT "$TRACER"
	wait_for "$TRACER"
	[ "$STATUS" -eq 0 ]
	refute grep -q error "$ERR"
	q 'near(delta(ph("last")), 20 * MIB, 65536)'
}

@test "what is not there is said, with what to do" {
	status_of "$PP" attach --no-record --cgroup /no/such/cgroup
	[ "$STATUS" -eq 1 ]
	grep -q 'there is no cgroup /no/such/cgroup' "$T/said"
	grep -q -- --wait "$T/said"
	status_of "$PP" attach --no-record --cgroup "$CG_PATH"
	[ "$STATUS" -eq 1 ]
	grep -q "no process is in the cgroup $CG_PATH" "$T/said"
	status_of "$PP" attach --no-record --cgroup "$CG_PATH/../.."
	[ "$STATUS" -eq 1 ]
	grep -q 'not a cgroup' "$T/said"
	status_of "$PP" attach --no-record --comm no-such-name
	[ "$STATUS" -eq 1 ]
	grep -q 'no process is called no-such-name' "$T/said"
	status_of "$PP" attach --no-record --container $'no\033[2Jsuch'
	[ "$STATUS" -eq 1 ]
	grep -qF 'there is no container no\x1b[2Jsuch' "$T/said"
	status_of "$PP" attach --no-follow --cgroup "$CG_PATH"
	[ "$STATUS" -eq 2 ]
	status_of "$PP" attach --wait -p 1
	[ "$STATUS" -eq 2 ]
	status_of "$PP" attach --list -p 1
	[ "$STATUS" -eq 2 ]
	status_of "$PP" attach
	[ "$STATUS" -eq 2 ]
}

# An engine whose state is not to be read: its cgroup alone tells the id.
@test "a container that is known by its cgroup alone, by the beginning of its id" {
	local id base
	id=$(printf 'feed%060x' $$)
	[ "$CG_V" = 1 ] && base=/sys/fs/cgroup/memory || base=/sys/fs/cgroup
	mkdir -p "$base/docker"
	[ "$CG_V" = 1 ] || echo +memory >"$base/docker/cgroup.subtree_control"
	mkdir "$base/docker/$id"
	CG_MADE=("$base/docker/$id" "${CG_MADE[@]}")
	inside "$base/docker/$id" hog:20 "ready:$T/on" "wait:$T/go" begin:late hog:10 end
	"$PP" attach --list >"$T/list"
	grep -qE "^docker +${id:0:12} +${id:0:12} +$TARGET +1 " "$T/list"
	grep -qE "^ *$TARGET +script .* docker ${id:0:12}" "$T/list"
	"$PP" attach --list --json | jq -e ".containers[] | select(.id == \"$id\") | .processes == 1 and .charge_bytes > 20000000" >/dev/null
	attach --container "${id:0:8}"
	touch "$T/go"
	wait_for "$TRACER"
	rmdir_quiet "$base/docker" || true
	q 'near(delta(ph("late")), 10 * MIB, 65536)' "proc()['container']['id'] == '$id'" 'proc()["container"]["runtime"] == "docker"' \
		'proc()["container"]["name"] is None'
	"$PP" report "$R" | head -n 1 | grep -qE "pid $TARGET \\([0-9]+ in docker ${id:0:12}\\)"
}
