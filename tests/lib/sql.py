# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""sql.py RECORDING SQL…: runs statements on a recording, prints rows with | between columns."""

import sqlite3
import sys

with sqlite3.connect(sys.argv[1]) as db:
    for statement in sys.argv[2:]:
        for row in db.execute(statement):
            print("|".join(str(c) for c in row))
