#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Polars as it comes from PyPI: one query eager, streamed to a sink, and with an operation that falls back to memory.

load real

@test "Polars: eager keeps its frame, a sink's memory falls back, and both map the input file" {
	local python=$REAL/polars/bin/python input
	"$python" "$REALSRC/polars/query.py" "$T/in.parquet" 8000000
	peak_run -- "$python" "$REALSRC/polars/query.py" "$T/in.parquet" || fail "$(cat "$OUT" "$ERR")"
	input=$(stat -c %s "$T/in.parquet")
	rm "$T"/in.parquet*
	local height frame
	read -r height frame <"$OUT"
	[ "$height" -gt 7000000 ]
	# The program's own memory in a phase's start: what is there but for mapped files.
	q "ph('eager')['kept_bytes'] + ph('rest')['start_bytes'] - ph('eager')['end_bytes'] > 0.9 * $frame * MIB" \
		"near(ph('rest')['start_bytes'] - ph('eager')['start_bytes'], $frame * MIB, $frame * MIB // 10 + 24 * MIB)" \
		"abs(ph('sorted sink')['start_bytes'] - ph('sink')['start_bytes']) < 48 * MIB" \
		"abs(ph('eager')['start_bytes'] - ph('sorted sink')['start_bytes']) < 48 * MIB" \
		"all(ph(p)['peak_members']['file'] - ph(p)['start_bytes'] // 2 > 0.4 * $input for p in ('sink', 'eager'))" \
		"ph('sorted sink')['peak_members']['anon'] > $frame * MIB"
	# What the allocator gave back in the second after it is no leak; what the program holds was not given back.
	q 'all(ph(p)["kept_bytes"] - ph(p)["freed_later_bytes"] < 48 * MIB for p in ("sink", "sorted sink"))' \
		"ph('eager')['freed_later_bytes'] < 0.2 * $frame * MIB"
	# A mapped input is not the query's own: by anonymous memory the eager one comes first of these two, by far.
	q 'sorted(("sink", "eager"), key=lambda p: -ph(p)["peak_members"]["anon"]) == ["eager", "sink"]' \
		'ph("eager")["peak_members"]["anon"] > 1.3 * ph("sink")["peak_members"]["anon"]'
	"$PP" report --json --rank anon "$R" >"$T/report.json"
	q '[x["label"] for x in r["rank"]["rows"] if x["label"] in ("sink", "eager")] == ["eager", "sink"]'
}

@test "Polars: --preset polars, what runs inside a sink" {
	local python=$REAL/polars/bin/python
	"$python" "$REALSRC/polars/query.py" "$T/in.parquet" 1000000
	cat >"$T/sinks.py" <<-'END'
		import sys

		import polars as pl
		from peakphase import phase

		query = pl.scan_parquet(sys.argv[1]).filter(pl.col("v") > 1000).with_columns(x=pl.col("v") * 2)
		with phase("sink"):
		    query.sink_parquet(sys.argv[1] + ".out")
		with phase("sorted sink"):
		    query.sort("v").sink_parquet(sys.argv[1] + ".out")
	END
	POLARS_VERBOSE=1 peak_run --preset polars -- "$python" "$T/sinks.py" "$T/in.parquet" || fail "$(cat "$OUT" "$ERR")"
	rm "$T"/in.parquet*
	# As many as it ran, each in the sink of its time; both sinks have some, also of nodes that ran together.
	q 'len(proc()["phases"]) == 5 + sum(p["origin"] == "output" for p in proc()["phases"] if p["kind"] == "span")' \
		"sum(p['kind'] == 'span' and p['origin'] == 'output' for p in proc()['phases']) == $(grep -c 'stream: done running graph phase' "$ERR")" \
		'all(any(s["kind"] == "span" and s["origin"] == "output" and s["depth"] == 1 and s["ended_by"] == "end"
			and ph(o)["start_ns"] <= s["start_ns"] and s["end_ns"] <= ph(o)["end_ns"] and s["peak_bytes"] <= ph(o)["peak_bytes"]
			and "io-sink" in s["label"] for s in proc()["phases"]) for o in ("sink", "sorted sink"))' \
		'any(" + " in p["label"] for p in proc()["phases"] if p["kind"] == "span")' \
		'all(p["label"].split(" + ") == sorted(p["label"].split(" + ")) for p in proc()["phases"] if p["kind"] == "span")' \
		'proc()["bad_ends"] == 0'
}

@test "docs/polars.md" { page polars.md polars 3; }
