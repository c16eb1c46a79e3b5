# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""stuck_fs.py FOLDER: mounts a file system with one file, "page", which can be opened and mapped, but whose bytes never come.

Prints "mounted", and "asked" when somebody waits for them. Ends on SIGTERM; the readers then get an error.
"""

import ctypes
import os
import signal
import struct
import sys

LOOKUP, FORGET, GETATTR, OPEN, READ, RELEASE, FLUSH, INIT, OPENDIR, RELEASEDIR, ACCESS, INTERRUPT, BATCH_FORGET = (
    1, 2, 3, 14, 15, 18, 25, 26, 27, 29, 34, 36, 42,
)  # fmt: skip
ENOENT, ENOSYS, MNT_DETACH = 2, 38, 2
ROOT, PAGE = 1, 2

libc = ctypes.CDLL(None, use_errno=True)


def attr(node):
    mode, size = (0o40755, 0) if node == ROOT else (0o100644, 4096)
    return struct.pack("<6Q10I", node, size, 8, 0, 0, 0, 0, 0, 0, mode, 1, 0, 0, 0, 4096, 0)


def answer(op, node, body):
    """Bytes, an errno, or None for no answer at all."""
    if op == INIT:
        major, minor = struct.unpack_from("<II", body)
        return struct.pack("<4I2H2I2HI28x", 7, min(minor, 31), 0, 0, 8, 8, 4096, 1, 1, 0, 0)
    if op == LOOKUP:
        return struct.pack("<4Q2I", PAGE, 0, 60, 60, 0, 0) + attr(PAGE) if body == b"page\0" else ENOENT
    if op == GETATTR:
        return struct.pack("<Q2I", 60, 0, 0) + attr(node)
    if op in (OPEN, OPENDIR):
        return struct.pack("<Q2I", 1, 0, 0)
    if op in (RELEASE, RELEASEDIR, FLUSH, ACCESS):
        return b""
    if op == READ:
        print("asked", flush=True)
    return None if op in (READ, FORGET, BATCH_FORGET, INTERRUPT) else ENOSYS


def main(folder):
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    fd = os.open("/dev/fuse", os.O_RDWR)
    options = f"fd={fd},rootmode=40000,user_id=0,group_id=0,allow_other"
    if libc.mount(b"stuck", folder.encode(), b"fuse", 0, options.encode()):
        sys.exit(f"mount: {os.strerror(ctypes.get_errno())}")
    try:
        print("mounted", flush=True)
        while True:
            request = os.read(fd, 1 << 17)
            _, op, unique, node = struct.unpack_from("<IIQQ", request)
            said = answer(op, node, request[40:])
            if said is not None:
                data, error = (said, 0) if isinstance(said, bytes) else (b"", -said)
                os.write(fd, struct.pack("<IiQ", 16 + len(data), error, unique) + data)
    finally:
        libc.umount2(folder.encode(), MNT_DETACH)


main(sys.argv[1])
