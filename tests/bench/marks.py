# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What a marker costs: untraced, traced, flat out, and on which of its sites; and what the Kedro plugin costs."""

import os

from harness import Row, Unavailable, background, interleaved, numbers, output, ratios, recorded

BURSTS = ["4000", "50", "2000"]  # 50 marks at a time, 2 ms apart: nothing waits in a ring
FLAT_OUT = "100000"


def cost(argv):
    return numbers(output(argv))["ns_per_mark"]


def both(argv):
    """(by the clock on the wall, by CPU time)"""
    got = numbers(output(argv))
    return got["ns_per_mark"], got["cpu_per_mark"]


class Sites:
    """What tests/bench/sites.c says. ns: {site: ns} of those that take a probe; unsafe: a forked child dies of it."""

    def __init__(self, bench):
        self.ns, self.unsafe, self.refused, self.chosen, self.ratio = {}, set(), set(), None, None
        for line in output([bench.program("sites"), bench.peakphase, "5000"]).splitlines():
            word, *rest = line.split()
            if word == "chosen":
                self.chosen = rest[0]
            elif word == "ratio":
                self.ratio = float(rest[0])
            elif rest[0] == "refused:":
                self.refused.add(word)
            else:
                self.ns[word] = float(rest[0])
                self.unsafe.update([word] if "unsafe:" in rest else [])
        if self.ratio is None or not self.ns:
            raise Unavailable("sites: no answer")
        self.cheapest = min(self.ns, key=self.ns.get)
        usable = [s for s in self.ns if s not in self.unsafe]
        self.usable = min(usable, key=self.ns.get) if usable else self.cheapest

    def told(self):
        return ", ".join([f"{s} {ns:.0f} ns{' (a forked child dies of it)' if s in self.unsafe else ''}" for s, ns in self.ns.items()]
                         + [f"{s} refused" for s in sorted(self.refused)])


def site(bench):
    """Measure 6."""
    found = [Sites(bench) for _ in range(3)]
    one = found[0]
    rows = [Row("site chosen ÷ best site", [f.ratio for f in found], 1.2, note=f"{one.chosen}; empty probes: {one.told()}")]
    if one.cheapest in one.unsafe:
        rows.append(Row("  ÷ cheapest, useless as a forked child dies of it", [f.ns[f.chosen] / f.ns[f.cheapest] for f in found]))
    return rows


def with_empty(bench, where, args, measure=cost):
    marks = bench.program("marks")
    with background([bench.program("empty"), f"{marks}:{where}"]):
        return measure([marks, *args])


def marker(bench):
    """Measures 5 and 7."""
    marks = bench.program("marks")
    found = Sites(bench)
    best, cheapest = found.usable, found.cheapest
    recordings = []

    def flat_out():
        recordings.append(bench.file())
        # With the lines, as people see it; they go nowhere.
        return both([bench.peakphase, "run", "-o", recordings[-1], "--", marks, FLAT_OUT])

    got = interleaved({
        "plain": lambda: cost([marks, "5000000"]),
        "empty": lambda: with_empty(bench, best, BURSTS),
        "cheapest": lambda: with_empty(bench, cheapest, BURSTS),
        "traced": lambda: cost([*bench.run_command(), marks, *BURSTS]),
        "empty flat": lambda: with_empty(bench, best, [FLAT_OUT], both),
        "traced flat": flat_out,
    }, bench.pairs)
    kept, lost = zip(*(recorded(r) for r in recordings))

    def medians(a, b):
        return f"{Row('', got[a]).value:.0f} ÷ {Row('', got[b]).value:.0f} ns"

    flat = {k: list(zip(*got[k])) for k in ("traced flat", "empty flat")}
    flat_note = " ÷ ".join(f"{Row('', flat[k][0]).value:.0f}" for k in flat) + " ns"
    rows = [
        Row("marker untraced", got["plain"], 5, "ns"),
        Row("marker traced ÷ empty probe on the cheapest site", ratios(got["traced"], got["empty"]), 3,
            note=f"{medians('traced', 'empty')}, {best}, bursts of 50"),
        Row("100,000 marks flat out: lost", lost, 0, digits=0, note=f"fewest phases recorded: {min(kept)}"),
        Row("  cost of each ÷ empty probe", ratios(flat["traced flat"][0], flat["empty flat"][0]), 4,
            note=f"{flat_note}; by CPU time {Row('', ratios(flat['traced flat'][1], flat['empty flat'][1])).value:.2f}"),
    ]
    if cheapest != best:
        rows.insert(2, Row("  ÷ cheapest, useless as a forked child dies of it", ratios(got["traced"], got["cheapest"]),
                           note=f"{medians('traced', 'cheapest')}, {cheapest}"))
    return rows


def kedro(bench):
    """Its hooks without a tracer."""
    hooks = os.path.join(os.path.dirname(os.path.abspath(__file__)), "kedro_hooks.py")
    command = ["env", f"PYTHONPATH={bench.build}/python", "/usr/bin/python3", hooks]
    got = [numbers(output(command)) for _ in range(3)]
    return [Row("Kedro plugin untraced: one hook", [g["ns_per_hook"] for g in got], 1000, "ns", digits=0,
                note=f"the slowest {max(g['slowest'] for g in got):.0f} ns")]


LINES = 200000


def lines(bench):
    """A program that prints, one line in 1,000 a mark."""
    command = [bench.program("lines"), str(LINES)]
    missed = []

    def cost_of(argv):
        return numbers(output(argv))["ns_per_line"]

    def traced():
        path = bench.file()
        ns = cost_of(bench.run_command("--mark-output", r"RSS \[(?<label>.*?)\]: (?<mb>[\d.]+) MB", recording=path) + command)
        marks, lost = recorded(path)
        missed.append(LINES // 1000 - marks + lost)
        return ns

    got = interleaved({"alone": lambda: cost_of(command), "traced": traced}, bench.pairs)
    rate = 1e9 / sorted(got["alone"])[len(got["alone"]) // 2]
    return [Row("100,000 lines a second: traced ÷ untraced", ratios(got["traced"], got["alone"]), 1.1,
                note=f"untraced {rate:,.0f} a second"),
            Row("  marks among them that were missed", [max(missed)], 0, digits=0)]
