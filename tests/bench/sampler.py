# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""sampler.py FILE COMMAND...: the RSS from /proc every 10 ms, as one would write it today; the peak to FILE."""

import os
import subprocess
import sys
import time

PAGE = os.sysconf("SC_PAGE_SIZE")


def main():
    with open(sys.argv[1], "w", encoding="ascii") as out:
        child = subprocess.Popen(sys.argv[2:])
        peak = 0
        with open(f"/proc/{child.pid}/statm", "rb", buffering=0) as statm:
            while child.poll() is None:
                statm.seek(0)
                fields = statm.read().split()
                rss = int(fields[1]) * PAGE if len(fields) > 1 else 0
                peak = max(peak, rss)
                out.write(f"{time.monotonic():.6f} {rss}\n")
                time.sleep(0.01)
        out.write(f"peak {peak}\n")
    return child.returncode


sys.exit(main())
