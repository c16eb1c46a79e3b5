# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The tracer itself: how right, how fast it starts and ends, how much it takes, and its report."""

import contextlib
import os
import signal
import subprocess
import time

from harness import (MIB, PAGE, Row, Unavailable, background, cpu_seconds, interleaved, numbers, output, recorded, rss_without,
                     run_and_watch, size_of)

MILLION = 1000000


def peak_error(bench, advice, mib):
    """(error in pages, ms that the phase took): the recorded peak against the kernel's page-table walk at the peak."""
    recording = bench.file()
    out = output([*bench.run_command(recording=recording), bench.workload("script"), "mark:before", f"{advice}:{mib}", "mark:peak",
                  "smaps", "free", "mark:after"])
    truth = int(numbers(out)["smaps_rss"])
    phases = {p["label"]: p for q in bench.report(recording)["processes"] for p in q["phases"]}
    # Twice: the peak of the phase that ends at the top, and of the one that begins there.
    error = max(abs(phases[p]["peak_bytes"] - truth) for p in ("peak", "after")) / PAGE
    return error, (phases["peak"]["end_ns"] - phases["peak"]["start_ns"]) / 1e6


def spike_error(bench, advice, mib):
    """The same for memory that comes and goes within a phase: against the sum of what the program did."""
    recording = bench.file()
    out = output([*bench.run_command(recording=recording), bench.workload("script"), "mark:before", f"{advice}:{mib}", "free",
                  "mark:spike"])
    truth = int(next(numbers(l)["peak_delta_bytes"] for l in out.splitlines() if l.endswith("label=spike")))
    phase = next(p for q in bench.report(recording)["processes"] for p in q["phases"] if p["label"] == "spike")
    error = abs(phase["peak_bytes"] - phase["start_bytes"] - truth) / PAGE
    return error, (phase["end_ns"] - phase["start_ns"]) / 1e6


def peaks(bench):
    """Measure 8."""
    rows = []
    for name, advice, mib in (("512 MiB spike on huge pages", "hog2m", 512), ("1 GiB of 4 KiB pages", "hog4k", 1024)):
        runs = [f(bench, advice, mib) for f in (spike_error, peak_error) for _ in range(2)]
        row = Row(f"{name}: error of the peak", [r[0] for r in runs], 1, "pages", digits=0,
                  note=f"the spike took {min(r[1] for r in runs):.0f} ms, with zeroing")
        row.value = max(row.values)  # one that is wrong is wrong
        rows.append(row)
    return rows


def timed(argv):
    """(ms from exec to main, ms from the command's end to ours)."""
    start = time.monotonic_ns()
    got = numbers(output(argv))
    end = time.monotonic_ns()
    return (got["main"] - start) / 1e6, (end - got["end"]) / 1e6


def attach(bench):
    """(ms until a running process's marker is probed, ms from SIGINT to its removal, ms to the tracer's end)."""
    with background([bench.program("moment"), "watch"]) as target:
        start = time.monotonic_ns()
        with subprocess.Popen([bench.peakphase, "attach", "-q", "-o", bench.file(), "-p", str(target.pid)], stderr=subprocess.PIPE,
                              stdout=subprocess.DEVNULL, text=True) as tracer:
            on = numbers(target.stdout.readline()).get("on")
            if not on:
                tracer.terminate()
                raise Unavailable("attach: " + tracer.stderr.read().strip())
            time.sleep(0.5)
            interrupted = time.monotonic_ns()
            tracer.send_signal(signal.SIGINT)
            off = numbers(target.stdout.readline()).get("off", 0)
            tracer.wait(20)
            end = time.monotonic_ns()
    return (on - start) / 1e6, (off - interrupted) / 1e6, (end - interrupted) / 1e6


@contextlib.contextmanager
def container(bench, processes):
    """A cgroup as an engine would make it, with so many processes of 1 MiB in it; the beginning of its id."""
    root = "/sys/fs/cgroup/memory" if os.path.isdir("/sys/fs/cgroup/memory") else "/sys/fs/cgroup"
    name = f"beac{os.getpid():060x}"
    cgroup = os.path.join(root, "docker", name)
    try:
        os.makedirs(cgroup)
    except OSError as e:
        raise Unavailable(f"no cgroup: {e}") from e
    started = []
    try:
        for _ in range(processes):
            p = subprocess.Popen([bench.workload("script"), "hog:1", "say:on", "sleep:600000"], stdout=subprocess.PIPE)
            started.append(p)
            with open(os.path.join(cgroup, "cgroup.procs"), "w", encoding="ascii") as f:
                f.write(str(p.pid))
        for p in started:
            p.stdout.readline()
        yield name
    finally:
        for p in started:
            p.kill()
            p.wait()
            p.stdout.close()
        # The last one is counted in it for a moment longer.
        for _ in range(100):
            with contextlib.suppress(OSError):
                os.rmdir(cgroup)
                break
            time.sleep(0.05)
        with contextlib.suppress(OSError):
            os.rmdir(os.path.dirname(cgroup))


def attach_container(bench, name, processes):
    """ms from exec to the line that says that all of them are traced."""
    start = time.monotonic_ns()
    with subprocess.Popen([bench.peakphase, "attach", "--no-record", "--container", name], stderr=subprocess.PIPE,
                          stdout=subprocess.DEVNULL, text=True) as tracer:
        line = tracer.stderr.readline()
        end = time.monotonic_ns()
        tracer.send_signal(signal.SIGINT)
        tracer.stderr.read()
    if f"attached to {processes} processes" not in line:
        raise Unavailable("attach: " + line.strip())
    return (end - start) / 1e6


def containers(bench):
    """Measure 9, of a container."""
    with container(bench, 200) as name:
        return [Row("attach --container: 200 processes, start to attached",
                    [attach_container(bench, name, 200) for _ in range(5)], 500, "ms", digits=0)]


def start_stop(bench):
    """Measure 9."""
    moment = bench.program("moment")
    got = interleaved({"plain": lambda: timed([moment]), "traced": lambda: timed([*bench.run_command(), moment]),
                       "attach": lambda: attach(bench)}, bench.pairs)
    pairs = list(zip(got["traced"], got["plain"]))
    return [
        Row("run: start to attached", [t[0] - p[0] for t, p in pairs], 150, "ms", digits=0),
        Row("run: detach (end of the command to end of peakphase)", [t[1] - p[1] for t, p in pairs], 200, "ms", digits=0),
        Row("attach -p: start to attached", [a[0] for a in got["attach"]], 150, "ms", digits=0),
        Row("attach -p: detach on SIGINT", [a[2] for a in got["attach"]], 200, "ms", digits=0,
            note=f"probe away after {Row('', [a[1] for a in got['attach']]).value:.0f} ms"),
    ]


def steady(bench):
    """Measure 10: 1,000 marks/s; the tracer's lines are printed, to nowhere."""
    seconds, period = 8, 2
    argv = [bench.peakphase, "run", "-o", bench.file(), "--", bench.program("marks"), str(1000 * seconds), "1", "1000"]
    rss, rings = [], 0
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as proc:
        time.sleep(1.5)
        if proc.poll() is not None:
            raise Unavailable(f"peakphase run: status {proc.returncode}")
        start, used, cpu = time.monotonic(), cpu_seconds(proc.pid), []
        for _ in range(3):
            time.sleep(period)
            now, u = time.monotonic(), cpu_seconds(proc.pid)
            cpu.append((u - used) / (now - start) * 100)
            start, used = now, u
            r, rings = rss_without(proc.pid, "anon_inode:bpf-map")
            rss.append(r / MIB)
        got = numbers(proc.stdout.read())
    rate = got["marks"] / got["seconds"]
    row = Row("tracer at 1,000 marks/s: RSS without its rings", rss, 15, "MiB", digits=1,
              note=f"{rate:.0f} marks/s, rings {rings / MIB:.1f} MiB")
    row.value = max(rss)
    return [row, Row("  CPU", cpu, 2, "%", digits=1)]


def million_recording(bench):
    """Kept in the build tree, and made anew when the tracer is newer. At most 5 runs: slower until nothing is lost."""
    path = os.path.join(bench.build, "bench", "million.peak")
    if os.path.exists(path) and os.path.getmtime(path) > os.path.getmtime(bench.peakphase):
        return path
    for period_us in (2000, 4000, 8000, 16000, 32000):
        for suffix in ("", "-wal", "-shm"):
            if os.path.exists(path + suffix):
                os.remove(path + suffix)
        output([*bench.run_command(recording=path), bench.program("marks"), str(MILLION), "250", str(period_us)], timeout=300)
        if recorded(path)[0] >= MILLION:
            return path
    os.remove(path)
    raise Unavailable("marks were lost at every rate")


def report(bench):
    """Measure 11."""
    path = million_recording(bench)
    runs = []
    for argv in ([], ["--json"]):
        for _ in range(3):
            seconds, rss = run_and_watch([bench.peakphase, "report", *argv, path])
            runs.append((bool(argv), seconds, rss / MIB))
    size = size_of(path)
    text, as_json = [r for r in runs if not r[0]], [r for r in runs if r[0]]
    return [
        Row("report on 1,000,000 marks: time", [r[1] for r in text], 2, "s", note=f"recording {size / MIB:.0f} MiB, {size / MILLION:.0f} B a mark"),
        Row("  memory", [r[2] for r in text], 200, "MiB", digits=0),
        Row("report --json of it: time", [r[1] for r in as_json], 2, "s"),
        Row("  memory", [r[2] for r in as_json], 200, "MiB", digits=0),
    ]
