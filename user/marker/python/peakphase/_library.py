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


def _no_token(label: Any) -> int:
    return 1


def _not_enabled() -> int:
    return 0


Bound = Tuple[
    Callable[[bytes], Any], Callable[[bytes], int], Callable[[int], Any], Callable[[], int]
]


def bind() -> Bound:
    """log_rss, log_rss_begin, log_rss_end, log_rss_enabled.

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
        mark.argtypes = begin.argtypes = [ctypes.c_char_p]
        mark.restype = end.restype = None
        begin.restype = ctypes.c_uint64
        end.argtypes = [ctypes.c_uint64]
        enabled.argtypes = []
        enabled.restype = ctypes.c_int
        return mark, begin, end, enabled
    return _nothing, _no_token, _nothing, _not_enabled
