#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Recordings: what is none is refused clearly, what is one is readable by anyone, any time.

load helpers

# refused FILE WORD: report says something about FILE with WORD in it, and nothing on stdout.
refused() {
	STATUS=0
	"$PP" report "$1" >"$T/data" 2>"$T/said" || STATUS=$?
	[ "$STATUS" -eq 1 ] || fail "status $STATUS for $1"
	[ ! -s "$T/data" ]
	grep -q "$(basename "$1")" "$T/said" || fail "does not name the file: $(cat "$T/said")"
	grep -qiE "$2" "$T/said" || fail "no word of $2: $(cat "$T/said")"
	refute grep -qiE 'segv|sanitizer|assert' "$T/said"
	STATUS=0
	"$PP" report "$1" --json >"$T/data" 2>"$T/said" || STATUS=$?
	[ "$STATUS" -eq 1 ] && [ ! -s "$T/data" ]
}

a_recording() {
	run_c begin:a hog:20 end begin:b hog:10 end
	cp "$R" "$T/good.bad"
}

@test "an empty file, a missing one, a folder" {
	: >"$T/empty.bad"
	mkdir "$T/folder.bad"
	refused "$T/empty.bad" 'empty'
	refused "$T/missing.bad" 'no such file'
	refused "$T/folder.bad" 'director|folder'
}

@test "words that mean something else than was meant: what to type instead" {
	refute "$PP" attach nightly 2>"$T/said"
	grep -q 'attach: nightly belongs to no option' "$T/said"
	grep -q -e '--comm NAME' "$T/said"
	refute "$PP" attach --container "" 2>"$T/said"
	grep -q 'a name is empty' "$T/said"
	cd "$T"
	refute "$PP" top --batch nightly 2>said
	grep -q 'to trace a command: peakphase top -- COMMAND' said
	refute "$PP" rnu 2>said
	grep -q 'did you mean "peakphase run"' said
	refute "$PP" foo 2>said
	grep -q 'peakphase --help lists the commands' said
	# No output was kept: rows alone would look as if nothing had been written.
	"$PP" run -q -o none.peak -- echo x >/dev/null
	"$PP" report --output none.peak 2>said >report
	grep -q 'none.peak: no output is kept in it' said
	grep -q '(startup)' report
}

@test "foreign files: text, another database, an image of zeros" {
	echo 'these are not the pages you are looking for' >"$T/text.bad"
	sql "$T/other.bad" 'create table edges (a)' 'insert into edges values (1)'
	head -c 65536 /dev/zero >"$T/zeros.bad"
	refused "$T/text.bad" 'not a .*recording'
	refused "$T/other.bad" 'not a .*recording'
	refused "$T/zeros.bad" 'not a .*recording'
}

@test "a truncated recording, wherever it is cut" {
	local size cut
	a_recording
	size=$(stat -c %s "$T/good.bad")
	for cut in 15 100 1000 4096 $((size / 2)) $((size - 4096)); do
		head -c "$cut" "$T/good.bad" >"$T/cut.bad"
		refused "$T/cut.bad" 'not a .*recording|torn|truncated|damaged|malformed'
	done
}

@test "a recording of a newer version" {
	a_recording
	sql "$T/good.bad" 'pragma user_version = 999'
	refused "$T/good.bad" 'newer'
	grep -q 999 "$T/said" || "$PP" report "$T/good.bad" 2>&1 | grep -q 999
}

@test "damage within: rows that cannot be are refused, not believed and no crash" {
	local statement
	a_recording
	for statement in "update phases set kind = 77" "update phases set label = zeroblob(100000)" \
		"update phases set peak_bytes = 'many'" "update processes set exit = -1" \
		"update edges set kind = 4000000000" "drop table phases" "update meta set value = x'00ff'"; do
		cp "$R" "$T/hurt.bad"
		sql "$T/hurt.bad" "$statement"
		STATUS=0
		timeout 20 "$PP" report "$T/hurt.bad" --json >"$T/data" 2>"$T/said" || STATUS=$?
		[ "$STATUS" -le 1 ] || fail "$statement: status $STATUS: $(cat "$T/said")"
		if [ "$STATUS" -eq 1 ]; then [ -s "$T/said" ]; else "$PYTHON" -m json.tool "$T/data" >/dev/null; fi
	done
}

@test "a file that is there already is not overwritten" {
	local status=0
	echo precious >"$T/there.bad"
	"$PP" run -o "$T/there.bad" -- touch "$T/ran" 2>"$ERR" || status=$?
	[ $status -eq 1 ]
	[ "$(cat "$T/there.bad")" = precious ] && [ ! -e "$T/ran" ]
	grep -q 'there.bad' "$ERR"
}

@test "a link to nothing is called that, and nothing is made behind it" {
	ln -s "$T/nowhere" "$T/link.peak"
	status_of "$PP" run -o "$T/link.peak" -- touch "$T/ran"
	[ "$STATUS" -eq 1 ] && [ ! -e "$T/ran" ] && [ ! -e "$T/nowhere" ]
	grep -q 'link.peak: it is a symbolic link to a file that does not exist' "$T/said"
	rm "$T/link.peak"
}

@test "a path that SQLite cannot take is said to be too long, whatever its length" {
	local dir
	dir=$T/$(printf 'd%.0s' {1..200})/$(printf 'e%.0s' {1..200})/$(printf 'f%.0s' {1..200})
	mkdir -p "$dir"
	status_of "$PP" run -o "$dir/a.peak" -- touch "$T/ran"
	[ "$STATUS" -eq 1 ] && grep -q 'fff/a.peak: File name too long' "$T/said" && grep -q 'up to 504 bytes' "$T/said"
	cd "$dir"
	status_of "$PP" run -o a.peak -- touch "$T/ran"
	[ "$STATUS" -eq 1 ] && grep -q 'a.peak: File name too long' "$T/said"
	cd "$T"
	[ ! -e "$T/ran" ] && [ -z "$(ls -A "$dir")" ]
	# One just below it is taken, and read.
	dir=$(printf 'g%.0s' {1..200})
	dir=$T/$dir/$(printf 'h%.0s' {1..200})
	mkdir -p "$dir"
	dir=$dir/$(printf 'i%.0s' $(seq $((504 - ${#dir} - 1 - 5)))).peak
	[ ${#dir} -eq 504 ]
	"$PP" run -q -o "$dir" -- true
	"$PP" report "$dir" >/dev/null
}

@test "a recording of an empty disk says what became of it" {
	"$PP" run -o "$T/none.bad" -q -- true
	sql "$T/none.bad" "delete from phases" "delete from processes" "delete from edges" "delete from bases" "delete from samples" \
		"update meta set value = 0 where key = 'finished'" "update meta set value = -28 where key = 'error'" \
		"update meta set value = 4711 where key = 'dropped'"
	"$PP" report "$T/none.bad" >"$T/text"
	grep -qx 'nothing was recorded: No space left on device, 4711 rows are missing' "$T/text"
	"$PP" report --json "$T/none.bad" >"$T/report.json"
	q 'r["error"] == "No space left on device"' 'r["losses"]["rows"] == 4711' 'not r["finished"]' 'not procs'
}

@test "the default name is said once, and --no-record leaves no file" {
	mkdir "$T/here"
	cd "$T/here"
	"$PP" run -- "$W/script" begin:a hog:10 end say:a/b 2>"$ERR"
	[ "$(find . -name '*.peak' | wc -l)" -eq 1 ]
	[ "$(grep -c "$(basename ./*.peak)" "$ERR")" -eq 1 ]
	[ "$(find . -name 'script-*.peak' | wc -l)" -eq 1 ]
	find . -name '*.peak' -exec mv {} "$R" \;
	"$PP" run --no-record -- "$W/script" begin:a hog:10 end 2>"$ERR"
	[ -z "$(ls -A .)" ]
	grep -q 'peak RSS \[a\]' "$ERR"
}

@test "without -o a free name is found, whatever else begins in the same second" {
	cd "$T"
	local i
	for i in 1 2 3 4; do "$PP" run -q -- sh -c "echo $i; sleep 0.1" >>"$OUT" 2>>"$ERR" & done
	wait
	for i in 5 6 7; do "$PP" run -q -- sh -c "echo $i" >>"$OUT" 2>>"$ERR"; done
	[ "$(sort "$OUT" | tr -d '\n')" = 1234567 ]
	[ "$(ls sh-*.peak | wc -l)" -eq 7 ]
	refute grep -E 'error|warning' "$ERR"
	for i in sh-*.peak; do
		[[ $i =~ ^sh-[0-9]{8}-[0-9]{6}(-[2-7])?\.peak$ ]] || fail "$i"
		grep -qx "peakphase: recording to $i" "$ERR"
	done
	# Not a name that the user gave.
	status_of "$PP" run -q -o "$i" -- touch ran
	[ "$STATUS" -eq 1 ] && [ ! -e ran ]
	# What the folder refuses is said once.
	mkdir gone && cd gone && rmdir ../gone
	status_of "$PP" run -q -- touch "$T/ran"
	[ "$STATUS" -eq 1 ] && [ ! -e "$T/ran" ]
	[ "$(grep -c 'cannot record to touch-' "$T/said")" -eq 1 ]
}

for_others_to_reach() {
	chmod 755 "$T" "$BATS_RUN_TMPDIR" "$BATS_TEST_TMPDIR/.."
	mkdir "$T/root" "$T/root/mine" && chown 65534:65534 "$T/root/mine"
}

@test "under sudo files are made as the caller would, where it may; else they are root's" {
	local dir=$T/root
	export SUDO_UID=65534 SUDO_GID=65534
	for_others_to_reach
	for d in "$dir" "$dir/mine"; do
		(cd "$d" && "$PP" run -q -- true && "$PP" run -q -o named.peak --json=report.json -- true) 2>>"$ERR"
	done
	find "$dir" -type f -printf '%P %U:%G\n' | sed 's/[0-9]\{8\}-[0-9]\{6\}/TIME/' | sort >"$T/found"
	refute grep -q warning "$ERR"
	cat >"$T/right" <<-'EOF'
		mine/named.peak 65534:65534
		mine/report.json 65534:65534
		mine/true-TIME.peak 65534:65534
		named.peak 0:0
		report.json 0:0
		true-TIME.peak 0:0
	EOF
	diff "$T/right" "$T/found"
}

@test "under sudo nothing is written through a link that the caller could not write, and nobody is above the caller's rights" {
	local dir=$T/root
	export SUDO_UID=65534 SUDO_GID=65534
	for_others_to_reach
	: >"$dir/empty"
	echo precious >"$dir/text"
	ln -s ../empty "$dir/mine/r.peak"
	ln -s ../text "$dir/mine/report.json"
	status_of "$PP" run -q -o "$dir/mine/r.peak" -- true
	[ "$STATUS" -ne 0 ]
	grep -q 'r.peak: Permission denied' "$T/said"
	status_of "$PP" run -q -o "$dir/mine/other.peak" --json="$dir/mine/report.json" -- true
	[ "$STATUS" -ne 0 ]
	grep -q 'report.json: Permission denied' "$T/said"
	[ ! -s "$dir/empty" ]
	[ "$(cat "$dir/text")" = precious ]
	# CAP_CHOWN, CAP_DAC_OVERRIDE: neither now nor ever.
	# shellcheck disable=SC2016
	"$PP" run -q -o "$dir/mine/live.peak" -- sh -c 'until [ -e "$1-wal" ]; do sleep 0.01; done
		cat /proc/$PPID/status; ls -n "$1-wal" "$1-shm"' sh "$dir/mine/live.peak" >"$OUT"
	for set in CapPrm CapEff; do
		[ $((0x$(awk -v "s=$set:" '$1 == s { print $2 }' "$OUT") & 3)) -eq 0 ]
	done
	[ "$(grep -c ' 65534 65534 .*live.peak-' "$OUT")" -eq 2 ]
}

@test "anyone can read a recording, also in a folder they cannot write" {
	local dir
	a_recording
	dir=$(mktemp -d)
	cp "$R" "$dir/r.db"
	chmod 755 "$dir"
	chmod 644 "$dir/r.db"
	as_nobody "$PP" report "$dir/r.db" --json >"$T/report.json" || { rm -rf "$dir"; false; }
	as_nobody "$PP" report "$dir/r.db" >"$T/text" || { rm -rf "$dir"; false; }
	[ "$(ls -A "$dir")" = r.db ]
	rm -rf "$dir"
	q 'near(delta(ph("a")), 20 * MIB, 65536)'
	grep -q '◀ peak' "$T/text"
}

@test "a recording can be read while it is written" {
	start_tracer run -o "$R" -q -- "$W/script" begin:first hog:30 end begin:second hog:5 "ready:$T/on" "wait:$T/go" end
	retry 20 test -e "$T/on"
	has_first() { "$PP" report "$R" --json >"$T/report.json" 2>/dev/null && grep -q '"first"' "$T/report.json"; }
	retry 10 has_first
	# What is open stands as it is, with the program's peak.
	has_second() {
		has_first && q 'near(proc()["peak"]["bytes"], ph("first")["start_bytes"] + 35 * MIB, 65536 + MIB)' 2>/dev/null
	}
	retry 10 has_second
	q 'near(delta(ph("first")), 30 * MIB, 65536)' 'r["running"]' 'proc()["exit"]["kind"] == "running"' 'ph("second")["ended_by"] == "trace"' \
		'near(proc()["peak"]["bytes"], ph("first")["start_bytes"] + 35 * MIB, 65536 + MIB)' 'r["peak"]["phase"] == "second"' 'not r["exact"]'
	"$PP" report "$R" | grep -q '^  second .*◀ peak, still open$'
	touch "$T/go"
	wait_for "$TRACER"
	[ "$STATUS" -eq 0 ]
	report_json "$R"
	q 'ph("second")["ended_by"] == "end"'
}

@test "the recording explains itself: version, kernel, options, exactness, losses" {
	a_recording
	[ "$(sql "$R" 'pragma user_version')" -eq "$(sed -n 's,^#define STORE_SCHEMA \([0-9]*\).*,\1,p' "$ROOT/user/store/store.h")" ]
	sql "$R" 'select key, value from meta' >"$T/meta"
	grep -q "$(uname -r)" "$T/meta"
	grep -q "$("$PP" --version | awk '{ print $NF }')" "$T/meta"
	[ "$(sql "$R" 'select count(*) from losses where count <> 0')" -eq 0 ]
	[ "$(sql "$R" 'select count(*) from losses')" -ge 4 ]
	q 'r["kernel"]' 'r["format"] == 1' 'r["wall_ns"] > 1_600_000_000 * 10**9' 'r["mono_ns"] > 0'
}

@test "the report answers first: peak, owner, then the rows" {
	a_recording
	run_c begin:small hog:20 free end begin:big hog:90 free end
	"$PP" report "$R" >"$T/text"
	head -n 1 "$T/text" | grep -qE '^peak 9[0-9]\.[0-9]( ±[0-9.]+)? MiB in \[big\] +pid [0-9]+ .*at \+[0-9.]+ m?s +anon 9[0-9]\.'
	grep -qE '^ *big .* 9[0-9]\.[0-9] .*◀ peak$' "$T/text"
	[ "$(grep -c '◀ peak' "$T/text")" -eq 1 ]
	# One line for each finished phase while it ran, in the form that people grep for.
	grep -qE '^peak RSS \[big\]: ~9[0-9]\.[0-9] MB +\(grew 90\.[0-9], kept -?[0-9.]+, now [0-9.]+; [0-9.]+ m?s\)$' "$ERR"
}
