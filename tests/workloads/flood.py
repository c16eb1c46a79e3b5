# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""flood N: N checkpoints flat out, labelled "m0000000" on."""

import sys

import peakphase

for i in range(int(sys.argv[1])):
    peakphase.log_rss(f"m{i:07d}")
