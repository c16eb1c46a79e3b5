# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""script.c in Python: a program written on its own command line (see there for the steps).

In place of hog4k, hog2m, reserve, touch: `boom:LABEL:N`, a `with phase(LABEL)` that hogs N MiB and
is left by an exception, which the program survives; `fail`, an exception it does not survive.
"""

import mmap
import os
import sys
import time

import peakphase
from work import Truth, hog, say, smaps_rss, wait_file


class Script:
    def __init__(self, ops):
        self.ops = ops
        self.truth = Truth()
        self.checkpoint = self.truth.begin(None)
        self.marks = 0
        self.spans = []
        self.blocks = []

    def run(self, i=0):
        while i < len(self.ops):
            op, _, arg = self.ops[i].partition(":")
            if op == "done":
                return i + 1
            if op == "repeat":
                for _ in range(int(arg)):
                    after = self.run(i + 1)
                i = after
                continue
            if op == "exec":
                self.tell_open()
                os.execv(self.ops[i + 1], self.ops[i + 1 :])
            getattr(self, "do_" + op)(*([arg] if arg else []))
            i += 1
        return i

    def tell_open(self):
        for token, phase in self.spans:
            if phase in self.truth.open:
                self.truth.tell(phase, "open")

    def do_begin(self, label):
        phase = self.truth.begin(label)
        self.spans.append((peakphase.begin(label), phase))

    def do_end(self, k=None):
        if k is None:
            k = max(i for i, (_, p) in enumerate(self.spans) if p in self.truth.open)
        token, phase = self.spans[int(k)]
        peakphase.end(token)
        self.truth.end(phase, "span")

    def do_note(self, text):
        peakphase.note(text)

    def do_mark(self, label):
        peakphase.log_rss(label)
        self.checkpoint["label"] = label
        self.truth.end(self.checkpoint, "checkpoint", int(self.marks == 0))
        self.marks += 1
        self.checkpoint = self.truth.begin(None)

    def do_hog(self, mib):
        block = hog(int(mib))
        self.blocks.append(block)
        self.truth.change(len(block))

    def do_map(self, path):
        with open(path, "rb") as f:
            block = mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ)
        for i in range(0, len(block), mmap.PAGESIZE):
            block[i]
        self.blocks.append(block)
        self.truth.change(len(block))

    def do_free(self):
        self.truth.change(-len(self.blocks.pop()))

    def do_boom(self, label_and_mib):
        label, _, mib = label_and_mib.rpartition(":")
        phase = self.truth.begin(label)
        try:
            with peakphase.phase(label):
                self.do_hog(mib)
                raise ValueError(label)
        except ValueError:
            self.truth.end(phase, "span")

    def do_fail(self):
        self.tell_open()
        raise SystemError("the workload's own end")

    def do_sleep(self, ms):
        time.sleep(int(ms) / 1000)

    def do_say(self, text):
        say(text)

    def do_smaps(self):
        say(f"smaps_rss={smaps_rss()}")

    def do_ready(self, path):
        open(path, "w").close()

    def do_wait(self, path):
        wait_file(path)

    def do_exit(self, status):
        self.tell_open()
        sys.exit(int(status))

    def do__exit(self, status):
        self.tell_open()
        os._exit(int(status))

    def do_raise(self, signal):
        self.tell_open()
        os.kill(os.getpid(), int(signal))


if __name__ == "__main__":
    script = Script(sys.argv[1:])
    script.run()
    script.tell_open()
