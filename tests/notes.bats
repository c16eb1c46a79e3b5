#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Notes: text that a program gives to a phase comes out of the recording, to the byte.

load helpers

# What the workload said about its notes is what the report has of them.
notes_are_true() {
	report_json "$R"
	"$PYTHON" - "$OUT" "$T/report.json" <<-'END'
		import json, sys
		def fnv(data):
		    h = 0xcbf29ce484222325
		    for byte in data:
		        h = (h ^ byte) * 0x100000001b3 & (1 << 64) - 1
		    return h
		phases = {p.get("label"): p for q in json.load(open(sys.argv[2]))["processes"] for p in q["phases"]}
		lines = [line.split() for line in open(sys.argv[1]) if line.startswith("note ")]
		assert len(lines) > 100, lines
		for _, label, size, checksum, whole in lines:
		    (note,) = phases[label]["notes"]
		    text = note["text"].encode()
		    assert (len(text), note["whole"]) == (int(size), whole == "1"), (label, len(text), size, note["whole"])
		    assert fnv(text) == int(checksum, 16), label
		(note,) = phases["long"]["notes"]
		assert not note["whole"] and (1 << 20) - 1024 <= len(note["text"]) <= 1 << 20 and set(note["text"]) == {"l"}
	END
}

@test "notes of every length, at every place, to the byte; long ones are cut; bad pointers harm nobody" {
	peak_run -- "$W/notes" pace $((10 * (SLOW - 1)))
	notes_are_true
	q 'all(p["ended_by"] == "end" for p in proc()["phases"] if p["kind"] == "span")' 'r["losses"]["notes"] == 0' 'r["exact"] or proc()["error_bytes"]'
}

@test "a note belongs to the innermost phase of its thread, or to the checkpoint that follows" {
	run_c note:a mark:first begin:outer note:b begin:inner note:c end note:d end note:e note:f mark:second note:g
	truth_c
	q 'all([n["text"] for n in ph(l)["notes"]] == t for l, t in
		(("first", ["a"]), ("outer", ["b", "d"]), ("inner", ["c"]), ("second", ["e", "f"]), ("(after)", ["g"])))'
	run_py note:a mark:first begin:outer note:b begin:inner note:c end note:d end note:e mark:second
	q 'all([n["text"] for n in ph(l)["notes"]] == t for l, t in
		(("first", ["a"]), ("outer", ["b", "d"]), ("inner", ["c"]), ("second", ["e"])))'
}

@test "a callable makes its text only when a tracer listens, and before its phase" {
	cat >"$T/plan.py" <<-'END'
		import asyncio, sys
		from peakphase import note, phase

		def plan():
		    print("made")
		    block = b"x" * (80 << 20)
		    return "the plan of %d" % len(block)

		async def task(name, seconds):
		    with phase(name, note=plan if name == "a" else name):
		        await asyncio.sleep(seconds)

		async def main():
		    await asyncio.gather(task("a", 0.1), task("b", 0.2))

		asyncio.run(main())
		with phase("c"):
		    note(lambda: "x" * (1 << 19))
	END
	[ -z "$("$PYTHON" "$T/plan.py")" ]
	peak_run -- "$PYTHON" "$T/plan.py"
	[ "$(cat "$OUT")" = made ]
	q '[n["text"] for n in ph("a")["notes"]] == ["the plan of 83886080"]' '[n["text"] for n in ph("b")["notes"]] == ["b"]' \
		'ph("a")["grew_bytes"] < 2 * MIB' 'ph("c")["notes"][0]["text"] == "x" * (1 << 19)'
	"$PP" report --notes "$R" >"$T/text"
	grep -qx '    | the plan of 83886080' "$T/text"
	refute grep -q '| ' <("$PP" report "$R")
}

@test "a flood of large notes: what the ring cannot take is counted, marks and peaks are not touched" {
	peak_run -- "$W/notes" flood 200
	report_json "$R"
	q 'r["exact"] or proc()["error_bytes"]' 'r["losses"]["edges"] == 0' 'len(ph("flood")["notes"]) + r["losses"]["notes"] >= 200' \
		'all(n["whole"] or r["losses"]["notes"] for n in ph("flood")["notes"])' 'ph("long")["ended_by"] == "end"'
}

@test "notes of a killed program, and of a tracer that was killed" {
	status_of run_c begin:open note:the_last_word sleep:200 raise:9
	q '[n["text"] for n in ph("open")["notes"]] == ["the_last_word"]' 'ph("open")["ended_by"] == "signal"'
	start_target "$W/script" ready:"$T/go" wait:"$T/begin" begin:open note:still_there ready:"$T/noted" sleep:60000
	retry 10 test -e "$T/go"
	start_tracer attach -o "$T/k.peak" -p "$TARGET"
	retry 20 attached
	touch "$T/begin"
	retry 10 test -e "$T/noted"
	sleep 1
	kill -KILL "$TRACER"
	wait_for "$TRACER"
	report_json "$T/k.peak"
	q '[n["text"] for n in ph("open")["notes"]] == ["still_there"]'
}
