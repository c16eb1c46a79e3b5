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

# heard [PATTERN]: every mark of the workload `late` was heard or is said to be missing (tests/lib/heard.py); those of
# labels that begin with PATTERN were all heard.
heard() {
	report_json "$R"
	"$PYTHON" "$ROOT/tests/lib/heard.py" "$T/report.json" "$OUT" "$@"
}

@test "a library loaded after the attach: probed at once, and what came before that is said" {
	mkdir "$T/private"
	cp "$PEAKPHASE_BUILD/liblogrss.so" "$T/private/libx.so"
	start_late late "$W/late" "ready:$T/late.on" "wait:$T/go" "load:$T/private/libx.so" repeat:50 lib:at-once \
		sleep:300 repeat:5 lib:later
	attach -p "$TARGET"
	# Long after its start.
	sleep 1
	touch "$T/go"
	wait_for "$TRACER"
	heard later
	q 'len(r["unheard"]) == 1' 'r["unheard"][0]["file"].endswith("/private/libx.so")' 'r["unheard"][0]["looked"]' \
		"r['unheard'][0]['to_ns'] - r['unheard'][0]['from_ns'] < $((250000000 * SLOW))"
	grep -q "warning: pid $TARGET: marks of $T/private/libx.so may be missing" "$ERR"
	"$PP" report "$R" | grep -q "marks may be missing of $T/private/libx.so in pid $TARGET"
}

@test "a library in a place that is looked at before: nothing is missing" {
	mkdir -p "$T/peakphase"
	cp "$PEAKPHASE_BUILD/liblogrss.so" "$T/peakphase/liblogrss.so"
	peak_run -- env -C "$T" "$W/late" sleep:100 load:./peakphase/liblogrss.so repeat:50 lib:at-once
	heard ""
	q 'r["unheard"] == []'
}

@test "code mapped by hand, without a loader, is seen as well" {
	cp "$PEAKPHASE_BUILD/liblogrss.so" "$T/data"
	peak_run -- sh -c "D=data; exec \"$W/late\" sleep:50 \"map:$T/\$D\" sleep:200"
	q 'len(r["unheard"]) == 1' 'r["unheard"][0]["file"].endswith("/data")'
}

# copies N: of the workload, each a file of its own, with names that no command line tells.
copies() {
	local i
	mkdir -p "$T/bin"
	for ((i = 0; i < $1; i++)); do cp "$W/late" "$T/bin/job$i"; done
}

@test "programs that nothing foretold: their marks are heard, or said to be missing" {
	# Each is probed within moments, when the machine has the time.
	for _ in 1 2 3; do
		copies 20
		peak_run -- sh -c "N=job; for i in $(seq -s ' ' 0 19); do \"$T/bin/\$N\$i\" repeat:20 mark:first sleep:$((50 * SLOW)) repeat:5 mark:later; done"
		heard
		if heard later; then return; fi
	done
	fail "a program is not probed within $((50 * SLOW)) ms"
}

@test "programs that are gone before anybody looks: said, for each" {
	copies 20
	peak_run -- sh -c "N=job; for i in $(seq -s ' ' 0 19); do \"$T/bin/\$N\$i\" mark:only & done; wait"
	heard
	# Every one of them was traced, whatever mm it was given after another.
	q 'len({p["pid"] for p in procs}) == 21' 'r["losses"]["processes"] == 0'
}

@test "a second run of a late program misses nothing" {
	copies 1
	peak_run -- sh -c "N=job; \"$T/bin/\$N\"0 sleep:300 mark:first; \"$T/bin/\$N\"0 repeat:20 mark:second"
	heard second
}

@test "a child forked while its parent's library is not probed yet is told of too, or misses nothing" {
	cp "$PEAKPHASE_BUILD/liblogrss.so" "$T/libf.so"
	peak_run -- sh -c "L=libf; exec \"$W/late\" sleep:50 \"load:$T/\$L.so\" fork repeat:3 lib:both sleep:100 lib:late"
	heard late
	q 'len({p["pid"] for p in procs}) == 2'
}

@test "static and stripped: the marker is found by its note" {
	cp "$W/late-static" "$T/etl"
	start_late s "$T/etl" hog:5 "ready:$T/s.on" "wait:$T/go" repeat:3 mark:static
	rm "$T/etl"
	attach -p "$TARGET"
	touch "$T/go"
	wait_for "$TRACER"
	heard static
	peak_run -- "$W/late-static" repeat:3 mark:static
	heard static
}

@test "no marks: how to have phases, once, and not of a program that has some" {
	local why='peakphase: no marks were heard: .*; plain has no symbols'
	cp "$(command -v sleep)" "$T/plain"
	strip "$T/plain"
	"$PP" run --no-record -- "$T/plain" 0.1 2>"$T/said"
	[ "$(grep -c "$why" "$T/said")" -eq 1 ]
	"$PP" run --no-record -q -- "$T/plain" 0.1 2>"$T/said"
	"$PP" run --no-record --mark-output rows -- "$T/plain" 0.1 2>>"$T/said"
	"$PP" run --no-record -- "$W/late-static" 2>>"$T/said"
	refute grep 'no marks were heard' "$T/said"
	"$PP" run --no-record -- python3 -c 0 2>"$T/said"
	grep -q 'no marks were heard: .*python3 -m peakphase --span' "$T/said"
	"$PP" run --no-record -- sh -c 'true; sleep 0' 2>"$T/said"
	grep -q 'no marks were heard: phases can be lines that it prints' "$T/said"
	echo 'int main(void) { return 0; }' | gcc -x c - -o "$T/mute"
	"$PP" run --no-record -- "$T/mute" 2>"$T/said"
	grep -q 'no marks were heard: .*--span mute:FUNCTION' "$T/said"
	start_target env -i "$T/plain" 60 # no places to look for a marker library in
	attach -p "$TARGET"
	retry 20 grep -q "$why" "$ERR"
	kill "$TARGET"
	wait_for "$TRACER"
	[ "$(grep -c "$why" "$ERR")" -eq 1 ]
}

@test "a set-uid program of another user" {
	local dir
	dir=$(mktemp -d /tmp/peakphase-suid-XXXXXX)
	chmod 755 "$dir"
	cp "$W/late" "$dir/suid"
	chmod 4755 "$dir/suid"
	mkdir -m 777 "$dir/open"
	start_target setpriv --reuid=65534 --regid=65534 --clear-groups "$dir/suid" "ready:$dir/open/on" "wait:$dir/open/go" repeat:3 mark:suid
	retry 30 test -e "$dir/open/on"
	[ "$(sed -n 's/^Uid:[[:space:]]*//p' "/proc/$TARGET/status")" = $'65534\t0\t0\t0' ]
	attach -p "$TARGET"
	touch "$dir/open/go"
	wait_for "$TRACER"
	rm -r "$dir"
	heard suid
}

@test "500 processes with 20 marker files: attached within seconds" {
	local i n loads=() pids=() t0 took
	n=$(scaled 500)
	# Emulated, 7.3 takes 70 ms for each site and process.
	[ "${PEAKPHASE_GUEST:-0}" != 1 ] || n=10
	for i in {1..20}; do
		cp "$PEAKPHASE_BUILD/liblogrss.so" "$T/lib$i.so"
		loads+=("load:$T/lib$i.so")
	done
	for ((i = 0; i < n; i++)); do
		"$W/late" "${loads[@]}" "ready:$T/$i.on" "wait:$T/go" lib:late >"$T/out.$i" 3>&- &
		pids+=($!)
	done
	started "${pids[@]}"
	all_there() { [ "$(find "$T" -maxdepth 1 -name '*.on' | wc -l)" -eq "$n" ]; }
	retry 60 all_there
	t0=$(date +%s%N)
	attach -q -p "$(IFS=,; echo "${pids[*]}")"
	took=$((($(date +%s%N) - t0) / 1000000))
	echo "$n processes: $took ms"
	# 2 s on a quiet machine, where the benchmark holds it to that.
	[ "$took" -lt $((8000 * SLOW)) ]
	# And the one of $PYTHONPATH.
	grep -q "attached to $n processes.*; 2[12] markers" "$ERR"
	touch "$T/go"
	wait_for "$TRACER"
	cat "$T"/out.* >"$OUT"
	heard late
	q "len(procs) == $n" "len(phs('late')) == $n"
}
