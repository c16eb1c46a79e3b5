#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Kedro as it comes from PyPI, 1.x and 0.19: a project that `kedro new` made, run by `kedro run`. Nothing in it knows of peakphase.

load real

setup_file() {
	local v
	for v in kedro-1 kedro-0.19; do
		mkdir "$BATS_FILE_TMPDIR/$v"
		(
			cd "$BATS_FILE_TMPDIR/$v" || exit
			"$REAL/$v/bin/kedro" new --name=memory --tools=none --example=n --telemetry=no
			cd memory || exit
			cp "$REALSRC/kedro/cases.py" src/memory/
			echo 'from memory.cases import register_pipelines' >src/memory/pipeline_registry.py
			PYTHONPATH=src "$REAL/$v/bin/python" -c 'import json, memory.cases as c; print(json.dumps(c.CATALOG))' \
				>conf/base/catalog.yml
		) >"$BATS_FILE_TMPDIR/$v/new.log" 2>&1 || fail "kedro new: $(cat "$BATS_FILE_TMPDIR/$v/new.log")"
	done
}

# project VERSION: another copy of it for this test, to stand in.
project() {
	V=$1
	rm -rf "$T/project"
	cp -r "$BATS_FILE_TMPDIR/$V/memory" "$T/project"
	cd "$T/project" || return
}

# kedro_run ARGUMENTS...: `kedro run` traced, with its own status.
kedro_run() { peak_run -- "$REAL/$V/bin/kedro" run "$@"; }

# Each version, as one test would hide which of them fails.
f1() {
	project "$1"
	kedro_run || fail "$(cat "$OUT" "$ERR")"
	q 'near(delta(ph("load:combine:a")), 400 * MIB)' 'near(ph("load:combine:a")["kept_bytes"], 200 * MIB)' \
		'near(delta(ph("load:combine:b")), 200 * MIB)' 'near(ph("load:combine:b")["kept_bytes"], 100 * MIB)' \
		'near(delta(ph("run:combine")), 400 * MIB)' 'near(ph("run:combine")["kept_bytes"], 100 * MIB)' \
		'near(delta(ph("save:combine:c")), 100 * MIB)' 'near(ph("save:combine:c")["kept_bytes"], 0)' \
		'r["peak"]["phase"] == "run:combine"' 'r["peak"]["bytes"] == ph("run:combine")["peak_bytes"]' \
		'near(ph("load:combine:a")["start_bytes"] + 700 * MIB, r["peak"]["bytes"])'
	# Inputs and outputs live until the last save has returned, and are gone before the next load.
	q 'ph("node:combine")["end_bytes"] - ph("load:read:c")["start_bytes"] > 396 * MIB' \
		'near(ph("node:combine")["end_bytes"] - ph("load:read:c")["start_bytes"], 400 * MIB, 5 * MIB)' \
		'near(ph("load:read:c")["kept_bytes"], 100 * MIB)' 'near(ph("run:read")["grew_bytes"], 0)'
	# Each operation lies in its node.
	q 'all(ph("node:combine")["start_ns"] <= ph(l)["start_ns"] <= ph(l)["end_ns"] <= ph("node:combine")["end_ns"]
		for l in ("load:combine:a", "load:combine:b", "run:combine", "save:combine:c"))' \
		'ph("node:combine")["peak_bytes"] == r["peak"]["bytes"]' \
		'sum(p["kind"] == "span" for p in proc()["phases"]) == 9' \
		'not any(p["overlaps"] for p in proc()["phases"])'
	# What came before, what was kept and what was inside make up the peak, to the byte.
	q '(ph("load:combine:a")["start_bytes"] + ph("load:combine:a")["kept_bytes"]
		+ (ph("load:combine:b")["start_bytes"] - ph("load:combine:a")["end_bytes"]) + ph("load:combine:b")["kept_bytes"]
		+ (ph("run:combine")["start_bytes"] - ph("load:combine:b")["end_bytes"])
		+ delta(ph("run:combine"))) == r["peak"]["bytes"]'
	# And so says the report: startup + 200 + 100 + 400 inside.
	"$PP" report --json --why "$R" >"$T/report.json"
	q 'sum(x["bytes"] for x in r["why"]["rows"]) == r["peak"]["bytes"] == r["why"]["peak_bytes"]' \
		'[(x["part"], x["label"]) for x in r["why"]["rows"] if x["part"] in ("inside", "sibling") and x["bytes"] > 50 * MIB] == [
		("inside", "run:combine"), ("sibling", "load:combine:a"), ("sibling", "load:combine:b")]' \
		'all(near(x["bytes"], want * MIB) for x in r["why"]["rows"] for label, want in
			(("run:combine", 400), ("load:combine:a", 200), ("load:combine:b", 100)) if x["label"] == label)' \
		'near(sum(x["bytes"] for x in r["why"]["rows"] if x["part"] not in ("inside", "sibling")), ph("node:combine")["start_bytes"])' \
		'not any(x["part"] == "unknown" for x in r["why"]["rows"])'
}

@test "Kedro 1: what a node loads, runs and saves, with its numbers" { f1 kedro-1; }
@test "Kedro 0.19: what a node loads, runs and saves, with its numbers" { f1 kedro-0.19; }

hungry() {
	project "$1"
	printf '%s\n' 'from memory.cases import Hungry' 'HOOKS = (Hungry(),)' >>src/memory/settings.py
	kedro_run || fail "$(cat "$OUT" "$ERR")"
	q 'near(delta(ph("load:combine:b")), 200 * MIB)' 'near(ph("load:combine:b")["grew_bytes"], 200 * MIB)' \
		'near(ph("run:combine")["grew_bytes"], 500 * MIB)' 'near(ph("save:combine:c")["grew_bytes"], 100 * MIB)' \
		'near(ph("load:read:c")["grew_bytes"], 100 * MIB)' 'near(ph("run:read")["grew_bytes"], 0)'
}

@test "Kedro 1: what other plugins do around an operation is not in it" { hungry kedro-1; }
@test "Kedro 0.19: what other plugins do around an operation is not in it" { hungry kedro-0.19; }

threads() {
	project "$1"
	kedro_run --runner=ThreadRunner --pipeline=threads || fail "$(cat "$OUT" "$ERR")"
	q 'ph("run:left")["peak_bytes"] == ph("run:right")["peak_bytes"] == r["peak"]["bytes"]' \
		'ph("run:left")["overlaps"] and ph("run:right")["overlaps"]' 'ph("run:left")["tid"] != ph("run:right")["tid"]' \
		'near(ph("run:left")["grew_bytes"], 200 * MIB)' 'near(ph("run:right")["grew_bytes"], 100 * MIB)' \
		'near(r["peak"]["bytes"] - ph("node:left")["start_bytes"], 300 * MIB, 102 * MIB)' \
		'{"run:left", "run:right"} <= set(r["peak"]["open"])'
}

@test "Kedro 1: nodes of ThreadRunner carry the peak of their common time" { threads kedro-1; }
@test "Kedro 0.19: nodes of ThreadRunner carry the peak of their common time" { threads kedro-0.19; }

# workers VERSION METHOD COMMAND...
workers() {
	project "$1"
	local method=$2
	shift 2
	KEDRO_MP_CONTEXT=$method peak_run -- "$@" run --runner=ParallelRunner --pipeline=workers || fail "$(cat "$OUT" "$ERR")"
	q 'len([p for p in procs if any(name_of(f) == "node:one" for f in p["phases"])]) == 1' \
		'near(delta(ph("load:one:slow1")), 50 * MIB)' 'near(delta(ph("load:two:slow2")), 30 * MIB)' \
		'all(near(delta(ph(f"run:{n}")), 120 * MIB) and near(ph(f"run:{n}")["kept_bytes"], 60 * MIB) for n in ("one", "two"))' \
		'ph("save:one:one")["ended_by"] == ph("save:two:two")["ended_by"] == "end"' \
		'all(f["ended_by"] == "end" for p in procs for f in p["phases"] if f["kind"] == "span")' \
		'not any(f["kind"] == "span" for p in procs for f in p["phases"] if p["pid"] == proc()["pid"])' \
		'len(procs) >= 3' # kedro, its manager of shared data, at least one worker
}

@test "Kedro 1: ParallelRunner by fork" { workers kedro-1 fork "$REAL/kedro-1/bin/kedro"; }
@test "Kedro 1: ParallelRunner by spawn" { workers kedro-1 spawn "$REAL/kedro-1/bin/kedro"; }
@test "Kedro 1: ParallelRunner by forkserver" { workers kedro-1 forkserver "$REAL/kedro-1/bin/kedro"; }
@test "Kedro 0.19: ParallelRunner by fork" { workers kedro-0.19 fork "$REAL/kedro-0.19/bin/kedro"; }

# It takes the interpreter's own start method.
workers_019() {
	cat >"$T/started.py" <<-END
		import multiprocessing
		if __name__ == "__main__":
		    from kedro.framework.cli import main
		    multiprocessing.set_start_method("$1")
		    main()
	END
	workers kedro-0.19 "$1" "$REAL/kedro-0.19/bin/python" "$T/started.py"
}

@test "Kedro 0.19: ParallelRunner by spawn" { workers_019 spawn; }
@test "Kedro 0.19: ParallelRunner by forkserver" { workers_019 forkserver; }

generator() {
	project "$1"
	kedro_run --pipeline=generator || fail "$(cat "$OUT" "$ERR")"
	q 'r["peak"]["phase"] == "node:chunks"' 'near(delta(ph("node:chunks")), 180 * MIB)' 'near(ph("run:chunks")["grew_bytes"], 0)' \
		'len(phs("save:chunks:chunk")) == 3' 'all(near(p["grew_bytes"], 0) for p in phs("save:chunks:chunk"))' \
		'ph("node:chunks")["end_ns"] <= ph("node:count")["start_ns"]' 'ph("node:chunks")["ended_by"] == "end"' \
		'all(p["peak_bytes"] < ph("node:chunks")["peak_bytes"] for l in ("run:chunks", "save:chunks:chunk") for p in phs(l))'
}

@test "Kedro 1: chunks of a generator are made in its node, between saves" { generator kedro-1; }
@test "Kedro 0.19: chunks of a generator are made in its node, between saves" { generator kedro-0.19; }

asynchronous() {
	project "$1"
	kedro_run --async --pipeline=async || fail "$(cat "$OUT" "$ERR")"
	q 'ph("load:both:slow1")["peak_bytes"] == ph("load:both:slow2")["peak_bytes"]' 'ph("load:both:slow1")["overlaps"]' \
		'near(ph("load:both:slow1")["grew_bytes"], 50 * MIB)' 'near(ph("load:both:slow2")["grew_bytes"], 30 * MIB)' \
		'len(phs("node:both")) == 1' 'ph("load:both:slow1")["tid"] != ph("run:both")["tid"]' \
		'near(delta(ph("run:both")), 50 * MIB)' 'near(delta(ph("save:both:saved")), 50 * MIB)' \
		'ph("node:both")["start_ns"] <= ph("load:both:slow1")["start_ns"]' \
		'ph("save:both:saved")["end_ns"] <= ph("node:both")["end_ns"]' \
		'all(p["ended_by"] == "end" for p in proc()["phases"] if p["kind"] == "span")'
}

@test "Kedro 1: asynchronous loads and saves overlap, on threads of their own" { asynchronous kedro-1; }
@test "Kedro 0.19: asynchronous loads and saves overlap, on threads of their own" { asynchronous kedro-0.19; }

failing() {
	local runner
	project "$1"
	for runner in "" --async --runner=ThreadRunner; do
		# shellcheck disable=SC2086
		refute kedro_run $runner --pipeline=bad_load
		q 'near(delta(ph("load:read:broken")), 80 * MIB)' 'near(delta(ph("node:read")), 80 * MIB)' \
			'{ph(l)["ended_by"] for l in ("load:read:broken", "node:read")} == {"end"}'
	done
	refute kedro_run --pipeline=bad_node
	q 'near(delta(ph("run:fail")), 120 * MIB)' 'ph("run:fail")["ended_by"] == ph("node:fail")["ended_by"] == "end"' \
		'not phs("save:fail:read_out")'
	refute kedro_run --pipeline=bad_save
	q 'near(delta(ph("save:halve:unsaved")), 70 * MIB)' 'ph("save:halve:unsaved")["ended_by"] == "end"'
	# A worker hears of no pipeline's end: its phase goes on to its exit, with what makes the traceback and sends it.
	refute kedro_run --runner=ParallelRunner --pipeline=bad_load
	q 'near(delta(ph("load:read:broken")), 80 * MIB, 4 * MIB)' 'ph("load:read:broken")["ended_by"] == "exit"'
}

@test "Kedro 1: what fails is closed by the error, or open at exit" { failing kedro-1; }
@test "Kedro 0.19: what fails is closed by the error, or open at exit" { failing kedro-0.19; }

# Two sessions after each other, then two at once.
several() {
	project "$1"
	peak_run -- "$REAL/$V/bin/python" "$REALSRC/kedro/twice.py" f1,f1 threads,generator ||
		fail "$(cat "$OUT" "$ERR")"
	q 'len(phs("run:combine")) == 2' 'all(near(delta(p), 400 * MIB) for p in phs("run:combine"))' \
		'all(near(delta(p), 400 * MIB) for p in phs("load:combine:a"))' \
		'all(len(phs(f"node:{n}")) == 1 for n in ("left", "right", "chunks", "count"))' \
		'len(phs("save:chunks:chunk")) == 3' 'near(ph("run:right")["grew_bytes"], 100 * MIB)' \
		'all(p["ended_by"] == "end" for p in proc()["phases"] if p["kind"] == "span")' 'proc()["exit"]["status"] == 0'
}

@test "Kedro 1: several runs in one process, after each other and at once" { several kedro-1; }
@test "Kedro 0.19: several runs in one process, after each other and at once" { several kedro-0.19; }

@test "Kedro: without a tracer nothing is said, and the plugin can be disabled" {
	project kedro-1
	"$REAL/kedro-1/bin/kedro" run --pipeline=threads >"$OUT" 2>&1
	refute grep -qi peakphase "$OUT"
	echo 'DISABLE_HOOKS_FOR_PLUGINS = ("peakphase",)' >>src/memory/settings.py
	kedro_run --pipeline=threads
	q 'not phs("node:left")' 'near(r["peak"]["bytes"] - proc()["phases"][0]["start_bytes"], 300 * MIB, 150 * MIB)'
}

# At 80 columns names of this length are wrapped, and longer ones cut in two.
LONG_LABELS='["load:companies", "run:preprocess_companies_node", "save:preprocessed_companies", "load:preprocessed_companies",
	"run:data_science.evaluation.compute_regression_metrics_node", "save:data_science.evaluation.regression_model_metrics"]'

# long COMMAND...: what it records has those labels.
long() {
	rm -f "$R" "$T/report.json"
	"$@" >"$OUT" 2>"$ERR" || fail "$(cat "$OUT" "$ERR")"
	q "[p['label'] for p in proc()['phases'] if p['kind'] == 'span'] == $LONG_LABELS" \
		'all(p["origin"] == "output" and p["ended_by"] == "end" for p in proc()["phases"] if p["kind"] == "span")' \
		'near(delta(ph("load:companies")), 80 * MIB)' 'near(delta(ph("run:preprocess_companies_node")), 120 * MIB)' \
		'near(ph("load:companies")["kept_bytes"], 40 * MIB)' 'proc()["bad_ends"] == 0' 'r["losses"]["output"] == 0'
}

# Without the plugin.
preset() {
	project "$1"
	echo 'DISABLE_HOOKS_FOR_PLUGINS = ("peakphase",)' >>src/memory/settings.py
	local traced=("$PP" run -q -o "$R" --preset kedro -- "$REAL/$V/bin/kedro" run --pipeline=long)
	long "${traced[@]}"
	refute grep -q 'data_science.evaluation.regression_model_metrics' "$OUT"
	# In a terminal, with its colours and links.
	TERM=xterm-256color COLUMNS=80 long "$PYTHON" -c \
		'import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))' "${traced[@]}"
	grep -q $'\033\\[38;5;208mcompanies' "$OUT"
	grep -q $'\033]8;id=' "$OUT"
}

@test "Kedro 1: --preset kedro, redirected and in a terminal, with names that do not fit" { preset kedro-1; }
@test "Kedro 0.19: --preset kedro, redirected and in a terminal, with names that do not fit" { preset kedro-0.19; }

@test "docs/kedro.md" { page kedro.md kedro-1 3; }
