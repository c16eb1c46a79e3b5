#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# OAA's runner as it comes from PyPI, with the sample that it bundles, offline. It prints its own reading at each of its marks:
# `peak RSS [x]` (the largest so far), and with psutil `RSS [x]` (what it has now).

load real

OAA_LABELS='["transform:employees", "transform:groups", "load:employees", "load:groups", "hook:PRE_PUSH_OAA:wire_all_relationships"]'

# sample ENVIRONMENT [MIB]: a copy of the sample to stand in; the page of its groups takes MIB MiB to make, which are then given back.
sample() {
	E=$REAL/$1
	cp -r "$E"/lib/python3*/site-packages/oaa/samples/hris-employees-groups "$T/sample"
	cd "$T/sample" || return
	[ -z "${2:-}" ] || "$PYTHON" - "$2" <<-'END'
		import re, sys
		path = "modules/example_hris_mocks.py"
		text = open(path).read()
		more = f"text = bytearray({sys.argv[1]} << 20)\n    for i in range(0, len(text), 4096):\n        text[i] = 1\n    del text\n    return {{"
		text, n = re.subn(r"(def mock_groups\(\):.*?\n    )return \{", lambda m: m[1] + more, text, flags=re.S)
		assert n == 1
		open(path, "w").write(text)
	END
}

# oaa_run [WORDS BEFORE IT...]: traced; with its own readings.
oaa_run() {
	MOCK_RESULTS=true OAA_RSS_PROFILE=1 peak_run -- "$E/bin/python" -m peakphase --mark oaa.modules.mem_profile:log_rss \
		"$E/bin/oaa-run" --no-push=True --config-file config.yaml --save-json=True run
}

# printed LABEL: the MB that it printed there, as an integer.
printed() { sed -nE "s/.*RSS \[$1\]: ~?([0-9]+)\.[0-9] MB\$/\1/p" "$ERR" "$OUT"; }

@test "OAA: a row for each of its labels, and the payload as without" {
	sample oaa
	oaa_run || fail "$(tail "$OUT" "$ERR")"
	q "labels == $OAA_LABELS + ['(after)']" 'all(p["kind"] == "checkpoint" for p in proc()["phases"][:-1])' \
		'r["peak"]["phase"] == "transform:employees"' 'proc()["exit"]["status"] == 0'
	# Its own readings stand beside: the largest so far, so in each of them.
	[ "$(grep -c 'INFO - peak RSS \[' "$ERR")" -eq 5 ]
	q "abs(r['peak']['bytes'] / MIB - $(printed load:groups)) < 4"
	traced=$(cat ./*Datasource*.json)
	rm ./*Datasource*.json
	MOCK_RESULTS=true "$E/bin/oaa-run" --no-push=True --config-file config.yaml --save-json=True run >"$T/plain" 2>&1
	[ "$traced" = "$(cat ./*Datasource*.json)" ]
}

@test "OAA: what a transform needed and gave back its reading of the moment misses" {
	sample oaa-psutil 200
	oaa_run || fail "$(tail "$OUT" "$ERR")"
	grep -q ' RSS \[transform:groups\]: [0-9]' "$ERR"
	refute grep -q 'INFO - peak RSS' "$ERR"
	local before after
	before=$(printed transform:employees) after=$(printed transform:groups)
	[ $((after - before)) -le 2 ] || fail "it printed $before, then $after MB"
	q 'near(delta(ph("transform:groups")), 200 * MIB)' 'near(ph("transform:groups")["kept_bytes"], 0)' \
		'r["peak"]["phase"] == "transform:groups"'
}

@test "OAA: past 976 MiB its reading of the peak is a thousandth" {
	sample oaa 1100
	oaa_run || fail "$(tail "$OUT" "$ERR")"
	[ "$(printed transform:groups)" -le 2 ]
	# And it never falls again: all that follow have it.
	[ "$(printed load:groups)" -le 2 ]
	q 'near(delta(ph("transform:groups")), 1100 * MIB)' 'delta(ph("load:groups")) < 2 * MIB'
}

# By what it prints: nothing of peakphase's has to be in that environment. Each number that it printed stands beside ours.
preset_run() {
	MOCK_RESULTS=true OAA_RSS_PROFILE=1 peak_run --preset oaa -- \
		"$E/bin/oaa-run" --no-push=True --config-file config.yaml --save-json=True run || fail "$(tail "$OUT" "$ERR")"
	local numbers
	numbers=$(sed -nE 's/.*RSS \[.*\]: ~?([0-9.]+) MB$/\1,/p' "$ERR")
	q "labels == $OAA_LABELS + ['(after)']" 'all(p["origin"] == "output" for p in proc()["phases"][:-1])' \
		"[p['printed_bytes'] for p in proc()['phases'][:-1]] == [round(x * MIB) for x in ($numbers)]"
}

@test "OAA: --preset oaa, beside the largest so far that it prints" {
	sample oaa 200
	preset_run
	[ "$(grep -c 'INFO - peak RSS \[' "$ERR")" -eq 5 ]
	q 'near(delta(ph("transform:groups")), 200 * MIB)' 'near(ph("transform:groups")["printed_bytes"], r["peak"]["bytes"], 4 * MIB)' \
		'ph("load:groups")["printed_bytes"] - ph("load:groups")["peak_bytes"] > 190 * MIB'
}

@test "OAA: --preset oaa, beside what it has at that moment, which it prints where there is psutil" {
	sample oaa-psutil 200
	preset_run
	[ "$(grep -c 'INFO - RSS \[' "$ERR")" -eq 5 ]
	q 'near(delta(ph("transform:groups")), 200 * MIB)' 'ph("transform:groups")["printed_bytes"] < ph("transform:groups")["peak_bytes"] - 190 * MIB' \
		'all(near(p["printed_bytes"], p["end_bytes"], MIB) for p in proc()["phases"][:-1])'
	"$PP" report "$R" | grep -q ' printed '
}

@test "docs/oaa.md" { page oaa.md oaa 3; }
