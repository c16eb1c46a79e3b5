#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The main job on the bundled example: tools/demo.sh BUILD. The recording is BUILD/demo.peak, made anew each time.
set -eu
build=${1:-build}
if [ "$(id -u)" -ne 0 ]; then
	echo "demo: tracing needs root: run \`sudo make demo\`" >&2
	exit 3
fi
rm -f "$build/demo.peak" "$build/demo.peak-wal" "$build/demo.peak-shm"
show() {
	printf '\n$ %s\n' "$*"
	"$@"
}
# The system's python3: a version manager's shim in its place would add processes of its own by the dozen.
PATH=/usr/bin:/bin:$PATH
export PYTHONPATH=$build/python PYTHONDONTWRITEBYTECODE=1
show "$build/peakphase" run --where=64 -o "$build/demo.peak" -- python3 examples/pipeline.py
show "$build/peakphase" report "$build/demo.peak"
