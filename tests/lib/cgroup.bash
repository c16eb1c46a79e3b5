# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
#
# Memory cgroups of a test's own, on v1 and v2.

# cgroup_setup: CG, a cgroup for this test; CG_PATH, the same within the hierarchy; CG_V, 1 or 2.
cgroup_setup() {
	CG_PATH=/peakphase-$$-$BATS_TEST_NUMBER
	if mountpoint -q /sys/fs/cgroup/memory; then
		CG_V=1 CG=/sys/fs/cgroup/memory$CG_PATH
	else
		CG_V=2 CG=/sys/fs/cgroup$CG_PATH
		echo +memory >/sys/fs/cgroup/cgroup.subtree_control || fail "no memory controller here"
	fi
	mkdir "$CG"
	CG_MADE=("$CG")
}

# cgroup_make DIR: below CG; on v2 with the memory controller.
cgroup_make() {
	[ "$CG_V" = 1 ] || echo +memory >"${1%/*}/cgroup.subtree_control"
	mkdir "$1"
	CG_MADE=("$1" "${CG_MADE[@]}")
}

# cgroup_limit DIR BYTES; -1: none.
cgroup_limit() {
	if [ "$CG_V" = 1 ]; then
		echo "$2" >"$1/memory.limit_in_bytes"
	elif [ "$2" = -1 ]; then
		echo max >"$1/memory.max"
	else
		echo "$2" >"$1/memory.max"
	fi
}

# cgroup_run DIR COMMAND...: moved there before it becomes the command.
cgroup_run() {
	# shellcheck disable=SC2016  # by the shell that becomes it
	sh -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$@"
}

# After the processes have ended. A cgroup is busy for a moment after its last one.
cgroup_teardown() {
	local d
	for d in "${CG_MADE[@]}"; do
		[ ! -d "$d" ] || retry 10 rmdir_quiet "$d"
	done
	CG_MADE=()
}
rmdir_quiet() { rmdir "$1" 2>/dev/null; }
