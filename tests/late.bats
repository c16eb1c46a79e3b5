#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Markers wherever they lie: on overlays, deleted, replaced, static, setuid; and mapped late.

load helpers

teardown() {
	local m
	reap
	for m in "${MOUNTED[@]}"; do umount -l "$m"; done
	for f in "$T"/*.peak; do
		[ ! -e "$f" ] || "$PYTHON" "$ROOT/tests/check-recording" --peakphase "$PP" "$f"
	done
}

# overlay NAME: an overlay of $T/layer on $T/NAME, as a container has it.
MOUNTED=()
overlay() {
	mkdir -p "$T/layer" "$T/$1.upper" "$T/$1.work" "$T/$1"
	mount -t overlay overlay -o "lowerdir=$T/layer,upperdir=$T/$1.upper,workdir=$T/$1.work" "$T/$1" ||
		fail "cannot mount an overlay"
	MOUNTED+=("$T/$1")
}

require_overlay() {
	grep -qw overlay /proc/filesystems || modprobe overlay 2>/dev/null || skip "not in this guest: no overlay file systems"
}

# start_late NAME PROGRAM STEPS...: a process that waits for $T/go; its pid in TARGET.
start_late() {
	local name=$1
	shift
	start_target "$@"
	retry 30 test -e "$T/$name.on"
}

attach() {
	start_tracer attach -o "$R" "$@"
	retry 30 attached
}

@test "two overlays that share a layer: each mark is heard once" {
	require_overlay
	mkdir "$T/layer"
	cp "$W/script" "$T/layer/etl"
	overlay one
	overlay two
	peak_run -- sh -c "\"$T/one/etl\" begin:a hog:10 end; \"$T/two/etl\" begin:b hog:20 end; \"$T/one/etl\" begin:c hog:30 end"
	q 'len(phs("a")) == len(phs("b")) == len(phs("c")) == 1' 'near(delta(ph("a")), 10 * MIB, 65536)' \
		'near(delta(ph("b")), 20 * MIB, 65536)' 'all(p["bad_ends"] == 0 for p in procs)'
}

@test "overlays: running processes of a shared layer, and one whose copy was written to" {
	local first second
	require_overlay
	mkdir "$T/layer"
	cp "$W/script" "$T/layer/etl"
	overlay one
	overlay two
	overlay three
	# An inode of its own, under the number that the other two show.
	touch "$T/three/etl"
	start_late a "$T/one/etl" hog:5 "ready:$T/a.on" "wait:$T/go" begin:a hog:10 end
	first=$TARGET
	start_late b "$T/two/etl" hog:5 "ready:$T/b.on" "wait:$T/go" begin:b hog:20 end
	second=$TARGET
	start_late c "$T/three/etl" hog:5 "ready:$T/c.on" "wait:$T/go" begin:c hog:30 end
	attach -p "$first,$second,$TARGET"
	touch "$T/go"
	wait_for "$TRACER"
	q 'len(procs) == 3' 'len(phs("a")) == len(phs("b")) == len(phs("c")) == 1' \
		'near(delta(ph("c")), 30 * MIB, 65536)' 'all(p["bad_ends"] == 0 for p in procs)'
}

@test "a private copy of the program in each image" {
	local p pids=()
	for i in 1 2 3; do
		mkdir -p "$T/image$i"
		cp "$W/script" "$T/image$i/etl"
		start_late "$i" "$T/image$i/etl" hog:5 "ready:$T/$i.on" "wait:$T/go" "begin:in$i" hog:10 end
		pids+=("$TARGET")
	done
	attach -p "$(IFS=,; echo "${pids[*]}")"
	touch "$T/go"
	wait_for "$TRACER"
	q 'len(procs) == 3' 'all(len(phs(f"in{i}")) == 1 for i in (1, 2, 3))'
}

@test "a binary that was replaced while it runs: old and new are both heard" {
	cp "$W/script" "$T/etl"
	start_late a "$T/etl" hog:5 "ready:$T/a.on" "wait:$T/go" begin:old hog:10 end exec "$T/etl" begin:new hog:20 end
	cp "$W/script" "$T/etl.new"
	mv "$T/etl.new" "$T/etl"
	attach -p "$TARGET"
	touch "$T/go"
	wait_for "$TRACER"
	q 'near(delta(ph("old")), 10 * MIB, 65536)' 'near(delta(ph("new")), 20 * MIB, 65536)'
}
