# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What the Python workloads share: memory of a known size, and the truth about it (see work.h)."""

import mmap
import os
import time

MIB = 1 << 20


def hog(mib):
    """mib MiB that are really touched.

    A bytearray of zeros comes from calloc: nothing is resident before each page is written. Below
    32 MiB the C library may serve it from its heap and keep it when it is freed, so that small
    ones are mappings of their own.
    """
    size = mib * MIB
    block = bytearray(size) if mib > 32 else mmap.mmap(-1, size)
    for i in range(0, size, mmap.PAGESIZE):
        block[i] = 1
    return block


def smaps_rss():
    with open("/proc/self/smaps_rollup") as f:
        for line in f:
            if line.startswith("Rss:"):
                return int(line.split()[1]) << 10
    raise RuntimeError("no Rss in smaps_rollup")


def say(text):
    os.write(1, text.encode("utf-8", "surrogateescape") + b"\n")


def wait_file(path):
    for _ in range(12000):
        if os.path.exists(path):
            return
        time.sleep(0.01)
    raise TimeoutError(path)


class Truth:
    """What this program holds, and what each open phase saw of it."""

    def __init__(self):
        self.held = 0
        self.base = smaps_rss()
        self.open = []

    def begin(self, label):
        phase = {"label": label, "start": self.held, "max": self.held, "grew": 0}
        self.open.append(phase)
        return phase

    def change(self, size):
        self.held += size
        for phase in self.open:
            phase["grew"] += max(size, 0)
            phase["max"] = max(phase["max"], self.held)

    def end(self, phase, kind, first=0):
        self.open.remove(phase)
        self.tell(phase, kind, first)

    def tell(self, phase, kind, first=0):
        say(
            f"truth kind={kind} first={first} base_bytes={self.base}"
            f" peak_delta_bytes={phase['max'] - phase['start']}"
            f" kept_bytes={self.held - phase['start']} grew_bytes={phase['grew']}"
            f" at_ns={time.monotonic_ns()} label={phase['label']}"
        )
