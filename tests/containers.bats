#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Attaching to containers of a real Docker engine, which this file starts and stops, and of Podman.

# bats file_tags=host

load helpers
load lib/engine

ENGINE=${BATS_FILE_TMPDIR:-}/e

setup_file() {
	command -v dockerd >/dev/null && command -v docker >/dev/null || return 0
	engine_start "$ENGINE"
	# What is mounted and running because of us must be gone in the end.
	export DOCKER_HOST DOCKER_CONFIG
}

teardown_file() {
	engine_stop "$ENGINE"
	refute grep -qF "$ENGINE" /proc/mounts
	refute pgrep -f "$ENGINE" >/dev/null
}

setup() {
	T=$BATS_TEST_TMPDIR R=$T/r.peak OUT=$T/out ERR=$T/err
	again
	require_root
	require_bpf
	command -v dockerd >/dev/null && command -v docker >/dev/null || skip "no Docker engine: tools/deps.sh test"
	# Names of one test: several may run at one time on one machine.
	NAME=pp-$$-$BATS_TEST_NUMBER
	mkdir "$T/shared"
}

teardown() {
	local f failed=0
	reap
	docker ps -aq --filter "name=^$NAME" 2>/dev/null | while read -r f; do docker rm -f "$f" >/dev/null; done
	for f in "$BATS_TEST_TMPDIR"/*.peak; do
		[ ! -e "$f" ] || "$PYTHON" "$ROOT/tests/check-recording" --peakphase "$PP" "$f" || failed=1
	done
	return $failed
}

# container NAME [DOCKER OPTIONS...] -- COMMAND...: runs; /shared inside is $T/shared.
container() {
	local name=$1 opt=()
	shift
	while [ "$1" != -- ]; do
		opt+=("$1")
		shift
	done
	shift
	docker run -d --network none --name "$name" -v "$T/shared:/shared" "${opt[@]}" pp:1 "$@" >"$T/id"
}

# scripted NAME [OPTIONS...]: a container that holds 30 MiB and waits, then has its phase `late` of 10.
scripted() {
	rm -f "$T/shared/on" "$T/shared/go"
	container "$@" -- script hog:30 ready:/shared/on wait:/shared/go begin:late hog:10 end
	retry 30 test -e "$T/shared/on"
}

attach() {
	start_tracer attach -o "$R" "$@"
	retry 30 attached
}

pid_of() { docker inspect -f '{{.State.Pid}}' "$1"; }

# C11.
@test "by name, id, the beginning of an id, pid and cgroup: the same phases, the pid outside and inside" {
	local way id pid
	for way in name id short pid cgroup; do
		scripted "$NAME-$way"
		id=$(cat "$T/id")
		pid=$(pid_of "$NAME-$way")
		case $way in
		name) attach --container "$NAME-$way" ;;
		id) attach --container "$id" ;;
		short) attach --container "${id:0:10}" ;;
		pid) attach -p "$pid" ;;
		cgroup) attach --cgroup "$(sed -n 's/^[0-9]*:memory://p; s/^0:://p' "/proc/$pid/cgroup" | head -n 1)" ;;
		esac
		touch "$T/shared/go"
		wait_for "$TRACER"
		[ "$STATUS" -eq 0 ]
		report_json "$R"
		q 'near(delta(ph("late")), 10 * MIB, 65536)' 'near(ph("late")["start_bytes"], 30 * MIB, 3 * MIB)' 'len(procs) == 1' \
			"proc()['pid'] == $pid" 'proc()["ns_pid"] == 1' 'proc()["container"]["runtime"] == "docker"' \
			"proc()['container']['name'] == '$NAME-$way'" "proc()['container']['id'] == '$id'"
		"$PP" report "$R" | head -n 1 | grep -qF "pid $pid (1 in docker $NAME-$way)"
		COLUMNS=400 "$PP" top --batch "$R" | grep -q "^$pid (1 $NAME-$way) "
		rm -f "$R"
	done
}

@test "what a container prints: --mark-output, also of a docker exec" {
	container "$NAME" -- script ready:/shared/on wait:/shared/go hog:20 'say:RSS [a]: 20.5 MB' hog:10 'say:RSS [b]: 30.5 MB' wait:/shared/end
	retry 30 test -e "$T/shared/on"
	attach --mark-output 'RSS \[(?<label>.*)\]: (?<mb>[\d.]+) MB' --container "$NAME"
	touch "$T/shared/go"
	docker exec "$NAME" script hog:15 'say:RSS [exec]: 15.5 MB' >>"$OUT"
	touch "$T/shared/end"
	wait_for "$TRACER"
	[ "$STATUS" -eq 0 ]
	q 'near(delta(ph("a")), 20 * MIB, 131072)' 'near(delta(ph("b")), 10 * MIB, 131072)' 'near(delta(ph("exec")), 15 * MIB, 2 * MIB)' \
		'[ph(l)["printed_bytes"] for l in ("a", "b", "exec")] == [int(x * MIB) for x in (20.5, 30.5, 15.5)]' \
		"all(p['container']['name'] == '$NAME' for p in procs)" 'proc()["ns_pid"] == 1' 'ph("b")["origin"] == "output"'
	docker logs "$NAME" 2>&1 | grep -q 'RSS \[b\]: 30.5 MB' # and there it arrives
}

# C5.
@test "docker exec after the attach is in it, and the end of all ends the tracing" {
	scripted "$NAME" -m 256m
	attach --container "$NAME"
	docker exec "$NAME" script begin:exec hog:50 end >>"$OUT"
	docker exec -d "$NAME" script begin:detached hog:20 end wait:/shared/go
	docker exec "$NAME" sh -c 'script begin:child hog:15 end; :' >>"$OUT"
	refute gone "$TRACER"
	touch "$T/shared/go"
	wait_for "$TRACER"
	[ "$STATUS" -eq 0 ]
	q 'near(delta(ph("exec")), 50 * MIB, 65536)' 'near(delta(ph("detached")), 20 * MIB, 65536)' \
		'near(delta(ph("child")), 15 * MIB, 65536)' 'near(delta(ph("late")), 10 * MIB, 65536)' \
		"all(p['container']['name'] == '$NAME' for p in procs)" 'any(p["begun_by"] == "join" for p in procs)' \
		'r["losses"]["growth_pages"] == 0'
}

# C12.
@test "the container's limit is said to be its own; without one there is none of it" {
	scripted "$NAME" -m 256m
	attach --container "$NAME"
	touch "$T/shared/go"
	wait_for "$TRACER"
	q 'r["job"]["limit_bytes"] == 256 * MIB' 'r["job"]["limit_owner"]["level"] == 0' \
		"r['job']['limit_owner']['container']['name'] == '$NAME'" 'near(r["job"]["headroom_min_bytes"], 215 * MIB, 8 * MIB)'
	# Charges come in batches: the last of it may be seen when the phase is over.
	"$PP" report "$R" | tee "$T/text" | grep -qE "^limit 256.0 MiB \\(docker $NAME\\), lowest headroom 2[0-9.]+ MiB in (\\[late\\]|\\(after\\))" ||
		fail "$(sed -n 2p "$T/text")"
	rm -f "$R"
	scripted "$NAME-free"
	attach --container "$NAME-free"
	touch "$T/shared/go"
	wait_for "$TRACER"
	report_json "$R"
	q 'r["job"]["limit_owner"] is None or r["job"]["limit_owner"]["container"] is None' 'proc()["charge_peak_bytes"] > 40 * MIB'
}

@test "the lines of crossed limits and kills name the container, by the name that was typed" {
	local pid who
	container "$NAME" -m 100m -- script ready:/shared/on wait:/shared/go begin:grow repeat:40 hog:10 sleep:5 done
	retry 30 test -e "$T/shared/on"
	pid=$(pid_of "$NAME") who="(script, 1 in docker $NAME) in \[grow\]"
	# shellcheck disable=SC2016
	attach --container "$NAME" --ceiling 50M --headroom 40M --on-cross 'echo "crossed $PEAKPHASE_KIND: $PEAKPHASE_CONTAINER $PEAKPHASE_NS_PID"'
	touch "$T/shared/go"
	wait_for "$TRACER"
	grep -q "^peakphase: ceiling 50.0 MiB crossed: pid $pid $who: limit 100.0 MiB of docker $NAME, charge" "$ERR"
	grep -q "^peakphase: headroom below 40.0 MiB: pid $pid $who: limit 100.0 MiB of docker $NAME, charge" "$ERR"
	grep -q "^peakphase: OOM kill: pid $pid $who: limit 100.0 MiB of docker $NAME hit" "$ERR"
	grep -qx "crossed ceiling: $NAME 1" "$ERR"
	grep -qx "crossed headroom: $NAME 1" "$ERR"
	"$PP" report "$R" | grep "^OOM kill: pid $pid $who at "
	q 'all(v["ns_pid"] == 1 for v in r["verdicts"])' "all(v['container']['name'] == '$NAME' for v in r['verdicts'])"
}

@test "the limit of what is around the container is not said to be the container's" {
	local parent=/jobs-$NAME dir=/sys/fs/cgroup/memory/jobs-$NAME
	[ -e /sys/fs/cgroup/memory/memory.limit_in_bytes ] || skip "the engine's driver may be systemd's on cgroup v2"
	mkdir "$dir"
	echo 128M >"$dir/memory.limit_in_bytes"
	container "$NAME" --cgroup-parent "$parent" -m 400m -- script ready:/shared/on wait:/shared/go begin:grow repeat:40 hog:10 sleep:5 done
	retry 30 test -e "$T/shared/on"
	attach --container "$NAME"
	touch "$T/shared/go"
	wait_for "$TRACER"
	docker rm -f "$NAME" >/dev/null
	retry 30 rmdir "$dir"
	grep -q "^peakphase: OOM kill: pid [0-9]* (script, 1 in docker $NAME) in \[grow\]: limit 128.0 MiB of $parent hit, charge" "$ERR"
	"$PP" report "$R" | grep -q "^  limit 128.0 MiB of $parent hit, charge"
	q "r['verdicts'][0]['limit_owner'] == {'level': 1, 'cgroup': '$parent'}" 'r["verdicts"][0]["limit_bytes"] == 128 * MIB'
}

@test "the marker library of the image is heard, at a place that the host does not have" {
	[ ! -e /opt/marks ]
	container "$NAME" -- linked /shared/go
	retry 30 test "$(pid_of "$NAME")" -gt 0
	sleep 0.3
	attach --container "$NAME"
	grep -q '[1-9][0-9]* marker' "$ERR"
	touch "$T/shared/go"
	wait_for "$TRACER"
	[ "$STATUS" -eq 0 ]
	q 'near(delta(ph("linked")), 25 * MIB, 131072)'
}

@test "--wait: for a container that does not run yet, and across its restart" {
	docker create --network none --name "$NAME" pp:1 script sleep:400 begin:run hog:30 end sleep:200 >/dev/null
	status_of "$PP" attach --no-record --container "$NAME"
	[ "$STATUS" -eq 1 ]
	grep -q "the container $NAME is not running" "$T/said"
	start_tracer attach -o "$R" --wait --container "$NAME"
	retry 30 grep -q "waiting for $NAME" "$ERR"
	docker start "$NAME" >/dev/null
	docker wait "$NAME" >/dev/null
	docker start "$NAME" >/dev/null
	docker wait "$NAME" >/dev/null
	sleep 0.3
	refute gone "$TRACER"
	kill -INT "$TRACER"
	wait_for "$TRACER"
	[ "$STATUS" -eq 0 ]
	# From its first instruction, both times: the engine's own process comes in before.
	q 'sum(p["begun_by"] == "exec" and p["peak"]["bytes"] > 30 * MIB and p["baseline_bytes"] < MIB for p in procs) == 2' \
		'len(phs("run")) == 2' 'all(near(delta(p), 30 * MIB, 65536) for p in phs("run"))' \
		"all(p['container']['name'] == '$NAME' for p in procs if p['container'])"
}

@test "unknown and ambiguous names: what could be meant" {
	scripted "$NAME-a"
	scripted "$NAME-b"
	status_of "$PP" attach --no-record --container "$NAME"
	[ "$STATUS" -eq 1 ]
	grep -q "there is no container $NAME" "$T/said"
	grep -q "running: .*docker $NAME-b (" "$T/said"
	# The same beginning of two ids, of one digit, sooner or later: of 17 there are two.
	local ids prefix
	ids=$(docker ps -q)
	for prefix in 0 1 2 3 4 5 6 7 8 9 a b c d e f; do
		[ "$(grep -c "^$prefix" <<<"$ids")" -ge 2 ] && break
	done
	if [ "$(grep -c "^$prefix" <<<"$ids")" -ge 2 ]; then
		status_of "$PP" attach --no-record --container "$prefix"
		[ "$STATUS" -eq 1 ]
		grep -q "$prefix may be any of [0-9]* containers: .*docker $NAME-" "$T/said"
	fi
}

@test "attach --list: containers with charge and limit, processes with markers" {
	local pid
	scripted "$NAME" -m 256m
	docker create --network none --name "$NAME-stopped" pp:1 script >/dev/null
	pid=$(pid_of "$NAME")
	"$PP" attach --list >"$T/list"
	grep -qE "^docker +$NAME +$(head -c 12 "$T/id") +$pid +1 +[34][0-9]\\.[0-9] +256\\.0\$" "$T/list"
	grep -qE "^docker +$NAME-stopped +[0-9a-f]{12} +stopped\$" "$T/list"
	grep -qE "^ *$pid +script +3[0-9]\\.[0-9] +[1-9] +docker $NAME \\(pid 1 there\\)\$" "$T/list"
	"$PP" attach --list --json | jq -e ".containers[] | select(.name == \"$NAME\") | .pid == $pid and .limit_bytes == 268435456" >/dev/null
	as_nobody "$PP" attach --list >"$T/list" 2>&1
}

@test "Podman: by name, with a podman exec" {
	local pid
	podman_start "$BATS_TEST_TMPDIR/podman" "$ENGINE/root" || skip "not on this kernel: ${PODMAN_WHY##*Error: }"
	"${PODMAN_RUN[@]}" --name "$NAME" -v "$T/shared:/shared" -m 128m pp:1 \
		script hog:30 ready:/shared/on wait:/shared/go begin:late hog:10 end >"$T/id"
	retry 30 test -e "$T/shared/on"
	pid=$("${PODMAN[@]}" inspect -f '{{.State.Pid}}' "$NAME")
	attach --container "$NAME"
	"${PODMAN[@]}" exec "$NAME" script begin:exec hog:20 end >>"$OUT"
	touch "$T/shared/go"
	wait_for "$TRACER"
	[ "$STATUS" -eq 0 ]
	podman_stop "$BATS_TEST_TMPDIR/podman"
	q 'near(delta(ph("late")), 10 * MIB, 65536)' 'near(delta(ph("exec")), 20 * MIB, 65536)' \
		"any(p['pid'] == $pid and p['ns_pid'] == 1 for p in procs)" 'r["job"]["limit_bytes"] == 128 * MIB' \
		"all(p['container']['name'] == '$NAME' and p['container']['runtime'] == 'podman' for p in procs)"
}
