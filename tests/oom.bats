#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# How it died: OOM kills of a memory cgroup, on v1 and v2, told from every other SIGKILL; limits that the
# options set.

# bats file_tags=job
load helpers

setup_file() {
	if [ -e /sys/fs/cgroup/memory/memory.limit_in_bytes ]; then
		export CG=/sys/fs/cgroup/memory CGV=1
	else
		export CG=/sys/fs/cgroup CGV=2
	fi
}

# cgroup NAME [BYTES]: made below the root of the hierarchy, with a limit; its directory in C, path in P.
MADE=()
cgroup() {
	P=/pp-died-$$-$1
	C=$CG$P
	mkdir "$C"
	MADE=("$C" "${MADE[@]}")
	[ -z "${2:-}" ] || limit "$C" "$2"
}

limit() {
	if [ "$CGV" = 1 ]; then echo "$2" >"$1/memory.limit_in_bytes"; else echo "$2" >"$1/memory.max"; fi
}

teardown() {
	local c status=0
	reap
	for c in "${MADE[@]}"; do retry 10 rmdir "$c" || status=1; done
	for c in "$BATS_TEST_TMPDIR"/*.peak; do
		[ -e "$c" ] || continue
		"$PYTHON" "$ROOT/tests/check-recording" --peakphase "$PP" "$c" || status=1
	done
	return $status
}

# in_cgroup DIR COMMAND...: a shell that moves itself and becomes the command: one process.
in_cgroup() {
	local dir=$1
	shift
	# shellcheck disable=SC2016  # the shell of the command expands it
	peak_run "${OPTIONS[@]}" -- sh -c 'echo $$ >"$0/cgroup.procs"; exec "$@"' "$dir" "$@"
}
OPTIONS=()

# The kernel's own record of the last kill of a pid: "anon-rss:261504kB, file-rss:1972kB, ..." as bytes.
kernels_word() { dmesg | grep "Killed process $1 " | tail -n 1 | sed -n "s/.*$2-rss:\([0-9]*\)kB.*/\1/p"; }

HOOK=hook:PRE_PUSH_OAA:add_group_memberships
GROWS=(begin:load:users hog:60 end begin:load:groups hog:60 end "begin:$HOOK" repeat:60 hog:10 sleep:10 done)

# bats test_tags=case
@test "a limit of 256 MiB: the open phase is the one that hit it, and the RSS at death is the kernel's" {
	local status=0 pid anon
	cgroup own 268435456
	in_cgroup "$C" "$W/script" "${GROWS[@]}" || status=$?
	[ $status -eq 137 ]
	q 'ph("load:users")["ended_by"] == "end" and ph("load:groups")["ended_by"] == "end"' \
		'near(ph("load:users")["kept_bytes"], 60 * MIB, 65536)' "ph('$HOOK')['ended_by'] == 'oom'" \
		'len(r["verdicts"]) == 1' 'r["verdicts"][0]["kind"] == "oom"' "r['verdicts'][0]['phases'] == ['$HOOK']" \
		'r["verdicts"][0]["limit_bytes"] == 268435456' "r['verdicts'][0]['limit_owner'] == {'level': 0, 'cgroup': '$P'}" \
		'r["verdicts"][0]["limit_bytes"] - r["verdicts"][0]["limit_charge_bytes"] < MIB' \
		'r["verdicts"][0]["pid"] == procs[-1]["pid"]' 'procs[-1]["exit"]["kind"] == "oom" and procs[-1]["exit"]["signal"] == 9' \
		"r['verdicts'][0]['grew_most']['phase'] == '$HOOK'" 'r["verdicts"][0]["trigger"]["pid"] == procs[-1]["pid"]' \
		'r["verdicts"][0]["sent_by_kernel"] is True' 'r["verdicts"][0]["held"]["read_ns"] >= r["verdicts"][0]["at_ns"]' \
		"r['verdicts'][0]['grew_bytes'] > 60 * MIB / $((SLOW * SLOW))"
	pid=$("$PYTHON" -c 'import json, sys; print(json.load(open(sys.argv[1]))["verdicts"][0]["pid"])' "$T/report.json")
	anon=$(kernels_word "$pid" anon)
	q "near(r['verdicts'][0]['members']['anon'], $((anon * 1024)), MIB)" \
		"near(r['verdicts'][0]['members']['file'], $(($(kernels_word "$pid" file) * 1024)), MIB)"
	# At once, while tracing; and in the report.
	grep -q "^peakphase: OOM kill: pid $pid (script) in \[$HOOK\]: limit 256.0 MiB of $P hit" "$ERR"
	"$PP" report "$R" >"$T/text"
	grep -q "^OOM kill: pid $pid (script) in \[$HOOK\] at " "$T/text"
	grep -q "limit 256.0 MiB of $P hit" "$T/text"
	grep -q "grew most: \[$HOOK\]" "$T/text"
	# What stands below it is the same at once and in the report.
	sed -n '/^OOM kill/,/^killed/p' "$T/text" | grep -E '^  (the charge|grew most|phases open)' >"$T/below"
	[ "$(wc -l <"$T/below")" -eq 2 ]
	grep -E '^  (the charge|grew most|phases open)' "$ERR" | sed 's/by [0-9.]* MiB/by X/' >"$T/live"
	sed 's/by [0-9.]* MiB/by X/' "$T/below" | diff - "$T/live"
	grep -q ' headroom' "$T/text"
}

@test "--output stderr: what it wrote last stands below the kill, live, in the report and in JSON" {
	local status=0
	cgroup last 64M
	OPTIONS=(--output stderr)
	in_cgroup "$C" "$W/printer" err 'line:reading rows' $'raw:row \033[2J5' hog:100 || status=$?
	[ $status -eq 137 ]
	printf '%s\n' '  | reading rows' '  | row \x1b[2J5' >"$T/want"
	sed -n '/peakphase: OOM kill/,/^peak RSS/p' "$ERR" | grep -a '^  | ' | diff "$T/want" -
	"$PP" report "$R" | sed -n '/^OOM kill/,/^$/p' | grep '^  | ' | diff "$T/want" -
	q 'r["verdicts"][0]["kind"] == "oom"' 'r["verdicts"][0]["stderr_lines"] == ["reading rows", "row \x1b[2J5"]'
}

@test "a limit on an ancestor alone, below a larger one: the smallest on the way up, and whose it is" {
	local status=0 top
	cgroup top 400M
	top=$P
	[ "$CGV" = 1 ] || echo +memory >"$C/cgroup.subtree_control"
	mkdir "$C/mid"
	limit "$C/mid" 128M
	[ "$CGV" = 1 ] || echo +memory >"$C/mid/cgroup.subtree_control"
	mkdir "$C/mid/leaf"
	MADE=("$C/mid/leaf" "$C/mid" "${MADE[@]}")
	in_cgroup "$C/mid/leaf" "$W/script" begin:small hog:40 end begin:big repeat:30 hog:10 done || status=$?
	[ $status -eq 137 ]
	q 'r["verdicts"][0]["limit_bytes"] == 128 * MIB' "r['verdicts'][0]['limit_owner'] == {'level': 1, 'cgroup': '$top/mid'}" \
		'r["job"]["limit_owner"]["level"] == 1 and r["job"]["limit_bytes"] == 128 * MIB' \
		'80 * MIB < ph("small")["headroom_min_bytes"] < 88 * MIB' 'ph("big")["headroom_min_bytes"] < MIB'
}

@test "no limit: no headroom, no verdict" {
	cgroup none
	in_cgroup "$C" "$W/script" begin:x hog:40 end
	q 'all(p["headroom_min_bytes"] is None and p["limit_bytes"] is None for p in procs[-1]["phases"] if p["label"] == "x")' \
		'r["verdicts"] == []' 'ph("x")["charge_peak_bytes"] >= 40 * MIB'
}

# bats test_tags=case
@test "SIGKILL by a process close to the limit is no OOM kill, and the sender is named" {
	cgroup near 128M
	# shellcheck disable=SC2016
	start_tracer run -o "$R" -- sh -c 'echo $$ >"$0/cgroup.procs"; exec "$@"' "$C" "$W/script" begin:victim hog:120 "ready:$T/on" "wait:$T/never"
	retry 20 test -e "$T/on"
	"$PYTHON" -c 'import os, sys; print(os.getpid()); os.kill(int(sys.argv[1]), 9)' "$(child_of "$TRACER")" >"$T/killer"
	wait_for "$TRACER"
	[ "$STATUS" -eq 137 ]
	q 'len(r["verdicts"]) == 1' 'r["verdicts"][0]["kind"] == "signal" and r["verdicts"][0]["signal"] == 9' \
		"r['verdicts'][0]['sender']['pid'] == $(cat "$T/killer")" 'r["verdicts"][0]["sender"]["command"].startswith("python3")' \
		'r["verdicts"][0]["phases"] == ["victim"]' 'ph("victim")["ended_by"] == "signal"'
	grep -q "^peakphase: killed: pid .* in \[victim\]: signal 9 (SIGKILL), sent by pid $(cat "$T/killer") (python3" "$ERR"
	"$PP" report "$R" >"$T/text"
	grep -q "killed by signal 9 (SIGKILL), sent by pid $(cat "$T/killer")" "$T/text"
	refute grep -iqE '\boom|out of memory' "$T/text" "$ERR"
}

@test "a handled signal and a late one: the sender is that of the signal that killed" {
	local status=0
	peak_run -- sh -c 'trap "" USR1; kill -USR1 $$; kill -TERM $$' || status=$?
	[ $status -eq 143 ]
	q 'r["verdicts"][0]["signal"] == 15 and r["verdicts"][0]["sender"]["pid"] == r["verdicts"][0]["pid"]'
	grep -q 'signal 15 (SIGTERM), sent by itself' "$ERR"
	run_c begin:segv hog:5 raise:11 || status=$?
	q 'r["verdicts"][0]["signal"] == 11'
}

@test "a neighbour that is not traced dies for what the traced program wants" {
	local status=0
	# With the tracer in it: room for it beside the traced program alone, none beside both.
	cgroup shared 230M
	start_target sh -c 'echo $$ >"$0/cgroup.procs"; echo 1000 >/proc/self/oom_score_adj; exec "$@"' "$C" "$W/script" hog:100 "ready:$T/on" sleep:60000
	retry 20 test -e "$T/on"
	# The kernel may want a second victim before the memory of the first has come back: there is none.
	# shellcheck disable=SC2016  # as above
	peak_run -- sh -c 'echo $$ >"$0/cgroup.procs"; echo -1000 >/proc/self/oom_score_adj; exec "$@"' \
		"$C" "$W/script" begin:modest hog:40 end begin:greedy hog:110 sleep:100 end || status=$?
	[ $status -eq 0 ]
	q 'len(r["verdicts"]) == 1' "r['verdicts'][0]['kind'] == 'oom' and r['verdicts'][0]['pid'] == $TARGET" \
		'r["verdicts"][0]["traced"] is False' 'r["verdicts"][0]["phases"] == ["greedy"]' \
		'r["verdicts"][0]["trigger"]["pid"] == procs[-1]["pid"]' 'r["verdicts"][0]["limit_bytes"] == 230 * MIB' \
		'procs[-1]["exit"]["kind"] == "exit"'
	grep -q "OOM kill: pid $TARGET (script), not traced, when pid .* wanted memory in \[greedy\]" "$ERR"
}

# bats test_tags=case
@test "a quiet victim: what grew most is another one's phase, which wanted the memory" {
	local quiet greedy
	cgroup culprit 200M
	# shellcheck disable=SC2016
	peak_run -- sh -c 'echo $$ >"$0/cgroup.procs"; (echo 1000 >/proc/self/oom_score_adj; exec "$1" begin:job begin:quiet hog:60 "ready:$2" sleep:60000) &
		while [ ! -e "$2" ]; do sleep 0.05; done; "$1" begin:greedy repeat:16 hog:10 sleep:10 done end; wait' "$C" "$W/script" "$T/on" || true
	# The quiet one sleeps in one call: what looks for a file comes to want a page of its own program, which was taken from it.
	# The kernel may kill a second one before the memory of the first has come back.
	q 'all(v["kind"] == "oom" for v in r["verdicts"])' 'r["verdicts"][0]["phases"] == ["job", "quiet"]' \
		'r["verdicts"][0]["trigger"]["pid"] == ph("greedy")["tid"] != r["verdicts"][0]["pid"]' \
		'r["verdicts"][0]["grew_most"]["pid"] == ph("greedy")["tid"] and r["verdicts"][0]["grew_most"]["phase"] == "greedy"' \
		'125 * MIB < r["verdicts"][0]["grew_most"]["grew_bytes"] < 145 * MIB' \
		'[o["phases"] for o in r["verdicts"][0]["others"] if o["pid"] == ph("greedy")["tid"]] == [["greedy"]]'
	greedy=$(jq '.verdicts[0].trigger.pid' "$T/report.json")
	quiet=$(jq '.verdicts[0].pid' "$T/report.json")
	"$PP" report "$R" >"$T/text"
	for f in "$T/text" "$ERR"; do
		grep -q "OOM kill: pid $quiet (script) in \[quiet\], when pid $greedy (script) wanted memory" "$f"
		grep -qE "^  grew most: \\[greedy\\] by 1[2-4][0-9.]+ MiB, pid $greedy \\(script\\)\$" "$f"
		grep -qxF '  phases open: [job], [quiet]' "$f"
		grep -qxF "  others: pid $greedy (script) in [greedy]" "$f"
	done
}

@test "attached to: the verdict is the same" {
	cgroup attached 128M
	start_target sh -c 'echo $$ >"$0/cgroup.procs"; exec "$@"' "$C" "$W/script" "ready:$T/on" "wait:$T/go" begin:grows repeat:30 hog:10 sleep:5 done
	retry 20 test -e "$T/on"
	start_tracer attach -o "$R" -p "$TARGET"
	retry 20 attached
	touch "$T/go"
	wait_for "$TRACER"
	[ "$STATUS" -eq 0 ]
	q "r['verdicts'][0]['kind'] == 'oom' and r['verdicts'][0]['pid'] == $TARGET" 'r["verdicts"][0]["phases"] == ["grows"]' \
		"r['verdicts'][0]['limit_owner'] == {'level': 0, 'cgroup': '$P'}"
}

@test "a program of checkpoints: since which one" {
	local status=0
	cgroup marks 128M
	in_cgroup "$C" "$W/script" hog:20 mark:load:users repeat:30 hog:10 sleep:5 done || status=$?
	[ $status -eq 137 ]
	grep -q 'OOM kill: .* in (after), since \[load:users\]: limit 128.0 MiB' "$ERR"
	q 'r["verdicts"][0]["phases"] == ["(after)"]'
}

@test "memory that is in no RSS: what the charge held besides" {
	local status=0
	cgroup cache 128M
	mkdir "$T/shm"
	mount -t tmpfs none "$T/shm"
	# 80 MiB of tmpfs that nobody maps, in the cgroup's charge.
	# shellcheck disable=SC2016
	in_cgroup "$C" sh -c 'head -c 83886080 /dev/zero >"$0/file"; exec "$@"' "$T/shm" "$W/script" begin:grows repeat:30 hog:10 sleep:5 done || status=$?
	umount "$T/shm"
	[ $status -eq 137 ]
	q 'r["verdicts"][0]["kind"] == "oom"' 'r["verdicts"][0]["rss_bytes"] < 60 * MIB' \
		'near(r["verdicts"][0]["held"]["shmem_bytes"], 80 * MIB, MIB)' 'r["verdicts"][0]["held"]["cache_bytes"] >= 79 * MIB' \
		'r["verdicts"][0]["held"]["mapped_bytes"] < 8 * MIB'
	"$PP" report "$R" | grep -q 'the charge held besides: cache .* shmem \(79\|80\)\.'
}

# memory.oom.group is of cgroup v2.
# bats test_tags=cgroup2
@test "all of a group are killed: a verdict for each" {
	cgroup group 192M
	echo 1 >"$C/memory.oom.group"
	# shellcheck disable=SC2016
	peak_run -- sh -c 'echo $$ >"$0/cgroup.procs"; "$1" begin:quiet hog:20 "ready:$2" "wait:$3" & while [ ! -e "$2" ]; do sleep 0.05; done; "$1" begin:greedy repeat:30 hog:10 done; wait' \
		"$C" "$W/script" "$T/on" "$T/never" || true
	q 'len([v for v in r["verdicts"] if v["kind"] == "oom"]) == 3' \
		'sorted(v["phases"][0] for v in r["verdicts"]) == ["(startup)", "greedy", "quiet"]' \
		'all(v["limit_bytes"] == 192 * MIB for v in r["verdicts"])' \
		'all(p["exit"]["kind"] in ("oom", "exec", "exit") for p in procs)'
}

# Only where the machine is the test's own.
# bats test_tags=guest
@test "the machine itself is out of memory: no cgroup's limit is blamed" {
	local status=0
	OPTIONS=(-q)
	echo 1000 >/proc/self/oom_score_adj
	peak_run -- "$W/script" begin:all repeat:4000 hog:10 done || status=$?
	echo 0 >/proc/self/oom_score_adj
	[ $status -eq 137 ]
	q 'r["verdicts"][0]["kind"] == "oom"' 'r["verdicts"][0]["limit_bytes"] is None' 'r["verdicts"][0]["phases"] == ["all"]'
	"$PP" report "$R" | grep -q 'the machine was out of memory'
}

@test "--ceiling: the first crossing, to the page, with its phase" {
	peak_run --ceiling 64M -- "$W/script" begin:under hog4k:40 free end begin:over hog4k:100 free hog4k:100 end
	q '[v["kind"] for v in r["verdicts"]] == ["ceiling"]' 'r["verdicts"][0]["phases"] == ["over"]' \
		'r["verdicts"][0]["threshold_bytes"] == 64 * MIB' 'near(r["verdicts"][0]["rss_bytes"], 64 * MIB, 65536 + procs[-1]["error_bytes"])' \
		'r["verdicts"][0]["signal"] is None' 'ph("over")["start_ns"] < r["verdicts"][0]["at_ns"] < ph("over")["peak_at_ns"]' \
		'near(delta(ph("over")), 100 * MIB, 65536)' 'near(delta(ph("under")), 40 * MIB, 65536)'
	grep -q '^peakphase: ceiling 64.0 MiB crossed: pid .* (script) in \[over\]' "$ERR"
}

@test "--headroom: the first time that less is left, with its phase and whose limit" {
	cgroup room 128M
	OPTIONS=(--headroom 48M)
	in_cgroup "$C" "$W/script" begin:under hog4k:40 end begin:over hog4k:60 end
	q '[v["kind"] for v in r["verdicts"]] == ["headroom"]' 'r["verdicts"][0]["phases"] == ["over"]' \
		"r['verdicts'][0]['limit_owner'] == {'level': 0, 'cgroup': '$P'}" \
		'near(r["verdicts"][0]["limit_bytes"] - r["verdicts"][0]["limit_charge_bytes"], 48 * MIB, MIB)'
	grep -q "^peakphase: headroom below 48.0 MiB: pid .* (script) in \[over\]: limit 128.0 MiB of $P" "$ERR"
}

@test "attached to a process that is over the ceiling: said at once" {
	start_target "$W/script" hog:80 "ready:$T/on" "wait:$T/go"
	retry 20 test -e "$T/on"
	start_tracer attach -o "$R" --ceiling 64M -p "$TARGET"
	retry 20 attached
	retry 20 grep -q 'ceiling 64.0 MiB crossed' "$ERR"
	touch "$T/go"
	wait_for "$TRACER"
}

# A label that would run a command if it ever came into a shell's text.
@test "--on-cross: once per crossing, facts in its environment, labels as bytes" {
	export OUTFILE=$T/crossed EVIL="\$(touch $T/evil); touch $T/evil #"
	# shellcheck disable=SC2016
	peak_run --ceiling 64M --on-cross 'env | grep ^PEAKPHASE_ >>"$OUTFILE"; printf "%s\n" "$PEAKPHASE_PHASE" >>"$OUTFILE.label"' -- \
		sh -c '"$0" "begin:$1" hog:70 free hog:70 end; "$0" begin:second hog:70 end; true' "$W/script" "$EVIL"
	retry 10 sh -c "[ \$(grep -c PEAKPHASE_KIND=ceiling '$T/crossed') -eq 2 ]"
	sleep 0.3
	[ "$(grep -c PEAKPHASE_KIND=ceiling "$T/crossed")" -eq 2 ]
	grep -qx 'PEAKPHASE_THRESHOLD_BYTES=67108864' "$T/crossed"
	grep -qx 'PEAKPHASE_COMMAND=script' "$T/crossed"
	grep -qx "PEAKPHASE_RECORDING=$R" "$T/crossed"
	sed -n 's/^PEAKPHASE_PID=//p' "$T/crossed" | sort | diff - <(sed -n 's/^PEAKPHASE_NS_PID=//p' "$T/crossed" | sort)
	refute grep -q '^PEAKPHASE_CONTAINER' "$T/crossed"
	grep -qFx "$EVIL" "$T/crossed.label"
	grep -qx second "$T/crossed.label"
	[ ! -e "$T/evil" ]
}

@test "--on-cross: as who called sudo, not holding up the tracing, its children reaped" {
	local helper p
	# The commands' words go where the tracer's messages go: nobody can write a file of root's.
	# shellcheck disable=SC2016
	SUDO_UID=65534 SUDO_GID=65534 start_tracer run -o "$R" --ceiling 16M --on-cross 'echo "who $(id -u) $(id -G)"; exec sleep 1' -- \
		sh -c 'for i in 1 2 3 4 5 6 7 8 9 10 11 12; do "$0" begin:x hog:20 end; done; touch "$1"; while [ ! -e "$2" ]; do sleep 0.1; done' "$W/script" "$T/done" "$T/go"
	# Twelve commands that take a second each, eight at a time: the traced program does not wait for one.
	retry 20 test -e "$T/done"
	retry 20 told 12
	helper=$(for p in $(children "$TRACER"); do [ "$(cat "/proc/$p/comm")" != peakphase ] || echo "$p"; done)
	[ -n "$helper" ]
	retry 20 no_children "$helper"
	touch "$T/go"
	wait_for "$TRACER"
	[ "$STATUS" -eq 0 ]
	gone "$helper"
}
told() { [ "$(grep -cx 'who 65534 65534' "$ERR")" -eq "$1" ]; }
no_children() { [ -z "$(children "$1")" ]; }

@test "options that make no sense are refused" {
	status_of "$PP" run --ceiling 12 -- true
	[ "$STATUS" -eq 2 ]
	status_of "$PP" run --on-cross true -- true
	[ "$STATUS" -eq 2 ]
	grep -q 'nothing is there to be crossed' "$T/said"
}
