# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""threads.c in Python: `overlap LEFT RIGHT`, `handoff N`."""

import sys
import threading
import time

import peakphase
from work import hog


def overlap(left_mib, right_mib):
    left_full = threading.Event()
    right_done = threading.Event()

    def left():
        with peakphase.phase("left"):
            block = hog(left_mib)
            left_full.set()
            right_done.wait()
            time.sleep(0.2)
            del block

    def right():
        left_full.wait()
        time.sleep(0.1)
        with peakphase.phase("right"):
            block = hog(right_mib)
            time.sleep(0.3)
            del block
        right_done.set()

    threads = [threading.Thread(target=f) for f in (left, right)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()


def handoff(mib):
    state = {}

    def first():
        state["token"] = peakphase.begin("handed over")
        state["block"] = hog(mib)

    def second():
        time.sleep(0.02)
        peakphase.end(state["token"])

    for f in (first, second):
        t = threading.Thread(target=f)
        t.start()
        t.join()


if __name__ == "__main__":
    {"overlap": overlap, "handoff": handoff}[sys.argv[1]](*map(int, sys.argv[2:]))
