#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What peakphase costs: each measure beside its limit, and what other tools cost in the same run."""

import argparse
import json
import os
import platform
import sys
import time

import late
import marks
import storms
import today
import tracer
import trees
import view
from harness import Bench, Unavailable, not_taken

MEASURES = {
    "storm": (storms.storm_ratios, "fault storm"),
    "sink": (storms.sink, "sink"),
    "bpf": (storms.bpf_ns, "BPF per rss_stat run"),
    "forks": (trees.forks, "fork storm"),
    "crowd": (trees.crowd, "1,000 processes"),
    "marker": (marks.marker, "marker"),
    "site": (marks.site, "site chosen"),
    "lines": (marks.lines, "100,000 lines a second"),
    "kedro": (marks.kedro, "Kedro plugin untraced"),
    "peak": (tracer.peaks, "error of the peak"),
    "start": (tracer.start_stop, "start and detach"),
    "container": (tracer.containers, "attach to a container"),
    "late": (late.late, "many marker files"),
    "steady": (tracer.steady, "tracer at 1,000 marks/s"),
    "report": (tracer.report, "report on 1,000,000 marks"),
    "top": (view.top, "top, 1,000 processes, 10,000 phases"),
}


def options():
    p = argparse.ArgumentParser(prog="bench", description=__doc__, epilog="docs/bench.md tells what each measure is. As root.")
    p.add_argument("--build", default="build", help="the build tree (build)")
    p.add_argument("--pairs", type=int, default=9, help="paired runs of each measure (9)")
    p.add_argument("--only", help="names with commas: " + ", ".join([*MEASURES, "others"]))
    p.add_argument("--json", action="store_true", help="print JSON instead of tables")
    opt = p.parse_args()
    opt.only = opt.only.split(",") if opt.only else [*MEASURES, "others"]
    unknown = set(opt.only) - set(MEASURES) - {"others"}
    if unknown or opt.pairs < 1:
        p.error(f"no such measure: {', '.join(sorted(unknown))}" if unknown else "--pairs wants 1 or more")
    return opt


def cpu_model():
    with open("/proc/cpuinfo", encoding="ascii", errors="replace") as f:
        return next((l.split(":", 1)[1].strip() for l in f if l.startswith("model name")), platform.machine())


def machine():
    return {"kernel": platform.release(), "cpu": cpu_model(), "cpus": os.cpu_count(), "load": os.getloadavg()[0],
            "other_tracers": storms.other_tracers()}


def print_header(m, pairs):
    print(f"peakphase bench: Linux {m['kernel']}, {m['cpus']} × {m['cpu']}, load {m['load']:.2f}, medians of {pairs} pairs (quartiles)")
    if m["other_tracers"]:
        print(f"  {m['other_tracers']} other tracers run on this machine now: they slow its faults, the untraced ones too")


def print_row(row):
    if row.value is None:
        print(f"  {row.measure:<52} not taken: {row.note}")
        return
    value, spread = f"{row.value:.{row.digits}f}", row.spread()
    limit = "" if row.limit is None else f"{row.limit:g} {row.unit}".strip()
    print(f"  {row.measure:<52} {value + ' ' + row.unit:>12} {'(' + spread + ')' if spread else '':>16} {limit:>10}  "
          f"{row.verdict():<5} {row.note}".rstrip(), flush=True)


def take(bench, names, show):
    rows, broken = [], False
    for name in names:
        if name == "others":
            continue
        function, title = MEASURES[name]
        try:
            got = function(bench)
        except (Unavailable, OSError, KeyError, StopIteration, ValueError) as e:
            got, broken = [not_taken(title, f"{type(e).__name__ + ': ' if not isinstance(e, Unavailable) else ''}{e}")], True
        rows += got
        if show:
            for row in got:
                print_row(row)
    return rows, broken


def main():
    opt = options()
    if os.geteuid():
        print("bench: needs root, as peakphase itself does", file=sys.stderr)
        return 3
    start, about = time.monotonic(), machine()
    bench = Bench(opt.build, opt.pairs)
    try:
        if not opt.json:
            print_header(about, opt.pairs)
            print(f"  {'measure':<52} {'value':>12} {'':>16} {'limit':>10}")
        rows, broken = take(bench, opt.only, not opt.json)
        compared = today.compare(bench) if "others" in opt.only else []
    finally:
        bench.close()
    over = [r.measure.strip() for r in rows if r.verdict() == "OVER"]
    if opt.json:
        print(json.dumps({"machine": about, "pairs": opt.pairs, "measures": [r.as_json() for r in rows], "others": compared}, indent=1))
    else:
        if compared:
            today.print_compared(compared)
        print(f"\n{len(over)} over the limit, {sum(r.value is None for r in rows)} not taken; {time.monotonic() - start:.0f} s, "
              f"load {os.getloadavg()[0]:.2f} at the end")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
