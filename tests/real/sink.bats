#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Sinks to a real server for S3, which verifies signatures (versitygw, on the loopback): killed, slow, busy, of another opinion about who we
# are. Its objects are files in $T/data/BUCKET, so they can be compared with those of a folder.

load real

setup() {
	T=$BATS_TEST_TMPDIR
	again
	R=$T/r.peak OUT=$T/out ERR=$T/err
	require_root
	require_bpf
	[ -x "$REAL/versitygw" ] || skip "no Go to compile the server with: install Go 1.25 or newer, then make check-real"
	mkdir -p "$T/data/logs"
	PORT=$("$PYTHON" -c 'import socket; s = socket.create_server(("127.0.0.1", 0)); print(s.getsockname()[1])')
	server_up
	export AWS_ENDPOINT_URL=http://127.0.0.1:$PORT AWS_ACCESS_KEY_ID=AKIDTEST AWS_SECRET_ACCESS_KEY=s3cr3t/t3st+x
	export AWS_EC2_METADATA_DISABLED=true HOME=$T
}

listens() { "$PYTHON" -c 'import socket, sys; socket.create_connection(("127.0.0.1", int(sys.argv[1])), 1)' "$1" 2>/dev/null; }
server_up() {
	ROOT_ACCESS_KEY=AKIDTEST ROOT_SECRET_KEY=s3cr3t/t3st+x "$REAL/versitygw" --quiet --port "127.0.0.1:$PORT" posix "$T/data" >"$T/server.log" 2>&1 3>&- &
	SERVER=$!
	started "$SERVER"
	retry 20 listens "$PORT"
}
server_down() {
	kill -KILL "$SERVER"
	wait "$SERVER" 2>/dev/null || true
}
# front FAULT: the way to the server leads through it from now on.
front() {
	printf '%s\n' "$1" >"$T/fault"
	"$PYTHON" "$ROOT/tests/lib/s3_front.py" "$T/port" "$PORT" "$T/fault" 2>"$T/front.log" 3>&- &
	started $!
	retry 20 test -e "$T/port"
	export AWS_ENDPOINT_URL=http://127.0.0.1:$(<"$T/port")
}
# has PREFIX LABEL...: the server has an object of each label.
has() {
	local d=$T/data/logs/$1 n
	shift
	for n in "$@"; do compgen -G "$d/checkpoints/${n}_*.json" >/dev/null || return 1; done
}
# complete PREFIX: the server has what a folder gets from the recording, no more, no less.
complete() {
	"$PP" push -q "$R" "$T/pushed"
	diff -r "$T/pushed" "$T/data/logs/$1"
}

@test "S3: killed for 10 s in mid-run: the program is as fast, and everything arrives" {
	start_tracer run -o "$R" --sink s3://logs/run -- "$W/script" mark:first repeat:40 begin:step hog:1 sleep:300 end done
	retry 20 has run first step
	server_down
	sleep 10
	[ -z "$(find "$T/data/logs/run" -name 'r.peak')" ]
	server_up
	wait_for "$TRACER"
	[ "$STATUS" -eq 0 ] || fail "$(<"$ERR")"
	[ "$(grep -c 'trying again' "$ERR")" -eq 1 ]
	# 40 times 0.3 s; held up it would be 10 s more.
	q '11.9e9 < proc()["end_ns"] - proc()["start_ns"] < 18e9' 'len([p for p in proc()["phases"] if p.get("label") == "step"]) == 40'
	complete run
}

@test "S3: slow: nothing is lost, little is late" {
	front "slow 0.3"
	start_tracer run -o "$R" --sink s3://logs/slow -- "$W/script" repeat:8 begin:step hog:1 sleep:100 end done mark:last "wait:$T/go"
	# With an object of its own, or among the phases of its second.
	retry 60 grep -qs '"last"' -r "$T/data/logs/slow/checkpoints"
	touch "$T/go"
	wait_for "$TRACER"
	[ "$STATUS" -eq 0 ] || fail "$(<"$ERR")"
	complete slow
}

@test "S3: 503 for seconds: it backs off, says so once, and catches up" {
	front 503
	start_tracer run -o "$R" --sink s3://logs/busy -- "$W/script" repeat:10 begin:step hog:1 sleep:200 end done "wait:$T/go"
	retry 20 grep -q 'warning: sink s3://logs/busy: HTTP 503 SlowDown (Please reduce your request rate.); trying again' "$ERR"
	sleep 2
	[ ! -e "$T/data/logs/busy" ]
	: >"$T/fault"
	retry 20 has busy step
	touch "$T/go"
	wait_for "$TRACER"
	[ "$STATUS" -eq 0 ] || fail "$(<"$ERR")"
	[ "$(grep -c 'trying again' "$ERR")" -eq 1 ]
	complete busy
}

@test "S3: a wrong key: one clear line, the recording intact, the status says so; push with the right one sends it all" {
	STATUS=0
	AWS_SECRET_ACCESS_KEY=wrong peak_run --sink s3://logs/late -- "$W/script" begin:a hog:10 end mark:b || STATUS=$?
	[ "$STATUS" -eq 1 ]
	[ "$(grep -c 'error:' "$ERR")" -eq 1 ]
	grep -q '^peakphase: error: sink s3://logs/late: HTTP 403 SignatureDoesNotMatch .*is AWS_SECRET_ACCESS_KEY right?$' "$ERR"
	grep -qxF "  → $R has it all; to send it: peakphase push $R s3://logs/late" "$ERR"
	q 'near(delta(ph("a")), 10 * MIB)'
	[ ! -e "$T/data/logs/late" ]
	"$PP" push "$R" s3://logs/late 2>"$T/said"
	grep -q '^peakphase: [0-9]* objects, .*, are at s3://logs/late$' "$T/said"
	complete late
	# Anew: the same objects.
	"$PP" push -q "$R" s3://logs/late
	complete late
	STATUS=0
	"$PP" push "$R" s3://not-there/x 2>"$T/said" || STATUS=$?
	[ "$STATUS" -eq 1 ]
	grep -q 'NoSuchBucket' "$T/said"
}

@test "S3: names of any kind are signed as they are sent; a flood; keys from a file" {
	local prefix="ä b/c+d%20=e&f?g#h~(i)/x"
	unset AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY
	mkdir "$T/.aws"
	printf '[job]\naws_access_key_id = AKIDTEST\naws_secret_access_key = s3cr3t/t3st+x\n' >"$T/.aws/credentials"
	printf cold >"$T/cold"
	AWS_PROFILE=job peak_run --sink "s3://logs/$prefix" -- sh -c "$W/labels $T/cold; $W/script repeat:20000 mark:flood done"
	[ "$(find "$T/data/logs/$prefix" -type f | wc -l)" -lt 200 ]
	[ "$(stat -c %s "$R")" -gt $((2 * MIB)) ]
	complete "$prefix"
}
