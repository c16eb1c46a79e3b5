# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Finds and binds liblogrss.so; without it, functions that do nothing."""

import ctypes
import os
from typing import Any, Callable, List, Tuple


def _candidates() -> List[str]:
    here = os.path.dirname(os.path.abspath(__file__))
    paths = [os.path.join(here, "liblogrss.so")]  # wheel, build tree, make install
    # PREFIX/lib/python3.X/dist-packages/peakphase → PREFIX/lib
    prefix_lib = os.path.join(here, "..", "..", "..")
    paths.append(os.path.normpath(os.path.join(prefix_lib, "liblogrss.so.1")))
    return [path for path in paths if os.path.exists(path)] + [
        "liblogrss.so.1",  # by the loader: LD_LIBRARY_PATH, its cache, its own directories
        "/usr/local/lib/liblogrss.so.1",
    ]


def _nothing(label: Any) -> None:
    return None


# As user/lib/utf8.c has it.
_HIDDEN = (
    (0x00, 0x1F), (0x7F, 0x9F), (0xAD, 0xAD), (0x34F, 0x34F), (0x61C, 0x61C), (0x115F, 0x1160), (0x17B4, 0x17B5),
    (0x180B, 0x180F), (0x200B, 0x200F), (0x2028, 0x202E), (0x2060, 0x206F), (0x3164, 0x3164), (0xD800, 0xDFFF),
    (0xFDD0, 0xFDEF), (0xFEFF, 0xFEFF), (0xFFA0, 0xFFA0), (0xFFF0, 0xFFFB), (0x1BCA0, 0x1BCA3), (0x1D173, 0x1D17A),
    (0xE0000, 0xE0FFF),
)  # fmt: skip


def _is_hidden(char: str) -> bool:
    number = ord(char)
    return number & 0xFFFE == 0xFFFE or any(first <= number <= last for first, last in _HIDDEN)


def _print(label: bytes) -> None:
    """What liblogrss.so does with PEAKPHASE_LOG=1."""
    with open("/proc/self/status", "rb") as file:
        kb = {line[:6]: int(line.split()[1]) for line in file if line.startswith((b"VmRSS:", b"VmHWM:"))}
    text = "".join("".join(f"\\x{b:02x}" for b in c.encode("utf-8", "surrogateescape")) if _is_hidden(c) else c
                   for c in label[:255].decode("utf-8", "surrogateescape"))  # fmt: skip
    line = f"RSS [{text}]: ~{kb[b'VmRSS:'] / 1024:.1f} MB  (peak {kb[b'VmHWM:'] / 1024:.1f})\n"
    os.write(2, line.encode("utf-8", "surrogateescape"))


def _no_note(token: Any, text: Any) -> None:
    return None


def _no_token(label: Any) -> int:
    return 1


def _not_enabled() -> int:
    return 0


Bound = Tuple[
    Callable[[bytes], Any],
    Callable[[bytes], int],
    Callable[[int], Any],
    Callable[[], int],
    Callable[[int, bytes], Any],
]


def bind() -> Bound:
    """log_rss, log_rss_begin, log_rss_end, log_rss_enabled, log_rss_note_span.

    PyDLL, not CDLL: it keeps the interpreter lock during the call. A marker takes nanoseconds, or
    a microsecond when traced; to give the lock away and get it back would cost more, let another
    thread allocate between the program's decision to mark and the mark, and make
    every marker a point where threads switch.
    """
    for path in _candidates():
        try:
            library = ctypes.PyDLL(path)
            mark, begin = library.log_rss, library.log_rss_begin
            end, enabled = library.log_rss_end, library.log_rss_enabled
        except Exception:  # missing, for another processor, not ours, ctypes crippled
            continue
        # No argtypes for labels: they are bytes, which ctypes passes as they are. To be told so costs
        # a quarter of the call.
        mark.restype = end.restype = None
        begin.restype = ctypes.c_uint64
        end.argtypes = [ctypes.c_uint64]
        enabled.argtypes = []
        enabled.restype = ctypes.c_int
        note = getattr(library, "log_rss_note_span", _no_note)  # not in the first libraries
        if note is not _no_note:
            note.argtypes = [ctypes.c_uint64, ctypes.c_char_p]
            note.restype = None
        return mark, begin, end, enabled, note
    mark = _print if os.environ.get("PEAKPHASE_LOG") == "1" else _nothing
    return mark, _no_token, _nothing, _not_enabled, _no_note
