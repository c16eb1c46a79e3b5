# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What page faults cost: in the traced program, beside an empty BPF program, and in a neighbour."""

import glob
import os
import re

from harness import Row, Unavailable, background, interleaved, numbers, output, ratios

ROUNDS = 3  # storms of 512 MiB in one run of the program
PAGES = 512 * 256
WAITER = ["sh", "-c", "echo ready; exec cat"]


def storm_times(bench, before=()):
    """(wall, CPU) ns of one storm. The second shows what waiting for a CPU has added to the first."""
    got = numbers(output([*before, bench.program("storm"), str(ROUNDS)]))
    return got["ns_per_round"], got["cpu_per_round"]


def storm(bench, before=()):
    return storm_times(bench, before)[0]


def beside(bench, argv):
    """A storm while that program runs beside it."""
    with background(argv):
        return storm_times(bench)


def ratio_row(got, name, a, b, limit, digits=2, note=""):
    wall = ratios([x[0] for x in got[a]], [x[0] for x in got[b]])
    cpu = Row("", ratios([x[1] for x in got[a]], [x[1] for x in got[b]]))
    return Row(name, wall, limit, digits=digits, note=f"by CPU time {cpu.value:.{digits}f}{note}")


def storm_ratios(bench):
    """Measures 1, 2 and 3 in the same rounds."""
    empty = bench.program("empty")
    got = interleaved({
        "plain": lambda: storm_times(bench),
        "empty": lambda: beside(bench, [empty, "rss"]),
        "traced": lambda: storm_times(bench, bench.run_command()),
        "neighbour": lambda: beside(bench, [*bench.run_command(), *WAITER]),
        "empty+faults": lambda: beside(bench, [empty, "rss", "faults"]),
        "where": lambda: storm_times(bench, bench.run_command("--where")),
    }, bench.pairs)
    floor, page = {}, Row("", [x[1] for x in got["plain"]]).value / PAGES
    for name in ("empty", "empty+faults"):
        floor[name] = Row("", ratios([x[1] for x in got[name]], [x[1] for x in got["plain"]])).value
    return [
        ratio_row(got, "fault storm: traced ÷ untraced", "traced", "plain", 1.10, note=f"; untraced {page:.0f} ns a page"),
        ratio_row(got, "  with --where ÷ untraced", "where", "plain", 1.20),
        ratio_row(got, "  traced ÷ empty programs", "traced", "empty", 1.05, note=f" (empty ÷ untraced {floor['empty']:.2f})"),
        ratio_row(got, "  with --where ÷ empty programs", "where", "empty+faults", 1.08,
                  note=f" (empty ÷ untraced {floor['empty+faults']:.2f})"),
        ratio_row(got, "  untraced neighbour ÷ empty program", "neighbour", "empty", 1.02, digits=3),
    ]


def sink(bench):
    """The recording is read and sent by another process while the program faults."""
    def sent():
        return storm_times(bench, bench.run_command("--sink", bench.file(".sink")))

    got = interleaved({"traced": lambda: storm_times(bench, bench.run_command()), "sent": sent}, bench.pairs)
    return [ratio_row(got, "fault storm: traced with --sink ÷ traced", "sent", "traced", 1.02, digits=3)]


def programs_of(pid):
    """Ids of the BPF programs that a process holds: other tracers on this machine have some of the same name."""
    ids = set()
    for path in glob.glob(f"/proc/{pid}/fdinfo/*"):
        try:
            with open(path, encoding="ascii", errors="replace") as f:
                ids.update(re.findall(r"^prog_id:\s*(\d+)$", f.read(), re.M))
        except OSError:
            continue
    return ids


def counters(stats, pid, name):
    """(ns, runs) of the named program of a process."""
    stats.stdin.write("\n")
    stats.stdin.flush()
    mine, found = programs_of(pid), None
    while (line := stats.stdout.readline().split()) != ["."]:
        if not line:
            raise Unavailable("bpfstats has ended")
        if line[0] in mine and line[1] == name:
            found = int(line[2]), int(line[3])
    if not found:
        raise Unavailable(f"no program {name} in process {pid}")
    return found


def ns_per_run(stats, tracer, empty, between):
    """What one run of on_rss_stat takes more than one of the empty program, while between() happens."""
    watched = [(tracer.pid, "on_rss_stat"), (empty.pid, "empty_rss_stat")]
    before = [counters(stats, *w) for w in watched]
    between()
    after = [counters(stats, *w) for w in watched]
    each = [(a[0] - b[0]) / (a[1] - b[1]) for a, b in zip(after, before)]
    return each[0] - each[1], each[1]


def one_gated(stats, empty, tracer, gate):
    def go():
        gate.stdin.write("\n")
        gate.stdin.flush()
        if "ns_per_round" not in gate.stdout.readline():
            raise Unavailable("the storm did not end")
    return ns_per_run(stats, tracer, empty, go)


def bpf_ns(bench):
    """Measure 4: the kernel's own clock around each run. Both programs run for the same events."""
    gated = [bench.program("storm"), "-g", "2", "256"]
    traced, beside_it, floor = [], [], []
    with background([bench.program("bpfstats")]) as stats, background([bench.program("empty"), "rss"]) as empty:
        for _ in range(bench.pairs):
            with background([*bench.run_command(), *gated]) as tracer:
                more, base = one_gated(stats, empty, tracer, tracer)
                traced.append(more)
                floor.append(base)
            with background([*bench.run_command(), *WAITER]) as tracer, background(gated) as gate:
                beside_it.append(one_gated(stats, empty, tracer, gate)[0])
    return [
        Row("BPF per rss_stat run above empty: traced", traced, 150, "ns", digits=0,
            note=f"an empty one {sum(floor) / len(floor):.0f} ns, statistics included"),
        Row("  in a neighbour", beside_it, 15, "ns", digits=0),
    ]


def other_tracers():
    """How many other processes hold a program on rss_stat: each slows every storm here."""
    n = 0
    for path in glob.glob("/proc/[0-9]*/comm"):
        try:
            with open(path, encoding="utf-8", errors="replace") as f:
                n += f.read().strip() in ("peakphase", "perf", "bpftrace") and int(path.split("/")[2]) != os.getpid()
        except OSError:
            continue
    return n
