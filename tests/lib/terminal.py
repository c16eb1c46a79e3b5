# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""terminal.py SCRIPT COMMAND…: runs COMMAND on a terminal of its own and types at it.

SCRIPT is words separated by commas: `expect:TEXT` waits until TEXT has been printed, `ctrl:C` types
Ctrl-C, `sleep:SECONDS`. What was printed goes to stdout, `status N` (128 + signal) to stderr.
"""

import os
import pty
import select
import sys
import time

LIMIT = 60 * float(os.environ.get("PEAKPHASE_SLOW", "1"))


def pump(fd, seen, seconds):
    ready, _, _ = select.select([fd], [], [], seconds)
    if not ready:
        return True
    try:
        data = os.read(fd, 65536)
    except OSError:  # EIO: everyone on the other side has gone
        return False
    seen.extend(data)
    return bool(data)


def expect(fd, seen, text):
    until = time.monotonic() + LIMIT
    while text.encode() not in seen:
        if time.monotonic() > until or not pump(fd, seen, 0.1):
            sys.exit(f"never printed {text!r}: {bytes(seen)!r}")


def main():
    pid, fd = pty.fork()
    if pid == 0:
        os.execvp(sys.argv[2], sys.argv[2:])
    seen = bytearray()
    for word in sys.argv[1].split(","):
        what, _, arg = word.partition(":")
        if what == "expect":
            expect(fd, seen, arg)
        elif what == "ctrl":
            os.write(fd, bytes([ord(arg) - 64]))
        elif what == "sleep":
            until = time.monotonic() + float(arg)
            while time.monotonic() < until and pump(fd, seen, 0.05):
                pass
    until = time.monotonic() + LIMIT
    while pump(fd, seen, 0.2):
        if time.monotonic() > until:
            os.kill(pid, 9)
            sys.exit("did not end")
        # The terminal may stay open in a survivor; the command itself is what counts.
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            break
    else:
        done, status = os.waitpid(pid, 0)
    while select.select([fd], [], [], 0)[0] and pump(fd, seen, 0):
        pass
    sys.stdout.buffer.write(bytes(seen).replace(b"\r\n", b"\n"))
    code = os.waitstatus_to_exitcode(status)
    print("status", code if code >= 0 else 128 - code, file=sys.stderr)


main()
