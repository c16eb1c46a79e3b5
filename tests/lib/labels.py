# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""labels.py EXPECTED REPORT.json RECORDING TEXT LINES: what came of the labels of workloads/labels.c.

EXPECTED has a line for each mark, in order: `label len=N kind=K hex=BYTES`.
"""

import json
import re
import sqlite3
import sys

LABEL_MAX = 255
CUT, NULL, UNREADABLE = 1, 2, 4
failed = 0


def need(truth, *what):
    global failed
    if not truth:
        failed = 1
        print(*what, file=sys.stderr)


def expected(path):
    for line in open(path, encoding="ascii", errors="replace"):
        m = re.fullmatch(r"label len=(\d+) kind=(\w+) hex=([0-9a-f]*)\n", line)
        if m:
            yield m[2], bytes.fromhex(m[3])


def check_row(want, phase, row):
    kind, label = want
    cut = len(label) > LABEL_MAX
    kept = label[:LABEL_MAX]
    stored, flags = bytes(row[0]), row[1]
    need(stored == kept, "recording:", stored, "is not", kept)
    need(bool(flags & CUT) == cut, "recording: cut flag of", kept)
    need(bool(flags & NULL) == (kind == "null"), "recording: null flag", kind, flags)
    need(bool(flags & UNREADABLE) == (kind in ("unreadable", "partial")), "recording: flag", kind, flags)
    need(phase["cut"] == cut, "cut", phase["label"])
    if "label_hex" in phase:
        need(bytes.fromhex(phase["label_hex"]) == kept, "label_hex", phase["label_hex"], kept)
    else:
        need(phase["label"].encode() == kept or kind in ("null", "unreadable"), "label", phase["label"], kept)
    if kind != "text":
        word = "null" if kind == "null" else "unreadable"
        need(word in json.dumps(phase), "does not say", word, phase)


def main():
    _, truth, report, recording, text, lines = sys.argv
    want = list(expected(truth))
    with open(report, encoding="utf-8") as f:
        phases = json.load(f)["processes"][0]["phases"]
    phases = [p for p in phases if p["kind"] == "checkpoint"]
    db = sqlite3.connect(recording)
    rows = list(db.execute("select label, label_flags from phases where kind = 1 order by end_win"))
    need(len(want) == len(phases) == len(rows), "marks, phases, rows:", len(want), len(phases), len(rows))
    for w, p, r in zip(want, phases, rows):
        check_row(w, p, r)

    # Long labels that differ only behind the cut are still told apart, wherever they are shown.
    cut = [label for kind, label in want if len(label) > LABEL_MAX]
    shown = [p["label"] for p in phases if p["cut"]]
    need(len(set(shown)) == len(set(cut)), "cut labels are not distinct", shown)

    with open(text, "rb") as f:
        body = f.read()
    with open(lines, "rb") as f:
        said = f.read()
    for name, data in (("report", body), ("lines", said)):
        data.decode("utf-8")  # raises where a label's bytes came through as they are
        need(not re.search(b"[\x00-\x08\x0b-\x1f\x7f]", data), name, "has control characters")
        need(not re.search("[\x80-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]", data.decode()), name, "has C1 or bidi")
    need(said.count(b"peak RSS [") >= len(want), "lines:", said.count(b"peak RSS ["), "for", len(want))
    for said_line in said.decode().splitlines():
        need(said_line.startswith(("peak RSS [", "peakphase: ", "  ")), "half a line:", said_line)
    return failed


sys.exit(main())
