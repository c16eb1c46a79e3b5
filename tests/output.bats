#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Phases from what a program prints: --mark-output, --begin-output, --end-output. The workload
# (printer.c) marks nothing; the boundary is the instant of the write, to the page.

load helpers

P='RSS \[(?<label>.*)\]: ~?(?<mb>[\d.]+) MB'

# prints [OPTIONS --] STEPS...: the workload with pattern P as marks.
prints() { peak_run --mark-output "$P" -- "$W/printer" "$@"; }
labels_are() { q "labels == [$1]"; }

@test "a line is a checkpoint at the instant of its write: peaks of both sides are exact" {
	prints 'line:RSS [boot]: 1 MB' hog:60 'line:RSS [load:users]: 60.3 MB' hog:40 free 'line:peak RSS [push: b]c]: ~61 MB' hog:5
	labels_are '"boot", "load:users", "push: b]c", "(after)"'
	q 'near(ph("load:users")["peak_bytes"], ph("load:users")["start_bytes"] + 60 * MIB, 131072)' \
		'near(delta(ph("push: b]c")), 40 * MIB, 131072)' 'near(ph("push: b]c")["kept_bytes"], -60 * MIB, 131072)' \
		'near(ph("(after)")["kept_bytes"], 5 * MIB, MIB)' 'ph("load:users")["origin"] == "output"' \
		'ph("load:users")["printed_bytes"] == round(60.3 * MIB)' 'ph("push: b]c")["printed_bytes"] == 61 * MIB' \
		'"printed_bytes" not in ph("(after)")' 'all(p["exact"] or proc()["error_bytes"] for p in proc()["phases"])'
	[ "$(cat "$OUT")" = "$(printf '%s\n' 'RSS [boot]: 1 MB' 'RSS [load:users]: 60.3 MB' 'peak RSS [push: b]c]: ~61 MB')" ]
}

@test "one line in single bytes, one in a writev, one on stderr: the boundary is where the literal is whole" {
	prints 'line:RSS [boot]: 1 MB' hog:30 'bytes:2026-11-30 INFO RSS [a]: 30 MB' hog:20 'vec:RSS [b]: 50 MB' hog:10 err 'line:RSS [c]: 60 MB'
	labels_are '"boot", "a", "b", "c", "(after)"'
	q 'near(delta(ph("a")), 30 * MIB, 131072)' 'near(delta(ph("b")), 20 * MIB, 131072)' \
		'near(delta(ph("c")), 10 * MIB, 131072)'
}

@test "400 lines in one write: 400 rows at one instant; what came before belongs to the first" {
	peak_run --mark-output '(?:row|boot)\[(\d+)\]' -- "$W/printer" 'line:boot[9999]' hog:50 'batch:400:row' hog:20
	q 'len(phs("(after)")) == 1' 'labels[1:401] == [str(i) for i in range(400)]' \
		'near(delta(ph("0")), 50 * MIB, 131072)' 'all(delta(ph(str(i))) == 0 for i in range(1, 400))' \
		'len({ph(str(i))["end_ns"] for i in range(400)}) == 1' 'near(delta(ph("(after)")), 20 * MIB, 131072)'
	grep -q 'warning: 399 printed marks came in one write with the mark before them' "$ERR"
}

@test "spans by label, nested, on one line with marks; an end without a label ends the last" {
	peak_run --begin-output '^begin (.*)' --end-output '^end (.*)' --end-output '^enough$' -- "$W/printer" \
		'line:begin outer' hog:20 'line:begin inner' hog:40 free 'line:end inner' 'line:begin rest' hog:10 'line:enough' \
		'line:end outer' 'line:end never'
	q 'near(delta(ph("inner")), 40 * MIB, 131072)' 'near(delta(ph("outer")), 60 * MIB, 131072)' \
		'near(delta(ph("rest")), 10 * MIB, 131072)' 'ph("rest")["ended_by"] == "end"' \
		'ph("outer")["kind"] == "span"' 'ph("inner")["depth"] == 1' 'proc()["bad_ends"] == 1'
}

@test "--step-output: a span that ends where the next begins" {
	peak_run --step-output '^(node \w+)' -- "$W/printer" 'line:node a' hog:20 free 'line:node b' hog:30
	q 'near(delta(ph("node a")), 20 * MIB, 131072)' 'near(delta(ph("node b")), 30 * MIB, 131072)' \
		'ph("node a")["ended_by"] == "end"' 'ph("node b")["ended_by"] == "exit"' \
		'ph("node a")["end_ns"] == ph("node b")["start_ns"]'
}

@test "after dup2: the open file counts, not the number of the descriptor" {
	prints hog:10 'line:RSS [before]: 1 MB' dup hog:20 'line:RSS [moved]: 1 MB' out 'line:RSS [null]: 1 MB'
	labels_are '"before", "moved", "null", "(after)"'
	q 'near(delta(ph("moved")), 20 * MIB, 131072)'
	[ "$(grep -c moved "$OUT")" -eq 1 ]
}

@test "through tee: the line is its writer's, not tee's" {
	peak_run --mark-output "$P" -- sh -c "'$W/printer' 'line:RSS [boot]: 1 MB' hog:30 'line:RSS [a]: 1 MB' hog:10 'bytes:RSS [b]: 2 MB' | tee '$T/copy'"
	q 'len(phs("a")) == 1' 'len(phs("b")) == 1' 'near(delta(ph("a")), 30 * MIB, 131072)' 'near(delta(ph("b")), 10 * MIB, 131072)'
	cmp "$OUT" "$T/copy"
}

# marks_are LABEL... -- COMMAND...: these marks its processes print, in the order of processes, and no other.
marks_are() {
	local want=()
	while [ "$1" != -- ]; do
		want+=("$1")
		shift
	done
	peak_run --mark-output 'RSS \[(.*?)\]' "$@"
	q "[p['label'] for x in procs for p in x['phases'] if p.get('origin') == 'output'] == '${want[*]}'.split()"
}

@test "passed on by a shell, a terminal, with more on the line: the mark is its writer's" {
	cat >"$T/passes.sh" <<'EOF'
x=$(sh -c 'echo "RSS [sub]"')
echo "$x"
sh -c 'echo "RSS [sed]"' | sed 's/^/x: /; s/$/ MB/' | tee /dev/null
mkfifo "$1"
sh -c 'echo "RSS [a]"; echo "RSS [b]"' >"$1" &
cat <"$1"
"$2" -c 'import pty; pty.spawn(["sh", "-c", "echo \"RSS [pty]\""])'
EOF
	marks_are sub sed a b pty -- bash "$T/passes.sh" "$T/fifo" "$PYTHON"
	q 'labels == ["(startup)"]'
	[ "$(tr -d '\r' <"$OUT")" = "$(printf '%s\n' 'RSS [sub]' 'x: RSS [sed] MB' 'RSS [a]' 'RSS [b]' 'RSS [pty]')" ]
}

@test "a parent prints what a child said, through a pipe and a socket: its own phase goes on, with its peak" {
	cat >"$T/parent.py" <<'EOF'
import socket, subprocess, sys

def child(out, label):
    return subprocess.Popen([sys.argv[1], "line:RSS [boot]", "hog:30", "line:RSS [%s]" % label], stdout=out)

spike = b"x" * (60 << 20)
del spike
for line in child(subprocess.PIPE, "pipe").stdout:
    print("child:", line.decode().strip(), flush=True)
spike = b"x" * (90 << 20)
del spike
ours, theirs = socket.socketpair()
p = child(theirs, "sock")
theirs.close()
while text := ours.recv(4096):
    sys.stdout.buffer.write(text)
    sys.stdout.flush()
p.wait()
EOF
	marks_are boot pipe boot sock -- "$PYTHON" "$T/parent.py" "$W/printer"
	q 'labels == ["(startup)"]' 'near(delta(ph("pipe")), 30 * MIB, 131072)' 'near(delta(ph("sock")), 30 * MIB, 131072)' \
		'90 * MIB <= ph("(startup)")["peak_bytes"] == proc()["peak"]["bytes"] < 140 * MIB'
	grep -q 'child: RSS .pipe.' "$OUT"
	grep -q 'marks that a process passed on from another, which has them: 4' "$ERR"
}

@test "the same line of a parent and its worker is two marks: on one pipe, on two, and where the parent reads the worker's" {
	cat >"$T/both.py" <<'EOF'
import os, sys

def mark(fd, prefix=""):
    os.write(fd, (prefix + "RSS [load]: 5 MB\n").encode())

def worker(fd, prefix=""):
    if os.fork() == 0:
        mark(fd, prefix)
        os._exit(0)
    os.wait()

if sys.argv[1] == "one":
    worker(1)
    mark(1)
elif sys.argv[1] == "two":
    worker(1)
    mark(2)
else:
    r, w = os.pipe()
    os.dup2(w, 2)
    worker(2, "12:00:01 ")
    os.read(r, 4096)
    mark(1, "12:00:02 ")
EOF
	marks_are load load load load load load -- bash -c '"$@" one | cat; { "$@" two 2>&1 >&3 | cat; } 3>&1 | cat; "$@" read' \
		sh "$PYTHON" "$T/both.py"
}

@test "a last line without its end, then SIGKILL: it counts" {
	STATUS=0
	prints hog:20 'line:RSS [a]: 1 MB' hog:30 'raw:RSS [last]: 7 MB' kill || STATUS=$?
	[ "$STATUS" -eq 137 ]
	q 'near(delta(ph("last")), 30 * MIB, 131072)' 'ph("last")["printed_bytes"] == 7 * MIB' \
		'proc()["exit"] == {"kind": "signal", "status": None, "signal": 9}'
}

@test "a line that stays open is taken as it stands, at its write; its end is no second mark" {
	peak_run --mark-output '^loading (\w+)' -- "$W/printer" 'line:loading boot' hog:10 'raw:loading users' hog:30 sleep:1500 \
		'line: done' hog:5
	labels_are '"boot", "users", "(after)"'
	q 'near(delta(ph("users")), 10 * MIB, 131072)' 'near(delta(ph("(after)")), 35 * MIB, 131072)'
}

@test "two threads write byte by byte in turn: lines of both are whole" {
	peak_run --mark-output '^T \[(\w+)\]: 5 MB$' -- "$W/printer" threads:20
	q 'sorted(l for l in labels if l[0] in "ab") == sorted(c + str(i) for c in "ab" for i in range(20))'
}

@test "a line that one thread begins and another ends is one line" {
	prints hog:20 'handed:RSS [both]: 5 MB' hog:10 'line:RSS [next]: 6 MB'
	labels_are '"both", "next", "(after)"'
}

@test "a buffer that nobody has read is seen all the same" {
	printf 'RSS [cold]: 5 MB\n' >"$T/cold"
	"$PYTHON" -c 'import os, sys; os.posix_fadvise(os.open(sys.argv[1], 0), 0, 0, os.POSIX_FADV_DONTNEED)' "$T/cold"
	prints 'line:RSS [boot]: 1 MB' hog:20 "cold:$T/cold" hog:10
	labels_are '"boot", "cold", "(after)"'
	q 'near(delta(ph("cold")), 20 * MIB, 131072)'
}

@test "writes that are cut short or refused are counted by what was written" {
	peak_run --mark-output 'RSS \[(.*)\]: 5MB' -- "$W/printer" full
	q 'len(phs("full")) == 32768' 'r["losses"]["output"] == 0'
}

@test "six processes print at one time, in one and in several pieces: no mark is missing, and none is another's" {
	cat >"$T/six.py" <<'EOF'
import os

def prints(me):
    for i in range(150):
        os.writev(1, [f"worker {me} ".encode() + b"-" * (97 * me), b" RSS [", f"{me}.{i}".encode(), b"]: 1 MB\n"])
        os.write(1, f"no mark {me}\n".encode())
    os._exit(0)

workers = [os.fork() or prints(n) for n in range(6)]
for pid in workers:
    os.waitpid(pid, 0)
EOF
	peak_run --mark-output "$P" -- "$PYTHON" "$T/six.py"
	q "sorted([p['label'] for p in one['phases'] if p.get('origin') == 'output'] for one in procs if len(one['phases']) > 1) == \
		[[f'{n}.{i}' for i in range(150)] for n in range(6)]"
	q 'r["losses"]["output"] == 0'
	[ "$(grep -c RSS "$OUT")" -eq 900 ]
}

@test "200,000 dull lines and 200 marks: none missed, none lost" {
	local n
	n=$(scaled 1000)
	local steps=()
	for ((i = 0; i < n / 10; i++)); do steps+=("flood:1000:RSS [m]: $i MB"); done
	peak_run -q --mark-output "$P" -- "$W/printer" "${steps[@]}" "${steps[@]}"
	q "len(phs('m')) == 2 * ($n // 10)" 'r["losses"]["output"] == 0' \
		"[p['printed_bytes'] // MIB for p in phs('m')] == 2 * list(range($n // 10))"
}

@test "a pattern without a literal: every write is an edge, and it is said" {
	peak_run --mark-output '^[a-z]+\s\d+$' -- "$W/printer" hog:10 'line:abc 12' 'line:ABC' hog:20 'line:x 1'
	labels_are '"abc 12", "x 1", "(after)"'
	q 'near(delta(ph("x 1")), 20 * MIB, 131072)'
	grep -q 'every line costs an edge' "$ERR"
}

@test "attach: lines of a program that runs already, and of its children" {
	start_target "$W/printer" "wait:$T/go" hog:30 'line:RSS [late]: 1 MB' "ready:$T/done" "wait:$T/end"
	start_tracer attach -o "$R" --mark-output "$P" -p "$TARGET"
	retry 20 attached
	touch "$T/go"
	retry 20 test -e "$T/done"
	touch "$T/end"
	wait_for "$TRACER"
	q 'near(delta(ph("late")), 30 * MIB, 131072)'
}

@test "labels of lines are bytes: escaped where they are shown, cut where they are long" {
	prints "$(printf 'line:RSS [\033\b\377"x"]: 1 MB')" "line:RSS [$(printf 'y%.0s' {1..400})]: 2 MB"
	q 'proc()["phases"][0]["label_hex"] == b"\x1b\b\xff\"x\"".hex()' 'proc()["phases"][1]["cut"]'
	LC_ALL=C refute grep -q $'\033' "$ERR"
}

@test "colours and links of a terminal are in no label and in no pattern's way" {
	peak_run --mark-output '^INFO\s+RSS \[(.*)\]: (?<mb>[\d.]+) MB$' -- "$W/printer" hog:20 \
		"$(printf 'line:\033[34mINFO\033[0m RSS [\033[38;5;208mload\033[0m:a]: \033[1;36m7\033[0m MB')" hog:30 \
		"$(printf 'bytes:\033[2;36m\033[0mINFO RSS [\033]8;id=1;file:///x.py\033\\b\033]8;;\033\\]: 8 MB')" hog:5
	labels_are '"load:a", "b", "(after)"'
	q 'near(delta(ph("b")), 30 * MIB, 131072)' 'ph("load:a")["printed_bytes"] == 7 * MIB' 'ph("b")["printed_bytes"] == 8 * MIB'
	grep -q $'\033\[38;5;208mload' "$OUT" # what is printed stays as it is
}

@test "a pattern that is wrong is said, with the place" {
	status_of "$PP" run --mark-output 'RSS [(' -- true
	[ "$STATUS" -eq 2 ]
	grep -q "mark-output 'RSS \[('.*offset" "$T/said"
}

@test "presets: listed with their patterns, used by name; files of the machine and of the user come first" {
	export XDG_CONFIG_HOME=$T/config
	mkdir -p "$XDG_CONFIG_HOME/peakphase/presets.d"
	printf '%s\n' '# x' 'about My job' 'label load:${t}' 'begin Loading (?<t>\w+)' 'label load:${t}' 'end Loaded (?<t>\w+)' \
		>"$XDG_CONFIG_HOME/peakphase/presets.d/job.preset"
	printf 'mark [\n' >"$XDG_CONFIG_HOME/peakphase/presets.d/broken.preset"
	"$PP" presets >"$T/list"
	for name in oaa kedro polars job broken; do grep -q "^$name" "$T/list"; done
	grep -qF 'Loading (?<t>\w+)' "$T/list"
	peak_run --preset job -- "$W/printer" 'line:Loading users' hog:20 'line:Loaded users'
	q 'near(delta(ph("load:users")), 20 * MIB, 131072)' 'ph("load:users")["ended_by"] == "end"'
	status_of "$PP" run --preset broken -- true
	[ "$STATUS" -eq 2 ]
	grep -q "preset 'broken': line 1: .*offset" "$T/said"
	status_of "$PP" run --preset ../x -- true
	[ "$STATUS" -eq 2 ]
	printf '# nothing yet\n' >"$XDG_CONFIG_HOME/peakphase/presets.d/empty.preset"
	status_of "$PP" run --no-record --preset empty -- true
	[ "$STATUS" -eq 2 ]
	grep -q "preset 'empty': it has no patterns" "$T/said"
	"$PP" presets empty | grep -q 'cannot be used: it has no patterns'
}

@test "a folder is no preset, and hides none; who asks for one preset hears of no other" {
	export XDG_CONFIG_HOME=$T/config
	mkdir -p "$XDG_CONFIG_HOME/peakphase/presets.d/"{oaa,dir}.preset
	head -c 70000 /dev/zero >"$XDG_CONFIG_HOME/peakphase/presets.d/large.preset"
	status_of "$PP" presets
	[ "$STATUS" -eq 0 ]
	grep -q '^oaa' "$T/said"
	refute grep -q 'dir' "$T/said"
	grep -q 'cannot read the preset .*large.preset' "$T/said"
	for name in dir nosuch; do
		for words in "presets $name" "run --no-record --preset $name -- true"; do
			# shellcheck disable=SC2086  # words
			status_of "$PP" $words
			[ "$STATUS" -ne 0 ]
			grep -q "there is no preset '$name'" "$T/said"
			[ "$(grep -c error: "$T/said")" -eq 1 ] || fail "$(cat "$T/said")"
		done
	done
}

@test "preset oaa: both printed forms, with a logger's prefix; the number it printed is kept" {
	peak_run --preset oaa -- "$W/printer" 'line:RSS [boot]: 4.0 MB' hog:200 free err \
		'line:2026-11-30 10:00:00,123 INFO oaa RSS [transform:users]: 56.6 MB' hog:20 'bytes:peak RSS [hook:a]b é]: ~1.5 MB'
	q 'near(delta(ph("transform:users")), 200 * MIB, 131072)' 'ph("transform:users")["printed_bytes"] == round(56.6 * MIB)' \
		'near(delta(ph("hook:a]b é")), 20 * MIB, 131072)' 'ph("hook:a]b é")["printed_bytes"] == round(1.5 * MIB)'
}

@test "preset polars: nodes that run together are one sub-phase" {
	peak_run --preset polars -- "$W/printer" 'line:polars-stream: updating graph state' \
		'line:polars-stream: running sort in subgraph' 'line:polars-stream: running io-sink[single-file[parquet]] in subgraph' \
		hog:30 free 'line:polars-stream: done running graph phase' 'line:polars-stream: running multi-scan[parquet] in subgraph' hog:5 \
		'line:polars-stream: done running graph phase'
	q 'near(delta(ph("io-sink[single-file[parquet]] + sort")), 30 * MIB, 131072)' \
		'near(delta(ph("multi-scan[parquet]")), 5 * MIB, 131072)' 'proc()["bad_ends"] == 0'
}

@test "preset kedro: load, run and save are steps, also where the line is wrapped" {
	local pad='                             '
	peak_run --preset kedro -- "$W/printer" \
		'line:INFO     Loading data from companies (CSVDataset)...' hog:20 \
		"line:  INFO     Running node:               node.py:531
$pad preprocess_all_the_comp 
$pad anies: preprocess([companies]) -> [out]" hog:30 free \
		"line:  INFO     Saving data to     data_catalog.py:1097
$pad out                 
$pad (ParquetDataset)..." hog:10 "line:INFO     Completed node: runner.py:245
$pad clean"
	q 'near(delta(ph("load:companies")), 20 * MIB, 131072)' 'near(delta(ph("run:preprocess_all_the_companies")), 30 * MIB, 131072)' \
		'near(delta(ph("save:out")), 10 * MIB, 131072)' 'ph("save:out")["ended_by"] == "end"' 'proc()["bad_ends"] == 0'
}

@test "who counts or records the same calls with perf misses none" {
	peak_run --mark-output 'R\[(\d+)\]' -- "$W/counted" 3000
	grep -qx 'counted=3000' "$ERR" || fail "$(cat "$ERR")"
	[ "$(wc -l <"$OUT")" -eq 3000 ]
	q 'sum(p["kind"] == "checkpoint" for p in proc()["phases"]) == 3000'
}
