# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""states.py PID STOPFILE: samples the states of all threads of PID until STOPFILE is there.

Prints each state seen with how often, as `S 1234`. T or t means that somebody stopped it.
"""

import collections
import os
import sys
import time

pid, stop = sys.argv[1:]
seen = collections.Counter()
while not os.path.exists(stop):
    try:
        for tid in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{tid}/stat", "rb") as f:
                seen[f.read().rpartition(b") ")[2][:1].decode()] += 1
    except (FileNotFoundError, ProcessLookupError):
        pass
    time.sleep(0.005)
for state, n in sorted(seen.items()):
    print(state, n)
