#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Labels are any bytes from a program that may be hostile.

load helpers

# check_labels FILE: the workload's lines against the report, the recording, the text.
check_labels() {
	report_json "$R"
	"$PP" report "$R" >"$T/text"
	"$PYTHON" "$ROOT/tests/lib/labels.py" "$OUT" "$T/report.json" "$R" "$T/text" "$ERR"
}

@test "labels of every kind from C: bytes round-trip, one line per row, bad pointers said" {
	printf 'cold page' >"$T/cold"
	peak_run -- "$W/labels" "$T/cold"
	grep -q 'hex=7374696c6c2068657265' "$OUT"
	check_labels
	q 'r["losses"].get("marks", 0) == 0' 'proc()["exit"]["status"] == 0'
}

@test "labels of every kind from Python" {
	peak_run -- "$PYTHON" "$PYW/labels.py"
	check_labels
}

@test "no terminal escape and no control character reaches the terminal" {
	printf 'cold page' >"$T/cold"
	peak_run -- "$W/labels" "$T/cold"
	"$PP" report "$R" >"$T/text" 2>>"$ERR"
	# All that is not a newline and not printable: C0, DEL; C1 as UTF-8 is looked for by labels.py.
	LC_ALL=C refute grep -q $'[\x01-\x08\x0b-\x1f\x7f]' "$T/text" "$ERR"
	LC_ALL=C refute grep -q $'\t' "$ERR"
}

@test "a label that imitates an implied phase is told apart" {
	run_c 'begin:(startup)' hog:7 end 'begin:(after)' hog:9 end
	q '[p["kind"] for p in proc()["phases"]] == ["startup", "span", "between", "span", "after"]' \
		'[p["label"] for p in proc()["phases"] if p["kind"] == "span"] == ["(startup)", "(after)"]'
	"$PP" report "$R" >"$T/text"
	[ "$(grep -c '^ *(startup)' "$T/text")" -eq 1 ]
}

# D3: the markers alone do nothing that anyone could see.
@test "without a tracer: no output, no file, and a missing library never breaks the import" {
	mkdir "$T/empty" "$T/home"
	cd "$T/empty"
	HOME=$T/home "$W/flood" 1000 >"$OUT" 2>"$ERR"
	[ "$(wc -l <"$OUT")" -eq 1 ] && [ ! -s "$ERR" ]
	HOME=$T/home "$PYTHON" "$PYW/flood.py" 1000 >"$OUT" 2>"$ERR"
	[ ! -s "$OUT" ] && [ ! -s "$ERR" ]
	cp -R "$PEAKPHASE_BUILD/python" "$T/bare"
	find "$T/bare" -name '*.so*' -delete
	HOME=$T/home PYTHONPATH=$T/bare "$PYTHON" "$PYW/script.py" begin:a hog:5 end mark:b boom:c:1 >"$OUT" 2>"$ERR"
	[ ! -s "$ERR" ] && [ "$(grep -c '^truth' "$OUT")" -eq 3 ]
	[ -z "$(ls -A "$T/empty" "$T/home" | grep -v : | grep .)" ]
}

@test "a label on a page whose faults nobody answers: said to be unreadable, and nobody waits" {
	peak_run -- "$W/unresolved"
	grep -q '^ms=' "$OUT"
	q 'labels == ["before", "(unreadable)", "after", "(after)"]' \
		'proc()["phases"][1]["label_state"] == "unreadable"' 'proc()["exit"]["status"] == 0'
}

# bats test_tags=host
@test "a C++ program's own log_rss() is a marker where its label is first for sure; else that is said, with what to do" {
	cat >"$T/own.cc" <<-'EOF'
		#include <cstdlib>
		#include <cstring>
		#define BODY { asm volatile("" : : "r"(label) : "memory"); }
		DECLARED
		int main()
		{
			free(memset(malloc(20 << 20), 1, 20 << 20));
			CALLED("load");
		}
	EOF
	own() { g++ -O0 "-DDECLARED=$1" "-DCALLED=$2" "$T/own.cc" -o "$T/own"; }
	for declared in 'void log_rss(const char *label, int = 0) BODY' 'static void log_rss(const char *label) BODY' \
		'namespace { void log_rss(const char *label) BODY }' 'namespace app { extern "C" void log_rss(const char *label) BODY } using app::log_rss;'; do
		own "$declared" log_rss
		peak_run -q -- "$T/own"
		q 'ph("load")["kind"] == "checkpoint" and near(ph("load")["peak_bytes"], 21 * MIB, 2 * MIB)'
		[ ! -s "$ERR" ] || fail "$declared: $(cat "$ERR")"
	done
	for declared in 'namespace app { void log_rss(const char *label, int = 0) BODY }' 'struct app { static void log_rss(const char *label); }; void app::log_rss(const char *label) BODY'; do
		own "$declared" app::log_rss
		peak_run -q -- "$T/own"
		q '[p["kind"] for p in proc()["phases"]] == ["startup"]'
		[ "$(grep -c 'app::log_rss() of .*/own is not taken for a marker' "$ERR")" -eq 1 ]
		grep -qF "→ make it extern \"C\"" "$ERR"
		peak_run -q --span 'own:app::log_rss' -- "$T/own"
		q 'ph("app::log_rss")["kind"] == "span"'
		[ ! -s "$ERR" ] || fail "$(cat "$ERR")"
	done
}
