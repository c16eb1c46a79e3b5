# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Asserts over `peakphase report --json`.

q.py REPORT EXPRESSION...     Python expressions that must hold. In them:
    r            the report
    proc(i=0)    the i-th process; procs: all of them
    ph(L, n=0)   the n-th phase with that label (kind for implied ones: "(startup)" …)
    phs(L)       all of them; labels: the labels of the first process's phases, in order
    delta(p)     peak − start of a phase
    near(a, b, tol=None)   within tol bytes, else max(1 MiB, 1 % of b), and the bound of the
                           kernel's counters (6.1) on top
    MIB
q.py REPORT --truth FILE [TOLERANCE]    the truth lines of a workload (tests/workloads/work.h)
q.py REPORT --print EXPRESSION          prints its value
"""

import json
import sys

MIB = 1 << 20
IMPLIED = {"startup": "(startup)", "between": "(between)", "after": "(after)"}


def name_of(phase):
    return IMPLIED.get(phase["kind"], phase.get("label"))


class Report:
    def __init__(self, path):
        with open(path, encoding="utf-8") as f:
            self.r = json.load(f)
        self.procs = self.r["processes"]

    def proc(self, i=0):
        return self.procs[i]

    def phs(self, label):
        return [p for q in self.procs for p in q["phases"] if name_of(p) == label]

    def ph(self, label, n=0):
        found = self.phs(label)
        if n >= len(found):
            have = [name_of(p) for q in self.procs for p in q["phases"]][:50]
            raise SystemExit(f"no phase {label!r} number {n}; phases: {have}")
        return found[n]

    def slack(self):
        """Counters before 6.2 have an error bound; other processes' doing (reclaim) is no phase's."""
        return max((p.get("error_bytes", 0) for p in self.procs), default=0)

    def near(self, a, b, tol=None):
        allowed = (max(MIB, abs(b) // 100) if tol is None else tol) + self.slack()
        if abs(a - b) <= allowed:
            return True
        print(f"{a} ({a / MIB:.2f} MiB) is not {b} ({b / MIB:.2f} MiB) ± {allowed}", file=sys.stderr)
        return False

    def names(self):
        return {
            "r": self.r,
            "procs": self.procs,
            "proc": self.proc,
            "ph": self.ph,
            "phs": self.phs,
            "labels": [name_of(p) for p in self.procs[0]["phases"]] if self.procs else [],
            "delta": lambda p: p["peak_bytes"] - p["start_bytes"],
            "near": self.near,
            "name_of": name_of,
            "MIB": MIB,
        }


def check(report, expressions):
    failed = 0
    for e in expressions:
        if not eval(e, report.names()):  # the tests' own text
            print(f"does not hold: {e}", file=sys.stderr)
            failed = 1
    if failed:
        for q in report.procs[:10]:
            print(f"pid {q['pid']} exit {q.get('exit')} peak {q.get('peak')}", file=sys.stderr)
            for p in q["phases"][:40]:
                show = {k: v for k, v in p.items() if k not in ("peak_members", "where")}
                print(f"  {name_of(p)}: {show}", file=sys.stderr)
    return failed


def truths(path):
    with open(path, encoding="utf-8", errors="surrogateescape") as f:
        for line in f:
            if line.startswith("truth "):
                head, label = line[6:].rstrip("\n").split(" label=", 1)
                facts = dict(pair.split("=", 1) for pair in head.split())
                yield {k: v if k == "kind" else int(v) for k, v in facts.items()} | {"label": label}


def check_truth(report, path, tol=None):
    seen = {}
    failed = lines = 0
    for t in truths(path):
        lines += 1
        same = [p for p in report.phs(t["label"])]
        # Phases come out by start, truth lines by end: alike only among phases that do not
        # nest in their like, which is all that workloads do.
        n = seen[t["label"]] = seen.get(t["label"], -1) + 1
        if n >= len(same):
            print(f"no phase for: {t}", file=sys.stderr)
            failed = 1
            continue
        failed |= not agrees(report, t, same[n], tol)
    if not lines:
        print("the workload told no truth", file=sys.stderr)
    return failed or not lines


def agrees(report, t, p, tol):
    base = t["base_bytes"] if t["first"] else 0
    peak = p["peak_bytes"] if t["first"] else p["peak_bytes"] - p["start_bytes"]
    good = report.near(peak, base + t["peak_delta_bytes"], tol)
    if t["first"]:
        # From the start of the process: what the loader and libc mapped and unmapped is in it.
        good &= p["grew_bytes"] >= t["grew_bytes"] - (tol or 0) - report.slack()
    else:
        good &= report.near(p["grew_bytes"], t["grew_bytes"], tol)
        if t["kind"] != "open":
            good &= report.near(p["kept_bytes"], t["kept_bytes"], tol)
    kinds = {"open": "span"}
    good &= p["kind"] == kinds.get(t["kind"], t["kind"])
    if not good:
        print(f"truth {t}\nfound {p}", file=sys.stderr)
    return good


def main(argv):
    report = Report(argv[1])
    if argv[2] == "--truth":
        return check_truth(report, argv[3], int(argv[4]) if len(argv) > 4 else None)
    if argv[2] == "--print":
        print(eval(argv[3], report.names()))
        return 0
    return check(report, argv[2:])


if __name__ == "__main__":
    sys.exit(main(sys.argv))
