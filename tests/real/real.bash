# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
# What the tests of real pipelines share. $REAL/NAME is the virtual environment of NAME.txt, with the package in it.

load ../helpers

REAL=$PEAKPHASE_BUILD/real
# shellcheck disable=SC2034  # for the tests
REALSRC=$ROOT/tests/real
# The package is the one that pip installed.
unset PYTHONPATH
# Nothing but the pipeline's own work on the network.
export DO_NOT_TRACK=1 KEDRO_DISABLE_TELEMETRY=1 POLARS_DISABLE_TELEMETRY=1

# page FILE NAME BLOCKS: that page of docs/ shows what happens, with the programs of that environment; all its blocks ran.
page() {
	local told
	told=$(PATH="$REAL/$2/bin:$PATH" "$PYTHON" "$ROOT/tests/lib/docs.py" run "$PEAKPHASE_BUILD" "$ROOT/docs/$1") || return 1
	[[ $told == *"\"run\": $3, \"skipped\": 0}"* ]] || fail "$1: not all blocks ran: $told"
}
