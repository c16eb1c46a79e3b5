# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The live view: what a screen of many processes takes at its usual four frames a second."""

import contextlib
import fcntl
import os
import pty
import select
import struct
import subprocess
import termios
import time

from harness import MIB, Row, Unavailable, cpu_seconds, high_water

ROWS, COLS = 60, 200
SECONDS = 5
# The tree, finished phases, the same sorted by a column, the last of them.
PAGES = [b"", b"f", b"s", b"\x1b[F"]


def pump(fd, seconds):
    """Reads what is drawn, as a terminal does, for a while."""
    until = time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0:
        if select.select([fd], [], [], left)[0]:
            os.read(fd, 65536)


def shown(bench, recording):
    """(parts of a core on each page, high water in bytes)."""
    pid, fd = pty.fork()
    if pid == 0:
        os.environ.update(TERM="xterm-256color", LC_ALL="C.UTF-8")
        os.execv(bench.peakphase, [bench.peakphase, "top", recording])
    try:
        fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLS, 0, 0))
        pump(fd, 3)
        parts = []
        for keys in PAGES:
            os.write(fd, keys)
            pump(fd, 1)
            before = cpu_seconds(pid)
            pump(fd, SECONDS)
            parts.append((cpu_seconds(pid) - before) / SECONDS)
        return parts, high_water(pid)
    except OSError as e:
        raise Unavailable(f"top: {e}") from e
    finally:
        with contextlib.suppress(OSError):
            os.write(fd, b"q")
            pump(fd, 0.5)
        os.close(fd)
        os.waitpid(pid, 0)


def top(bench):
    """1,000 processes with 10 phases each."""
    subprocess.run([os.path.join(bench.build, "screens", "scenes"), bench.dir, "many"], check=True)
    parts, most = shown(bench, os.path.join(bench.dir, "many.peak"))
    row = Row("top, 1,000 processes, 10,000 phases: CPU", [p * 100 for p in parts], 3, "%",
              note=f"{COLS}×{ROWS}, 4 frames a second, the dearest of {len(PAGES)} pages")
    row.value = max(row.values)
    return [row, Row("top, the same: RSS", most / MIB, 30, "MiB", digits=1)]
