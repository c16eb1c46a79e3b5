#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Sinks: what a program did is elsewhere within seconds, and in the end all of it. A folder here; S3 is in real/sink.bats.

# bats file_tags=host

load helpers

# objects FOLDER: names of the objects in it, without their times.
objects() { find "$1" -type f -printf '%P\n' | sed -E 's/_?[0-9]{19}\././' | sort; }
# has FOLDER NAME...: there is an object of each name (of a label, escaped).
has() {
	local d=$1 n
	shift
	for n in "$@"; do compgen -G "$d/checkpoints/${n}_*.json" >/dev/null || return 1; done
}
# not_sent: it was said, with the command that sends it.
not_sent() { grep -q 'warning: sink .*: not sent: .*the recording$' "$ERR"; }
end_it() { kill -TERM "$1" 2>/dev/null && sleep 0.1; gone_or_zombie "$1"; }
no_sink_left() { ! pgrep -x peakphase-sink -P "${1:-1}" >/dev/null; }

@test "each phase is there while the program runs; in the end the same as by push; nothing is left behind" {
	start_tracer run -o "$R" --sink "$T/to/deep" -- "$W/script" begin:load note:why hog:20 end mark:users "wait:$T/go-on" hog:30 mark:last
	# 2 s is the promise; a machine that is shared may take longer.
	retry 20 has "$T/to/deep" load users
	[ ! -e "$T/to/deep/r.peak" ]
	touch "$T/go-on"
	wait_for "$TRACER"
	[ "$STATUS" -eq 0 ]
	[ ! -e "$R-wal" ]
	cmp "$R" "$T/to/deep/r.peak"
	[ "$(objects "$T/to/deep" | grep -v startup | grep -v between | paste -sd ' ')" = "checkpoints/(after).json checkpoints/last.json checkpoints/load.json checkpoints/users.json r.peak samples/.json" ]
	"$PP" push -q "$R" "$T/pushed"
	diff -r "$T/to/deep" "$T/pushed"
	"$PYTHON" - "$T/to/deep" <<-'END'
		import glob, json, sys
		[load] = [json.load(open(p)) for p in glob.glob(sys.argv[1] + "/checkpoints/load_*")]
		assert load["stage"] == "load" and load["explain"] == "why" and load["kind"] == "span", load
		assert load["peak_bytes"] - load["start_bytes"] >= 20 << 20 and load["rss_bytes"] == load["end_bytes"]
		[samples] = [json.load(open(p)) for p in glob.glob(sys.argv[1] + "/samples/*")]
		assert max(s["rss_bytes"] for s in samples["samples"]) > 50 << 20
		assert load["num_threads"] == 1 and {s["num_threads"] for s in samples["samples"]} <= {1, None}
		assert samples["time_ns"] == max(s["time_ns"] for s in samples["samples"])
	END
}

@test "what is written to stderr is there, too, as it came" {
	start_tracer run -q -o "$R" --sink "$T/to" -- sh -c "echo no; printf 'half a ' >&2; echo line >&2; until [ -e $T/go-on ]; do sleep 0.1; done; echo end >&2"
	retry 20 grep -qsx 'half a line' -r "$T/to/stderr"
	touch "$T/go-on"
	wait_for "$TRACER"
	[ "$STATUS" -eq 0 ]
	[ "$(cat "$T"/to/stderr/*)" = "half a line
end" ]
	"$PP" push -q "$R" "$T/pushed"
	diff -r "$T/to" "$T/pushed"
	"$PP" run -q -o "$T/none.peak" --output none --sink "$T/none" -- sh -c 'echo not >&2' 2>/dev/null
	[ -d "$T/none/samples" ] && [ ! -e "$T/none/stderr" ]
}

@test "labels of any kind stay in their folder; a flood becomes few objects, nothing of it missing" {
	printf cold >"$T/cold"
	peak_run --sink "$T/to" -- sh -c "$W/labels $T/cold; $W/script begin:../../../up end mark:/etc/x repeat:3000 mark:flood done"
	[ -z "$(find "$T" -maxdepth 1 -name '*up*')" ]
	[ -z "$(find "$T/to" -name '.*')" ]
	[ "$(find "$T/to" -type f | wc -l)" -lt 100 ]
	"$PYTHON" - "$T/to" "$R" <<-'END'
		import glob, json, sqlite3, sys
		def rows(kind):
		    for path in glob.glob(f"{sys.argv[1]}/{kind}/*"):
		        o = json.load(open(path))
		        yield from o.get(kind, [o])
		db = sqlite3.connect(sys.argv[2])
		assert len(list(rows("checkpoints"))) == db.execute("SELECT count(*) FROM phases").fetchone()[0] > 3000
		assert len(list(rows("samples"))) == db.execute("SELECT count(*) FROM samples").fetchone()[0]
	END
	"$PP" push -q "$R" "$T/pushed"
	diff -r "$T/to" "$T/pushed"
}

@test "nobody answers: the program is not held up, the end says what is missing and how to send it, the status says so" {

	export AWS_ENDPOINT_URL=http://127.0.0.1:9 AWS_ACCESS_KEY_ID=AKIDTEST AWS_SECRET_ACCESS_KEY=s3cr3tt3st
	start_tracer run -o "$R" --sink 's3://no-such/run 1' -- sh -c "$W/script mark:a hog:10 mark:b >/dev/null; touch $T/ended"
	retry 20 test -e "$T/ended"
	retry 20 grep -q 'warning: sink s3://no-such/run 1: .*; trying again$' "$ERR"
	# The recording is whole already; a signal ends the waiting (one that comes before it is the command's).
	retry 20 test ! -e "$R-wal"
	retry 20 end_it "$TRACER"
	wait_for "$TRACER"
	[ "$STATUS" -eq 1 ]
	not_sent
	[ "$(grep -c 'trying again' "$ERR")" -eq 1 ]
	grep -qxF "  → $R has it all; to send it: peakphase push $R 's3://no-such/run 1'" "$ERR"
	q 'sum(p["kind"] == "checkpoint" for proc in r["processes"] for p in proc["phases"]) == 2'
	refute grep -aq s3cr3tt3st "$R" "$ERR"
	unset AWS_ENDPOINT_URL
	"$PP" push -q "$R" "$T/pushed"
	has "$T/pushed" a b
}

@test "the command's own status comes first" {
	touch "$T/file"
	STATUS=0
	peak_run --sink "$T/file" -- sh -c 'exit 7' || STATUS=$?
	[ "$STATUS" -eq 7 ]
	[ "$(grep -c 'error: ' "$ERR")" -eq 1 ]
	not_sent
	STATUS=0
	peak_run --sink "$T/file" -- true || STATUS=$?
	[ "$STATUS" -eq 1 ]
}

@test "the tracer is killed: what it had written is sent" {
	start_tracer run -o "$R" --sink "$T/to" -- "$W/script" mark:a "wait:$T/go-on" mark:b
	retry 20 has "$T/to" a
	local command
	command=$(child_of "$TRACER")
	kill -KILL "$TRACER"
	wait_for "$TRACER"
	retry 20 test -e "$T/to/r.peak"
	retry 20 no_sink_left
	touch "$T/go-on"
	retry 20 gone_or_zombie "$command"
	# Its log goes with it.
	mkdir "$T/copy" && cp "$T"/to/r.peak* "$T/copy/"
	"$PP" report "$T/copy/r.peak" | grep -q '^  a '
}

@test "under sudo the objects are the caller's" {
	mkdir -m 777 "$T/open" && chmod 755 "$T" "$BATS_RUN_TMPDIR" "$BATS_TEST_TMPDIR/.."
	SUDO_UID=65534 SUDO_GID=65534 SUDO_USER=nobody "$PP" run -q -o "$T/open/r.peak" --sink "$T/open/to" -- "$W/script" mark:a >"$OUT" 2>"$ERR"
	has "$T/open/to" a
	[ -z "$(find "$T/open/to" -not -uid 65534)" ]
}

@test "attach has it, too" {
	start_target "$W/script" "wait:$T/go" repeat:30 begin:work hog:2 sleep:20 end done
	start_tracer attach -q -p "$TARGET" -o "$R" --sink "$T/to"
	retry 10 attached
	touch "$T/go"
	wait_for "$TRACER"
	[ "$STATUS" -eq 0 ]
	has "$T/to" work
	cmp "$R" "$T/to/r.peak"
}

@test "what does not go together or is no place is refused" {

	for args in "--sink gs://x/y" "--sink s3://A" "--sink s3://abc/../d" "--no-record --sink $T/to"; do
		STATUS=0
		# shellcheck disable=SC2086
		"$PP" run $args -- true 2>"$ERR" || STATUS=$?
		[ "$STATUS" -eq 2 ] || fail "$args: $STATUS"
	done
	STATUS=0
	"$PP" top --sink "$T/to" -- true 2>"$ERR" || STATUS=$?
	[ "$STATUS" -eq 2 ]
	for args in "" "one" "one s3://x" "one two three"; do
		STATUS=0
		# shellcheck disable=SC2086
		"$PP" push $args 2>"$ERR" || STATUS=$?
		[ "$STATUS" -eq 2 ] || fail "push $args: $STATUS"
	done
	STATUS=0
	"$PP" push "$T/none.peak" "$T/to" 2>"$ERR" || STATUS=$?
	[ "$STATUS" -eq 1 ]
	[ ! -e "$T/to" ]
}
