# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What a marker costs: untraced, traced, flat out, and on which of its sites."""

from harness import Row, Unavailable, background, interleaved, not_taken, numbers, output, ratios

BURSTS = ["4000", "50", "2000"]  # 50 marks at a time, 2 ms apart: nothing waits in a ring
FLAT_OUT = "100000"


def cost(argv):
    return numbers(output(argv))["ns_per_mark"]


def sites(bench):
    """What tests/bench/sites.c says: {site: ns}, chosen, ratio."""
    ns, chosen, ratio = {}, None, None
    for line in output([bench.program("sites"), bench.peakphase, "5000"]).splitlines():
        word, rest = line.split(" ", 1)
        if word == "chosen":
            chosen = rest
        elif word == "ratio":
            ratio = float(rest)
        elif rest.startswith("refused"):
            ns[word] = None
        else:
            ns[word] = float(rest)
    if ratio is None:
        raise Unavailable("sites: no answer")
    return ns, chosen, ratio


def site(bench):
    """Measure 6."""
    rows = [sites(bench) for _ in range(3)]
    ns, chosen, _ = rows[0]
    told = ", ".join(f"{s} {'refused' if v is None else f'{v:.0f} ns'}" for s, v in ns.items())
    return [Row("site chosen ÷ best site", [r[2] for r in rows], 1.2, note=f"{chosen}; empty probes: {told}")]


def with_empty(bench, where, args):
    marks = bench.program("marks")
    with background([bench.program("empty"), f"{marks}:{where}"]):
        return cost([marks, *args])


def marker(bench):
    """Measures 5 and 7."""
    marks = bench.program("marks")
    ns = {s: v for s, v in sites(bench)[0].items() if v is not None}
    if not ns:
        return [not_taken("marker", "every site is refused on this kernel")]
    best = min(ns, key=ns.get)
    recordings = []

    def flat_out():
        recordings.append(bench.file())
        # With the lines, as people see it; they go nowhere.
        return cost([bench.peakphase, "run", "-o", recordings[-1], "--", marks, FLAT_OUT])

    got = interleaved({
        "plain": lambda: cost([marks, "5000000"]),
        "empty": lambda: with_empty(bench, best, BURSTS),
        "traced": lambda: cost([*bench.run_command(), marks, *BURSTS]),
        "empty flat": lambda: with_empty(bench, best, [FLAT_OUT]),
        "traced flat": flat_out,
    }, bench.pairs)
    lost, kept = [], []
    for r in recordings:
        j = bench.report(r)
        lost.append(j["losses"]["edges"] + j["losses"]["marks"])
        kept.append(sum(p["kind"] == "checkpoint" for q in j["processes"] for p in q["phases"]))
    return [
        Row("marker untraced", got["plain"], 5, "ns"),
        Row("marker traced ÷ empty probe on the cheapest site", ratios(got["traced"], got["empty"]), 3,
            note=f"{Row('', got['traced']).value:.0f} ÷ {Row('', got['empty']).value:.0f} ns, {best}, bursts of 50"),
        Row("100,000 marks flat out: lost", lost, 0, digits=0, note=f"fewest phases recorded: {min(kept)}"),
        Row("  cost of each ÷ empty probe", ratios(got["traced flat"], got["empty flat"]), 4,
            note=f"{Row('', got['traced flat']).value:.0f} ÷ {Row('', got['empty flat']).value:.0f} ns"),
    ]
