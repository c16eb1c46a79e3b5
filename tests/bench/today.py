# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What people use today for the same question, in the same run as peakphase."""

import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

from harness import MIB, Unavailable, high_water, last_line, numbers, output, ratios, size_of
from storms import ROUNDS, storm

HERE = os.path.dirname(os.path.abspath(__file__))
VENV = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "peakphase/bench-venv/bin")
SPIKES = (512, 64)  # MiB on huge pages; the second is over in some ms


class Tool:
    """words(file): what goes before a command; saw(file, text): bytes of the peak; file None: it keeps none."""

    def __init__(self, name, program, words, saw, joined=False):
        self.name, self.program, self.words, self.saw, self.joined = name, program, words, saw, joined

    def command(self, file, argv):
        """bpftrace takes the command as one word."""
        return [*self.words(file), " ".join(argv)] if self.joined else [*self.words(file), *argv]


def run_tool(argv, watch=False):
    """(stdout and stderr, RSS high-water mark of the tool in MiB)."""
    most = 0
    # Its own file, not a pipe: nobody reads while it is watched.
    with open(os.devnull, "rb") as nothing, tempfile.TemporaryFile() as out:
        try:
            proc = subprocess.Popen(argv, stdin=nothing, stdout=out, stderr=subprocess.STDOUT)
        except OSError as e:
            raise Unavailable(str(e)) from e
        deadline = time.monotonic() + 90
        while proc.poll() is None:
            if watch:
                most = max(most, high_water(proc.pid))
            if time.monotonic() > deadline:
                proc.kill()
                proc.wait()
                raise Unavailable("not done after 90 s")
            time.sleep(0.02 if watch else 0.002)
        out.seek(0)
        text = out.read().decode(errors="replace")
    if proc.returncode:
        raise Unavailable(f"status {proc.returncode}: {last_line(text)}")
    return text, most / MIB


def saw_perf(file, _):
    """Latest size of each counter of each address space, summed after every event: the peak of the sums."""
    now, peak = {}, {}
    text = output(["perf", "script", "-i", file, "--comm", "script"], timeout=60)
    for mm, kind, size in re.findall(r"mm_id=(\d+) curr=1 type=MM_(\w+) size=(-?\d+)B", text):
        if kind != "SWAPENTS":
            now.setdefault(mm, {})[kind] = int(size)
            peak[mm] = max(peak.get(mm, 0), sum(now[mm].values()))
    return max(peak.values(), default=0)


def saw_bpftrace(_, text):
    return max((int(n) for n in re.findall(r"@peak\[[^\]]*\]: (\d+)", text)), default=0)


def saw_mprof(file, _):
    with open(file, encoding="utf-8") as f:
        return int(max((float(l.split()[1]) for l in f if l.startswith("MEM")), default=0) * MIB)


def saw_sampler(file, _):
    with open(file, encoding="ascii") as f:
        return int(f.read().rsplit("peak ", 1)[1])


def tools(bench):
    mprof = os.path.join(VENV, "mprof")
    return [
        Tool("peakphase run", bench.peakphase, lambda f: bench.run_command(recording=f),
             lambda f, _: bench.report(f)["peak"]["bytes"]),
        Tool("perf record -e kmem:rss_stat", "perf", lambda f: ["perf", "record", "-q", "-e", "kmem:rss_stat", "-o", f, "--"], saw_perf),
        Tool("bpftrace rss.bt", "bpftrace", lambda f: ["bpftrace", os.path.join(HERE, "rss.bt"), "-c"], saw_bpftrace, joined=True),
        Tool("mprof run, every 10 ms", mprof, lambda f: [mprof, "run", "--interval", "0.01", "-o", f], saw_mprof),
        Tool("/proc sampler, every 10 ms", sys.executable, lambda f: [sys.executable, os.path.join(HERE, "sampler.py"), f], saw_sampler),
    ]


def measure(bench, tool, pairs):
    if not shutil.which(tool.program):
        raise Unavailable("not installed (tools/deps.sh bench)")
    storms, starts, plain, plain_start, got = [], [], [], [], {}
    gate, moment = [bench.program("storm"), str(ROUNDS)], bench.program("moment")
    for _ in range(pairs):
        plain.append(storm(bench))
        file = bench.file()
        text, _ = run_tool(tool.command(file, gate))
        storms.append(numbers(text).get("ns_per_round") or fail(text))
        plain_start.append(start_of([moment]))
        starts.append(start_of(tool.command(bench.file(), [moment])))
    got["recording_mib"] = size_of(file) / MIB if os.path.exists(file) else None
    _, got["rss_mib"] = run_tool(tool.command(bench.file(), gate), watch=True)
    got["slowdown"] = statistics.median(ratios(storms, plain))
    got["start_ms"] = statistics.median(starts) - statistics.median(plain_start)
    got["spikes"] = [spike(bench, tool, mib) for mib in SPIKES]
    return got


def spike(bench, tool, mib):
    """What it saw of a spike, and the truth, bytes."""
    file = bench.file()
    text, _ = run_tool(tool.command(file, [bench.workload("script"), "mark:before", f"hog2m:{mib}", "free", "mark:spike", "sleep:50"]))
    truth = numbers(next(l for l in text.splitlines() if "label=spike" in l))
    return {"saw": tool.saw(file, text), "truth": int(truth["base_bytes"] + truth["peak_delta_bytes"])}


def fail(text):
    raise Unavailable(last_line(text))


def start_of(argv):
    start = time.monotonic_ns()
    return (numbers(run_tool(argv)[0])["main"] - start) / 1e6


def compare(bench):
    """[{tool, slowdown, …} or {tool, error}]"""
    rows = []
    for tool in tools(bench):
        try:
            rows.append({"tool": tool.name, **measure(bench, tool, min(bench.pairs, 3))})
        except Unavailable as e:
            rows.append({"tool": tool.name, "error": str(e)})
    return rows


def print_compared(rows):
    saw = "".join(f"{f'{m} MiB spike: saw, of':>24}" for m in SPIKES)
    print(f"\n  {'beside it, in the same run':<30} {'storm':>7} {'start':>8} {'own RSS':>10} {'recording':>11}{saw}")
    for r in rows:
        if "error" in r:
            print(f"  {r['tool']:<30} not taken: {r['error']}")
            continue
        kept = "none" if r["recording_mib"] is None else f"{r['recording_mib']:.2f} MiB"
        saw = "".join(f"{s['saw'] / MIB:>12.1f}, {s['truth'] / MIB:>6.1f} MiB" for s in r["spikes"])
        print(f"  {r['tool']:<30} {r['slowdown']:>5.2f} × {r['start_ms']:>5.0f} ms {r['rss_mib']:>6.1f} MiB {kept:>11}{saw}")
