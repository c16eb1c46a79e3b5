#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Recordings compared, peaks explained, budgets: with the numbers of programs that know them.

load helpers

# why EXPRESSION...: what `report --why` says must hold; w is the object, b(part, label) the bytes of its row in MiB. The sum is checked.
why() {
	"$PP" report --json --why "$R" >"$T/why.json"
	"$PYTHON" - "$T/why.json" "$@" <<-'END'
		import json, sys
		w = json.load(open(sys.argv[1]))["why"]
		def b(part, label=None):
		    return sum(r["bytes"] for r in w["rows"] if r["part"] == part and label in (None, r["label"])) / 2**20
		# A machine that is short of memory, or looks for idle pages, takes some of a file's away.
		def near(mib, want):
		    return abs(mib - want) <= 2
		assert sum(r["bytes"] for r in w["rows"]) == w["peak_bytes"], w
		for e in sys.argv[2:]:
		    assert eval(e), (e, w)
	END
}

@test "why: kept before, open around, inside: the peak to the byte, and the numbers of the program" {
	run_c begin:load:a hog:30 end begin:load:b hog:20 free end begin:outer hog:8 begin:sib hog:10 end begin:top hog:5 begin:in hog:4 end hog:60 free end end
	why 'w["phase"] == "top"' 'near(b("inside", "top"), 65)' 'near(b("earlier", "load:a"), 30)' 'near(b("earlier", "load:b"), 0)' 'near(b("outer", "outer"), 8)' \
		'near(b("sibling", "sib"), 10)' 'near(b("inner", "in"), 4)' 'b("unknown") == 0'
	# The same as text, with the sum in it; of a phase, and of a glob that several match.
	"$PP" report --why "$R" >"$T/text"
	sed s/~// "$T/text" | awk '/^ +-?[0-9]+ / { if (/the peak$/) { peak = $1 } else { sum += $1 } } END { exit !(peak > 0 && peak == sum) }' || fail "$(cat "$T/text")"
	grep -Eq '^ +~?[0-9]+ +(9|10)\.[0-9] +[0-9]+ %  earlier sibling  \[sib\]$' "$T/text"
	"$PP" report --why='load:*' "$R" >"$T/text"
	grep -qx '2 phases match: \[load:a\], \[load:b\]; the highest is explained' "$T/text"
	grep -Eq '^\[load:b\] peaked at ~?5[0-9]\.[0-9] ' "$T/text"
	"$PP" report --why 'load:*' "$R" | diff - "$T/text"
	status_of "$PP" report --why=nobody "$R"
	[ "$STATUS" -eq 1 ]
	grep -q "no phase is called 'nobody'" "$T/said"
}

@test "why: threads, children, exec, a program that prints nothing" {
	peak_run -- "$W/threads" overlap 60 30
	why 'w["phase"] == "right"' 'near(b("inside", "right"), 30)' 'near(b("beside", "left"), 60)' 'any(r["overlaps"] for r in w["rows"])'
	run_c begin:parent hog:20 fork:1 begin:child hog:50 free end done reap end
	why 'w["phase"] == "child"' '20 <= b("start") + b("earlier") < 26' 'near(b("inside", "child"), 50)'
	peak_run -- sh -c "$W/script hog:20; :"
	why 'w["phase"] == "(startup)"' '20 <= b("inside") < 25'
}

@test "rank: by anonymous memory a mapped input counts for nothing" {
	head -c $((60 << 20)) /dev/urandom >"$T/input"
	run_c begin:maps "map:$T/input" end begin:computes hog:40 free end
	"$PP" report --rank anon "$R" >"$T/text"
	grep -Eq '^most anonymous memory ~?4[0-9]\.[0-9] MiB in \[computes\]' "$T/text"
	grep -Eq '^ +~?4[0-9]\.[0-9] +~?[0-9.]+ +~?[0-9.]+ .*\[computes\]$' "$T/text"
	"$PP" report --rank file "$R" >"$T/text"
	grep -Eq '^most memory of mapped files ~?6[0-9]\.[0-9] MiB in \[(maps|computes)\]' "$T/text"
	"$PP" report --json --rank total "$R" >"$T/rank.json"
	"$PYTHON" - "$T/rank.json" <<-'END'
		import json, sys
		r = json.load(open(sys.argv[1]))["rank"]
		sizes = [x["bytes"] for x in r["rows"]]
		assert r["by"] == "total" and r["more"] == 0 and sizes and sizes == sorted(sizes, reverse=True), r
	END
	status_of "$PP" report --rank nonsense "$R"
	[ "$STATUS" -eq 2 ]
}

@test "diff: label by label, repeated ones too; the verdict first; what only one side has" {
	run_c begin:load hog:30 end begin:load hog:10 end begin:transform:x hog:80 free end begin:gone end
	mv "$R" "$T/a.peak"
	run_c begin:load hog:30 end begin:transform:x hog:40 free end begin:new hog:5 end
	"$PP" diff "$T/a.peak" "$R" >"$T/text"
	head -n 1 "$T/text" | grep -Eqx 'B peaks ~?4[0-9]\.[0-9] % lower; \[transform:x\] moved from 12[0-9]\.[0-9] to 7[0-9]\.[0-9] MiB'
	grep -qx '\[load\]   medians of 2 in A, 1 in B' "$T/text"
	grep -qx '\[gone\]   only in A' "$T/text"
	grep -qx '\[new\]   only in B' "$T/text"
	"$PP" diff --json "$T/a.peak" "$R" "$T/a.peak" >"$T/diff.json"
	"$PYTHON" - "$T/diff.json" <<-'END'
		import json, sys
		d = json.load(open(sys.argv[1]))
		label = {l["label"]: l["in"] for l in d["labels"]}
		assert [r["name"] for r in d["recordings"]] == ["A", "B", "C"]
		a, b, c = (r["peak_bytes"] for r in d["recordings"])
		change = [r["change"] for r in d["recordings"]]
		assert change[0] is None and change[1]["delta"] == b - a and change[2] == {"delta": 0, "permille": 0}
		assert abs(change[1]["permille"] - 1000 * (b - a) / a) <= 0.5
		load = label["load"][0]
		assert load["count"] == 2 and label["load"][1]["count"] == 1
		kept = load["kept_bytes"]
		assert abs(kept["min"] - (10 << 20)) <= 65536 and abs(kept["max"] - (30 << 20)) <= 65536 and kept["median"] == (kept["min"] + kept["max"]) // 2
		assert abs(label["transform:x"][1]["grew_bytes"]["delta"] + (40 << 20)) <= 65536
		assert label["gone"][1] is None and label["new"][0] is None and label["new"][2] is None
		assert label["transform:x"][2]["time_ns"]["delta"] == 0
	END
	chmod 755 "$T" "$T/.." "$T/../.." # another user has to get there
	chmod 644 "$T"/*.peak
	as_nobody "$PP" diff "$T/a.peak" "$R" >"$T/nobody"
	diff "$T/text" "$T/nobody"
}

@test "diff refuses what it cannot compare, and says why" {
	run_c mark:a
	status_of "$PP" diff "$R"
	[ "$STATUS" -eq 2 ]
	status_of "$PP" diff "$R" "$T/missing.peak"
	[ "$STATUS" -eq 1 ]
	grep -q missing.peak "$T/said"
	status_of "$PP" diff --budget nonsense "$R" "$R"
	[ "$STATUS" -eq 2 ]
	grep -q 'not a valid value: nonsense' "$T/said"
	# A reader that stops reading is no error.
	"$PP" diff "$R" "$R" | head -n 1 >"$T/head"
	grep -qx 'B peaks exactly as high as A.*' "$T/head"
}

@test "budgets: 4 and a line for each label that is over; the command's own status goes before" {
	STATUS=0
	peak_run --budget 'load:*=20M' --budget '*=kept:25M' --budget 'nobody=1G' -- "$W/script" begin:load:a hog:30 end begin:load:a hog:24 free end begin:load:b hog:1 end || STATUS=$?
	[ "$STATUS" -eq 4 ]
	grep -Eqx 'peakphase: error: over budget: \[load:a\] peaked at ~?5[0-9]\.[0-9] MiB, 3[0-9]\.[0-9] MiB over load:\*=20M   pid [0-9]+, 2 times' "$ERR"
	grep -Eqx 'peakphase: error: over budget: \[load:a\] kept ~?30\.[0-9] MiB, 5\.[0-9] MiB over \*=kept:25M   pid [0-9]+' "$ERR"
	grep -qx "peakphase: warning: --budget 'nobody=1G': there is no such phase" "$ERR"
	[ "$(grep -c 'over budget' "$ERR")" -eq 3 ] # load:b began on top of what load:a had kept
	status_of "$PP" report --budget 'load:a=20M' "$R"
	[ "$STATUS" -eq 4 ]
	status_of "$PP" report --json --budget 'load:a=200M' "$R"
	[ "$STATUS" -eq 0 ]
	status_of "$PP" diff -q --budget 'load:b=20M' "$R" "$R"
	[ "$STATUS" -eq 4 ]
	STATUS=0
	peak_run -q --budget '*=1M' --json="$T/j.json" -- sh -c "$W/script begin:a hog:5 end >/dev/null; exit 3" || STATUS=$?
	[ "$STATUS" -eq 3 ]
	grep -q 'over budget' "$ERR"
	"$PYTHON" -c 'import json, sys; (b,) = json.load(open(sys.argv[1]))["budgets"]; assert b["bytes"] == 1 << 20 and b["breaches"]' "$T/j.json"
	STATUS=0
	peak_run -q --budget '*=1M' --json="$T/k.json" -- "$W/script" begin:a hog:5 end || STATUS=$?
	[ "$STATUS" -eq 4 ]
	STATUS=0
	peak_run --budget '*=1G' -- "$W/script" begin:a hog:5 end || STATUS=$?
	[ "$STATUS" -eq 0 ]
	status_of "$PP" run --no-record --budget '*=1G' -- true
	[ "$STATUS" -eq 2 ]
}

@test "the size that a line names stands beside the one that was measured" {
	peak_run --preset oaa -- "$W/printer" 'line:RSS [x]: 1.0 MB'
	"$PP" report "$R" >"$T/text"
	grep -Eq '^  phase .* peak MiB   printed ' "$T/text"
	grep -Eq '^  x  .* +1\.0 ' "$T/text"
	run_c mark:x
	"$PP" report "$R" >"$T/text"
	refute grep -q printed "$T/text"
}
