#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# --output: what the program writes is in the recording, every byte and in order, whatever the program is doing and
# however it ends; within bounds, and what is not there is counted.

load helpers

# kept STREAM [RECORDING]: its bytes of all processes, in order, to stdout.
kept() {
	"$PYTHON" - "${2:-$R}" "$1" <<-'EOF'
		import sqlite3, sys
		db = sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True)
		for (b,) in db.execute("SELECT bytes FROM output WHERE stream = ? ORDER BY mm_id, at", (sys.argv[2],)):
		    sys.stdout.buffer.write(b)
	EOF
}

# total COLUMN STREAM
total() { sql "$R" "SELECT $1 FROM output_streams WHERE stream = $2"; }

@test "200 KiB written while native code holds the interpreter lock, to a pipe that is read slowly: every byte, in order" {
	# The lock is held all the time: nothing of Python's own could read the pipe.
	cat >"$T/holds.py" <<-'EOF'
		import ctypes, sys
		text = b"".join(b"%07d " % i + b"x" * 92 for i in range(2048))
		assert len(text) == 204800
		print("begin", file=sys.stderr, flush=True)
		assert ctypes.PyDLL(None).write(2, text, len(text)) == len(text)
		print("end", file=sys.stderr, flush=True)
	EOF
	mkfifo "$T/fifo"
	(
		sleep 0.3
		dd bs=8k count=10 status=none iflag=fullblock
		sleep 0.3
		cat
	) <"$T/fifo" >"$T/read" 3>&- &
	started $!
	# A pipe of its own: what the tracer says does not go there.
	# shellcheck disable=SC2016  # the shell of the command expands it
	peak_run --output stderr -- sh -c 'exec "$0" "$1" 2>"$2"' "$PYTHON" "$T/holds.py" "$T/fifo"
	wait_for $!
	[ "$(stat -c %s "$T/read")" -eq 204810 ]
	kept 2 >"$T/kept"
	cmp "$T/read" "$T/kept"
	q 'r["losses"]["output_bytes"] == 0' 'r["output"] == [{"stream": "stderr", "keep_first_bytes": MIB, "keep_last_bytes": 8 * MIB,
		"written_bytes": 204810, "dropped_bytes": 0}]'
}

@test "300 lines and a partial one, then SIGKILL: all there; the last ones below the verdict, live and in the report" {
	local steps=() i
	for i in $(seq 300); do steps+=("line:row $i"); done
	STATUS=0
	peak_run --output stderr --mark-output 'row (300)' -- "$W/printer" err "${steps[@]}" hog:20 $'raw:no end \033[31m' kill || STATUS=$?
	[ "$STATUS" -eq 137 ]
	kept 2 >"$T/kept"
	{
		seq -f 'row %g' 300
		printf 'no end \033[31m'
	} | cmp - "$T/kept"
	{
		for i in $(seq 292 300); do echo "  | row $i"; done
		echo '  | no end \x1b[31m'
	} >"$T/want"
	grep -a -A10 'peakphase: killed' "$ERR" | tail -n +2 | diff "$T/want" -
	"$PP" report "$R" | grep -A10 '^killed' | tail -n +2 | diff "$T/want" -
	"$PP" report --json --output "$R" >"$T/report.json"
	q 'r["verdicts"][0]["stderr_lines"][0] == "row 292"' 'r["verdicts"][0]["stderr_lines"][-1] == "no end \x1b[31m"' \
		'"".join(w["text"] for w in ph("300")["output"]) == "".join(f"row {i}\n" for i in range(1, 301))' \
		'[w["text"] for w in ph("(after)")["output"]] == ["no end \x1b[31m"]'
}

@test "both streams, fragments, writev, a descriptor that was moved; only what was asked for" {
	peak_run --output both -- "$W/printer" 'line:one' err 'bytes:two' 'vec:three' out dup 'line:four'
	[ "$(kept 1)" = "$(printf 'one\nfour')" ]
	[ "$(kept 2)" = "$(printf 'two\nthree')" ]
	peak_run --output stderr -- "$W/printer" 'line:one' err 'line:two'
	[ -z "$(kept 1)" ]
	[ "$(kept 2)" = two ]
	[ "$(total 'count(*)' 1)" -eq 0 ]
}

@test "writes that are cut short or refused count by what was written" {
	peak_run --output stdout -- "$W/printer" full
	[ "$(kept 1 | wc -c)" -eq 524288 ]
	[ "$(total written 1)" -eq 524288 ]
	[ "$(kept 1 | sort -u)" = 'RSS [full]: 5MB' ]
}

@test "4 MiB: the first and the last of it, and how much lies between" {
	peak_run --output both --output-keep 64K,256K -- sh -c 'echo first >&2; seq 1000000 1524287; echo last >&2'
	[ "$(kept 2)" = "$(printf 'first\nlast')" ]
	kept 1 >"$T/kept"
	head -c 65536 "$T/kept" | cmp - <(seq 1000000 1524287 | head -c 65536)
	[ "$(tail -n 1 "$T/kept")" = 1524287 ]
	q 'r["losses"]["output_bytes"] == 0' 'r["output"][0]["stream"] == "stdout"' 'r["output"][0]["written_bytes"] == 4 * MIB' \
		"r['output'][0]['dropped_bytes'] == 4 * MIB - $(stat -c %s "$T/kept")" "252 * 1024 < $(stat -c %s "$T/kept") - 64 * 1024 <= 256 * 1024"
	grep -q '^peakphase: .* of the 4.0 MiB that went to stdout are not kept' "$ERR"
	"$PP" report --output "$R" | grep -q '^ *(3.7 MiB of stdout are not kept)$'
}

@test "a flood: the program ends, all of it is counted, stderr is untouched by it" {
	peak_run -q --output both -- sh -c 'head -c 512M /dev/zero >/dev/null; echo the end >&2'
	q 'r["output"][0]["written_bytes"] + r["losses"]["output_bytes"] == 512 * MIB'
	[ "$(kept 2)" = 'the end' ]
	[ "$(stat -c %s "$R")" -lt 20000000 ]
}

@test "attach: from then on; values that are none are refused" {
	start_target "$W/printer" err "line:before" "wait:$T/go" 'line:after' "ready:$T/done" "wait:$T/end"
	start_tracer attach -o "$R" --output both -p "$TARGET"
	retry 20 attached
	touch "$T/go"
	retry 20 test -e "$T/done"
	touch "$T/end"
	wait_for "$TRACER"
	[ "$(kept 2)" = after ]
	status_of "$PP" run --output all -- true
	[ "$STATUS" -eq 2 ]
	grep -q 'stderr, stdout, both or none' "$T/said"
	status_of "$PP" run --output both --output-keep 8M -- true
	[ "$STATUS" -eq 2 ]
}

@test "100 fragments of one line from each of two threads: lines of both whole, in the order of the stream" {
	peak_run --output stdout --mark-output '^T \[([ab]\d+)-+\]: 5 MB$' -- "$W/printer" threads:3:100
	q 'sorted(l for l in (p["label"] for p in proc()["phases"]) if l[0] in "ab") == ["a0", "a1", "a2", "b0", "b1", "b2"]' \
		'r["losses"]["output"] == 0' 'r["losses"]["output_bytes"] == 0'
	kept 1 | cmp - "$OUT"
}
