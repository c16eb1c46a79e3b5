#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The documentation does what it says: its commands are run, its code is compiled, its links lead somewhere, and the man pages
# know the options that --help does. How a page is marked up for it: lib/docs.py.

# bats file_tags=host

load helpers

docs() { "$PYTHON" "$ROOT/tests/lib/docs.py" "$@"; }

# page FILE AT_LEAST: its blocks run, and there are that many, so that none is lost by its mark-up.
page() {
	local told n
	told=$(docs run "$PEAKPHASE_BUILD" "$ROOT/$1") || return 1
	printf '%s\n' "$told" | sed -n 's/^# /&/p' >&3
	n=$(printf '%s\n' "$told" | sed -n 's/^{.*"run": \([0-9]*\), "skipped": \([0-9]*\).*/\1 + \2/p')
	[ "$((n))" -ge "$2" ] || fail "$1: $n blocks were run, not $2"
}

@test "README.md: what it shows is what happens" { page README.md 10; }

@test "make knows what the workloads are made of" {
	local made
	made=$(make -C "$ROOT" -n -W tests/workloads/work.h OUTPUT="${PEAKPHASE_BUILD#"$ROOT/"}" workloads | grep -c -- '-o .*/workloads/')
	[ "$made" -ge 8 ] || fail "a change of work.h makes $made of them anew"
}

@test "make demo runs what the README's test runs" {
	make -C "$ROOT" -n OUTPUT="$PEAKPHASE_BUILD" demo | grep -qx "tools/demo.sh $PEAKPHASE_BUILD"
}

@test "docs/tracing.md" { page docs/tracing.md 7; }
@test "docs/markers.md: every language" { page docs/markers.md 8; }
@test "docs/sql.md" { page docs/sql.md 6; }

@test "the other pages" {
	local f
	for f in "$ROOT"/docs/*.md; do
		case ${f##*/} in tracing.md | markers.md | sql.md) continue ;; esac
		docs run "$PEAKPHASE_BUILD" "$f"
	done
}

@test "docs/json.md has the fields of report --json, all of them and no others" {
	json_fields() { "$PYTHON" "$ROOT/tests/lib/json_fields.py" "$@"; }
	printf cold >"$T/cold"
	"$PP" run -q -o "$T/a.peak" --output both --where=16 --preset oaa -- sh -c "$W/printer 'line:RSS [x]: 1.0 MB'; $W/script begin:a note:text hog:20 end raise:9; $W/labels $T/cold >/dev/null; printf 'x\\377' >&2; sh -c 'echo last >&2; kill -9 \$\$'; true" 2>/dev/null
	"$PP" report --json --output "$T/a.peak" >"$T/a.json"
	"$PP" report --json --why --rank anon --budget '*=1M' "$T/a.peak" >"$T/b.json" 2>/dev/null || [ $? -eq 4 ]
	json_fields "$ROOT/docs/json.md" "$T/a.json" "$T/b.json" "$ROOT/tests/unit/golden/report_trouble.json"
	"$PP" diff --json --budget '*=1M' "$T/a.peak" "$T/a.peak" >"$T/d.json" 2>/dev/null || [ $? -eq 4 ]
	json_fields --diff "$ROOT/docs/json.md" "$T/d.json" "$ROOT/tests/unit/golden/diff_three.json"
	# And it would notice.
	sed 's/"owns_peak"/"owner_of_peak"/g' "$T/a.json" >"$T/other.json"
	STATUS=0
	json_fields "$ROOT/docs/json.md" "$T/other.json" 2>"$T/said" || STATUS=$?
	[ "$STATUS" -eq 1 ]
	grep -qx 'A phase: owner_of_peak is not documented' "$T/said"
	grep -qx 'A phase: owns_peak is in no report' "$T/said"
}

@test "docs/json.md: its example is what its commands print" {
	cd "$T"
	mkdir build && ln -s "$W" build/workloads
	sed '1,/^## An example$/d' "$ROOT/docs/json.md" | sed -n '/^```$/,/^```$/ { /^```$/d; p; }; /^```json/q' >commands
	[ "$(wc -l <commands)" -eq 2 ]
	PATH=$PEAKPHASE_BUILD:$PATH sh -c "$(head -n 1 commands)" >/dev/null 2>"$ERR"
	PATH=$PEAKPHASE_BUILD:$PATH sh -c "$(tail -n 1 commands)" >report.json
	"$PYTHON" "$ROOT/tests/lib/json_fields.py" --example "$ROOT/docs/json.md" report.json
	# And it would notice.
	sed 's/"spike_bytes"/"spike"/' "$ROOT/docs/json.md" >page.md
	STATUS=0
	"$PYTHON" "$ROOT/tests/lib/json_fields.py" --example page.md report.json 2>"$T/said" || STATUS=$?
	[ "$STATUS" -eq 1 ]
	grep -qx 'processes.phases: spike_bytes is not in the example' "$T/said"
	grep -qx 'processes.phases: spike is in the example only' "$T/said"
}

@test "links lead to files and headings that exist" { docs links "$ROOT"/README.md "$ROOT"/docs/*.md; }

@test "man pages have the options of --help, all of them and no others" {
	local c
	for c in run attach top report diff presets doctor; do
		"$PP" "$c" --help | docs options "$ROOT/docs/man/peakphase-$c.1"
	done
	# One page for each command that there is.
	"$PP" --help | sed -n 's/^  \([a-z]*\)  .*/\1/p' | while read -r c; do
		grep -q "^\.BR peakphase-$c (1)" "$ROOT/docs/man/peakphase.1" || fail "peakphase.1 has no $c"
		[ -e "$ROOT/docs/man/peakphase-$c.1" ] || fail "no page for $c"
	done
}

@test "man pages are without errors" {
	local f said checked=
	for f in "$ROOT"/docs/man/*.[1-8]; do
		if command -v groff >/dev/null; then
			checked=1
			said=$(groff -man -Tutf8 -ww -rCHECKSTYLE=3 -z "$f" 2>&1)
			[ -z "$said" ] || fail "$said"
		fi
		if command -v mandoc >/dev/null; then
			checked=1
			said=$(mandoc -T lint -W warning "$f" 2>&1) || fail "$said"
		fi
	done
	[ -n "$checked" ] || echo "# man pages not checked: neither groff nor mandoc here" >&3
}

@test "the checker of pages finds what is wrong" {
	local p=$T/page.md
	try() { # EXPECTED PAGE: run and links of this page fail, and say so
		printf '%s\n' "$2" >"$p"
		said=$(docs run "$PEAKPHASE_BUILD" "$p" 2>&1 && docs links "$p" 2>&1) && fail "passed: $2"
		[[ $said == *"$1"* ]] || fail "said: $said"
	}
	try "expected, in shape" $'```console\n$ echo one two\none three\n```'
	try "expected, in shape" $'```console\n$ echo one; echo two\none\n```'
	try "expected, in shape" $'```console\n$ true\n1 line\n```'
	try "status 3" $'```console\n$ (exit 3)\n```'
	try "no row has the mappings" $'```console\n$ true\n  90 % anonymous  (of 3 faults sampled, 1 in 64)\n```'
	try "without its file" $'```c\nint main(void);\n```'
	try "used by no console block" $'```c\n/* a.c */\n```'
	try "refuses the query" $'```sql\nSELECT no_such_column FROM report;\n```'
	try "without an end" $'```console\n$ true'
	try "no such file" '[x](nowhere.md)'
	try "no such heading" $'# Here\n[x](#there)'
	printf '%s\n' $'```console\n$ seq 3 5\n1\n...\n$ echo 12.5 MiB in 31 ms\n9 MiB in 2 s\n```' >"$p"
	docs run "$PEAKPHASE_BUILD" "$p"
}
