# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What many processes cost: a storm of short ones, and a thousand at once."""

import storms
from harness import Row, Unavailable, background, interleaved, numbers, output, recorded

PROCESSES, THREADS = 1000, 10


def each(argv):
    got = numbers(output(argv))
    return got["ns_each"], got["cpu_each"]


def forks(bench):
    """A process that starts others as fast as it can: the ratio of the time that one takes."""
    rows = []
    for name, mode, n in (("fork storm, each execs: traced ÷ untraced", "execs", 300), ("  without exec", "forks", 1000)):
        argv = [bench.program("trees"), mode, str(n)]
        got = interleaved({"plain": lambda a=argv: each(a), "traced": lambda a=argv: each([*bench.run_command(), *a])}, bench.pairs)
        rows.append(storms.ratio_row(got, name, "traced", "plain", 1.10,
                                     note=f"; untraced {Row('', [x[0] for x in got['plain']]).value / 1000:.0f} us each"))
    return rows


def one_crowd(bench, stats, empty, processes, threads):
    """(ns a run above the empty program, edges lost)"""
    recording = bench.file()
    with background([*bench.run_command(recording=recording), bench.program("trees"), "crowd", str(processes), str(threads)]) as tracer:
        def go():
            tracer.stdin.write("\n")
            tracer.stdin.flush()
            if "ns_each" not in tracer.stdout.readline():
                raise Unavailable("the crowd did not end")
        more, _ = storms.ns_per_run(stats, tracer, empty, go)
    return more, recorded(recording)[1]


def crowd(bench):
    """A thousand processes of ten threads in one cgroup, beside one process of as many pages."""
    many, one, lost = [], [], 0
    with background([bench.program("bpfstats")]) as stats, background([bench.program("empty"), "rss"]) as empty:
        for _ in range(min(bench.pairs, 3)):
            ns, n = one_crowd(bench, stats, empty, PROCESSES, THREADS)
            many.append(ns)
            lost += n
            one.append(one_crowd(bench, stats, empty, 1, THREADS)[0])
    return [
        Row(f"BPF per rss_stat run above empty: {PROCESSES} × {THREADS} threads", many, 150, "ns", digits=0,
            note=f"1 × {THREADS} threads: {Row('', one).value:.0f} ns"),
        Row("  edges lost", [lost], 0, digits=0),
    ]
