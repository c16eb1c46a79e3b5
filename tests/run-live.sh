#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Runs the live tests (bats files), as root, and ends with `live tests: N passed, N failed, N skipped`.
#   PEAKPHASE_LIVE_NAME       other words for "live tests" in that line
# Where this machine refuses BPF it says so, and runs them in a guest instead.
#   PEAKPHASE_BUILD           the build tree
#   PEAKPHASE_STRICT=1        a skip is a failure, unless it says "not on this kernel: "
#   PEAKPHASE_LIVE_FALLBACK   kernel of that guest (default 7.3), or none: the caller runs guests anyway
set -u
cd "$(dirname "$0")/.." || exit 1
build=${PEAKPHASE_BUILD:?the build tree}
name=${PEAKPHASE_LIVE_NAME:-live tests}

why_no_bpf() {
	local out
	if [ "$(id -u)" -ne 0 ]; then
		echo "live tests need root"
		return 0
	fi
	if [ ! -s /sys/kernel/btf/vmlinux ]; then
		echo "this kernel has no BTF (/sys/kernel/btf/vmlinux; CONFIG_DEBUG_INFO_BTF)"
		return 0
	fi
	if ! out=$(PATH=$PATH:/usr/sbin bpftool prog show 2>&1 >/dev/null); then
		echo "bpf() is refused here: ${out:-bpftool failed}"
		return 0
	fi
	return 1
}

if why=$(why_no_bpf); then
	cat >&2 <<EOF
********************************************************************************
  NO BPF ON THIS MACHINE: $why
  The live tests do NOT run on this kernel.
********************************************************************************
EOF
	fallback=${PEAKPHASE_LIVE_FALLBACK:-7.3}
	if [ "$fallback" = none ]; then
		echo "$name: 0 passed, 0 failed, 0 skipped"
		exit 0
	fi
	echo "  They run in a QEMU guest instead, on Linux $fallback." >&2
	tools/deps.sh vm || exit 1
	exec tools/vm/run --kernel "$fallback" --build "$build" --bats "$*" --name "$name"
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT
mountpoint -q /sys/fs/bpf || mount -t bpf bpf /sys/fs/bpf 2>/dev/null
mountpoint -q /sys/kernel/tracing || mount -t tracefs tracefs /sys/kernel/tracing 2>/dev/null
# Tests with the tag `guest` are for the kernels in QEMU, as those with `host` are not; `cgroup2` for memory cgroups of v2,
# which the guests have, and this machine may.
tags='!guest'
grep -qw memory /sys/fs/cgroup/cgroup.controllers 2>/dev/null || tags+=',!cgroup2'
# In a background job SIGINT would be ignored, here and in all the tests' processes.
env --default-signal bats --tap -T --filter-tags "$tags" "$@" 2>&1 </dev/null | tee "$log"
awk -f tests/tap.awk -v name="$name" -v strict="${PEAKPHASE_STRICT:-0}" -v status="${PIPESTATUS[0]}" "$log"
