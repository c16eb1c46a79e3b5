# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What the measures share: running programs, pairs and medians, rows of the table."""

import contextlib
import glob
import json
import os
import re
import shutil
import signal
import sqlite3
import statistics
import subprocess
import tempfile
import time

MIB = 1 << 20
PAGE = os.sysconf("SC_PAGE_SIZE")


class Unavailable(Exception):
    """A measure that could not be taken; the text says why."""


class Row:
    """One line of the table. value and limit in unit; limit None: only told. values: of single pairs."""

    def __init__(self, measure, values, limit=None, unit="", note="", digits=2):
        self.measure, self.limit, self.unit, self.note, self.digits = measure, limit, unit, note, digits
        self.values = list(values) if isinstance(values, (list, tuple)) else [values]
        self.value = statistics.median(self.values) if self.values else None

    def verdict(self):
        if self.value is None:
            return "not taken"
        if self.limit is None:
            return ""
        return "ok" if self.value <= self.limit else "OVER"

    def spread(self):
        """The quartiles, of 3 values or more."""
        if len(self.values) < 3:
            return ""
        low, _, high = statistics.quantiles(self.values, n=4, method="inclusive")
        return f"{low:.{self.digits}f}–{high:.{self.digits}f}"

    def as_json(self):
        return {"measure": self.measure, "value": self.value, "values": self.values, "limit": self.limit,
                "unit": self.unit, "verdict": self.verdict(), "note": self.note}


def not_taken(measure, why):
    return Row(measure, [], note=why)


def numbers(text):
    """KEY=NUMBER pairs in a program's output."""
    return {k: float(v) for k, v in re.findall(r"(\w+)=(-?[\d.]+)", text)}


def ratios(a, b):
    return [x / y for x, y in zip(a, b)]


class Bench:
    """A build to measure and a directory for what is made meanwhile."""

    def __init__(self, build, pairs):
        self.build, self.pairs = os.path.abspath(build), pairs
        self.peakphase = os.path.join(self.build, "peakphase")
        self.dir = tempfile.mkdtemp(prefix="tmp-", dir=os.path.join(self.build, "bench"))
        self.count = 0

    def close(self):
        shutil.rmtree(self.dir, ignore_errors=True)

    def program(self, name):
        return os.path.join(self.build, "bench", name)

    def workload(self, name):
        return os.path.join(self.build, "workloads", name)

    def file(self, suffix=".peak"):
        self.count += 1
        return os.path.join(self.dir, f"{self.count}{suffix}")

    def run_command(self, *options, recording=None):
        """The words before a command that is to be traced."""
        return [self.peakphase, "run", "-q", "-o", recording or self.file(), *options, "--"]

    def report(self, recording):
        return json.loads(output([self.peakphase, "report", "--json", recording]))


def output(argv, stderr=subprocess.PIPE, timeout=120):
    """stdout of a program that must succeed."""
    try:
        done = subprocess.run(argv, stdout=subprocess.PIPE, stderr=stderr, text=True, errors="replace", timeout=timeout,
                              check=False)
    except (OSError, subprocess.TimeoutExpired) as e:
        raise Unavailable(str(e)) from e
    if done.returncode:
        raise Unavailable(f"{os.path.basename(argv[0])} {argv[1] if len(argv) > 1 else ''}: status {done.returncode}: "
                          + last_line(done.stderr or done.stdout))
    return done.stdout


def last_line(text):
    """The line that names the error, else the last one."""
    lines = [l.strip() for l in (text or "").splitlines() if l.strip()]
    for line in lines:
        if re.search(r"error|cannot|failed|denied", line, re.I):
            return line
    return lines[-1] if lines else "no message"


@contextlib.contextmanager
def background(argv, ready="ready", stderr=subprocess.PIPE):
    """A program that prints `ready`, is talked to by its stdin, and ends when that does."""
    proc = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr, text=True)
    try:
        if ready and proc.stdout.readline().strip() != ready:
            proc.stdin.close()
            why = proc.stderr.read() if proc.stderr else ""
            raise Unavailable(f"{os.path.basename(argv[0])}: {last_line(why)}")
        yield proc
    finally:
        with contextlib.suppress(OSError):
            proc.stdin.close()
        try:
            proc.wait(20)
        except subprocess.TimeoutExpired:
            proc.send_signal(signal.SIGKILL)
            proc.wait()
        proc.stdout.close()
        if proc.stderr:
            proc.stderr.close()


def interleaved(kinds, rounds):
    """{name: function} → {name: [values]}: one of each per round, in an order that turns, so that drift cancels."""
    names, got = list(kinds), {n: [] for n in kinds}
    for r in range(rounds):
        k = r % len(names)
        for name in names[k:] + names[:k]:
            got[name].append(kinds[name]())
    return got


def cpu_seconds(pid):
    """Time that all threads of a process have run, by the scheduler's clock: the ticks of /proc/PID/stat are 10 ms."""
    ns = 0
    for path in glob.glob(f"/proc/{pid}/task/*/schedstat"):
        with open(path, encoding="ascii") as f:
            ns += int(f.read().split()[0])
    return ns / 1e9


def rss_without(pid, name):
    """(RSS of the mappings that are not called name, RSS of those that are), bytes, by the page-table walk."""
    rest = those = 0
    inside = False
    with open(f"/proc/{pid}/smaps", encoding="utf-8", errors="replace") as f:
        for line in f:
            if re.match(r"[0-9a-f]+-[0-9a-f]+ ", line):
                inside = name in line
            elif line.startswith("Rss:"):
                size = int(line.split()[1]) << 10
                those, rest = (those + size, rest) if inside else (those, rest + size)
    return rest, those


def size_of(path):
    """Bytes of a recording, with what SQLite keeps beside it."""
    return sum(os.path.getsize(path + s) for s in ("", "-wal", "-shm") if os.path.exists(path + s))


def high_water(pid):
    """VmHWM in bytes, of the program that a process is now: ru_maxrss would be that of the one before exec, too."""
    try:
        with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as f:
            found = re.search(r"VmHWM:\s+(\d+)", f.read())
    except OSError:
        return 0
    return int(found.group(1)) << 10 if found else 0


def run_and_watch(argv):
    """(seconds, high_water) of a program that must succeed; its output goes nowhere."""
    most, start = 0, time.monotonic()
    with subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as proc:
        while proc.poll() is None:
            most = max(most, high_water(proc.pid))
            time.sleep(0.005)
        end = time.monotonic()
    if proc.returncode:
        raise Unavailable(f"{os.path.basename(argv[0])} {argv[1]}: status {proc.returncode}")
    return end - start, most


def recorded(path):
    """(checkpoints, losses of edges and marks) of a recording, from its tables: JSON of a big one is slow to read."""
    with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db:
        marks = db.execute("SELECT count(*) FROM phases WHERE kind = 1").fetchone()[0]
        lost = db.execute("SELECT total(count) FROM losses WHERE class IN ('edges', 'marks')").fetchone()[0]
    return marks, int(lost)
