# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Marker files by the dozen in processes by the hundred, and code that is mapped while the tracing runs."""

import contextlib
import os
import shutil
import signal
import subprocess
import time

from harness import Row, Unavailable, output

PROCESSES, FILES = 500, 20


def library(bench, name):
    """A copy of the markers' library: a file of its own."""
    path = bench.file() + "." + name
    shutil.copy(os.path.join(bench.build, "liblogrss.so"), path)
    return path


@contextlib.contextmanager
def many(bench):
    """Their pids, once each has loaded all the libraries."""
    loads = [f"load:{library(bench, f'{i}.so')}" for i in range(FILES)]
    stop, started = bench.file() + ".stop", []
    try:
        for i in range(PROCESSES):
            started.append((subprocess.Popen([bench.workload("late"), *loads, f"ready:{stop}.{i}", f"wait:{stop}"]), f"{stop}.{i}"))
        until = time.monotonic() + 60
        while not all(os.path.exists(on) for _, on in started):
            if time.monotonic() > until:
                raise Unavailable("the processes did not start")
            time.sleep(0.1)
        yield [p.pid for p, _ in started]
    finally:
        for p, on in started:
            p.kill()
            p.wait()
            with contextlib.suppress(OSError):
                os.remove(on)


def attach(bench, pids):
    """ms from exec to the line that says that all of them are traced."""
    start = time.monotonic_ns()
    with subprocess.Popen([bench.peakphase, "attach", "--no-record", "-p", ",".join(map(str, pids))], stderr=subprocess.PIPE,
                          stdout=subprocess.DEVNULL, text=True) as tracer:
        line = tracer.stderr.readline()
        end = time.monotonic_ns()
        tracer.send_signal(signal.SIGINT)
        tracer.stderr.read()
    if f"attached to {len(pids)} processes" not in line:
        raise Unavailable("attach: " + line.strip())
    return (end - start) / 1e6


def deaf(bench):
    """us in which marks of a library that a process loads while it is traced are not heard."""
    recording, path = bench.file(), library(bench, "so")
    # By a name that no word of the command line tells.
    output([*bench.run_command(recording=recording), "sh", "-c", 'exec "$0" sleep:200 "load:$1.so" sleep:300',
            bench.workload("late"), path.removesuffix(".so")])
    told = [u for u in bench.report(recording)["unheard"] if u["file"] == path]
    return (told[0]["to_ns"] - told[0]["from_ns"]) / 1e3 if told else 0


def late(bench):
    with many(bench) as pids:
        rows = [Row(f"attach -p: {PROCESSES} processes, {FILES} marker files", [attach(bench, pids) for _ in range(5)], 2000, "ms",
                    digits=0)]
    return [*rows, Row("a library loaded later: time until it is probed", [deaf(bench) for _ in range(bench.pairs)], None, "us", digits=0)]
