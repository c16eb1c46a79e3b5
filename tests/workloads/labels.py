# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Labels of every kind from Python, one checkpoint each; before each a line as in labels.c."""

import os

import peakphase

LABELS = [
    "plain",
    "with spaces  in  it ",
    "übung → 日本語 🎉",
    'a]b [c] "q" \\ %s%n%d',
    "tab\there",
    "two\nlines",
    "",
    "x" * 255,
    "x" * 256,
    "é" * 5000,
    "lone surrogate from a file name: \udcff",
]

for label in LABELS:
    want = label.encode("utf-8", "surrogateescape")
    os.write(1, b"label len=%d kind=text hex=%s\n" % (len(want), want.hex().encode()))
    peakphase.log_rss(label)
peakphase.log_rss("still here")
os.write(1, b"label len=10 kind=text hex=%s\n" % b"still here".hex().encode())
