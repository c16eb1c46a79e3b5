# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""query.py FILE ROWS: makes the file, in a process of its own. query.py FILE: one query on it, streamed to a sink, falling back to
memory for a sort, and eager; after each a second in which the allocator gives back what it wants to."""

import sys
import time

import polars as pl
from peakphase import phase

path = sys.argv[1]
if len(sys.argv) > 2:
    n = pl.int_range(0, int(sys.argv[2]), eager=True)
    frame = pl.DataFrame({"id": n, "group": n % 1000, "v": (n * 7919 % 1000003).cast(pl.Float64)})
    frame.with_columns(w=pl.col("v").sqrt()).write_parquet(path, compression="uncompressed", row_group_size=250_000)
    sys.exit()

query = pl.scan_parquet(path).filter(pl.col("v") > 1000).with_columns(x=pl.col("v") * 2)
with phase("sink"):
    query.sink_parquet(path + ".out")
time.sleep(1.5)
with phase("sorted sink"):
    query.sort("v").sink_parquet(path + ".out")
time.sleep(1.5)
with phase("eager"):
    frame = query.collect()
time.sleep(1.5)
with phase("rest"):
    print(frame.height, round(frame.estimated_size("mb")))
